"""Pictures that come in: turned, transparent, in inks, deep, animated, broken, huge."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.errors import ImageTooLarge, NoFace, UnreadableImage
from engines.pipeline import Studio

Pixels = NDArray[np.uint8]
Encoded = Callable[..., bytes]
TURN = Image.Transpose
STORED = {
    1: None, 2: TURN.FLIP_LEFT_RIGHT, 3: TURN.ROTATE_180, 4: TURN.FLIP_TOP_BOTTOM,
    5: TURN.TRANSPOSE, 6: TURN.ROTATE_90, 7: TURN.TRANSVERSE, 8: TURN.ROTATE_270,
}  # fmt: skip


def difference(one: Pixels, other: Pixels) -> float:
    return float(np.abs(one.astype(np.int16) - other).mean())


@pytest.mark.parametrize("role", ["source", "target"])
def test_case_i01_phone_photo_lies_on_its_side(studio: Studio, astronaut: Pixels, officer: Pixels, encoded: Encoded, role: str) -> None:
    upright = Image.fromarray(astronaut[:, 24:424])
    boxes, results = [], []
    for orientation, transpose in STORED.items():
        stored = upright if transpose is None else upright.transpose(transpose)
        exif = Image.Exif()
        exif[0x112] = orientation
        data = encoded(stored, "JPEG", quality=95, subsampling=0, exif=exif)
        boxes.append(studio.faces(data).faces[0].box.as_ints())
        pair = (data, officer) if role == "source" else (officer, data)
        results.append(studio.fuse(*pair))
    assert np.ptp(boxes, axis=0).max() <= 2
    for result in results:
        if role == "target":
            assert result.image.pixels.shape == (512, 400, 3)
        assert difference(result.image.pixels, results[0].image.pixels) <= 3
        data = result.encode("jpg").data
        with Image.open(io.BytesIO(data)) as picture:
            assert picture.getexif().get(0x112, 1) == 1


@pytest.fixture(scope="module")
def cut_out(astronaut: Pixels) -> Pixels:
    """(512, 512, 4): head and shoulders, magenta where it is fully transparent."""
    rows, columns = np.mgrid[:512, :512]
    reach = 134 * 1.15
    alpha = (np.clip((1.08 - np.hypot((columns - 224.5) / reach, (rows - 114) / (reach * 1.15))) / 0.12, 0, 1) * 255).astype(np.uint8)
    return np.dstack([np.where(alpha[..., None] > 0, astronaut, np.uint8([255, 0, 255])), alpha])


@pytest.mark.parametrize(("kind", "options"), [("PNG", {}), ("WEBP", {"lossless": True, "exact": True})])
def test_case_i02_holes_stay_holes(
    studio: Studio, officer: Pixels, cut_out: Pixels, encoded: Encoded, kind: str, options: dict[str, bool]
) -> None:
    result = studio.fuse(officer, encoded(cut_out, kind, **options))
    for format in ("png", "webp"):
        back = studio.read(result.encode(format).data)
        assert back.alpha is not None
        np.testing.assert_array_equal(back.alpha, cut_out[..., 3])
        seen = cut_out[..., 3] > 0
        risen = back.pixels[seen].astype(int) - cut_out[..., :3][seen]
        changed = np.minimum(risen[:, 0], risen[:, 2]) - np.maximum(risen[:, 1], 0)
        assert np.mean(changed > 24) < 0.002  # magenta lifts red and blue together and green not
    assert all(key != "flattened" for key, _ in result.notes)
    flat = result.encode("jpg")
    assert studio.read(flat.data).alpha is None
    assert any(key == "flattened" for key, _ in flat.notes)
    assert difference(studio.read(flat.data).pixels[-40:, :40], np.full((40, 40, 3), 255, np.uint8)) < 3


def test_case_i02_gray_and_palette_holes(studio: Studio, officer: Pixels, cut_out: Pixels, encoded: Encoded) -> None:
    gray = studio.fuse(officer, encoded(Image.fromarray(cut_out).convert("LA"), "PNG"))
    assert gray.image.alpha is not None
    np.testing.assert_array_equal(gray.image.alpha, cut_out[..., 3])
    palette = Image.fromarray(cut_out[..., :3]).quantize(255)
    holes = np.where(cut_out[..., 3] < 128, 255, np.asarray(palette)).astype(np.uint8)
    picture = Image.frombytes("P", palette.size, holes.tobytes())
    picture.putpalette([*((palette.getpalette() or []) + [0] * 768)[:765], 255, 0, 255])
    result = studio.fuse(officer, encoded(picture, "PNG", transparency=255))
    assert result.image.alpha is not None
    np.testing.assert_array_equal(result.image.alpha == 0, holes == 255)


@pytest.mark.parametrize("deep", ["gray", "rgb"])
def test_case_i04_sixteen_bits(studio: Studio, astronaut: Pixels, officer: Pixels, deep: str) -> None:
    eight = cv2.cvtColor(astronaut, cv2.COLOR_RGB2GRAY) if deep == "gray" else np.ascontiguousarray(astronaut[..., ::-1])
    data = cv2.imencode(".png", eight.astype(np.uint16) * 257)[1].tobytes()
    result = studio.fuse(officer, data)
    assert float(result.target.pixels.mean()) == pytest.approx(float(eight.mean()), abs=2)
    assert any(key == "depth" for key, _ in result.notes)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "AVIF"])
def test_case_i06_animations_and_avif(studio: Studio, astronaut: Pixels, officer: Pixels, encoded: Encoded, kind: str) -> None:
    frames = [Image.fromarray(astronaut), Image.fromarray(np.roll(astronaut, 40, 1)), Image.fromarray(astronaut[::-1].copy())]
    animated = {"save_all": True, "append_images": frames[1:], "duration": 120} if kind != "AVIF" else {}
    result = studio.fuse(officer, encoded(frames[0], kind, **animated))
    assert difference(result.target.pixels, astronaut) < 12  # a GIF has 256 colours
    said = [dict(facts)["count"] for key, facts in result.notes if key == "frames"]
    assert said == ([3] if animated else [])


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda whole: whole[: len(whole) * 2 // 5], "truncated"),
        (lambda whole: b"", "empty"),
        (lambda whole: b"This is not a picture.\n" * 40, "text"),
        (lambda whole: b"<!doctype html><html><body>Please sign in</body></html>", "web_page"),
    ],
)
def test_case_i07_broken(
    studio: Studio, astronaut: Pixels, officer: Pixels, encoded: Encoded, make: Callable[[bytes], bytes], reason: str
) -> None:
    with pytest.raises(UnreadableImage) as caught:
        studio.fuse(officer, make(encoded(astronaut, "JPEG", quality=92)))
    assert caught.value.reason == reason


@pytest.mark.parametrize("name", ["png-inside.jpg", "UPPER.JPG", "no-extension"])
def test_case_i07_misnamed(studio: Studio, astronaut: Pixels, officer: Pixels, encoded: Encoded, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(encoded(astronaut, "PNG" if "png" in name else "JPEG"))
    assert studio.fuse(officer, tmp_path / name).faces


@pytest.mark.parametrize("shape", [(1, 1), (10, 20000), (20000, 10), (2, 3)])
def test_case_i08_far_too_small(studio: Studio, astronaut: Pixels, officer: Pixels, shape: tuple[int, int]) -> None:
    picture = cv2.resize(astronaut, shape[::-1])
    for pair, role in (((officer, picture), "target"), ((picture, officer), "source")):
        with pytest.raises(NoFace) as caught:
            studio.fuse(*pair)
        assert caught.value.facts["role"] == role


def test_case_i08_bomb(studio: Studio, officer: Pixels, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.png"
    Image.new("1", (30000, 30000)).save(bomb)
    with pytest.raises(ImageTooLarge) as caught:
        studio.fuse(officer, bomb)
    assert caught.value.facts["limit"] == 256
    assert "FUSION_STUDIO_MAX_MEGAPIXELS" in caught.value.hint()


BIG = """
import json, resource, sys
from engines import Settings, Studio
from pathlib import Path
source, target, output, data = map(Path, sys.argv[1:])
with Studio.open(Settings(data_dir=data, provider="cpu")) as studio:
    saved = studio.fuse(source, target).save(output)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"size": [saved.width, saved.height], "kind": saved.mark.kind, "peak": peak}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux only")
def test_case_i08_a_phone_photo_of_108_megapixels(
    officer_path: Path, astronaut: Pixels, wall: Callable[..., Pixels], hang: Callable[..., object], encoded: Encoded, tmp_path: Path
) -> None:
    large = cv2.resize(wall(1200, 900), (12000, 9000), interpolation=cv2.INTER_LINEAR)
    hang(large, astronaut, 5200, 3000, 2600)
    (tmp_path / "large.jpg").write_bytes(encoded(large, "JPEG", quality=75))
    del large
    line = [sys.executable, "-c", BIG, *map(str, (officer_path, tmp_path / "large.jpg", tmp_path / "out.jpg", tmp_path / "data"))]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=root, env=os.environ | {"PYTHONPATH": str(root)})
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["size"] == [12000, 9000]
    assert answer["kind"] == "watermark"
    assert answer["peak"] <= 3 << 20  # 3 GiB
