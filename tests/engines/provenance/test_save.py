"""The encoder: what it writes, others can read; what it says, stands in the bytes."""

import dataclasses
import struct
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageCms

from engines.errors import Cancelled, InvalidOption, MarkNotRead, OutputExists, OutputUnwritable
from engines.provenance import encoders, output, watermark
from engines.provenance import save as room
from engines.provenance.archive import bundle
from engines.provenance.containers import png_chunks, webp_chunks
from engines.provenance.keys import MarkKey
from engines.provenance.labels import TOOL
from engines.provenance.mark import FUSED, MarkedImage, mark
from engines.provenance.metadata import read_labels
from engines.provenance.output import NAMES
from engines.provenance.save import DEFAULT_QUALITY, FORMATS, EncodedImage, encode, save, write_encoded
from engines.timing import Progress, Run
from engines.types import Frame, Pixels
from engines.vision import io
from tests.strategies import picture, pillow_bytes

WHO = ["astronaut", "officer", "cut-out"]


@pytest.fixture(scope="module")
def files(marked: dict[str, MarkedImage], key: MarkKey) -> dict[tuple[str, str], EncodedImage]:
    return {(who, format): encode(marked[who], format, None, key) for who in WHO for format in FORMATS}


@pytest.fixture(params=[(who, format) for who in WHO for format in FORMATS], ids="-".join)
def one(
    request: pytest.FixtureRequest, files: dict[tuple[str, str], EncodedImage], marked: dict[str, MarkedImage]
) -> tuple[EncodedImage, MarkedImage]:
    return files[request.param], marked[request.param[0]]


def pixels_of(data: bytes, mode: str = "RGB") -> Pixels:
    with Image.open(BytesIO(data)) as picture:
        return np.asarray(picture.convert(mode))


def test_another_program_reads_it(one: tuple[EncodedImage, MarkedImage]) -> None:
    encoded, image = one
    with Image.open(BytesIO(encoded.data)) as picture:
        assert picture.format == NAMES[encoded.format].upper()
        assert picture.size == (encoded.width, encoded.height) == (image.width, image.height)
        assert picture.mode == ("RGBA" if image.alpha is not None and encoded.format != "jpg" else "RGB")
        exif = picture.getexif()
        # TIFF keeps its picture's own tags there; Pillow takes AVIF's orientation out, for the container has it
        assert {tag: exif.get(tag, 1) for tag in (0x0112, 0x0131)} == {0x0112: 1, 0x0131: TOOL}
        assert encoded.format == "tiff" or len(exif) <= 2
        profile = ImageCms.ImageCmsProfile(BytesIO(picture.info["icc_profile"]))
        assert "sRGB" in ImageCms.getProfileDescription(profile)
        picture.load()
        packet = picture.info["xmp"]
    assert image.mark.id in (packet if isinstance(packet, str) else packet.decode())


def test_it_looks_as_it_should(one: tuple[EncodedImage, MarkedImage]) -> None:
    encoded, image = one
    mode = "RGBA" if image.alpha is not None and encoded.format != "jpg" else "RGB"
    back = pixels_of(encoded.data, mode)
    expected = image.pixels
    if image.alpha is not None and encoded.format == "jpg":
        share = image.alpha[..., None] / 255
        expected = np.rint(image.pixels * share + 255 * (1 - share)).astype(np.uint8)
    if encoded.format in ("png", "tiff"):
        assert np.array_equal(back[..., :3], expected)
    shown = np.ones(expected.shape[:2], bool) if image.alpha is None else image.alpha > 0
    assert np.abs(back[..., :3].astype(int) - expected)[shown].mean() < 3
    if mode == "RGBA":
        assert np.array_equal(back[..., 3], image.alpha)


def test_what_it_says_is_in_the_bytes(one: tuple[EncodedImage, MarkedImage], key: MarkKey) -> None:
    encoded, image = one
    assert read_labels(encoded.data).labels == encoded.labels == image.labels
    assert encoded.mark.kind == "watermark"
    assert watermark.detect(io.decode(encoded.data, "", 100).pixels, key).id == encoded.mark.id == image.mark.id
    flattened = encoded.format == "jpg" and image.alpha is not None
    assert encoded.notes == ((("flattened", (("format", "JPEG"),)),) if flattened else ())
    assert encoded.media_type == f"image/{encoded.format.replace('jpg', 'jpeg')}"


