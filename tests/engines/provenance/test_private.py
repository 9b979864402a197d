"""What a photo knows about people and places: none of it is in what leaves, whatever comes in and goes out."""

from collections.abc import Iterator
from io import BytesIO

import numpy as np
import pytest
from PIL import ExifTags, Image, ImageCms

from engines.pipeline import Studio
from engines.provenance.containers import jpeg_segments, png_chunks, webp_chunks
from engines.provenance.keys import MarkKey
from engines.provenance.mark import mark
from engines.provenance.save import FORMATS, encode
from engines.settings import Settings
from engines.types import Pixels
from engines.vision import io
from tests.colour_profiles import coded, gray_profile, linear, matrix_profile, press_inks, press_profile, through
from tests.telltale import BODY, FILM, OWNER, TELLTALES, told

SIDE = 224  # enough for the watermark
# Of these a file may be made, and of nothing else: JFIF, EXIF and XMP, ICC, C2PA (ITU-T T.81; C2PA 2.2, "Embedding manifests").
SEGMENTS = {0xE0, 0xE1, 0xE2, 0xEB, 0xDB, 0xC0, 0xC4}
CHUNKS = {b"IHDR", b"iCCP", b"eXIf", b"iTXt", b"IDAT", b"IEND", b"caBX"}
PIECES = {b"VP8X", b"ICCP", b"VP8 ", b"EXIF", b"XMP ", b"C2PA"}
LEAST = {"gif": 2}  # secrets that a format has room for


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with Studio.open(Settings(data_dir=tmp_path_factory.mktemp("data"))) as opened:
        yield opened


@pytest.fixture(scope="module")
def small(officer: Pixels) -> Pixels:
    return np.ascontiguousarray(officer[60 : 60 + SIDE, 130 : 130 + SIDE - 8])


@pytest.mark.parametrize("given", TELLTALES)
def test_nothing_of_a_photo_is_in_what_leaves(studio: Studio, small: Pixels, given: str) -> None:
    photo = TELLTALES[given](small)
    assert len(told(photo)) >= LEAST.get(given, 6)
    frame = studio.read(photo, "IMG_4711.jpg")
    assert frame.pixels.shape == ((SIDE - 8, SIDE, 3) if given == "jpeg" else (SIDE, SIDE - 8, 3))
    for kind in ("fusion", "crop", "preview"):
        image = studio.mark(frame, kind, of=frame)  # type: ignore[arg-type]
        for format in FORMATS:
            data = studio.encode(image, format).data
            assert told(data) == [], (kind, format)
            assert b"IMG_4711" not in data
            with Image.open(BytesIO(data)) as picture:
                assert picture.size == (frame.width, frame.height)
                found = picture.getexif()
                assert found.get(0x0112, 1) == 1
                assert not any(found.get_ifd(each) for each in (0x8769, 0x8825, ExifTags.IFD.IFD1))  # camera, place, thumbnail
            whole_and_nothing_more(data, kind == "fusion" and frame.origin.dpi is not None)
    for kept in studio.settings.data_dir.rglob("*"):  # the ledger and its log
        assert not kept.is_file() or told(kept.read_bytes()) == []


def whole_and_nothing_more(data: bytes, dense: bool) -> None:
    """No part that isn't wanted, and nothing behind the end."""
    if data.startswith(b"\xff\xd8"):
        assert {marker for marker, _ in jpeg_segments(data)} <= SEGMENTS
        assert data.endswith(b"\xff\xd9")
        assert data.count(b"Exif\0\0") == data.count(b"http://ns.adobe.com/xap/1.0/\0") == 1
    elif data.startswith(b"\x89PNG"):
        assert {name for name, _ in png_chunks(data)} <= CHUNKS | ({b"pHYs"} if dense else set())
        assert data.endswith(b"IEND\xaeB`\x82")
    elif data.startswith(b"RIFF"):
        assert {name for name, _ in webp_chunks(data)} <= PIECES
        assert int.from_bytes(data[4:8], "little") + 8 == len(data)


