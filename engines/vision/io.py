"""From a file, bytes or an array to a `Frame`: upright, sRGB, eight bits, transparency kept, and nothing else of the file.

    sniff (by content) → header → size limit → pixels → sRGB → upright → Frame

Decided here:
- A file that lacks pixels is refused, never filled with gray. So is a JPEG without its end marker; a PNG without its end
  chunk and a GIF without its end byte have all their pixels, and are read.
- Alpha that is 255 everywhere is no alpha: `Frame.alpha` is None.
- What stands under alpha 0 was never to be seen (leftovers of a cut-out, a matte colour) and becomes white.
- Of several frames or pages the first is taken, with a note.
- The frame's arrays are read-only: frames are cached and shared.
"""

import errno
import hashlib
import math
import os
import struct
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.errors import FusionError, ImageTooLarge, InvalidOption, UnreadableImage
from engines.types import Frame, Note, Origin, Pixels
from engines.vision.decode import profile, sniff
from engines.vision.decode.codecs import OPENERS
from engines.vision.decode.encoded import Encoded, Samples
from engines.vision.decode.jpeg import measure

MAX_FILE_BYTES = 1 << 30
_HEADER_BYTES = 1 << 17  # of a JPEG, up to its pixels: EXIF with its thumbnail is 64 KB at most, a colour profile a few KB
_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}


def read(path: Path, max_megapixels: float) -> Frame:
    """Reads a picture from a regular file. Its name and extension say nothing about what it is.

    Args:
        max_megapixels: limit in 10^6 pixels; the header is held against it before any pixel is decoded.

    Raises:
        UnreadableImage: the reasons of `read_bytes` and of `decode`.
        ImageTooLarge: over the limit.
    """
    return decode(read_bytes(path), path.name, max_megapixels)


def read_bytes(path: Path, count: int = -1) -> bytes:
    """The bytes of a regular file of at most `MAX_FILE_BYTES`.

    Args:
        count: only so many, from the start.

    Raises:
        UnreadableImage: missing, folder, permission, disk (the system's own words in `detail`), too_big_file, unknown
            (a pipe would block, a device would never end).
    """
    shown = printable(str(path))
    try:
        if path.is_dir():
            raise UnreadableImage("folder", name=shown)
        if path.exists() and not path.is_file():
            raise UnreadableImage("unknown", name=shown)
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_FILE_BYTES:
                raise UnreadableImage("too_big_file", name=shown, limit=MAX_FILE_BYTES >> 20)
            return file.read(count)
    except MemoryError as fault:
        raise UnreadableImage("too_big_file", name=shown, limit=MAX_FILE_BYTES >> 20) from fault
    except ValueError as fault:  # a zero byte in the name
        raise UnreadableImage("missing", name=shown) from fault
    except PermissionError as fault:
        raise UnreadableImage("permission", name=shown) from fault
    except OSError as fault:
        if fault.errno in _ABSENT:
            raise UnreadableImage("missing", name=shown) from fault
        raise UnreadableImage("disk", name=shown, detail=fault.strerror or type(fault).__name__) from fault


def size_of(path: Path) -> tuple[int, int]:
    """Width and height of the upright picture, without decoding it: a JPEG's first 128 KB are read, of other formats the file.

    What a header doesn't tell isn't noticed: a JPEG that is cut off has a size all the same.

    Raises:
        UnreadableImage: as `read_bytes` and `decode` do, of what the header tells.
    """
    return _upright(read_bytes(path, _HEADER_BYTES)) or size_in(read_bytes(path), path.name)


def size_in(data: bytes, name: str) -> tuple[int, int]:
    """As `size_of`, of a file's bytes, or of its first ones where they tell. name: for errors. Raises as `size_of`."""
    sides = _upright(data)
    if sides is not None:
        return sides
    header = _header(data, printable(name))
    return (header.height, header.width) if not header.upright and header.orientation >= 5 else (header.width, header.height)


def _upright(start: bytes) -> tuple[int, int] | None:
    """The sides that a JPEG's first bytes tell; None of another format, of a header that goes on, or of a fault."""
    try:
        width, height, orientation = measure(start)
    except (UnreadableImage, ValueError, struct.error):
        return None
    return (height, width) if orientation >= 5 else (width, height)


def decode(data: bytes, name: str, max_megapixels: float) -> Frame:
    """Decodes the bytes of a picture file.

    Args:
        name: what the person calls the file; it stands in error messages only.
        max_megapixels: see `read`.

    Returns:
        A frame whose notes may be: frames (count), depth (bits), no_profile, profile_unreadable, profile_unreadable_cmyk.

    Raises:
        UnreadableImage: empty, truncated, damaged, web_page, text, other, codec, unknown.
        ImageTooLarge: over the limit, or (reason memory) over what this machine has left.
    """
    name = printable(name)
    format = sniff.picture_format(data, name)
    header: Encoded | None = None
    try:
        header = OPENERS[format](data)
        _check_size(header, max_megapixels)
        samples = header.load()
        if samples.values.shape[:2] != (header.height, header.width):
            raise ValueError("the pixels are not as many as the header says")
        pixels, profile_name, notes = profile.to_srgb(samples, header.icc)
        return _frame(header, samples, pixels, profile_name, notes, hashlib.sha256(data).hexdigest())
    except FusionError as fault:  # a codec doesn't know the file's name
        raise type(fault)(fault.reason, **(fault.facts | {"name": name})) from fault
    except MemoryError as fault:
        size = (header.width, header.height) if header else (0, 0)
        raise _too_large("memory", *size, max_megapixels) from fault
    except Exception as fault:
        # The boundary: codecs throw whatever their C code or a broken header makes them throw (a dozen types were seen
        # while fuzzing), and each means that these bytes are no whole picture.
        cut = sniff.ends_early(format, data) or "truncated" in str(fault).lower()
        raise UnreadableImage("truncated" if cut else "damaged", name=name, format=format) from fault


