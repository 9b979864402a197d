"""From files, bytes and arrays to frames: limits, names, refusals, and what a frame promises."""

import errno
import hashlib
import io as streams
import os
import pathlib
import pickle
import random
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFile, ImageOps

from engines.errors import FusionError, ImageTooLarge, InvalidOption, UnreadableImage
from engines.text import has, text
from engines.types import Frame, Pixels
from engines.vision import io
from engines.vision.decode.encoded import Encoded, Samples
from tests.strategies import FORMATS, LOSSLESS, damaged, picture, pictures, pillow_bytes

Attempt = Callable[..., Frame | FusionError]
ROOT = Path(__file__).resolve().parents[3]
TURN = Image.Transpose
STORED = {
    1: None, 2: TURN.FLIP_LEFT_RIGHT, 3: TURN.ROTATE_180, 4: TURN.FLIP_TOP_BOTTOM,
    5: TURN.TRANSPOSE, 6: TURN.ROTATE_90, 7: TURN.TRANSVERSE, 8: TURN.ROTATE_270,
}  # fmt: skip
NAMES = (
    "two words (1) [x] & it's 100%.jpg", "Žluťoučký kůň Müller.jpg", "人像 テスト 얼굴.jpg", "صورة.jpg", "👩‍🚀.jpg",
    "e\u0301-decomposed.jpg", "n" * 246 + ".jpg", "UPPER.JPG", "no-extension", "really-a.png", "{0}.jpg",
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "options", "tolerance"),
    [("PNG", {}, 0.0), ("WEBP", {"lossless": True}, 0.0), ("TIFF", {}, 0.0), ("JPEG", {"quality": 95, "subsampling": 0}, 2.0)],
)
def test_all_eight_orientations_are_one_picture(kind: str, options: dict[str, Any], tolerance: float) -> None:
    upright = Image.fromarray(picture(50, 34))
    for orientation, transpose in STORED.items():
        exif = Image.Exif()
        exif[0x112] = orientation
        stored = upright if transpose is None else upright.transpose(transpose)
        extra = {"tiffinfo": {274: orientation}} if kind == "TIFF" else {"exif": exif}
        frame = io.decode(pillow_bytes(stored, kind, **options, **extra), "x", 1)
        assert (frame.width, frame.height, frame.origin.orientation) == (50, 34, orientation)
        assert np.abs(frame.pixels.astype(int) - np.asarray(upright)).mean() <= tolerance


def test_alpha_is_turned_with_its_picture() -> None:
    pixels = picture(9, 6, channels=4)
    exif = Image.Exif()
    exif[0x112] = 7
    data = pillow_bytes(pixels, "PNG", exif=exif)
    with Image.open(streams.BytesIO(data)) as peer:
        wanted = np.asarray(ImageOps.exif_transpose(peer))
    np.testing.assert_array_equal(io.decode(data, "x", 1).alpha, wanted[..., 3])


@pytest.mark.parametrize("layout", FORMATS)
def test_what_a_frame_promises(layout: str) -> None:
    data = FORMATS[layout](picture(33, 21))
    frame = io.decode(data, "photo", 1)
    assert frame.digest == hashlib.sha256(data).hexdigest()
    arrays = [(frame.pixels, (21, 33, 3))] + ([(frame.alpha, (21, 33))] if frame.alpha is not None else [])
    for array, shape in arrays:
        assert array.shape == shape
        assert array.dtype == np.uint8
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0
    assert frame.origin.format == layout.removesuffix(" 2000").split()[0] + (" 2000" if layout == "JPEG 2000" else "")
    for key, facts in frame.origin.notes:
        assert has(f"notes.{key}")
        assert text(f"notes.{key}", "zh-CN", **dict(facts))


@settings(deadline=None, max_examples=40)
@given(pixels=pictures(), layout=st.sampled_from(LOSSLESS))
def test_lossless_files_come_back_value_by_value(pixels: Pixels, layout: str) -> None:
    frame = io.decode(FORMATS[layout](pixels), "x", 1)
    np.testing.assert_array_equal(frame.pixels, pixels)
    assert frame.alpha is None


