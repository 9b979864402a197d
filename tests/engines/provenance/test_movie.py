"""A video's labels are put into its file, nothing else of it is kept, and every frame plays as before."""

import json
import struct
import tracemalloc
from io import BytesIO, RawIOBase
from pathlib import Path
from typing import cast

import av
import numpy as np
import pytest

from engines.errors import OutputUnwritable
from engines.provenance.boxes import Box, boxes, child, made
from engines.provenance.certificates import own_identity
from engines.provenance.credentials import read_credentials
from engines.provenance.keys import MarkKey
from engines.provenance.labels import TOOL, Labels
from engines.provenance.ledger import FILE, Ledger
from engines.provenance.mark import MarkedImage
from engines.provenance.metadata import read_labels
from engines.provenance.movie import labelled
from engines.provenance.signer import Signer
from engines.provenance.verify import verify
from engines.provenance.video import FrameMarker, MarkedVideo
from tests.engines.provenance.movies import FRAMES, HEIGHT, WIDTH, frames, movie, played, told

ID = "7F3-A91-C04"
LABELS = Labels("compositeWithTrainedAlgorithmicMedia", "1", "Fusion Studio", ID, "Fusion Studio 9", "2026-01-02T03:04:05Z")
PERSONAL = {
    "com.apple.quicktime.location.ISO6709": "+52.5+013.4/", "com.apple.quicktime.make": "Telephone Works", "location": "+52.5+013.4/",
    "comment": "my serial is 4711", "title": "At grandmother's", "artist": "A. Person", "AIGC": '{"Label":"2"}',
}  # fmt: skip
SECRETS = (b"52.5", b"Telephone", b"4711", b"grandmother", b"Person", b'"2"')
FIRST = "faststart"  # `moov` stands before the samples
KINDS = [
    ("", "mp4"), (FIRST, "mp4"), ("use_metadata_tags", "mp4"), (FIRST + "+use_metadata_tags", "mp4"),
    ("", "mov"), (FIRST + "+use_metadata_tags", "mov"),
    ("frag_keyframe", "mp4"), ("frag_keyframe+empty_moov", "mp4"), ("frag_keyframe+empty_moov+default_base_moof", "mp4"),
    ("dash+global_sidx+frag_keyframe", "mp4"), ("frag_keyframe+separate_moof+omit_tfhd_offset+empty_moov", "mp4"),
]  # fmt: skip


@pytest.fixture(scope="module")
def video(key: MarkKey) -> MarkedVideo:
    marker = FrameMarker(key, WIDTH, HEIGHT, ID)
    for frame in frames():
        marker.mark(frame)
    return marker.marked(LABELS)


def labelling(data: bytes, video: MarkedVideo) -> bytes:
    return b"".join(labelled(BytesIO(data), video))


@pytest.mark.parametrize(("flags", "format"), KINDS)
def test_every_frame_plays_as_before_and_nothing_personal_stays(video: MarkedVideo, flags: str, format: str) -> None:
    data = movie(flags, format, metadata=PERSONAL, timecode="01:02:03:04")
    out = labelling(data, video)
    before = played(data)
    assert len(before) > FRAMES
    assert played(out) == before
    assert [secret for secret in SECRETS if secret in out] == []
    said = told(out)
    assert json.loads(said["AIGC"])["ProduceID"] == ID
    assert set(said) == {"AIGC", "com.apple.quicktime.software", "major_brand", "minor_version", "compatible_brands"}
    assert said["com.apple.quicktime.software"] == TOOL
    assert read_labels(out).labels == LABELS
    assert labelling(out, video) == out


def test_the_key_stands_where_ffmpeg_puts_it(video: MarkedVideo) -> None:
    """The same boxes at the same place; ffmpeg adds a key of its own, `encoder`."""
    theirs = movie(FIRST + "+use_metadata_tags", metadata={"AIGC": "{}"})
    ours = labelling(theirs, video)
    for path in (b"moov/udta/meta/hdlr", b"moov/udta/meta/keys", b"moov/udta/meta/ilst"):
        there, here = child(theirs, path), child(ours, path)
        assert there is not None
        assert here is not None
        if path.endswith(b"hdlr"):
            assert ours[here.start : here.end] == theirs[there.start : there.end]
        elif path.endswith(b"keys"):
            assert b"mdtaAIGC" in theirs[there.start : there.end]
            assert b"mdtaAIGC" in ours[here.start : here.end]
    mine = json.loads(told(ours)["AIGC"])
    assert list(mine) == [
        "Label", "ContentProducer", "ProduceID", "ReservedCode1", "ContentPropagator", "PropagateID", "ReservedCode2",
    ]  # fmt: skip