def test_the_walk_finds_a_secret(small: Pixels) -> None:
    """A test that looks in the wrong place would pass whatever leaves."""
    for name in ("jpeg", "png", "webp"):
        photo = TELLTALES[name](small)
        with pytest.raises(AssertionError):
            whole_and_nothing_more(photo, True)
    assert told("Erika-Owner".encode("utf-16-le")) == [OWNER]
    assert told(BODY.hex().encode() + FILM) == [BODY, FILM]


PATCHES = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [224, 172, 105], [128, 128, 128], [20, 40, 30]], np.uint8)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("space", ["Display P3", "Adobe RGB", "grey", "CMYK"])
def test_the_colours_are_those_that_were_seen(key: MarkKey, space: str, format: str) -> None:
    """Patches in a space of their own come out as sRGB values, and the file says that it is sRGB."""
    seen = np.repeat(np.repeat(PATCHES[None], 48, 0), 32, 1)
    out = BytesIO()
    if space == "grey":
        seen = np.repeat(seen[..., :1] // 2 + 60, 3, 2)
        stored = np.rint(255 * coded(linear(seen / 255, 0), 2.2)[..., 0]).astype(np.uint8)
        Image.fromarray(stored).save(out, "PNG", icc_profile=gray_profile(2.2))
    elif space == "CMYK":
        seen = (seen // 2 + 60).astype(np.uint8)  # within what the press can print
        Image.fromarray(np.rint(255 * press_inks(seen / 255)).astype(np.uint8), "CMYK").save(out, "TIFF", icc_profile=press_profile())
    else:
        stored = np.rint(255 * through(seen / 255, "sRGB", space)).astype(np.uint8)
        Image.fromarray(stored).save(out, "PNG", icc_profile=matrix_profile(space))
    frame = io.decode(out.getvalue(), "", 10)
    data = encode(mark(frame, key, "crop"), format, 100 if format != "png" else None, key).data
    with Image.open(BytesIO(data)) as picture:
        assert "sRGB" in ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(BytesIO(picture.info["icc_profile"])))
        back = np.asarray(picture.convert("RGB"))
    for number in range(len(PATCHES)):
        middle = np.s_[8:40, number * 32 + 8 : number * 32 + 24]
        assert np.abs(back[middle].astype(int) - seen[middle]).max() <= (6 if format == "webp" or space == "CMYK" else 4), number


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("given", "wanted"), [((300, 150), (150, 300)), ((72.0, 72.0), (72, 72)), (None, None)])
def test_pixels_per_inch_stay_those_of_the_target(
    small: Pixels, key: MarkKey, format: str, given: tuple[float, float] | None, wanted: tuple[float, float] | None
) -> None:
    """They lie on their side with the picture, and come out upright; a crop is no print of its photo."""
    exif, out = Image.Exif(), BytesIO()
    exif[0x0112] = 6
    Image.fromarray(small).save(out, "PNG", exif=exif, **({"dpi": given} if given else {}))  # type: ignore[arg-type]
    frame = io.decode(out.getvalue(), "", 10)
    for kind, expected in (("fusion", wanted), ("crop", None), ("preview", None)):
        data = encode(mark(frame, key, kind), format, None, key).data  # type: ignore[arg-type]
        found = io.decode(data, "", 10).origin.dpi
        assert (found is None) == (expected is None), kind
        if expected is not None:
            assert found == pytest.approx(expected, abs=0.1)
            with Image.open(BytesIO(data)) as picture:  # others read it, too
                tags = picture.getexif()
                assert [float(tags[each]) for each in (0x011A, 0x011B)] == pytest.approx(list(expected), abs=0.1)
                assert tags[0x0128] == 2  # inches
                assert "dpi" not in picture.info or picture.info["dpi"] == pytest.approx(expected, abs=0.1)