def test_alpha_that_hides_nothing_is_none() -> None:
    pixels = picture(20, 16, channels=4)
    pixels[..., 3] = 255
    assert io.decode(pillow_bytes(pixels, "PNG"), "x", 1).alpha is None
    pixels[3, 5, 3] = 254
    alpha = io.decode(pillow_bytes(pixels, "PNG"), "x", 1).alpha
    assert alpha is not None
    assert (int(alpha.min()), int((alpha < 255).sum())) == (254, 1)


def test_colours_that_were_never_to_be_seen_are_white() -> None:
    pixels = picture(20, 16, channels=4)
    pixels[..., 3] = np.linspace(0, 255, 20).astype(np.uint8)
    pixels[:, 0, :3] = (255, 0, 255)
    frame = io.decode(pillow_bytes(pixels, "WEBP", lossless=True, exact=True), "x", 1)
    assert (frame.pixels[:, 0] == 255).all()
    np.testing.assert_array_equal(frame.pixels[:, 1:], pixels[:, 1:, :3])
    np.testing.assert_array_equal(frame.alpha, pixels[..., 3])


@pytest.mark.parametrize("size", [(1, 1), (20000, 10), (10, 20000), (1, 3)])
def test_the_smallest_and_the_thinnest(size: tuple[int, int]) -> None:
    for kind in ("PNG", "JPEG", "TIFF"):
        frame = io.decode(pillow_bytes(picture(*size, "gradient"), kind), "x", 1)
        assert (frame.width, frame.height) == size


@pytest.mark.parametrize("layout", FORMATS)
def test_the_limit_stands_before_the_pixels(layout: str) -> None:
    data = FORMATS[layout](picture(40, 25))
    assert io.decode(data, "x", 0.001).width == 40
    with pytest.raises(ImageTooLarge) as caught:
        io.decode(data, "x", 0.000999)
    facts = caught.value.facts
    assert (facts["width"], facts["height"], facts["megapixels"], facts["limit"], facts["needed"]) == (40, 25, 0.001, 0.000999, 1)
    assert "40 × 25" in caught.value.message()
    assert "FUSION_STUDIO_MAX_MEGAPIXELS=1" in caught.value.hint()


PEAK = """
import sys
from pathlib import Path
from engines.vision import io

def peak():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))

io.read(Path(sys.argv[1]), 1)
before = peak()
try:
    size = io.read(Path(sys.argv[2]), 256).pixels.nbytes
except Exception as error:
    size = 0
    print(error.code, end=" ")
print((peak() - before) * 1024, size)
"""


def _peak(tmp_path: Path, data: bytes) -> list[str]:
    (tmp_path / "small.jpg").write_bytes(FORMATS["JPEG"](picture(40, 30)))
    (tmp_path / "given").write_bytes(data)
    command = [sys.executable, "-c", PEAK, str(tmp_path / "small.jpg"), str(tmp_path / "given")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's high-water mark of memory")
class TestMemory:
    def test_a_large_photo_takes_little_more_than_twice_its_pixels(self, tmp_path: Path) -> None:
        exif = Image.Exif()
        exif[0x112] = 6
        rose, size = _peak(tmp_path, pillow_bytes(picture(6000, 3000, "gradient"), "JPEG", quality=80, exif=exif))
        assert int(size) == 6000 * 3000 * 3
        assert int(rose) < 2.3 * int(size)

    def test_a_bomb_takes_none(self, tmp_path: Path) -> None:
        bomb = pillow_bytes(Image.new("1", (20000, 20000)), "PNG")
        assert len(bomb) < 200_000
        code, rose, _ = _peak(tmp_path, bomb)
        assert code == "image_too_large"
        assert int(rose) < 20_000_000


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FORMATS["JPEG"](picture(20, 16)))
    assert io.read(path, 1).origin.format == "JPEG"
    path.write_bytes(b"no picture at all")
    with pytest.raises(UnreadableImage) as caught:
        io.read(path, 1)
    assert name in caught.value.message()


def test_a_name_that_is_not_text_is_shown_as_text(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(str(tmp_path)) + b"/caf\xe9\x1b[31m.jpg"))
    with pytest.raises(UnreadableImage) as caught:
        io.read(path, 1)
    caught.value.message().encode()
    assert "\x1b" not in caught.value.message()
    assert caught.value.reason == "missing"


