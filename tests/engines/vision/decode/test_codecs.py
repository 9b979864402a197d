"""TIFF in its many layouts, GIF, BMP, JPEG 2000, AVIF and HEIC."""

import builtins
import io as streams
import struct
import warnings
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageOps

from engines.errors import FusionError, ImageTooLarge, UnreadableImage
from engines.types import Frame
from engines.vision import io
from tests.strategies import FORMATS, picture, pillow_bytes

Attempt = Callable[..., Frame | FusionError]
Entry = tuple[int, int, Sequence[int]]
ORDERS = {"II": "<", "MM": ">"}
GRAY16 = np.random.default_rng(3).integers(0, 65536, (5, 7), dtype=np.uint16)
RGB16 = np.random.default_rng(4).integers(0, 65536, (5, 7, 3), dtype=np.uint16)


def tiff(order: str, pixels: bytes, shape: tuple[int, ...], bits: int, photometric: int, *extra: Entry, **tags: int) -> bytes:
    """A TIFF of one strip, entry by entry. `tags`: compression, form (sample format), planar, orientation."""
    count = shape[2] if len(shape) > 2 else 1
    entries: list[Entry] = [
        (256, 3, [shape[1]]), (257, 3, [shape[0]]), (258, 3, [bits] * count), (259, 3, [tags.get("compression", 1)]),
        (262, 3, [photometric]), (273, 4, [0]), (274, 3, [tags.get("orientation", 1)]), (277, 3, [count]),
        (278, 3, [shape[0]]), (279, 4, [len(pixels)]), (284, 3, [tags.get("planar", 1)]), (339, 3, [tags.get("form", 1)] * count), *extra,
    ]  # fmt: skip
    mark, body, far = ORDERS[order], b"", b""
    free = 8 + 2 + 12 * len(entries) + 4
    values = {tag: struct.pack(mark + {3: "H", 4: "I"}[kind] * len(numbers), *numbers) for tag, kind, numbers in entries}
    values[273] = struct.pack(mark + "I", free + sum(len(raw) for raw in values.values() if len(raw) > 4))
    for tag, kind, numbers in sorted(entries):
        raw = values[tag]
        body += struct.pack(mark + "HHI", tag, kind, len(numbers))
        body += struct.pack(mark + "I", free + len(far)) if len(raw) > 4 else raw.ljust(4, b"\0")
        far += raw if len(raw) > 4 else b""
    return order.encode() + struct.pack(mark + "HIH", 42, 8, len(entries)) + body + bytes(4) + far + pixels


def deep(order: str, values: NDArray[np.uint16]) -> bytes:
    return values.astype(ORDERS[order] + "u2").tobytes()


def grays(values: NDArray[Any]) -> NDArray[Any]:
    return np.repeat(values[..., None], 3, axis=2)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("packed", [False, True])
def test_sixteen_bit_tiff_is_scaled_in_both_byte_orders(order: str, packed: bool) -> None:
    squeeze: Callable[[bytes], bytes] = zlib.compress if packed else bytes
    compression = 8 if packed else 1
    gray = io.decode(tiff(order, squeeze(deep(order, GRAY16)), GRAY16.shape, 16, 1, compression=compression), "x", 1)
    np.testing.assert_array_equal(gray.pixels, grays(np.rint(GRAY16 / 257)))
    colour = io.decode(tiff(order, squeeze(deep(order, RGB16)), RGB16.shape, 16, 2, compression=compression), "x", 1)
    assert np.abs(colour.pixels - np.rint(RGB16 / 257)).max() <= 1  # Pillow's high byte
    assert gray.origin.notes == colour.origin.notes == (("depth", (("bits", 16),)),)
    if order == "II":
        negative = io.decode(tiff(order, squeeze(deep(order, GRAY16)), GRAY16.shape, 16, 0, compression=compression), "x", 1)
        np.testing.assert_array_equal(negative.pixels, 255 - gray.pixels)