def test_the_key_alone_is_read_too() -> None:
    found = read_labels(movie("use_metadata_tags", metadata={"AIGC": '{"Label":"2","ContentProducer":"某公司","ProduceID":"x1"}'}))
    assert (found.labels.aigc, found.labels.producer, found.labels.id) == ("2", "某公司", "x1")
    assert found.algorithmic


@pytest.mark.parametrize(
    ("metadata", "flags", "names"),
    [
        ({"prompt": "{}", "workflow": "{}"}, "use_metadata_tags", ("comfyui",)),
        ({"comment": 'a cat {"AIGC":{"Label":"1"}}'}, "", ("aigc",)),
        ({"comment": "a cat\nNegative prompt: dog"}, "", ("parameters",)),
        ({"comment": "a holiday", "title": "a cat"}, "", ()),
    ],
)
def test_what_generators_leave_in_a_video(metadata: dict[str, str], flags: str, names: tuple[str, ...]) -> None:
    for format in ("mp4", "mov"):
        assert read_labels(movie(flags, format, metadata=metadata)).names() == names


def tables(data: bytes, kind: bytes) -> list[tuple[int, ...]]:
    """The chunks' places of all tracks."""
    found = []
    moov = child(data, b"moov")
    for trak in boxes(data, moov.body, moov.end) if moov else ():
        table = child(data, b"mdia/minf/stbl/" + kind, trak) if trak.kind == b"trak" else None
        if table is not None:
            (count,) = struct.unpack_from(">I", data, table.body + 4)
            found.append(struct.unpack_from(f">{count}{'I' if kind == b'stco' else 'Q'}", data, table.body + 8))
    return found


def test_places_move_with_what_stands_before_them(video: MarkedVideo) -> None:
    data = movie(FIRST)
    out = labelling(data, video)
    for before, after in zip(tables(data, b"stco"), tables(out, b"stco"), strict=True):
        assert [out[at : at + 16] for at in after] == [data[at : at + 16] for at in before]
        assert before != after


def with_before(data: bytes, kind: bytes, extra: bytes) -> bytes:
    """With more bytes right before the first box of that kind."""
    at = next(box for box in boxes(data) if box.kind == kind).start
    return data[:at] + extra + data[at:]


@pytest.mark.parametrize(
    "extra",
    [made(b"uuid", bytes(range(16)), b"SECRET"), made(b"free", b"SECRET"), made(b"meta", bytes(4), b"SECRET"), made(b"xyzw", b"SECRET")],
    ids=["uuid", "free", "meta", "unknown"],
)
def test_private_boxes_go(video: MarkedVideo, extra: bytes) -> None:
    """Before `moov`, behind the samples; between fragments, where the places are counted from each of them."""
    fragments = movie("frag_every_frame+empty_moov+default_base_moof")
    middle = [box for box in boxes(fragments) if box.kind == b"moof"][3].start
    for data in (with_before(movie(), b"moov", extra), fragments[:middle] + extra + fragments[middle:], fragments + extra):
        out = labelling(data, video)
        assert b"SECRET" not in out
        assert played(out) == played(data)
        assert labelling(out, video) == out


@pytest.mark.parametrize("flags", ["", FIRST, "frag_keyframe+empty_moov", "frag_keyframe+empty_moov+default_base_moof"])
def test_a_track_that_is_neither_picture_nor_sound_goes_with_its_samples(video: MarkedVideo, flags: str) -> None:
    """The tone's track, made a track of data as a telephone's place is: its samples are nowhere in the file, the pictures play."""
    data = movie(flags)
    tone = [content for kind, _, content in packets(data) if kind == "audio"]
    out = labelling(data.replace(b"soun", b"meta"), video)
    assert [each for each in tone if len(each) > 24 and each in out] == []
    assert len([each for each in tone if len(each) > 24 and each in data]) > 20
    assert played(out) == [each for each in played(data) if each[0] == "video"]
    assert labelling(out, video) == out


def packets(data: bytes) -> list[tuple[str, int, bytes]]:
    with av.open(BytesIO(data)) as file:
        return [(each.stream.type, each.pts or 0, bytes(each)) for each in file.demux() if each.size]


