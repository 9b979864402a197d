"""Other programs' invisible watermarks are read by their known messages alone, and nothing is claimed that chance could have written."""

from io import BytesIO

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.provenance import foreign
from engines.provenance.foreign import KNOWN, ForeignMark, allowed, read_foreign
from engines.provenance.keys import MarkKey
from engines.provenance.verify import verify
from engines.text import has
from engines.types import Pixels
from studio.presenters import verification_lines

STEP = 36


def sent(name: str, wrong: int = 0) -> NDArray[np.int64]:
    bits = np.array([int(bit) for bit in KNOWN[name]])
    bits[:wrong] ^= 1
    return bits


def written(pixels: Pixels, bits: NDArray[np.int64], method: str = "dwtDct", floats: bool = False) -> Pixels:
    """As invisible-watermark writes: of each 4 × 4 block of the reduced chroma one value is put in the middle of its bit's half step."""
    yuv = np.asarray(cv2.cvtColor(pixels.astype(np.float32) if floats else pixels, cv2.COLOR_RGB2YUV))
    height, width = pixels.shape[0] // 8 * 8, pixels.shape[1] // 8 * 8
    low = yuv[:height, :width, 1].astype(np.float64).reshape(height // 2, 2, width // 2, 2).sum(axis=(1, 3)) / 2
    new = low.copy()
    for number in range(height // 8 * (width // 8)):
        down, across = divmod(number, width // 8)
        block = new[down * 4 : down * 4 + 4, across * 4 : across * 4 + 4]
        middle = 0.25 + 0.5 * bits[number % len(bits)]
        if method == "dwtDct":
            flat = block.ravel()
            place = int(np.abs(flat[1:]).argmax()) + 1
            flat[place] = (abs(flat[place]) // STEP + middle) * STEP * (1 if flat[place] >= 0 else -1)
            block[:] = flat.reshape(4, 4)
        else:
            left, sizes, right = np.linalg.svd(block)
            sizes[0] = (sizes[0] // STEP + middle) * STEP
            block[:] = left @ np.diag(sizes) @ right
    moved = yuv[..., 1].astype(np.float64)
    moved[:height, :width] += np.kron((new - low) / 2, np.ones((2, 2)))
    yuv[..., 1] = moved if floats else np.clip(np.rint(moved), 0, 255)
    return np.clip(np.rint(np.asarray(cv2.cvtColor(yuv, cv2.COLOR_YUV2RGB))), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize(("method", "floats"), [("dwtDct", False), ("dwtDct", True), ("dwtDctSvd", False)], ids=["dwtDct", "floats", "Svd"])
def test_each_known_message_is_read(astronaut: Pixels, name: str, method: str, floats: bool) -> None:
    found = read_foreign(written(astronaut, sent(name), method, floats))
    assert found is not None
    assert (found.name, found.method, found.bits) == (name, method, len(KNOWN[name]))
    assert found.bits - found.right <= allowed(found.bits)


def test_a_message_with_too_many_wrong_bits_is_none(astronaut: Pixels) -> None:
    limit = allowed(48)
    near = written(astronaut, sent("stable_diffusion_xl", wrong=limit), "dwtDctSvd")
    assert read_foreign(near) == ForeignMark("stable_diffusion_xl", "dwtDctSvd", 48 - limit, 48)
    assert read_foreign(written(astronaut, sent("stable_diffusion_xl", wrong=limit + 1), "dwtDctSvd")) is None


@pytest.mark.parametrize("name", KNOWN)
def test_chance_passes_once_in_half_a_billion(name: str) -> None:
    """Independent bits, however much likelier a 1 is than a 0: the worst case over all shares."""
    ones = KNOWN[name].count("1")
    zeros = len(KNOWN[name]) - ones

    def wrong(count: int, share: float) -> NDArray[np.float64]:
        spread = np.ones(1)
        for _ in range(count):
            spread = np.convolve(spread, (1 - share, share))
        return spread

    worst = max(
        np.convolve(wrong(ones, 1 - share), wrong(zeros, share))[: allowed(ones + zeros) + 1].sum() for share in np.arange(0.02, 1, 0.02)
    )
    assert 0 < worst < 2e-9


def test_short_messages_are_never_enough() -> None:
    assert allowed(16) == -1


def unmarked(astronaut: Pixels, officer: Pixels) -> list[Pixels]:
    random = np.random.default_rng(12)
    made = [np.full((300, 300, 3), value, np.uint8) for value in (0, 127, 255)]
    made.append(random.integers(0, 256, (300, 300, 3)).astype(np.uint8))
    for whole in (astronaut, officer) * 9:
        top, left = random.integers(0, 200, 2)
        made.append(np.ascontiguousarray(whole[top : top + 290, left : left + 300]))
    return made


def test_nothing_is_read_where_nothing_is(astronaut: Pixels, officer: Pixels) -> None:
    assert [read_foreign(one) for one in unmarked(astronaut, officer)] == [None] * 22


@pytest.mark.parametrize("shape", [(1, 70000), (70000, 1), (3, 30000), (7, 10000), (255, 256), (1, 1)])
def test_pictures_without_a_block_or_too_small(shape: tuple[int, int]) -> None:
    assert read_foreign(np.zeros((*shape, 3), np.uint8)) is None


def test_of_a_large_picture_the_top_is_enough(astronaut: Pixels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "_MOST", 512 * 256)
    found = read_foreign(written(astronaut, sent("flux"), "dwtDctSvd"))
    assert found is not None
    assert found.name == "flux"


def test_verify_says_it_as_what_others_say(astronaut: Pixels, key: MarkKey) -> None:
    buffer = BytesIO()
    Image.fromarray(written(astronaut, sent("stable_diffusion_xl"), floats=True)).save(buffer, "PNG")
    found = verify(buffer.getvalue(), "made", key, 100, deep=False)
    assert (found.verdict, found.id) == ("marked", None)
    told = found.as_dict()["others"]["watermark"]
    assert told["name"] == "stable_diffusion_xl"
    for language in ("en", "zh-CN"):
        lines = verification_lines(found, language)
        assert any("Stable Diffusion XL" in line and "dwtDct" in line and str(told["right"]) in line for line in lines)
    assert all(has(f"provenance.foreign.name.{name}", language) for name in KNOWN for language in ("en", "zh-CN"))


@pytest.mark.parametrize("method", ["dwtDct", "dwtDctSvd"])
@pytest.mark.parametrize("name", KNOWN)
def test_what_the_package_itself_writes(astronaut: Pixels, name: str, method: str) -> None:
    package = pytest.importorskip("imwatermark")
    encoder = package.WatermarkEncoder()
    encoder.set_watermark("bits", sent(name).tolist())
    found = read_foreign(np.ascontiguousarray(encoder.encode(astronaut[..., ::-1].copy(), method)[..., ::-1]))
    assert found is not None
    assert found.name == name
