"""Keys, marked pictures and the things that people do to pictures."""

from collections.abc import Callable
from io import BytesIO

import cv2
import numpy as np
import pytest
from PIL import Image

from engines.provenance.keys import MarkKey
from engines.provenance.mark import MarkedImage, mark
from engines.types import Frame, Pixels
from engines.vision import io

Change = Callable[[Pixels], Pixels]


@pytest.fixture(scope="session")
def key() -> MarkKey:
    return MarkKey(bytes(range(32)))


@pytest.fixture(scope="session")
def other_key() -> MarkKey:
    return MarkKey(bytes(range(1, 33)))


@pytest.fixture(scope="session")
def portraits(astronaut: Pixels, officer: Pixels) -> dict[str, Frame]:
    return {"astronaut": io.from_array(astronaut), "officer": io.from_array(officer)}


@pytest.fixture(scope="session")
def marked(portraits: dict[str, Frame], key: MarkKey) -> dict[str, MarkedImage]:
    """Both portraits as fusions; "cut-out" is the astronaut with a soft hole."""
    made = {name: mark(frame, key) for name, frame in portraits.items()}
    frame = portraits["astronaut"]
    rows, columns = np.mgrid[:512, :512]
    alpha = np.clip((np.hypot(rows - 60, columns - 440) - 40) * 8, 0, 255).astype(np.uint8)
    pixels = frame.pixels.copy()
    pixels[alpha == 0] = 255
    return made | {"cut-out": mark(Frame(pixels, frame.origin, "", alpha), key)}


def recoded(format: str, quality: int) -> Change:
    def change(pixels: Pixels) -> Pixels:
        buffer = BytesIO()
        Image.fromarray(pixels).save(buffer, format, quality=quality)
        return np.asarray(Image.open(buffer).convert("RGB"))

    return change


def resized(factor: float) -> Change:
    def change(pixels: Pixels) -> Pixels:
        how = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        return np.asarray(cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=how), np.uint8)

    return change


def cropped(left: float, top: float, right: float, bottom: float) -> Change:
    def change(pixels: Pixels) -> Pixels:
        height, width = pixels.shape[:2]
        return np.ascontiguousarray(pixels[int(top * height) : int(bottom * height), int(left * width) : int(right * width)])

    return change


def in_turn(*changes: Change) -> Change:
    def change(pixels: Pixels) -> Pixels:
        for one in changes:
            pixels = one(pixels)
        return pixels

    return change


def turned(degrees: float, stretch: float = 1.0) -> Change:
    """Turned about the middle after its width was stretched; the corners that fall outside are lost, the rest is grey."""

    def change(pixels: Pixels) -> Pixels:
        wide = np.asarray(cv2.resize(pixels, None, fx=stretch, fy=1, interpolation=cv2.INTER_AREA), np.uint8)
        height, width = wide.shape[:2]
        around = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1)
        return np.asarray(cv2.warpAffine(wide, around, (width, height), flags=cv2.INTER_CUBIC, borderValue=(128, 128, 128)), np.uint8)

    return change


def tilted(share: float) -> Change:
    """Taken from the side: two corners move in by a share of the sides."""

    def change(pixels: Pixels) -> Pixels:
        height, width = pixels.shape[:2]
        x, y = width * share, height * share
        corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        inner = np.array([[x, y / 2], [width, 0], [width - x / 2, height], [0, height - y]], np.float32)
        matrix = cv2.getPerspectiveTransform(inner, corners)
        return np.asarray(cv2.warpPerspective(pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE))

    return change


def on_a_page(pixels: Pixels) -> Pixels:
    """The lower left quarter of a page."""
    other = 255 - cv2.GaussianBlur(pixels, (0, 0), 5)
    return np.asarray(np.vstack([np.hstack([other, other[::-1]]), np.hstack([pixels, other])]), np.uint8)


# What happens to a picture on its way through chats, galleries and screens.
CHANGES: dict[str, Change] = {
    "JPEG 80": recoded("JPEG", 80),
    "JPEG 60": recoded("JPEG", 60),
    "JPEG 40": recoded("JPEG", 40),
    "WebP 80": recoded("WEBP", 80),
    "half": resized(0.5),
    "double": resized(2.0),
    "mirrored": lambda pixels: np.ascontiguousarray(pixels[:, ::-1]),
    "quarter turn": lambda pixels: np.ascontiguousarray(np.rot90(pixels)),
    "noise": lambda p: np.clip(p + np.random.default_rng(1).normal(0, 8, p.shape), 0, 255).astype(np.uint8),
    "darker": lambda pixels: (pixels * 0.8).astype(np.uint8),
    "gray": lambda p: np.repeat(np.asarray(cv2.cvtColor(p, cv2.COLOR_RGB2GRAY))[..., None], 3, axis=2),
    "shrunk and sent": in_turn(resized(0.8), recoded("JPEG", 75)),
    "re-encoded thrice": in_turn(recoded("JPEG", 85), recoded("WEBP", 82), recoded("JPEG", 80)),
}
# These need the deep search.
CUTS: dict[str, Change] = {
    "a tenth off": cropped(0.05, 0.03, 0.95, 1.0),
    "a third off, sent": in_turn(cropped(0.1, 0.1, 0.92, 0.92), recoded("JPEG", 75)),
    "half off": cropped(0.15, 0.12, 0.86, 0.83),
    "border": lambda p: np.asarray(cv2.copyMakeBorder(p, 20, 20, 20, 20, cv2.BORDER_CONSTANT, value=(255, 255, 255)), np.uint8),
    "turned 2°": turned(2),
    "turned -10°, sent": in_turn(turned(-10), recoded("JPEG", 75)),
    "turned 31°": turned(31),
    "turned and cut": in_turn(turned(5), cropped(0.1, 0.1, 0.9, 0.85)),
    "proportions": turned(0, 0.95),
    "askew and narrow": turned(0.7, 0.97),
    "perspective": tilted(0.015),
    "on a page": on_a_page,
}


@pytest.fixture(params=CHANGES)
def change(request: pytest.FixtureRequest) -> Change:
    return CHANGES[request.param]


@pytest.fixture(params=CUTS)
def cut(request: pytest.FixtureRequest) -> Change:
    return CUTS[request.param]