def _header(data: bytes, name: str) -> Encoded:
    """What a file's header says. Raises `UnreadableImage`."""
    format = sniff.picture_format(data, name)
    try:
        header = OPENERS[format](data)
        if header.width < 1 or header.height < 1:
            raise ValueError(f"{header.width} x {header.height}")
        return header
    except FusionError as fault:  # a codec doesn't know the file's name
        raise type(fault)(fault.reason, **(fault.facts | {"name": name})) from fault
    except Exception as fault:  # the boundary, as in `decode`
        raise UnreadableImage("truncated" if sniff.ends_early(format, data) else "damaged", name=name, format=format) from fault


def from_array(pixels: NDArray[np.uint8]) -> Frame:
    """A frame of pixels that are sRGB and upright already. They are copied; the digest covers their shape and values.

    Args:
        pixels: uint8, (H, W) gray, (H, W, 3) RGB or (H, W, 4) RGB with alpha, at least 1 × 1.

    Raises:
        InvalidOption: any other type, dtype or shape.
    """
    allowed = "uint8 (H, W), (H, W, 3) or (H, W, 4)"
    if not isinstance(pixels, np.ndarray):
        raise InvalidOption(name="pixels", value=type(pixels).__name__, allowed=allowed)
    good = pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in (3, 4))
    if pixels.dtype != np.uint8 or not good or not pixels.size:
        raise InvalidOption(name="pixels", value=f"{pixels.dtype} {pixels.shape}", allowed=allowed)
    whole = np.ascontiguousarray(pixels)
    digest = hashlib.sha256(repr(whole.shape).encode())
    digest.update(whole.data)
    alpha = whole[..., 3].copy() if whole.ndim == 3 and whole.shape[2] == 4 else None
    rgb = np.repeat(whole[..., None], 3, axis=2) if whole.ndim == 2 else whole[..., :3].copy()
    mode = {2: "L"}.get(whole.ndim, "RGB" if alpha is None else "RGBA")
    source = Encoded("ARRAY", whole.shape[1], whole.shape[0], mode, lambda: Samples(rgb, "RGB", alpha))
    return _frame(source, source.load(), rgb, None, (), digest.hexdigest())


def printable(name: str) -> str:
    """A file name as it may be shown: undecodable bytes and control characters become U+FFFD; letters and emoji stay."""
    return "".join("\ufffd" if ch < " " or "\x7f" <= ch < "\xa0" or "\ud800" <= ch <= "\udfff" else ch for ch in name)


def _check_size(header: Encoded, limit: float) -> None:
    if header.width < 1 or header.height < 1:
        raise ValueError(f"{header.width} x {header.height}")
    if header.width * header.height > limit * 1e6:
        raise _too_large("", header.width, header.height, limit)


def _too_large(reason: str, width: int, height: int, limit: float) -> ImageTooLarge:
    megapixels = width * height / 1e6
    return ImageTooLarge(reason, megapixels=megapixels, width=width, height=height, limit=limit, needed=math.ceil(megapixels))


def _frame(header: Encoded, samples: Samples, pixels: Pixels, profile_name: str | None, notes: tuple[Note, ...], digest: str) -> Frame:
    alpha = samples.alpha
    if alpha is not None and int(alpha.min()) == 255:
        alpha = None
    if alpha is not None:
        pixels[alpha == 0] = 255
    if header.frames > 1:
        notes = (("frames", (("count", header.frames),)), *notes)
    if header.bit_depth > 8:
        notes = (*notes, ("depth", (("bits", header.bit_depth),)))
    if not header.upright:
        pixels = _turn(pixels, header.orientation)
        alpha = None if alpha is None else _turn(alpha, header.orientation)
    for array in (pixels, alpha):
        if array is not None:
            array.flags.writeable = False
    dpi = header.dpi
    if dpi is not None and not header.upright and header.orientation >= 5:  # it lies on its side
        dpi = dpi[::-1]
    origin = Origin(header.format, header.mode, header.bit_depth, header.orientation, header.frames, profile_name, notes, dpi=dpi)
    return Frame(pixels, origin, digest, alpha)


def _turn(stored: Pixels, orientation: int) -> Pixels:
    """The upright picture of one stored with EXIF `orientation`. OpenCV's turns take a third of numpy's time at 12 MP."""
    match orientation:
        case 2:
            turned = cv2.flip(stored, 1)
        case 3:
            turned = cv2.rotate(stored, cv2.ROTATE_180)
        case 4:
            turned = cv2.flip(stored, 0)
        case 5:
            turned = cv2.transpose(stored)
        case 6:
            turned = cv2.rotate(stored, cv2.ROTATE_90_CLOCKWISE)
        case 7:
            turned = cv2.rotate(cv2.transpose(stored), cv2.ROTATE_180)
        case 8:
            turned = cv2.rotate(stored, cv2.ROTATE_90_COUNTERCLOCKWISE)
        case _:
            return stored
    return np.asarray(turned, np.uint8)