def test_what_is_no_file_to_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "ring").symlink_to("ring")
    for path, reason in (
        (tmp_path, "folder"),
        (tmp_path / "missing.jpg", "missing"),
        (tmp_path / "file" / "inside.jpg", "missing"),
        (tmp_path / ("n" * 300), "missing"),
        (tmp_path / "nul\0.jpg", "missing"),
        (tmp_path / "ring", "missing"),
        (tmp_path / "pipe", "unknown"),
        (Path("/dev/zero"), "unknown"),
    ):
        with pytest.raises(UnreadableImage) as caught:
            io.read(path, 1)
        assert (path.name[:20], caught.value.reason) == (path.name[:20], reason)
        assert caught.value.hint("zh-CN")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(PermissionError(errno.EACCES, "no"), "permission"), (OSError(errno.EIO, "I/O error"), "disk"), (MemoryError(), "too_big_file")],
)
def test_what_the_system_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception, reason: str) -> None:
    (tmp_path / "a.jpg").write_bytes(b"x")

    def refuse(*_: Any, **__: Any) -> None:
        raise fault

    monkeypatch.setattr(pathlib.Path, "open", refuse)
    with pytest.raises(UnreadableImage) as caught:
        io.read(tmp_path / "a.jpg", 1)
    assert caught.value.reason == reason


def test_a_file_beyond_all_measure_is_not_even_read(tmp_path: Path) -> None:
    with (tmp_path / "a.png").open("wb") as file:
        file.truncate(io.MAX_FILE_BYTES + 1)
    with pytest.raises(UnreadableImage) as caught:
        io.read(tmp_path / "a.png", 1)
    assert caught.value.reason == "too_big_file"
    assert "1024" in caught.value.message()


def test_errors_survive_the_way_to_another_process() -> None:
    with pytest.raises(ImageTooLarge) as caught:
        io.decode(FORMATS["PNG"](picture(40, 25)), "a.png", 0.0001)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.message(), copy.facts) == (caught.value.message(), caught.value.facts)


@pytest.mark.parametrize(
    ("fault", "kind", "reason"),
    [
        (MemoryError(), ImageTooLarge, "memory"),
        (SyntaxError("not a TIFF file"), UnreadableImage, "damaged"),
        (struct.error("short"), UnreadableImage, "damaged"),
        (OSError("image file is truncated (3 bytes not processed)"), UnreadableImage, "truncated"),
        (EOFError(), UnreadableImage, "damaged"),
        (RuntimeError("codec"), UnreadableImage, "damaged"),
    ],
)
def test_whatever_a_codec_raises_becomes_a_typed_error(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, kind: type[FusionError], reason: str
) -> None:
    def fail() -> Samples:
        raise fault

    monkeypatch.setattr(io, "OPENERS", {"PNG": lambda _: Encoded("PNG", 4, 3, "RGB", fail)})
    with pytest.raises(kind) as caught:
        io.decode(FORMATS["PNG"](picture(4, 3)), "a.png", 1)
    assert caught.value.reason == reason
    assert caught.value.__cause__ is fault
    assert caught.value.message("zh-CN")


def test_more_or_fewer_pixels_than_the_header_says_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Samples(picture(5, 4), "RGB")
    monkeypatch.setattr(io, "OPENERS", {"PNG": lambda _: Encoded("PNG", 4, 4, "RGB", lambda: loaded)})
    with pytest.raises(UnreadableImage):
        io.decode(FORMATS["PNG"](picture(4, 4)), "a.png", 1)


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), layout=st.sampled_from(sorted(FORMATS)))
def test_damage_never_surfaces_raw_nor_warns(data: st.DataObject, layout: str, attempt: Attempt) -> None:
    given_ = data.draw(damaged(FORMATS[layout](picture(20, 15, seed=7))))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = attempt(given_, 0.05)
    assert seen == []
    if isinstance(result, Frame):
        assert result.pixels.shape == (result.height, result.width, 3)
    else:
        assert result.message("en")
        assert result.message("zh-CN")
        assert result.facts["name"] == "x"


