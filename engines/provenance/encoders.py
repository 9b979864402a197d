"""Pixels become the bytes of a picture file here and nowhere else; `save` alone calls this, and reads back what comes out.

Decided here, with processor time for 12 megapixels:
- PNG: OpenCV's encoder, filter "up", level 1: 0.8 s. Level 6 saves 12 to 16 % and takes five times as long; Pillow longer still.
- JPEG: quality 92, 4:4:4 (subsampled chroma shows on lips and eyes): 0.3 s. WebP: quality 90, method 2: 0.9 s.
- AVIF: quality 85, 4:4:4, speed 9: 1.8 s. Speed 8 saves 7 % and takes four times as long, speed 6 saves 11 % and takes nine times as
  long. On eleven photographs of 512 to 640 pixels it has 41.6 dB and 70 kB, WebP 90 has 40.1 dB and 65 kB, JPEG 92 42.4 dB and 114 kB.
- TIFF: LZW with the horizontal predictor, which every reader knows: 0.8 s. Deflate saves 7 % and takes three times as long.
- Transparency is kept to the last bit, but for JPEG, which has none.
- Every file carries sRGB, EXIF (upright, the program's name) and XMP, and nothing of the pictures that it was made from but how many
  pixels the target has to an inch.
"""

import struct
import zlib
from functools import cache, lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from PIL import Image, ImageCms

from engines.errors import OutputUnwritable
from engines.provenance.containers import XMP_KEYWORD, png_with
from engines.provenance.labels import TOOL
from engines.provenance.output import NAMES, Format
from engines.provenance.view import on_white
from engines.provenance.xmp import build_xmp

if TYPE_CHECKING:
    from engines.provenance.mark import MarkedImage

DEFAULT_QUALITY: dict[Format, int | None] = {"png": None, "jpg": 92, "webp": 90, "avif": 85, "tiff": None}
# Pixels a side: as the formats define them (65,500 in libjpeg), and for AVIF what libavif's decoder takes unless it is told otherwise.
LONGEST: dict[Format, int] = {"png": (1 << 31) - 1, "jpg": 65535, "webp": 16383, "avif": 32768, "tiff": (1 << 31) - 1}
_AVIF_SPEED = 9
_METRES = 0.0254  # an inch
# TIFF 6.0: Orientation, XResolution, YResolution, ResolutionUnit (1: none, 2: inch), Software, Predictor (2: horizontal);
# XMP part 3: the packet
_ORIENTATION, _X, _Y, _UNIT, _SOFTWARE, _PREDICTOR, _XMP = 274, 282, 283, 296, 305, 317, 700


def encoded(image: "MarkedImage", format: Format, quality: int | None) -> bytes:
    """The file of a marked picture. `quality`: of the formats that have one in `DEFAULT_QUALITY`; the others ignore it.

    Raises:
        OutputUnwritable: size.
    """
    if max(image.width, image.height) > LONGEST[format]:
        raise OutputUnwritable("size", path="", detail=NAMES[format])
    if format == "png":
        return _png(image)
    return _through_pillow(image, format, DEFAULT_QUALITY[format] if quality is None else quality)


def _png(image: "MarkedImage") -> bytes:
    how = [cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_DEFAULT]
    how += [cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_UP]
    colours = np.asarray(cv2.cvtColor(image.pixels, cv2.COLOR_RGB2BGR if image.alpha is None else cv2.COLOR_RGB2BGRA))
    if image.alpha is not None:
        colours[..., 3] = image.alpha
    done, data = cv2.imencode(".png", colours, how)
    if not done:
        raise OutputUnwritable("size", path="", detail="PNG")
    packet = XMP_KEYWORD.encode() + b"\0\0\0\0\0" + build_xmp(image.labels)
    profile = b"sRGB\0\0" + zlib.compress(_srgb())
    chunks = [(b"iCCP", profile), (b"eXIf", _exif(image.dpi).removeprefix(b"Exif\0\0")), (b"iTXt", packet)]
    if image.dpi is not None:
        chunks.insert(1, (b"pHYs", struct.pack(">IIB", *(round(each / _METRES) for each in image.dpi), 1)))
    return png_with(data.tobytes(), chunks)


def _through_pillow(image: "MarkedImage", format: Format, quality: int | None) -> bytes:
    out = BytesIO()
    alpha = None if format == "jpg" else image.alpha
    layers = on_white(image.pixels, image.alpha) if alpha is None else np.dstack((image.pixels, alpha))
    try:
        Image.fromarray(layers).save(out, NAMES[format], icc_profile=_srgb(), **_options(format, image, quality, alpha is None))
    except (OSError, ValueError, RuntimeError) as fault:  # libjpeg's own limit is 65,500 pixels; libwebp's is on its partitions
        raise OutputUnwritable("size", path="", detail=NAMES[format]) from fault
    return out.getvalue()


def _options(format: Format, image: "MarkedImage", quality: int | None, flat: bool) -> dict[str, Any]:
    """What Pillow is told about a format, its metadata among it."""
    packet = build_xmp(image.labels)
    if format == "tiff":
        across, down = image.dpi or (1, 1)
        tags = {_ORIENTATION: 1, _X: across, _Y: down, _UNIT: 2 if image.dpi else 1, _SOFTWARE: TOOL, _PREDICTOR: 2, _XMP: packet}
        return {"compression": "tiff_lzw", "tiffinfo": tags}
    common: dict[str, Any] = {"exif": _exif(image.dpi), "xmp": packet, "quality": quality}
    if format == "jpg":
        return common | {"subsampling": 0, "dpi": image.dpi or (0, 0)}
    if format == "webp":
        return common | {"method": 2, "alpha_quality": 100}
    # libavif gives transparency the colours' quality unless aom is told to keep it: up to 12 of 255 are lost at a soft edge
    return common | {"speed": _AVIF_SPEED, "subsampling": "4:4:4"} | ({} if flat else {"advanced": {"alpha:lossless": "1"}})


@cache
def _srgb() -> bytes:
    """littleCMS's sRGB profile, without the time at which it was made: the same picture gives the same bytes."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    profile[24:36] = bytes((7, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0))
    return bytes(profile)


@lru_cache(maxsize=16)
def _exif(dpi: tuple[float, float] | None = None) -> bytes:
    exif = Image.Exif()
    exif[_ORIENTATION], exif[_SOFTWARE] = 1, TOOL
    if dpi is not None:
        exif[_X], exif[_Y], exif[_UNIT] = *dpi, 2
    return exif.tobytes()