def test_twelve_bits_have_their_own_white() -> None:
    values = np.random.default_rng(5).integers(0, 4096, (4, 8))
    bits = "".join(f"{value:012b}" for value in values.ravel())
    frame = io.decode(tiff("II", int(bits, 2).to_bytes(len(bits) // 8, "big"), (4, 8), 12, 1), "x", 1)
    np.testing.assert_array_equal(frame.pixels, grays(np.rint(values * 255 / 4095)))
    assert frame.origin.notes == (("depth", (("bits", 12),)),)


@pytest.mark.parametrize(
    ("shape", "bits", "photometric", "tags", "said"),
    [
        ((5, 7), 32, 1, {"form": 3}, "floating-point TIFF"),
        ((5, 7), 16, 1, {"form": 2}, "signed 16-bit TIFF"),
        ((5, 7), 32, 1, {}, "32-bit TIFF"),
        ((5, 7, 3), 16, 2, {"planar": 2}, "16-bit planar TIFF"),
        ((5, 7, 3), 4, 2, {}, "4-bit TIFF"),
    ],
)
def test_tiff_layouts_that_are_not_read_are_named(
    shape: tuple[int, ...], bits: int, photometric: int, tags: dict[str, int], said: str
) -> None:
    with pytest.raises(UnreadableImage) as caught:
        io.decode(tiff("II", bytes(int(np.prod(shape)) * bits // 8 + 8), shape, bits, photometric, **tags), "x", 1)
    assert (caught.value.reason, caught.value.facts["format"]) == ("codec", said)


@pytest.mark.parametrize("extra", [(254, 4, [1]), (50706, 4, [0x01040000])])
def test_the_thumbnail_of_a_raw_file_is_not_taken_for_the_photo(extra: Entry) -> None:
    with pytest.raises(UnreadableImage) as caught:
        io.decode(tiff("II", bytes(105), (5, 7, 3), 8, 2, extra), "x", 1)
    assert caught.value.facts["format"] == "camera raw"


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("compression", [None, "tiff_lzw"])
def test_tiff_is_turned_once(orientation: int, compression: str | None) -> None:
    pixels = picture(13, 8)
    tags: dict[str, Any] = {"tiffinfo": {274: orientation}, **({"compression": compression} if compression else {})}
    frame = io.decode(pillow_bytes(pixels, "TIFF", **tags), "x", 1)
    exif = Image.Exif()
    exif[0x112] = orientation
    with Image.open(streams.BytesIO(pillow_bytes(pixels, "PNG", exif=exif))) as peer:
        np.testing.assert_array_equal(frame.pixels, np.asarray(ImageOps.exif_transpose(peer)))
    assert frame.origin.orientation == orientation


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK"])
@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"])
def test_tiff_modes_and_compressions(mode: str, compression: str) -> None:
    base = Image.fromarray(picture(31, 23, channels=4), "RGBA")
    stored = base.convert("RGB").convert(mode) if mode == "P" else base.convert(mode)
    frame = io.decode(pillow_bytes(stored, "TIFF", compression=compression), "x", 1)
    wanted = np.asarray(stored.convert("RGBA"))
    np.testing.assert_array_equal(np.full((23, 31), 255) if frame.alpha is None else frame.alpha, wanted[..., 3])
    seen = wanted[..., 3] > 0
    np.testing.assert_array_equal(frame.pixels[seen], wanted[seen][:, :3])
    assert frame.origin.bit_depth == (1 if mode == "1" else 8)


def test_lab_is_converted() -> None:
    from PIL import ImageCms

    pixels = picture(31, 23, "gradient")
    lab = ImageCms.profileToProfile(
        Image.fromarray(pixels), ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), outputMode="LAB", inPlace=False
    )
    assert lab is not None
    frame = io.decode(pillow_bytes(lab, "TIFF"), "x", 1)
    assert np.abs(frame.pixels.astype(int) - pixels).mean() < 3  # eight bits of Lab are coarse


def test_tiff_pages_are_told() -> None:
    page = Image.fromarray(picture(12, 9, seed=2))
    frame = io.decode(pillow_bytes(picture(13, 8), "TIFF", save_all=True, append_images=[page, page]), "x", 1)
    np.testing.assert_array_equal(frame.pixels, picture(13, 8))
    assert frame.origin.notes == (("frames", (("count", 3),)),)


def test_odd_tags_warn_nobody() -> None:
    """Pillow warns about two units where one belongs; in these tests warnings are errors, and the picture is sound."""
    data = tiff("II", picture(7, 5).tobytes(), (5, 7, 3), 8, 2, (282, 3, [72]), (283, 3, [72]), (296, 3, [2, 2]))
    with pytest.warns(UserWarning, match="too many entries"), Image.open(streams.BytesIO(data)) as peer:
        peer.load()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        np.testing.assert_array_equal(io.decode(data, "x", 1).pixels, picture(7, 5))
    assert seen == []


@pytest.mark.parametrize("layout", ["JPEG", "PNG", "PNG palette", "WebP", "GIF", "BMP", "TIFF", "TIFF LZW"])
def test_pictures_above_the_limit_of_pillow_are_read_within_ours(layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow's limit is a process-wide variable, and the host program may have set it to anything."""
    data = FORMATS[layout](picture(1600, 1400, "flat"))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1 << 20)
    with pytest.raises(Image.DecompressionBombError):
        Image.open(streams.BytesIO(data))
    assert io.decode(data, layout, 3).width == 1600
    with pytest.raises(ImageTooLarge):
        io.decode(data, layout, 2)


def test_gif_holes() -> None:
    indices = np.random.default_rng(1).integers(0, 8, (20, 30), dtype=np.uint8)
    stored = Image.frombytes("P", (30, 20), indices.tobytes())
    stored.putpalette(picture(8, 1, "noise").tobytes())
    frame = io.decode(pillow_bytes(stored, "GIF", transparency=5), "x", 1)
    assert frame.alpha is not None
    np.testing.assert_array_equal(frame.alpha == 0, indices == 5)
    np.testing.assert_array_equal(frame.pixels[indices != 5], np.asarray(stored.convert("RGB"))[indices != 5])
    assert (frame.pixels[indices == 5] == 255).all()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
def test_bmp(mode: str) -> None:
    stored = Image.fromarray(picture(31, 23)).convert(mode)
    np.testing.assert_array_equal(io.decode(pillow_bytes(stored, "BMP"), "x", 1).pixels, np.asarray(stored.convert("RGB")))


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
def test_jpeg_2000(mode: str, plain: bool) -> None:
    stored = Image.fromarray(picture(31, 23, channels=4), "RGBA").convert(mode)
    frame = io.decode(pillow_bytes(stored, "JPEG2000", no_jp2=plain), "x", 1)
    wanted = np.asarray(stored.convert("RGBA"))
    np.testing.assert_array_equal(np.full((23, 31), 255) if frame.alpha is None else frame.alpha, wanted[..., 3])
    np.testing.assert_array_equal(frame.pixels[wanted[..., 3] > 0], wanted[wanted[..., 3] > 0][:, :3])


def test_deep_jpeg_2000() -> None:
    frame = io.decode(pillow_bytes(Image.fromarray(GRAY16), "JPEG2000"), "x", 1)
    np.testing.assert_array_equal(frame.pixels, grays(np.rint(GRAY16 / 257)))
    assert frame.origin.notes == (("depth", (("bits", 16),)),)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_avif_is_turned_by_its_own_boxes(orientation: int) -> None:
    pixels = picture(48, 32)
    exif, again = Image.Exif(), Image.Exif()
    exif[0x112] = again[0x112] = orientation
    frame = io.decode(pillow_bytes(pixels, "AVIF", quality=95, exif=exif), "x", 1)
    with Image.open(streams.BytesIO(pillow_bytes(pixels, "PNG", exif=again))) as peer:
        wanted = np.asarray(ImageOps.exif_transpose(peer))
    assert frame.pixels.shape == wanted.shape
    assert np.abs(frame.pixels.astype(int) - wanted).mean() < 6


def test_avif_alpha_and_sequence() -> None:
    pixels = picture(40, 30, channels=4)
    frame = io.decode(pillow_bytes(pixels, "AVIF", quality=95), "x", 1)
    assert frame.alpha is not None
    assert np.abs(frame.alpha.astype(int) - pixels[..., 3]).mean() < 3
    second = Image.fromarray(picture(40, 30, seed=2))
    sequence = io.decode(pillow_bytes(picture(40, 30), "AVIF", save_all=True, append_images=[second, second]), "x", 1)
    assert sequence.origin.notes == (("frames", (("count", 3),)),)
    assert np.abs(sequence.pixels.astype(int) - picture(40, 30)).mean() < 12


@pytest.fixture(scope="module")
def heic() -> Callable[..., bytes]:
    """(pixels, Pillow's or pillow-heif's mode, options) → HEIC bytes."""
    heif = pytest.importorskip("pillow_heif")

    def make(pixels: NDArray[Any], mode: str = "RGB", **options: Any) -> bytes:
        buffer = streams.BytesIO()
        heif.from_bytes(mode, pixels.shape[1::-1], np.ascontiguousarray(pixels).tobytes()).save(buffer, quality=95, **options)
        return buffer.getvalue()

    return make


def test_heic(heic: Callable[..., bytes]) -> None:
    pixels = picture(90, 70, "gradient")
    frame = io.decode(heic(pixels), "phone.heic", 1)
    assert (frame.origin.format, frame.origin.mode, frame.origin.notes) == ("HEIC", "RGB", ())
    assert np.abs(frame.pixels.astype(int) - pixels).mean() < 3
    again = io.decode(heic(pixels), "phone.heic", 1)
    np.testing.assert_array_equal(again.pixels, frame.pixels)  # neither lies in memory that the decoder freed


def test_heic_of_ten_bits(heic: Callable[..., bytes]) -> None:
    pixels = picture(90, 70, "gradient")
    frame = io.decode(heic(pixels.astype(np.uint16) * 257, "RGB;16"), "x", 1)
    assert np.abs(frame.pixels.astype(int) - pixels).mean() < 3
    gray = io.decode(heic(pixels[..., 0].astype(np.uint16) * 257, "I;16L"), "x", 1)
    assert np.abs(gray.pixels.astype(int) - pixels[..., :1]).mean() < 3
    assert frame.origin.notes == gray.origin.notes == (("depth", (("bits", 10),)),)


def test_heic_alpha(heic: Callable[..., bytes]) -> None:
    pixels = picture(90, 70, "gradient", channels=4)
    frame = io.decode(heic(pixels, "RGBA"), "x", 1)
    assert frame.alpha is not None
    assert np.abs(frame.alpha.astype(int) - pixels[..., 3]).mean() < 3
    assert np.abs(frame.pixels.astype(int) - pixels[..., :3]).mean() < 4


@pytest.mark.parametrize("orientation", range(1, 9))
def test_heic_is_turned_by_its_own_boxes(heic: Callable[..., bytes], orientation: int) -> None:
    pixels = picture(64, 48, "gradient")
    exif = Image.Exif()
    exif[0x112] = orientation
    data = heic(pixels, exif=exif.tobytes())
    assert (b"irot" in data or b"imir" in data) == (orientation > 1)
    with Image.open(streams.BytesIO(pillow_bytes(pixels, "PNG", exif=exif))) as peer:
        wanted = np.asarray(ImageOps.exif_transpose(peer))
    frame = io.decode(data, "x", 1)
    assert frame.pixels.shape == wanted.shape
    assert np.abs(frame.pixels.astype(int) - wanted).mean() < 4


def test_heic_above_the_limit_and_cut(heic: Callable[..., bytes], attempt: Attempt) -> None:
    data = heic(picture(90, 70))
    assert isinstance(attempt(data, 0.001), ImageTooLarge)
    for end in range(12, len(data), max(1, len(data) // 40)):
        result = attempt(data[:end])
        assert isinstance(result, UnreadableImage)
        assert result.reason in ("truncated", "damaged")


def test_heic_without_its_decoder_names_what_to_install(heic: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    data = heic(picture(40, 30))
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "pi_heif":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnreadableImage) as caught:
        io.decode(data, "x", 1)
    assert "HEIC" in caught.value.message()
    assert "pip install pi-heif" in caught.value.hint()


def test_every_layout_is_cut_to_a_refusal_or_to_the_same_picture(attempt: Attempt) -> None:
    for layout, make in FORMATS.items():
        data = make(picture(24, 18))
        whole = io.decode(data, layout, 1)
        for end in range(0, len(data), max(1, len(data) // 50)):
            result = attempt(data[:end])
            if isinstance(result, Frame):
                np.testing.assert_array_equal(result.pixels, whole.pixels, err_msg=f"{layout} cut at {end}")
            else:
                assert isinstance(result, UnreadableImage)
