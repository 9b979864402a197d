"""Hypothesis strategies that every room may use: sizes, pictures, encoded files, damage, boxes, similarity transforms.

Pictures are drawn by seed, not pixel by pixel: thousands of drawn numbers would be slow, and shrink to nothing that tells.
"""

import io
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from engines.face_mask import AREAS, GROW, PADDING, REGIONS, FaceMask
from engines.types import Box, Matrix, Pixels


def sizes(smallest: int = 1, largest: int = 64) -> st.SearchStrategy[tuple[int, int]]:
    """(width, height)."""
    side = st.integers(smallest, largest)
    return st.tuples(side, side)


@st.composite
def pictures(draw: st.DrawFn, smallest: int = 1, largest: int = 64, channels: int = 3) -> Pixels:
    """(H, W, channels) uint8, or (H, W) for one channel: flat, a soft gradient, blurred noise, or noise."""
    width, height = draw(sizes(smallest, largest))
    return picture(width, height, draw(st.sampled_from(KINDS)), draw(st.integers(0, 2**16)), channels)


KINDS = ("flat", "gradient", "soft", "noise")


def picture(width: int, height: int, kind: str = "soft", seed: int = 0, channels: int = 3) -> Pixels:
    """One picture of a kind out of `KINDS`; the same arguments give the same picture."""
    random = np.random.default_rng(seed)
    if kind == "flat":
        values = np.broadcast_to(random.integers(0, 256, channels), (height, width, channels))
    elif kind == "gradient":
        slopes = random.uniform(-1, 1, (2, channels))
        rows, columns = np.linspace(-1, 1, height)[:, None, None], np.linspace(-1, 1, width)[None, :, None]
        values = 127.5 + 60 * (rows * slopes[0] + columns * slopes[1])
    else:
        values = random.uniform(0, 255, (height, width, channels))
        if kind == "soft":
            values = cv2.GaussianBlur(values, (0, 0), 3).reshape(values.shape)
            values = (values - values.min()) * (255 / max(np.ptp(values), 1e-9))
    whole = np.ascontiguousarray(np.clip(np.rint(values), 0, 255).astype(np.uint8))
    return whole[..., 0].copy() if channels == 1 else whole


def pillow_bytes(pixels: Pixels | Image.Image, kind: str, **options: Any) -> bytes:
    """A picture encoded by Pillow: a format name of its, and its options."""
    buffer = io.BytesIO()
    (pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)).save(buffer, kind, **options)
    return buffer.getvalue()


def _sixteen(kind: str) -> Callable[[Pixels], bytes]:
    return lambda pixels: cv2.imencode(kind, pixels[..., ::-1].astype(np.uint16) * 257)[1].tobytes()


def _animated(kind: str) -> Callable[[Pixels], bytes]:
    return lambda pixels: pillow_bytes(pixels, kind, save_all=True, append_images=[Image.fromarray(pixels[::-1].copy())])


def _cut_out(pixels: Pixels) -> Image.Image:
    alpha = np.linspace(0, 255, pixels.shape[1]).astype(np.uint8)
    return Image.fromarray(np.dstack([pixels, np.broadcast_to(alpha, pixels.shape[:2])]))