def test_what_a_camera_writes_before_its_first_sample_goes(video: MarkedVideo) -> None:
    data = movie()
    at = next(box for box in boxes(data) if box.kind == b"free").start  # ffmpeg leaves it before `mdat`
    mdat = next(box for box in boxes(data) if box.kind == b"mdat")
    grown = data[:at] + struct.pack(">I4s", mdat.size + 8, b"mdat") + b"SECRET!!" + data[mdat.body :]
    assert played(grown) == played(data)
    out = labelling(grown, video)
    assert b"SECRET" not in out
    assert played(out) == played(data)


def test_a_large_box_stays_one(video: MarkedVideo) -> None:
    data = movie()
    at = next(box for box in boxes(data) if box.kind == b"free").start
    mdat = next(box for box in boxes(data) if box.kind == b"mdat")
    large = data[:at] + struct.pack(">I4sQ", 1, b"mdat", mdat.size + 8) + data[mdat.body :]
    out = labelling(large, video)
    assert played(out) == played(large) == played(data)
    assert next(box for box in boxes(out) if box.kind == b"mdat").body - next(box for box in boxes(out) if box.kind == b"mdat").start == 16


class Sparse(RawIOBase):
    """A file whose `mdat` begins with a lot of zeros that lie nowhere: before them `moov`, behind them the samples."""

    def __init__(self, head: bytes, zeros: int, tail: bytes) -> None:
        self.parts, self.at, self.end = (head, zeros, tail), 0, len(head) + zeros + len(tail)

    def seek(self, offset: int, whence: int = 0) -> int:
        self.at = offset if whence == 0 else self.end + offset
        return self.at

    def read(self, size: int = -1) -> bytes:
        head, zeros, tail = self.parts
        start, stop = self.at, self.end if size < 0 else min(self.end, self.at + size)
        self.at = stop
        first = head[start:stop]
        last = tail[max(0, start - len(head) - zeros) : max(0, stop - len(head) - zeros)]
        return first + bytes(stop - start - len(first) - len(last)) + last


def grown(data: bytes, zeros: int) -> Sparse:
    """A video whose samples lie behind so many zeros: they reach 4 GiB only once the labels are in."""
    mdat = next(box for box in boxes(data) if box.kind == b"mdat")
    head = bytearray(data[: mdat.start]) + struct.pack(">I4sQ", 1, b"mdat", mdat.size + 8 + zeros)
    for trak in boxes(data, *span(child(data, b"moov"))):
        table = child(data, b"mdia/minf/stbl/stco", trak) if trak.kind == b"trak" else None
        if table is not None:
            for at in range(table.body + 8, table.end, 4):
                struct.pack_into(">I", head, at, struct.unpack_from(">I", data, at)[0] + 8 + zeros)
    return Sparse(bytes(head), zeros, data[mdat.body :])


def span(box: Box | None) -> tuple[int, int]:
    assert box is not None
    return box.body, box.end


def test_places_beyond_4_gib_get_64_bits_and_the_samples_are_never_held(video: MarkedVideo) -> None:
    data = movie(FIRST)
    source = grown(data, (1 << 32) - len(data) - 100)
    tracemalloc.start()
    head, passed, tail = b"", 0, b""
    for piece in labelled(cast(BytesIO, source), video):
        head += piece if passed < 1 << 14 else b""
        passed += len(piece)
        tail = (tail + piece)[-(1 << 15) :] if passed > (1 << 32) - (1 << 24) else tail
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20
    assert tables(head, b"stco") == []
    for before, after in zip(tables(data, b"stco"), tables(head, b"co64"), strict=True):
        for old, new in zip(before, after, strict=True):
            at = new - (passed - len(tail))
            assert tail[at : at + 12] == data[old : old + 12]


def test_dates_and_names_of_programs_go(video: MarkedVideo) -> None:
    data = bytearray(movie("use_metadata_tags", "mov"))
    header = child(bytes(data), b"moov/mvhd")
    assert header is not None
    data[header.body + 4 : header.body + 8] = b"DATE"
    out = labelling(bytes(data).replace(b"VideoHandler", b"SerialNr4711").replace(b"Lavc", b"4711"), video)
    assert b"DATE" not in out
    assert b"SerialNr" not in out
    assert b"FFMP" in data  # the vendor
    assert b"FFMP" not in out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"moov", b"movv"), (b"vide", b"data"), (b"stco", b"stcx"), (b"tkhd", b"tkhx"), (b"avc1", b"encv"),
        (b"url \0\0\0\1", b"url \0\0\0\0"), (b"stco\0\0\0\0\0", b"stco\0\0\0\0\xff"),
    ],
)  # fmt: skip
def test_what_cannot_be_labelled_is_said_before_the_first_byte(video: MarkedVideo, old: bytes, new: bytes) -> None:
    data = movie(sound=False)
    assert old in data
    with pytest.raises(OutputUnwritable) as caught:
        labelled(BytesIO(data.replace(old, new)), video)
    assert caught.value.reason == "video"
    assert "MP4" in caught.value.hint("zh-CN")


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.9, 0.999])
def test_a_cut_off_file_is_refused(video: MarkedVideo, share: float) -> None:
    data = movie()
    with pytest.raises(OutputUnwritable):
        labelled(BytesIO(data[: int(share * len(data))]), video)


