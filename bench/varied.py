"""Ten varied pictures for measuring the watermark, from the packages that developers have anyway or drawn here, and some that are hard."""

from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from matplotlib.cbook import get_sample_data
from PIL import Image
from skimage import data

from engines.types import Pixels

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")


def varied() -> Iterator[tuple[str, Pixels]]:
    """Portraits, an animal, things, a street, a night, a sky with grain, a page of text, a drawing: 451 to 1920 px."""
    yield "astronaut", _colour(data.astronaut())
    with Image.open(get_sample_data("grace_hopper.jpg", asfileobj=False)) as picture:
        yield "officer", np.asarray(picture.convert("RGB"))
    yield "cat", _colour(data.chelsea())
    yield "coffee", _colour(data.coffee())
    yield "rocket", _colour(data.rocket())
    yield "motorcycle", _colour(data.stereo_motorcycle()[0])
    yield "deep field", _colour(data.hubble_deep_field())
    yield "sky", sky(1080, 1920)
    yield "text page", text_page(1754, 1240)
    yield "drawing", drawing(768, 1024)


def hard() -> Iterator[tuple[str, Pixels]]:
    """What has nothing to hide a mark in, and what is small."""
    yield "white", np.full((600, 800, 3), 255, np.uint8)
    yield "black", np.zeros((600, 800, 3), np.uint8)
    yield "grey", np.full((600, 800, 3), 128, np.uint8)
    yield "skin colour", np.full((600, 800, 3), (198, 152, 124), np.uint8)
    yield "ramp", np.repeat(np.linspace(20, 235, 1280).astype(np.uint8)[None, :, None], 720, 0).repeat(3, 2)
    yield "small page", _colour(data.page())
    yield "small cell", _colour(data.cell()[::2, ::2])
    for size in (256, 320):
        yield f"portrait {size}", np.ascontiguousarray(_colour(data.astronaut())[:size, 100 : 100 + size])
        yield f"cat {size}", np.ascontiguousarray(_colour(data.chelsea())[20 : 20 + min(size, 280), 100 : 100 + size])


def of_folder(folder: Path) -> Iterator[tuple[str, Pixels]]:
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in SUFFIXES:
            with Image.open(path) as picture:
                yield path.stem, np.asarray(picture.convert("RGB"))


def sky(height: int, width: int) -> Pixels:
    """A clear evening sky over a dark ridge, with a camera's grain of 1.2 levels."""
    random = np.random.default_rng(3)
    down = np.linspace(0, 1, height)[:, None]
    across = np.linspace(0, 1, width)[None]
    top, low = np.array([74, 118, 182]), np.array([236, 190, 150])
    blend = np.clip(down * 1.1 + 0.08 * np.sin(across * 3), 0, 1)[..., None]
    picture = top * (1 - blend) + low * blend + random.normal(0, 1.2, (height, width, 1))
    ridge = height * (0.86 - 0.05 * np.sin(np.arange(width) / width * 9) - 0.02 * np.sin(np.arange(width) / 31))
    ground = np.arange(height)[:, None] > ridge[None]
    picture[ground] = np.array([34, 38, 30]) + random.normal(0, 4, (int(ground.sum()), 1))
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def text_page(height: int, width: int) -> Pixels:
    """Black on white, as a scanner or a screen shows it."""
    page = np.full((height, width, 3), 255, np.uint8)
    words = ("the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "and", "back", "again", "while", "nobody", "looks")
    random = np.random.default_rng(5)
    for line, y in enumerate(range(height // 10, height - height // 10, 28)):
        if line % 9 == 8:
            continue
        text = " ".join(random.choice(words, 12))
        cv2.putText(page, text, (width // 10, y), cv2.FONT_HERSHEY_SIMPLEX, 0.55, (16, 16, 18), 1, cv2.LINE_AA)
    return page[:, :width]


def drawing(height: int, width: int) -> Pixels:
    """Lines and flat colours without any grain, as an illustration has them."""
    out = np.full((height, width, 3), (247, 243, 232), np.uint8)
    colours = ((214, 84, 62), (62, 124, 176), (240, 190, 72), (92, 158, 104), (40, 42, 54))
    random = np.random.default_rng(8)
    for index in range(26):
        centre = int(random.integers(0, width)), int(random.integers(0, height))
        axes = int(random.integers(20, width // 6)), int(random.integers(20, height // 5))
        angle = int(random.integers(0, 180))
        cv2.ellipse(out, centre, axes, angle, 0, 360, colours[index % 5], -1, cv2.LINE_AA)
        cv2.ellipse(out, centre, axes, angle, 0, 360, (24, 24, 28), 3, cv2.LINE_AA)
    return out


def _colour(pixels: Pixels) -> Pixels:
    return np.ascontiguousarray(np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels[..., :3])
