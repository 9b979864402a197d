"""From a file's own colours to sRGB, through its ICC profile.

Relative colorimetric with black point compensation, what photo programs take by default: colours that both spaces have stay
what they are, white lands on white, and black on black where littleCMS can tell the profile's. 8 bits in, 8 bits out, in
strips, so that a large picture costs no second copy. Sources: ICC.1:2022; littleCMS 2.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

import cv2
import numpy as np
from PIL import Image, ImageCms

from engines.types import Pixels
from engines.vision.encoded import STRIP_PIXELS, Samples

Notes = tuple[tuple[str, tuple[tuple[str, object], ...]], ...]

_FLAGS = ImageCms.Flags.BLACKPOINTCOMPENSATION | ImageCms.Flags.NOCACHE  # no one-pixel cache: transforms are shared by threads
_SPACES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK", "Lab ": "LAB"}
# Any fault of littleCMS arrives as one of these; an unknown enum of a broken profile as the last two.
_FAULTS = (ImageCms.PyCMSError, OSError, ValueError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class _Converter:
    name: str
    space: str  # what the profile describes: "RGB", "L", "CMYK", "LAB"
    transform: ImageCms.ImageCmsTransform
    neutral: bool  # no value changes by more than 1: sRGB by another name


def to_srgb(samples: Samples, icc: bytes | None) -> tuple[Pixels, str | None, Notes]:
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
    notes: Notes = ()
    if icc is not None:
        converter = _converter(icc)
        fits = converter is not None and (converter.space == samples.space or (converter.space, samples.space) == ("RGB", "L"))
        if not fits:
            converter, notes = None, (("profile_unreadable_cmyk" if samples.space == "CMYK" else "profile_unreadable", ()),)
    if samples.space == "CMYK" and icc is None:
        notes = (("no_profile", ()),)
    name = converter.name if converter else None
    match samples.space:
        case "L":
            return _gray(samples.values, converter), name, notes
        case "RGB":
            if converter is not None and not converter.neutral:
                _through(samples.values, "RGB", converter.transform, samples.values)
            return samples.values, name, notes
        case "LAB":
            out = np.empty((*samples.values.shape[:2], 3), np.uint8)
            _through(samples.values, "LAB", converter.transform if converter else _lab(), out)
            return out, name, notes
        case "CMYK":
            out = np.empty((*samples.values.shape[:2], 3), np.uint8)
            _through(samples.values, "CMYK", converter.transform if converter else None, out)
            return out, name, notes


def _gray(values: Pixels, converter: _Converter | None) -> Pixels:
    if converter is not None and not converter.neutral:
        ramp = np.arange(256, dtype=np.uint8)[None]
        given = ramp if converter.space == "L" else np.repeat(ramp[..., None], 3, axis=2)
        table = np.empty((1, 256, 3), np.uint8)
        _through(np.ascontiguousarray(given), converter.space, converter.transform, table)
        values = np.asarray(cv2.LUT(values, np.ascontiguousarray(table[0, :, 1])), np.uint8)
    return np.asarray(cv2.cvtColor(values, cv2.COLOR_GRAY2RGB), np.uint8)


def _through(values: Pixels, mode: str, transform: ImageCms.ImageCmsTransform | None, out: Pixels) -> None:
    """Writes the sRGB of `values` into `out`, which may be `values`. Without a transform: Pillow's (1 - C)(1 - K).

    littleCMS takes 40 ms a megapixel, eight times what decoding takes, and lets other threads run: strips go to all cores.
    """
    height, width = values.shape[:2]
    rows = max(1, STRIP_PIXELS // width)

    def convert(top: int) -> None:
        part = values[top : top + rows]
        strip = Image.frombuffer(mode, (width, part.shape[0]), part, "raw", mode, 0, 1)
        out[top : top + rows] = np.asarray(strip.convert("RGB") if transform is None else transform.apply(strip))

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        list(pool.map(convert, range(0, height, rows)))  # list: so that a fault in a strip is raised here


@lru_cache(maxsize=16)
def _converter(icc: bytes) -> _Converter | None:
    """The transform of a profile, built once (a press profile takes 50 ms); None for one that littleCMS can't use."""
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(icc))
        space = _SPACES[source.profile.xcolor_space]
        transform = _transform(source, space)
        name = (source.profile.profile_description or "").strip("\0 \n") or space
        return _Converter(name, space, transform, _is_neutral(space, transform))
    except (KeyError, *_FAULTS):
        return None


@lru_cache(maxsize=1)
def _lab() -> ImageCms.ImageCmsTransform:
    return _transform(ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")), "LAB")


def _transform(source: ImageCms.ImageCmsProfile, space: str) -> ImageCms.ImageCmsTransform:
    # A gray curve is asked for 256 values only, so exactly: littleCMS' shortcut is off by 10 in the shadows of a linear one.
    flags = _FLAGS | ImageCms.Flags.NOOPTIMIZE if space == "L" else _FLAGS
    return ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), space, "RGB", ImageCms.Intent.RELATIVE_COLORIMETRIC, flags)


def _is_neutral(space: str, transform: ImageCms.ImageCmsTransform) -> bool:
    """Whether a lattice over all colours comes through as it went in. Most photos are sRGB already; this saves their pass."""
    if space not in ("RGB", "L"):
        return False
    axis = np.linspace(0, 255, 18).astype(np.uint8)
    lattice = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 18, 3)
    given = np.ascontiguousarray(lattice) if space == "RGB" else np.ascontiguousarray(lattice[..., 0])
    out = np.empty_like(lattice)
    _through(given, space, transform, out)
    wanted = lattice if space == "RGB" else lattice[..., :1]
    return int(np.abs(out.astype(np.int16) - wanted).max()) <= 1
