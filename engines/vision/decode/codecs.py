"""The other picture formats, through Pillow's own classes and pi_heif: AVIF, HEIC, TIFF, JPEG 2000, BMP and GIF.

The classes are called directly, not by `Image.open`. It would let Pillow guess among some forty formats, one of which
starts a PostScript interpreter, and hold its own pixel limit, a process-wide variable, against the picture.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from types import MappingProxyType
from typing import Any

import numpy as np
from PIL import Image, ImageFile, features
from PIL.AvifImagePlugin import AvifImageFile
from PIL.BmpImagePlugin import BmpImageFile
from PIL.GifImagePlugin import GifImageFile
from PIL.Jpeg2KImagePlugin import Jpeg2KImageFile
from PIL.TiffImagePlugin import TiffImageFile

from engines.errors import UnreadableImage
from engines.vision.decode import ifd
from engines.vision.decode.encoded import Encoded, Samples, Space, samples_of, to_eight
from engines.vision.decode.heif_names import names_are_text
from engines.vision.decode.jpeg import open_jpeg
from engines.vision.decode.png import open_png
from engines.vision.decode.webp import open_webp

_DEPTHS = {"1": 1, "I;16": 16, "I;16B": 16, "I;16L": 16, "I;16N": 16}
_PIXI = re.compile(rb"pixi\0{4}[\x01-\x04]([\x01-\x20])")  # ISO/IEC 23008-12, 6.5.6: bits of the first channel
_MEMBER = ("ignore", None, Warning, re.compile(r"PIL\.TiffImagePlugin"), 0)


class _Tiff(TiffImageFile):
    """Pillow's TIFF reader, less two things that it does while loading.

    It holds its own pixel limit, a process-wide variable, against the picture once more; and it turns the picture, by an
    orientation that it also takes from XMP, after reading all of the file's EXIF.
    """

    def load_prepare(self) -> None:
        if self._im is None:
            self.im = Image.core.new(self.mode, self._tile_size)  # type: ignore[attr-defined]
        ImageFile.ImageFile.load_prepare(self)

    def load_end(self) -> None:
        self._size = self.stored_size

    @property
    def stored_size(self) -> tuple[int, int]:
        """Width and height as stored; Pillow's `size` is that of the turned picture."""
        return self._tile_size


def _open_tiff(data: bytes) -> Encoded:
    pages = ifd.directories(data)
    tags = pages[0].tags
    if ifd.DNG_VERSION in tags or tags.get(ifd.SUBFILE, 0) & 1:
        # A camera's raw file: the first directory is a thumbnail, which would pass for the photo.
        raise UnreadableImage("codec", format="camera raw", name="")
    depth, sample_format = tags.get(ifd.BITS, 1), tags.get(ifd.SAMPLE_FORMAT, 1)
    if sample_format != 1 or depth > 16:
        kind = {2: f"signed {depth}-bit", 3: "floating-point"}.get(sample_format, f"{depth}-bit")
        raise UnreadableImage("codec", format=f"{kind} TIFF", name="")
    if depth == 16 and tags.get(ifd.PLANAR, 1) == 2:
        raise UnreadableImage("codec", format="16-bit planar TIFF", name="")  # Pillow reads one byte of each two
    _hush()
    try:
        picture = _Tiff(BytesIO(data))
    except SyntaxError as fault:
        if "pixel mode" in str(fault):  # a whole file of a layout that Pillow doesn't know
            raise UnreadableImage("codec", format=f"{depth}-bit TIFF", name="") from fault
        raise
    stored = tags.get(ifd.ORIENTATION, 1)
    negative = depth == 16 and tags.get(ifd.PHOTOMETRIC) == 0  # white is zero, which Pillow forgets at this depth
    return Encoded(
        "TIFF",
        *picture.stored_size,
        f"{picture.mode};16" if depth == 16 and not picture.mode.startswith("I;16") else picture.mode,
        partial(_load_tiff, picture, (1 << depth) - 1, negative),
        bit_depth=depth,
        orientation=stored if 1 <= stored <= 8 else 1,
        frames=len(pages),
        icc=_icc(picture),
        dpi=ifd.resolution(data),
    )


def _load_tiff(picture: Image.Image, peak: int, negative: bool) -> Samples:
    samples = samples_of(picture, peak)
    return Samples(255 - samples.values, samples.space, samples.alpha) if negative else samples


def _open_avif(data: bytes) -> Encoded:
    if not features.check("avif"):
        raise UnreadableImage("codec", format="AVIF", name="")
    _hush()
    depth = _PIXI.search(data, 0, 1 << 16)
    return _plain("AVIF", AvifImageFile(BytesIO(data)), int(depth[1][0]) if depth else 8)


