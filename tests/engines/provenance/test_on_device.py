"""The mark that is written on a device is the one that is written without."""

import numpy as np
import pytest

from engines.provenance import on_device, watermark
from engines.provenance.keys import MarkKey
from engines.types import Pixels

torch = pytest.importorskip("torch", reason="needs the extra torch")

ID = "7F3-A91-C04"


def scene(height: int, width: int) -> Pixels:
    """Ramps, noise of several strengths, and edges."""
    random = np.random.default_rng(height * width)
    down, across = np.mgrid[:height, :width]
    grain = random.normal(0, 1, (height, width, 3)) * (1 + 12 * (across // 40 % 2))[..., None]
    base = np.stack((down * 255 / height, across * 255 / width, (down + across) % 256), axis=-1)
    return np.clip(base * 0.8 + 20 + grain, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    "size",
    [(1080, 1920), (720, 1280), (512, 512), (600, 800), (1000, 400), (300, 200), (2200, 1300), (40, 1500)],
    ids=lambda size: f"{size[1]}x{size[0]}",
)
def test_no_value_differs_by_more_than_one(key: MarkKey, size: tuple[int, int]) -> None:
    pixels = scene(*size)
    wanted = watermark.embed(pixels, ID, key)
    made = on_device.embed(torch.from_numpy(pixels), ID, key).numpy()
    assert not np.array_equal(pixels, made)
    assert np.abs(wanted.astype(int) - made).max() <= 1


def test_it_is_read_back(astronaut: Pixels, key: MarkKey) -> None:
    assert watermark.detect(on_device.embed(torch.from_numpy(astronaut), ID, key).numpy(), key).id == ID


def test_the_frame_stays_as_it_was(astronaut: Pixels, key: MarkKey) -> None:
    frame = torch.from_numpy(astronaut.copy())
    on_device.embed(frame, ID, key)
    assert np.array_equal(frame.numpy(), astronaut)


def test_other_shapes_and_ids_are_refused(astronaut: Pixels, key: MarkKey) -> None:
    with pytest.raises(ValueError, match="not of"):
        on_device.embed(torch.zeros((3, 64, 64), dtype=torch.uint8), ID, key)
    with pytest.raises(ValueError, match="not of"):
        on_device.embed(torch.zeros((64, 64, 3)), ID, key)
    with pytest.raises(ValueError, match="not an id"):
        on_device.embed(torch.from_numpy(astronaut.copy()), "nonsense", key)
