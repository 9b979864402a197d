"""From a file's own colours to sRGB, through its ICC profile.

Relative colorimetric with black point compensation, what photo programs take by default: colours that both spaces have stay
what they are, white lands on white, and black on black where littleCMS can tell the profile's. 8 bits in, 8 bits out, in
strips, so that a large picture costs no second copy. Sources: ICC.1:2022; littleCMS 2.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BytesIO

import cv2
import numpy as np
from PIL import Image, ImageCms

from engines.types import Note, Pixels
from engines.vision.decode.encoded import STRIP_PIXELS, Samples
from engines.vision.decode.matrix_profile import matrix_profile

Convert = Callable[[Pixels], Pixels]  # some rows of samples → (H, W, 3) uint8 sRGB

_FLAGS = ImageCms.Flags.BLACKPOINTCOMPENSATION | ImageCms.Flags.NOCACHE  # no one-pixel cache: transforms are shared by threads
_SPACES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK", "Lab ": "LAB"}
# Any fault of littleCMS arrives as one of these; an unknown enum of a broken profile as the last two.
_FAULTS = (ImageCms.PyCMSError, OSError, ValueError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class _Converter:
    name: str
    space: str  # what the profile describes: "RGB", "L", "CMYK", "LAB"
    convert: Convert
    neutral: bool  # no value changes by more than 1: sRGB by another name


def to_srgb(samples: Samples, icc: bytes | None) -> tuple[Pixels, str | None, tuple[Note, ...]]:
    """Converts decoded samples to sRGB.

    A gray picture stays gray: its one channel goes through a table, also where its profile is an RGB one.

    Args:
        samples: as decoded; colour values may be overwritten.
        icc: the embedded profile, or None.

    Returns:
        (H, W, 3) uint8 sRGB, C-contiguous; the profile's name, None without a usable one; notes `profile_unreadable`,
        `profile_unreadable_cmyk`, `no_profile`.
    """
    converter: _Converter | None = None
    notes: tuple[Note, ...] = ()
    if icc is not None:
        converter = _converter(icc)
        fits = converter is not None and (converter.space == samples.space or (converter.space, samples.space) == ("RGB", "L"))
        if not fits:
            converter, notes = None, (("profile_unreadable_cmyk" if samples.space == "CMYK" else "profile_unreadable", ()),)
    if samples.space == "CMYK" and icc is None:
        notes = (("no_profile", ()),)
    return _converted(samples, converter), converter.name if converter else None, notes


def _converted(samples: Samples, converter: _Converter | None) -> Pixels:
    values = samples.values
    match samples.space:
        case "L":
            return _gray(values, converter)
        case "RGB":
            return values if converter is None or converter.neutral else _through(values, converter.convert, values)
        case "LAB":
            return _through(values, converter.convert if converter else _lab(), np.empty_like(values))
        case "CMYK":
            return _through(values, converter.convert if converter else _plain_inks, np.empty((*values.shape[:2], 3), np.uint8))


def _gray(values: Pixels, converter: _Converter | None) -> Pixels:
    if converter is not None and not converter.neutral:
        ramp = np.arange(256, dtype=np.uint8)[None]
        table = converter.convert(ramp if converter.space == "L" else np.repeat(ramp[..., None], 3, axis=2))
        values = np.asarray(cv2.LUT(values, np.ascontiguousarray(table[0, :, 1])), np.uint8)
    return np.asarray(cv2.cvtColor(values, cv2.COLOR_GRAY2RGB), np.uint8)


def _through(values: Pixels, convert: Convert, out: Pixels) -> Pixels:
    """Converts strip by strip into `out`, which may be `values`, on all cores: both ways to convert let other threads run."""
    height, width = values.shape[:2]
    rows = max(1, STRIP_PIXELS // width)

    def one(top: int) -> None:
        out[top : top + rows] = convert(values[top : top + rows])

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        list(pool.map(one, range(0, height, rows)))  # list: so that a fault in a strip is raised here
    return out


def _by_littlecms(transform: ImageCms.ImageCmsTransform, mode: str, values: Pixels) -> Pixels:
    strip = Image.frombuffer(mode, values.shape[1::-1], values, "raw", mode, 0, 1)
    return np.asarray(transform.apply(strip))


def _plain_inks(values: Pixels) -> Pixels:
    """(1 - C)(1 - K) and so on, as Pillow has it."""
    return np.asarray(Image.frombuffer("CMYK", values.shape[1::-1], values, "raw", "CMYK", 0, 1).convert("RGB"))


@lru_cache(maxsize=16)
def _converter(icc: bytes) -> _Converter | None:
    """The way from a profile to sRGB, built once (a press profile takes 50 ms); None for one that littleCMS can't use."""
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(icc))
        space = _SPACES[source.profile.xcolor_space]
        convert = _littlecms(source, space)
        name = (source.profile.profile_description or "").strip("\0 \n") or space
    except (KeyError, *_FAULTS):
        return None
    if space not in ("RGB", "L"):
        return _Converter(name, space, convert, neutral=False)
    lattice = _lattice() if space == "RGB" else np.ascontiguousarray(_lattice()[..., 0])
    wanted = convert(lattice)
    short = matrix_profile(icc) if space == "RGB" else None
    if short is not None and _differ(short.apply(lattice), wanted) <= 1:
        convert = short.apply
    return _Converter(name, space, convert, _differ(wanted, lattice if space == "RGB" else lattice[..., None]) <= 1)


@lru_cache(maxsize=1)
def _lab() -> Convert:
    return _littlecms(ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")), "LAB")


def _littlecms(source: ImageCms.ImageCmsProfile, space: str) -> Convert:
    # A gray curve is asked for 256 values only, so exactly: littleCMS' shortcut is off by 10 in the shadows of a linear one.
    flags = _FLAGS | ImageCms.Flags.NOOPTIMIZE if space == "L" else _FLAGS
    srgb = ImageCms.createProfile("sRGB")
    transform = ImageCms.buildTransform(source, srgb, space, "RGB", ImageCms.Intent.RELATIVE_COLORIMETRIC, flags)
    return partial(_by_littlecms, transform, space)


def _lattice() -> Pixels:
    """(324, 18, 3): all colours in steps of 15."""
    axis = np.arange(0, 256, 15, dtype=np.uint8)
    return np.ascontiguousarray(np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, len(axis), 3))


def _differ(one: Pixels, other: Pixels) -> int:
    return int(np.abs(one.astype(np.int16) - other).max())