def _open_jpeg2000(data: bytes) -> Encoded:
    if not features.check("jpg_2000"):
        raise UnreadableImage("codec", format="JPEG 2000", name="")
    return _plain("JPEG 2000", Jpeg2KImageFile(BytesIO(data)))


def _open_bmp(data: bytes) -> Encoded:
    return _plain("BMP", BmpImageFile(BytesIO(data)))


def _open_gif(data: bytes) -> Encoded:
    return _plain("GIF", GifImageFile(BytesIO(data)))


def _plain(name: str, picture: ImageFile.ImageFile, depth: int | None = None) -> Encoded:
    """Of a Pillow picture: `frames`, profile and EXIF orientation as Pillow found them."""
    exif = picture.info.get("exif")
    return Encoded(
        name,
        *picture.size,
        picture.mode,
        partial(samples_of, picture),
        bit_depth=_DEPTHS.get(picture.mode, 8) if depth is None else depth,
        orientation=ifd.orientation(exif) if isinstance(exif, bytes) else 1,
        frames=int(getattr(picture, "n_frames", 1)),
        icc=_icc(picture),
        dpi=(ifd.resolution(exif) if isinstance(exif, bytes) else None) or _dpi(picture),
    )


def _icc(picture: Image.Image) -> bytes | None:
    icc = picture.info.get("icc_profile")
    return icc if isinstance(icc, bytes) and icc else None


def _dpi(picture: Image.Image) -> tuple[float, float] | None:
    told = picture.info.get("dpi")
    return ifd.per_inch(float(told[0]), float(told[1])) if isinstance(told, tuple) and len(told) == 2 else None


def _open_heic(data: bytes) -> Encoded:
    try:
        import pi_heif  # 8 MB of decoder, for one format
    except ImportError as fault:
        raise UnreadableImage("codec", format="HEIC", name="") from fault
    if not names_are_text(data):
        raise ValueError("items whose kinds are no text")
    pictures = pi_heif.open_heif(BytesIO(data), convert_hdr_to_8bit=True)
    first = pictures[pictures.primary_index]
    (width, height), icc, exif = first.size, first.info.get("icc_profile"), first.info.get("exif")
    # The container's own turn is part of decoding, and HEIF has it that EXIF's is then history (ISO/IEC 23008-12, A.2.2).
    return Encoded(
        "HEIC",
        width,
        height,
        first.mode,
        partial(_load_heic, first, pictures),
        bit_depth=int(first.info.get("bit_depth", 8)),
        upright=True,
        frames=len(pictures),
        icc=icc if isinstance(icc, bytes) and icc else None,
        dpi=ifd.resolution(exif) if isinstance(exif, bytes) else None,
    )


def _load_heic(picture: Any, file: Any) -> Samples:  # `file` only has to outlive its picture
    # pi_heif's arrays lie in libheif's memory and keep nothing alive: without a copy, they read freed memory later on.
    stored = np.array(picture)[:, : picture.size[0]]  # rows may be padded
    values = np.ascontiguousarray(stored) if stored.dtype == np.uint8 else to_eight(stored)
    if picture.mode in ("RGBa", "La"):
        return samples_of(Image.fromarray(values, picture.mode))
    bands = 1 if values.ndim == 2 else values.shape[2]
    space: Space = "L" if bands < 3 else "RGB"
    if bands in (1, 3):
        return Samples(values, space)
    colours = values[..., 0] if bands == 2 else values[..., :3]
    return Samples(np.ascontiguousarray(colours), space, np.ascontiguousarray(values[..., -1]))


def _hush() -> None:
    """Silences Pillow's TIFF tag parser, which warns about every odd private tag.

    `warnings.catch_warnings` swaps a list that all threads share, so two decoders at once could leave a wrong one behind.
    A filter for this one module, put in front when it isn't there, has nothing to restore.
    """
    if not warnings.filters or warnings.filters[0] != _MEMBER:
        warnings.filterwarnings("ignore", module=_MEMBER[3].pattern)


OPENERS: Mapping[str, Callable[[bytes], Encoded]] = MappingProxyType(
    {
        "JPEG": open_jpeg,
        "PNG": open_png,
        "WebP": open_webp,
        "AVIF": _open_avif,
        "HEIC": _open_heic,
        "TIFF": _open_tiff,
        "JPEG 2000": _open_jpeg2000,
        "BMP": _open_bmp,
        "GIF": _open_gif,
    }
)
