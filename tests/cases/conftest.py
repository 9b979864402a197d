"""Pictures that broke other tools, made from a public-domain portrait; each test's name carries the case."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.pipeline import Studio
from engines.settings import Settings

Pixels = NDArray[np.uint8]
FACE = (175, 47, 99, 134)  # left, top, width, height of the portrait's face


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with Studio.open(Settings(data_dir=tmp_path_factory.mktemp("data"), provider="cpu")) as opened:
        yield opened


@pytest.fixture(scope="session")
def encoded() -> Callable[..., bytes]:
    """(picture, Pillow's format, its options) → bytes of an input file."""

    def make(picture: Pixels | Image.Image, kind: str, **options: Any) -> bytes:
        buffer = io.BytesIO()
        (picture if isinstance(picture, Image.Image) else Image.fromarray(picture)).save(buffer, kind, **options)
        return buffer.getvalue()

    return make


@pytest.fixture(scope="session")
def wall() -> Callable[..., Pixels]:
    """(width, height) → a plain wall with a soft gradient and a little grain: nothing that looks like a face."""

    def make(width: int, height: int, seed: int = 3) -> Pixels:
        rows = np.linspace(190, 150, height)[:, None, None] + np.linspace(0, 18, width)[None, :, None] + np.array([6.0, 2.0, -6.0])
        return np.clip(rows + np.random.default_rng(seed).normal(0, 2, (height, width, 1)), 0, 255).astype(np.uint8)

    return make


@pytest.fixture(scope="session")
def hang(astronaut: Pixels) -> Callable[..., tuple[int, int, int, int]]:
    """(wall, portrait, left, top, side) → the face's box; hangs a portrait with a soft edge on the wall, in place."""

    def paste(canvas: Pixels, portrait: Pixels, left: int, top: int, side: int) -> tuple[int, int, int, int]:
        small = cv2.resize(portrait, (side, side), interpolation=cv2.INTER_AREA if side < 512 else cv2.INTER_CUBIC)
        edge = max(1, int(side * 0.08))
        mask = np.zeros((side, side), np.float32)
        mask[edge:-edge, edge:-edge] = 1
        mask = cv2.GaussianBlur(mask, (0, 0), edge / 2)[..., None]
        region = canvas[top : top + side, left : left + side]
        region[:] = (small * mask + region * (1 - mask)).astype(np.uint8)
        scale = side / 512
        x, y, width, height = FACE
        return round(left + x * scale), round(top + y * scale), round(width * scale), round(height * scale)

    return paste