def test_the_same_picture_gives_the_same_bytes(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    for format in FORMATS:
        assert encode(marked["officer"], format, None, key).data == encode(marked["officer"], format, None, key).data


@pytest.mark.parametrize(
    ("format", "quality"), [("jpg", 80), ("jpg", 75), ("jpg", 100), ("webp", 85), ("webp", 100), ("avif", 50), ("avif", 100)]
)
def test_the_mark_survives_usual_qualities(marked: dict[str, MarkedImage], key: MarkKey, format: str, quality: int) -> None:
    for who in WHO:
        assert encode(marked[who], format, quality, key).mark.id == marked[who].mark.id


def test_chroma_is_not_subsampled_and_quality_counts(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    sizes = [len(encode(marked["astronaut"], "jpg", quality, key).data) for quality in (75, None, 98)]
    assert sizes == sorted(sizes)
    with Image.open(BytesIO(encode(marked["astronaut"], "jpg", None, key).data)) as picture:
        assert [layer[1:3] for layer in picture.layer] == [(1, 1)] * 3


@pytest.mark.parametrize("quality", [0, 39, 101])
def test_other_qualities_are_refused(marked: dict[str, MarkedImage], key: MarkKey, quality: int) -> None:
    with pytest.raises(InvalidOption, match=str(quality)):
        encode(marked["astronaut"], "jpg", quality, key)


@pytest.mark.parametrize("format", FORMATS)
def test_a_mark_that_does_not_read_back_is_an_error(portraits: dict[str, Frame], key: MarkKey, other_key: MarkKey, format: str) -> None:
    with pytest.raises(MarkNotRead) as caught:
        encode(mark(portraits["astronaut"], other_key), format, None, key)
    assert caught.value.reason == "watermark"
    assert caught.value.message("zh-CN") != caught.value.message("en")


@pytest.mark.parametrize("format", FORMATS)
def test_a_label_that_does_not_read_back_is_an_error(
    marked: dict[str, MarkedImage], key: MarkKey, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = encoders.build_xmp
    monkeypatch.setattr(encoders, "build_xmp", lambda labels: honest(dataclasses.replace(labels, aigc="3")))
    with pytest.raises(MarkNotRead) as caught:
        encode(marked["astronaut"], format, None, key)
    assert caught.value.reason == "labels"


def test_labels_alone_are_read_back_too(portraits: dict[str, Frame], key: MarkKey) -> None:
    for format in FORMATS:
        encoded = encode(mark(portraits["astronaut"], key, "preview", said=FUSED), format, None, key)
        assert encoded.mark.kind == "labels_only"
        assert encoded.labels.names() == ("iptc", "aigc")
        small = encode(mark(io.from_array(portraits["astronaut"].pixels[:1, :1]), key), format, None, key)
        assert small.notes == (("labels_only", ()),)
        photo = encode(mark(portraits["astronaut"], key, "crop"), format, None, key)
        assert (photo.labels.names(), photo.labels.id, photo.notes) == ((), photo.mark.id, ())


@pytest.mark.parametrize(("format", "width"), [("jpg", 65536), ("webp", 16384), ("jpg", 65533), ("avif", 32769)])
def test_sizes_that_a_format_cannot_hold(key: MarkKey, format: str, width: int) -> None:
    wide = mark(io.from_array(np.zeros((8, width, 3), np.uint8)), key, "preview")
    with pytest.raises(OutputUnwritable) as caught:
        encode(wide, format, None, key)
    assert caught.value.reason == "size"
    assert len(encode(wide, "png", None, key).data) > 100


@pytest.mark.parametrize("format", ["gif", "bmp", ""])
def test_other_formats_are_refused(marked: dict[str, MarkedImage], key: MarkKey, format: str) -> None:
    with pytest.raises(OutputUnwritable):
        encode(marked["astronaut"], format, None, key)


def canary_photo(pixels: Pixels) -> bytes:
    exif = Image.Exif()
    exif[0x010F] = exif[0x013B] = "CANARY"
    exif.get_ifd(0x8825)[0x1D] = "CANARY"
    exif.get_ifd(0x8769)[0xA431] = "CANARY"
    buffer = BytesIO()
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">CANARY</x:xmpmeta>'
    Image.fromarray(pixels).save(buffer, "JPEG", exif=exif, xmp=xmp, comment=b"CANARY", quality=95)
    assert buffer.getvalue().count(b"CANARY") >= 5
    return buffer.getvalue()


@pytest.mark.parametrize("format", FORMATS)
def test_p_01_nothing_of_the_input_travels(astronaut: Pixels, key: MarkKey, format: str) -> None:
    data = encode(mark(io.decode(canary_photo(astronaut), "photo", 100), key), format, None, key).data
    assert b"CANARY" not in data
    if format == "png":
        assert {name for name, _ in png_chunks(data)} == {b"IHDR", b"iCCP", b"eXIf", b"iTXt", b"IDAT", b"IEND"}
    if format == "webp":
        assert {name for name, _ in webp_chunks(data)} == {b"VP8X", b"ICCP", b"VP8 ", b"EXIF", b"XMP "}


def test_colours_under_full_transparency_do_not_bleed(key: MarkKey, astronaut: Pixels) -> None:
    """Leftovers of a cut-out are white by now (`engines.vision.io`), and stay away from what is seen."""
    alpha = np.full((512, 512), 255, np.uint8)
    alpha[:, 256:] = 0
    leftovers = np.dstack((astronaut, alpha))
    leftovers[:, 256:, :3] = (255, 0, 255)
    image = mark(io.from_array(leftovers), key)
    for format in FORMATS:
        back = pixels_of(encode(image, format, None, key).data, "RGBA")
        rise = back[:, :256, :3].astype(int) - astronaut[:, :256]
        magenta = np.minimum(rise[..., 0], rise[..., 2])
        if format in ("png", "tiff"):
            assert magenta.max() <= 8
        assert np.mean(magenta[:, 200:] > 24) < 0.001


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.parametrize("suffix", ["png", "JPG", "jpeg", "webp", "avif", "TIF"])
def test_saving(tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey, suffix: str) -> None:
    path = tmp_path / f"out.{suffix}"
    saved = save(marked["officer"], path, key=key)
    assert names(tmp_path) == [path.name]
    assert saved.path == path
    assert saved.bytes == path.stat().st_size
    assert (saved.width, saved.height) == pixels_of(path.read_bytes()).shape[1::-1]
    assert saved.mark.id == watermark.detect(pixels_of(path.read_bytes()), key).id
    assert saved.labels == read_labels(path.read_bytes()).labels


def test_a_format_may_be_told_apart_from_the_name(tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey) -> None:
    assert save(marked["officer"], tmp_path / "picture", "webp", 95, key=key).format == "webp"
    assert (tmp_path / "picture").read_bytes()[8:12] == b"WEBP"
    with pytest.raises(OutputUnwritable):
        save(marked["officer"], tmp_path / "other", key=key)


def test_nothing_is_encoded_for_a_name_in_use(
    tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.png"
    path.write_bytes(b"old")
    monkeypatch.setattr(room, "_encoded", lambda *_: pytest.fail("encoded"))
    with pytest.raises(OutputExists):
        save(marked["officer"], path, key=key)
    assert path.read_bytes() == b"old"


def test_a_mark_that_does_not_read_back_leaves_no_file(
    tmp_path: Path, portraits: dict[str, Frame], key: MarkKey, other_key: MarkKey
) -> None:
    with pytest.raises(MarkNotRead):
        save(mark(portraits["officer"], other_key), tmp_path / "new" / "out.png", key=key)
    assert names(tmp_path) == []


@pytest.mark.parametrize("at", ["encode", "verify", "save"])
def test_stopped_in_any_stage_leaves_no_file(tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey, at: str) -> None:
    def stop(progress: Progress) -> None:
        if progress.stage == at:
            run.cancel()

    run = Run(on_progress=stop)
    with pytest.raises(Cancelled):
        save(marked["officer"], tmp_path / "out.png", key=key, run=run)
    assert names(tmp_path) == []


def test_stages_are_timed(tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey) -> None:
    run = Run()
    save(marked["officer"], tmp_path / "out.png", key=key, run=run)
    assert [name for name, _ in run.timings().stages] == ["encode", "verify", "save"]


def test_an_encoded_picture_is_written_as_it_is(tmp_path: Path, files: dict[tuple[str, str], EncodedImage]) -> None:
    encoded = files["astronaut", "webp"]
    write_encoded(encoded, tmp_path / "out.webp")
    assert (tmp_path / "out.webp").read_bytes() == encoded.data


def test_an_archive_holds_what_it_was_given(files: dict[tuple[str, str], EncodedImage]) -> None:
    named = [(f"faces/{who} 图.{format}", encoded) for (who, format), encoded in files.items()]
    texts = {"crops.json": '{"ß": 1}' * 100}
    data = bundle(named, texts)
    assert bundle(named, texts) == data
    with zipfile.ZipFile(BytesIO(data)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [*(name for name, _ in named), "crops.json"]
        assert all(archive.read(name) == encoded.data for name, encoded in named)
        assert archive.read("crops.json").decode() == texts["crops.json"]


@pytest.mark.parametrize("wrong", ["/etc/passwd", "../up.png", "a/../../up.png", "c:\\up.png"])
def test_names_that_lead_out_of_an_archive_are_refused(files: dict[tuple[str, str], EncodedImage], wrong: str) -> None:
    with pytest.raises(ValueError, match="relative"):
        bundle([(wrong, files["astronaut", "png"])])
    with pytest.raises(ValueError, match="differ"):
        bundle([("one.png", files["astronaut", "png"])] * 2)


def broken_png(data: bytes) -> bytes:
    return data[: len(data) // 2]


def broken_jpeg(data: bytes) -> bytes:
    at = data.index(b"\xff\xda")
    return data[: at + 2] + struct.pack(">H", 3) + data[at + 4 : at + 200]


def broken_tiff(data: bytes) -> bytes:
    return data[:200] + bytes(len(data) - 100_200) + data[-100_000:]  # rows in front; the directory, which comes last, stays


@pytest.mark.parametrize(
    ("format", "damage"), [("png", broken_png), ("jpg", broken_jpeg), ("webp", broken_png), ("avif", broken_png), ("tiff", broken_tiff)]
)
def test_an_encoder_that_fails_silently_is_noticed(
    marked: dict[str, MarkedImage], key: MarkKey, format: str, damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = encode(marked["astronaut"], format, None, key).data
    monkeypatch.setattr(encoders, "encoded", lambda *_: damage(whole))
    with pytest.raises(MarkNotRead):
        encode(marked["astronaut"], format, None, key)


def test_defaults_are_good_qualities() -> None:
    assert DEFAULT_QUALITY == {"png": None, "jpg": 92, "webp": 90, "avif": 85, "tiff": None}
    assert cv2.IMWRITE_PNG_FILTER_UP  # OpenCV 5's own filter choice, which the encoder counts on


def test_a_tiff_of_no_known_resolution_names_none_and_is_packed(
    files: dict[tuple[str, str], EncodedImage], marked: dict[str, MarkedImage]
) -> None:
    encoded = files["astronaut", "tiff"]
    with Image.open(BytesIO(encoded.data)) as picture:
        assert (picture.tag_v2[296], picture.tag_v2[317], picture.info["compression"]) == (1, 2, "tiff_lzw")
    assert len(encoded.data) < marked["astronaut"].pixels.nbytes


@pytest.mark.parametrize(("format", "part"), [("avif", "avif"), ("webp", "webp"), ("tiff", "libtiff"), ("jpg", "jpg")])
def test_a_format_that_this_pillow_cannot_write_is_told_before_the_work(
    tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey, format: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output.features, "check", lambda name: name != part)
    for attempt in (
        lambda: output.check_writable(tmp_path / f"out.{format}"),
        lambda: encode(marked["astronaut"], format, None, key),
    ):
        with pytest.raises(OutputUnwritable) as caught:
            attempt()
        assert caught.value.reason == "codec"
        assert NAMES[output.format_of(format)] in caught.value.message("zh-CN")
    assert encode(marked["astronaut"], "png", None, key).format == "png"


@pytest.mark.parametrize("format", ["png", "tiff"])
@pytest.mark.parametrize("kind", ["16-bit", "16-bit alpha", "CMYK"])
def test_deep_and_printers_tiffs_come_out_as_they_look(key: MarkKey, kind: str, format: str) -> None:
    pixels = picture(64, 48, "soft", 3, 4 if kind.endswith("alpha") else 3)
    if kind == "CMYK":
        data = pillow_bytes(Image.fromarray(pixels).convert("CMYK"), "TIFF")
    else:
        order = [2, 1, 0, 3][: pixels.shape[2]]
        data = cv2.imencode(".tiff", pixels[..., order].astype(np.uint16) * 257)[1].tobytes()
    frame = io.decode(data, "in.tiff", 1)
    assert np.abs(frame.pixels.astype(int) - pixels[..., :3])[frame.pixels[..., 0] < 255].max() <= (1 if kind != "CMYK" else 3)
    back = io.decode(encode(mark(frame, key), format, None, key).data, "out", 1)
    assert np.array_equal(back.pixels, frame.pixels)
    assert (back.alpha is None) == (frame.alpha is None) == (kind != "16-bit alpha")
    if frame.alpha is not None and back.alpha is not None:
        assert np.array_equal(back.alpha, frame.alpha)
        assert np.array_equal(frame.alpha, pixels[..., 3])