def test_a_host_that_lets_truncated_files_pass_does_not_change_ours(monkeypatch: pytest.MonkeyPatch, attempt: Attempt) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    for layout in ("JPEG", "JPEG progressive", "JPEG CMYK", "PNG", "WebP", "WebP animated", "AVIF"):
        data = FORMATS[layout](picture(40, 30, "noise"))
        assert isinstance(attempt(data[: len(data) * 2 // 3]), UnreadableImage), layout


def test_threads_decode_side_by_side() -> None:
    files = {layout: make(picture(40, 30)) for layout, make in FORMATS.items()}
    wanted = {layout: io.decode(data, layout, 1) for layout, data in files.items()}
    wrong: list[str] = []

    def work(seed: int) -> None:
        layouts = list(files)
        random.Random(seed).shuffle(layouts)
        for layout in layouts:
            frame = io.decode(files[layout], layout, 1)
            if not np.array_equal(frame.pixels, wanted[layout].pixels) or frame.origin != wanted[layout].origin:
                wrong.append(layout)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3), (4, 6, 4)])
def test_arrays_become_frames(shape: tuple[int, ...]) -> None:
    pixels = np.random.default_rng(2).integers(0, 256, shape, dtype=np.uint8)
    frame = io.from_array(pixels)
    assert (frame.origin.format, frame.origin.orientation, frame.origin.notes) == ("ARRAY", 1, ())
    np.testing.assert_array_equal(frame.pixels, np.repeat(pixels[..., None], 3, axis=2) if len(shape) == 2 else pixels[..., :3])
    if shape[-1] == 4:
        np.testing.assert_array_equal(frame.alpha, pixels[..., 3])
    else:
        assert frame.alpha is None
    before, digest = frame.pixels.copy(), frame.digest
    pixels += 1  # the caller's array stays the caller's
    np.testing.assert_array_equal(frame.pixels, before)
    assert io.from_array(pixels).digest != digest
    assert frame.pixels.flags.c_contiguous


def test_the_digest_covers_the_shape_and_not_the_memory_layout() -> None:
    pixels = picture(8, 6)
    assert io.from_array(pixels).digest == io.from_array(np.asfortranarray(pixels)).digest
    assert io.from_array(pixels).digest == io.from_array(np.dstack([pixels, pixels])[..., :3]).digest
    assert io.from_array(pixels).digest != io.from_array(pixels.reshape(8, 6, 3)).digest


@pytest.mark.parametrize(
    "pixels",
    [
        np.zeros((4, 6, 3), np.float32), np.zeros((4, 6, 2), np.uint8), np.zeros((1, 4, 6, 3), np.uint8), np.zeros((0, 6, 3), np.uint8),
        np.zeros((4, 6, 3), np.uint16), np.zeros(24, np.uint8), [[1, 2], [3, 4]], None,
    ],
)  # fmt: skip
def test_other_arrays_are_refused(pixels: Any) -> None:
    with pytest.raises(InvalidOption) as caught:
        io.from_array(pixels)
    assert "(H, W, 3)" in caught.value.hint()


def test_a_real_photo(officer_path: Path) -> None:
    frame = io.read(officer_path, 256)
    with Image.open(officer_path) as peer:
        np.testing.assert_array_equal(frame.pixels, np.asarray(peer.convert("RGB")))
    assert frame.origin.format == "JPEG"


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF"])
@pytest.mark.parametrize("orientation", [1, 6])
def test_a_size_is_that_of_the_upright_picture(tmp_path: Path, format: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "picture"
    Image.new("RGB", (37, 21)).save(path, format, **({"exif": exif} if format in ("JPEG", "PNG", "WEBP") else {}))
    frame = io.read(path, 1)
    assert io.size_of(path) == (frame.width, frame.height)


def test_a_size_is_found_behind_much_metadata(tmp_path: Path) -> None:
    path = tmp_path / "long.jpg"
    Image.new("RGB", (37, 21)).save(path, "JPEG", icc_profile=bytes(400_000))
    assert io.size_of(path) == (37, 21)


def test_a_png_with_a_jpeg_inside_is_a_png(tmp_path: Path) -> None:
    from PIL.PngImagePlugin import PngInfo

    inside = streams.BytesIO()
    Image.new("RGB", (9, 9)).save(inside, "JPEG")
    info = PngInfo()
    info.add(b"prVt", inside.getvalue())
    path = tmp_path / "picture.png"
    Image.new("RGB", (37, 21)).save(path, pnginfo=info)
    assert io.size_of(path) == (37, 21)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff", b"<html>", b"\x89PNG\r\n\x1a\nxxxxxxxx", b"GIF89a\0\0\0\0\0\0\0"])
def test_what_has_no_size_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(data)
    with pytest.raises(UnreadableImage) as fault:
        io.size_of(path)
    assert fault.value.facts["name"] == "picture.jpg"