# Layout → how to make such a file of (H, W, 3) RGB pixels.
FORMATS: dict[str, Callable[[Pixels], bytes]] = {
    "JPEG": lambda pixels: pillow_bytes(pixels, "JPEG", quality=90),
    "JPEG progressive": lambda pixels: pillow_bytes(pixels, "JPEG", quality=90, progressive=True),
    "JPEG gray": lambda pixels: pillow_bytes(Image.fromarray(pixels).convert("L"), "JPEG"),
    "JPEG CMYK": lambda pixels: pillow_bytes(Image.fromarray(pixels).convert("CMYK"), "JPEG", quality=95),
    "PNG": lambda pixels: pillow_bytes(pixels, "PNG"),
    "PNG palette": lambda pixels: pillow_bytes(Image.fromarray(pixels).quantize(32), "PNG", transparency=1),
    "PNG alpha": lambda pixels: pillow_bytes(_cut_out(pixels), "PNG"),
    "PNG 16": _sixteen(".png"),
    "PNG animated": _animated("PNG"),
    "WebP": lambda pixels: pillow_bytes(pixels, "WEBP", quality=90),
    "WebP lossless": lambda pixels: pillow_bytes(_cut_out(pixels), "WEBP", lossless=True),
    "WebP alpha": lambda pixels: pillow_bytes(_cut_out(pixels), "WEBP", quality=90),
    "WebP animated": _animated("WEBP"),
    "GIF": lambda pixels: pillow_bytes(pixels, "GIF"),
    "GIF animated": _animated("GIF"),
    "BMP": lambda pixels: pillow_bytes(pixels, "BMP"),
    "TIFF": lambda pixels: pillow_bytes(pixels, "TIFF"),
    "TIFF LZW": lambda pixels: pillow_bytes(_cut_out(pixels), "TIFF", compression="tiff_lzw"),
    "TIFF 16": _sixteen(".tiff"),
    "AVIF": lambda pixels: pillow_bytes(pixels, "AVIF", quality=90, speed=10),
    "JPEG 2000": lambda pixels: pillow_bytes(pixels, "JPEG2000"),
}
LOSSLESS = ("PNG", "PNG animated", "PNG 16", "BMP", "TIFF", "TIFF 16", "JPEG 2000")  # of opaque layouts


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """The file with some bytes changed, most of them near its start, and perhaps its end cut off."""
    data = bytearray(whole)
    places = st.integers(0, min(len(data), 128) - 1) | st.integers(0, len(data) - 1)
    for place, value in draw(st.lists(st.tuples(places, st.integers(0, 255)), max_size=12)):
        data[place] = value
    if draw(st.booleans()):
        del data[draw(st.integers(0, len(data))) :]
    return bytes(data)


@st.composite
def boxes(draw: st.DrawFn, width: int, height: int, outside: bool = True) -> Box:
    """A box over a picture of that size; with `outside`, it may reach half a picture beyond each edge."""
    beyond = 0.5 if outside else 0.0
    span = st.floats(0, 1, allow_nan=False)
    xs = sorted(draw(st.tuples(span, span)))
    ys = sorted(draw(st.tuples(span, span)))
    scale = 1 + 2 * beyond
    left, right = ((x * scale - beyond) * width for x in xs)
    top, bottom = ((y * scale - beyond) * height for y in ys)
    return Box(left, top, max(right - left, 1.0), max(bottom - top, 1.0))


@st.composite
def similarities(draw: st.DrawFn, largest_shift: float = 500.0, smallest_scale: float = 0.1, largest_scale: float = 10.0) -> Matrix:
    """(2, 3) float64: a turn, a scale and a shift, no reflection."""
    angle = draw(st.floats(-np.pi, np.pi))
    scale = np.exp(draw(st.floats(np.log(smallest_scale), np.log(largest_scale))))
    shift = draw(st.tuples(*[st.floats(-largest_shift, largest_shift)] * 2))
    cosine, sine = scale * np.cos(angle), scale * np.sin(angle)
    matrix: NDArray[np.float64] = np.array([[cosine, -sine, shift[0]], [sine, cosine, shift[1]]])
    return matrix


_NO_BRUSH: st.SearchStrategy[Any] = st.none()


def face_masks(painted: st.SearchStrategy[Any] = _NO_BRUSH) -> st.SearchStrategy[FaceMask]:
    """Masks that `engines.face_mask.check` lets pass; `painted`: their brush."""
    several = st.lists(st.sampled_from(AREAS), min_size=1, max_size=4, unique=True).map(tuple)
    left_out = st.lists(st.sampled_from(REGIONS), max_size=3, unique=True).map(tuple)
    padding = st.tuples(*[st.floats(PADDING[0], PADDING[1] / 2)] * 4)
    return st.builds(FaceMask, several, left_out, padding, st.floats(-GROW, GROW), st.booleans(), painted)
