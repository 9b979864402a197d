"""Verdicts: what was found, and no more."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from engines.errors import Cancelled, ImageTooLarge, UnreadableImage
from engines.provenance import payload, watermark
from engines.provenance.keys import MarkKey
from engines.provenance.labels import Labels
from engines.provenance.ledger import FILE, Ledger
from engines.provenance.mark import FUSED, MarkedImage, mark
from engines.provenance.save import FORMATS, encode
from engines.provenance.verify import VERDICTS, verify
from engines.provenance.xmp import build_xmp
from engines.text import text
from engines.timing import Run
from engines.types import Frame, Pixels
from engines.vision import io

Change = Callable[[Pixels], Pixels]


def file_of(pixels: Pixels, format: str = "PNG", **options: object) -> bytes:
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, format, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("who", ["astronaut", "officer", "cut-out"])
def test_what_was_made_here(marked: dict[str, MarkedImage], key: MarkKey, who: str, format: str) -> None:
    image = marked[who]
    found = verify(encode(image, format, None, key).data, "out", key, 100)
    assert (found.verdict, found.id) == ("made_here", image.mark.id)
    told = found.as_dict()
    assert told["mark"]["id"] == image.mark.id
    assert told["mark"]["score"] == round(found.score, 1)
    assert told["mark"]["answers"] > 0.5
    assert told["labels"]["id"] == image.mark.id
    assert told["labels"]["found"] == ["iptc", "aigc"]


def test_without_its_labels_it_is_still_known(marked: dict[str, MarkedImage], key: MarkKey, change: Change) -> None:
    found = verify(file_of(change(marked["officer"].pixels), "JPEG", quality=90), "out", key, 100, deep=False)
    assert (found.verdict, found.id) == ("made_here", marked["officer"].mark.id)
    assert found.labels.names() == ()


def test_cut_it_needs_the_deep_search(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    part = file_of(np.ascontiguousarray(marked["astronaut"].pixels[50:460, 30:470]))
    assert verify(part, "part", key, 100).id == marked["astronaut"].mark.id
    assert verify(part, "part", key, 100, deep=False).verdict == "unmarked"


def test_another_studio_s_output_is_marked_by_its_labels_only(marked: dict[str, MarkedImage], key: MarkKey, other_key: MarkKey) -> None:
    data = encode(marked["officer"], "jpg", None, key).data
    found = verify(data, "out", other_key, 100, deep=False)
    assert (found.verdict, found.id, found.as_dict()["mark"]) == ("marked", None, None)
    assert verify(file_of(marked["officer"].pixels), "out", other_key, 100, deep=False).verdict == "unmarked"


def test_labels_alone_never_make_it_ours(portraits: dict[str, Frame], key: MarkKey) -> None:
    forged = build_xmp(Labels("compositeWithTrainedAlgorithmicMedia", "1", "Fusion Studio", "7F3-A91-C04", "Fusion Studio 1.0", "2026"))
    found = verify(file_of(portraits["astronaut"].pixels, "JPEG", xmp=forged), "forged", key, 100, deep=False)
    assert (found.verdict, found.id) == ("marked", None)
    preview = encode(mark(portraits["astronaut"], key, "preview", said=FUSED), "png", None, key)
    assert verify(preview.data, "preview", key, 100, deep=False).verdict == "marked"


def test_others_marks(astronaut: Pixels, key: MarkKey) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "a portrait, Steps: 20", zip=True)
    found = verify(file_of(astronaut, pnginfo=info), "generated", key, 100, deep=False)
    assert (found.verdict, found.as_dict()["labels"]) == ("marked", {"found": ["parameters"]})


def test_a_photograph(officer_path: object, key: MarkKey) -> None:
    with open(str(officer_path), "rb") as file:
        found = verify(file.read(), "photo", key, 100)
    assert found.verdict == "unmarked"
    assert found.as_dict() == {
        "verdict": "unmarked",
        "mark": None,
        "labels": {"found": []},
        "credentials": None,
        "others": {"marks": [], "texts": {}, "watermark": None},
        "ledger": None,
    }


def test_a_destroyed_message_is_inconclusive(astronaut: Pixels, key: MarkKey, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(7).integers(0, 2, payload.BITS).astype(np.uint8)
    with monkeypatch.context() as patch:
        patch.setattr(payload, "encode", lambda mark_id, key: noise)
        pixels = watermark.embed(astronaut, "000-000-000", key)
    found = verify(file_of(pixels), "damaged", key, 100, deep=False)
    assert (found.verdict, found.id) == ("inconclusive", None)
    assert found.score > 9


@pytest.fixture
def kept(tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey) -> Ledger:
    """A ledger with the officer as PNG."""
    ledger = Ledger(tmp_path / FILE)
    encode(marked["officer"], "png", None, key, ledger=ledger)
    return ledger


def test_the_ledger_knows_a_file_by_its_bytes_alone(officer: Pixels, key: MarkKey, tmp_path: Path) -> None:
    small = mark(io.from_array(np.ascontiguousarray(officer[:64, :64])), key)
    with Ledger(tmp_path / FILE) as ledger:
        data = encode(small, "png", None, key, ledger=ledger).data
        found = verify(data, "small", key, 100, deep=False, ledger=ledger)
    assert (found.verdict, found.id) == ("made_here", None)
    assert found.kept is not None
    assert [match.how for match in found.kept.found] == ["file"]
    told = found.as_dict()["ledger"]
    assert (told["asked"], told["matches"][0]["id"]) == (True, small.mark.id)
    assert not {"link", "sha256", "pdq", "settings"} & told["matches"][0].keys()


def test_a_look_alone_is_possibly_a_copy_and_never_made_here(
    kept: Ledger, marked: dict[str, MarkedImage], other_key: MarkKey, change: Change
) -> None:
    """Without this key nothing but the look is left: what an output becomes when its mark and its labels are gone."""
    with kept:
        found = verify(file_of(change(marked["officer"].pixels)), "copy", other_key, 100, deep=False, ledger=kept)
    assert found.kept is not None
    alike = {match.entry.id for match in found.kept.alike}  # none of a mirrored or turned picture: its hash is another
    assert found.verdict == ("possible_copy" if alike else "unmarked")
    assert alike <= {marked["officer"].mark.id}


def test_labels_say_more_than_a_look(kept: Ledger, marked: dict[str, MarkedImage], other_key: MarkKey) -> None:
    data = file_of(marked["officer"].pixels)
    labelled = file_of(marked["officer"].pixels, "JPEG", xmp=build_xmp(Labels("trainedAlgorithmicMedia", "1", "x", "x", "x", "2026")))
    with kept:
        assert verify(data, "", other_key, 100, deep=False, ledger=kept).verdict == "possible_copy"
        assert verify(labelled, "", other_key, 100, deep=False, ledger=kept).verdict == "marked"


def test_a_stranger_is_unmarked_and_a_plain_picture_is_not_compared(kept: Ledger, astronaut: Pixels, key: MarkKey) -> None:
    with kept:
        other = verify(file_of(astronaut), "", key, 100, deep=False, ledger=kept)
        plain = verify(file_of(np.full((300, 300, 3), 90, np.uint8)), "", key, 100, deep=False, ledger=kept)
    assert (other.verdict, plain.verdict) == ("unmarked", "unmarked")
    assert other.kept is not None
    assert plain.kept is not None
    assert (other.kept.plain, other.kept.matches) == (False, ())
    assert plain.kept.plain
    assert plain.as_dict()["ledger"]["compared"] is False


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_ledger_that_cannot_be_read_is_told_and_stops_nothing(
    marked: dict[str, MarkedImage], key: MarkKey, tmp_path: Path, language: str
) -> None:
    path = tmp_path / FILE
    path.write_bytes(b"no database at all, " * 300)
    found = verify(file_of(marked["officer"].pixels), "", key, 100, deep=False, ledger=Ledger(path))
    assert (found.verdict, found.id) == ("made_here", marked["officer"].mark.id)
    assert found.kept is not None
    assert found.kept.fault == "damaged"
    assert found.as_dict()["ledger"] == {"asked": False, "fault": "damaged", "compared": False, "matches": []}
    assert text("provenance.kept.why.damaged", language)


def test_verdicts_are_told_in_both_languages_without_overstating() -> None:
    for verdict in (*VERDICTS, "kept_here", "signed_here"):
        assert text(f"provenance.verdict.{verdict}", "zh-CN") != text(f"provenance.verdict.{verdict}", "en")
    assert "doesn't prove" in text("provenance.verdict.unmarked")
    for number, reason in ((1.0, "id"), (2.0, "none")):
        assert f"{number}" in text(f"provenance.mark.{reason}", "zh-CN", id="7F3-A91-C04", score=number)


def test_what_is_no_picture_is_an_error_and_no_verdict(key: MarkKey, astronaut: Pixels) -> None:
    with pytest.raises(UnreadableImage):
        verify(b"", "empty.png", key, 100)
    with pytest.raises(ImageTooLarge):
        verify(file_of(astronaut), "large.png", key, 0.1)


def test_it_can_be_stopped(astronaut: Pixels, key: MarkKey) -> None:
    run = Run(on_progress=lambda progress: run.cancel() if progress.stage == "verify" else None)
    with pytest.raises(Cancelled):
        verify(file_of(astronaut), "picture", key, 100, run=run)