def test_only_marked_frames_make_a_marked_video(key: MarkKey) -> None:
    marker = FrameMarker(key, WIDTH, HEIGHT)
    with pytest.raises(ValueError, match="no frame"):
        marker.marked(LABELS)
    marker.mark(frames()[0])
    made = marker.marked(LABELS)
    assert (made.id, made.labels.id, made.frames, made.width, made.height) == (marker.id, marker.id, 1, WIDTH, HEIGHT)
    with pytest.raises(TypeError):
        MarkedVideo(ID, WIDTH, HEIGHT, 1, LABELS)


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(own_identity(tmp_path_factory.mktemp("signer") / "credentials.pem", "Studio"))


@pytest.mark.parametrize(
    ("flags", "format"), [(FIRST, "mp4"), ("", "mp4"), ("", "mov"), ("frag_keyframe+empty_moov+default_base_moof", "mp4")]
)
def test_it_is_signed_and_verified(
    video: MarkedVideo, marked: dict[str, MarkedImage], signer: Signer, key: MarkKey, flags: str, format: str
) -> None:
    data = labelling(movie(flags, format), video)
    signed = signer.sign(data, "video/quicktime" if format == "mov" else "video/mp4", marked["officer"])
    assert played(signed) == played(data)
    found = verify(signed, "a video", key, 10, trust=lambda: signer.identity.trust)
    assert (found.verdict, found.video, found.id, found.score) == ("made_here", True, None, 0.0)
    assert found.credentials is not None
    assert (found.credentials.state, found.credentials.algorithmic) == ("ours", True)
    assert found.labels.labels == LABELS
    assert found.as_dict()["video"] is True
    changed = bytearray(signed)
    changed[next(box for box in boxes(signed) if box.kind == b"mdat").body + 900] ^= 1
    tampered = verify(bytes(changed), "", key, 10, trust=lambda: signer.identity.trust)
    assert tampered.verdict == "marked"
    assert tampered.credentials is not None
    assert (tampered.credentials.state, tampered.credentials.faults) == ("tampered", ("changed",))
    again = labelling(signed, video)
    assert read_credentials(again, lambda: signer.identity.trust) is None
    assert again == data


def test_a_video_s_verdict_says_no_more_than_was_asked(video: MarkedVideo, key: MarkKey, tmp_path: Path) -> None:
    plain, ours = movie(), labelling(movie(), video)
    with Ledger(tmp_path / FILE) as ledger:
        assert verify(plain, "", key, 10, ledger=ledger).verdict == "unmarked"
        found = verify(ours, "", key, 10, ledger=ledger)
    assert found.verdict == "marked"
    told = found.as_dict()
    assert (told["mark"], told["ledger"]["compared"], told["labels"]["found"]) == (None, False, ["iptc", "aigc"])


@pytest.mark.parametrize("flags", ["use_metadata_tags", "frag_keyframe+empty_moov"])
def test_hostile_files_are_labelled_or_refused(video: MarkedVideo, flags: str) -> None:
    """Bytes of the headers changed: never anything but an answer or that error."""
    data, chance = movie(flags, metadata=PERSONAL), np.random.default_rng(1)
    at, refused = data.find(b"moov"), 0
    for _ in range(300):
        changed = bytearray(data)
        for place in chance.integers(at, min(len(data), at + 2600) - 4, 3):
            words = (bytes([int(chance.integers(256))]), bytes(4), b"\xff\xff\xff\xff", b"\0\0\0\1", b"meta")
            word = words[int(chance.integers(len(words)))]
            changed[place : place + len(word)] = word
        read_labels(bytes(changed))
        try:
            labelling(bytes(changed), video)
        except OutputUnwritable:
            refused += 1
    assert 50 < refused < 300
