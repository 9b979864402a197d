"""TIFF's image file directories, which EXIF uses as well: the few tags that decide how a picture is read.

Own, and not Pillow's, since Pillow warns about odd private tags, follows every page of a file to count it, and reads
metadata that this project has no business with. Sources: TIFF 6.0 (Adobe 1992), BigTIFF (Aperio), EXIF 2.32 (CIPA DC-008).
"""

import struct
from dataclasses import dataclass, field

ORIENTATION, SUBFILE, PHOTOMETRIC, BITS, SAMPLE_FORMAT, PLANAR, DNG_VERSION = 274, 254, 262, 258, 339, 284, 50706
ACROSS, DOWN, UNIT = 282, 283, 296  # XResolution, YResolution, ResolutionUnit
_WANTED = {ORIENTATION, SUBFILE, PHOTOMETRIC, BITS, SAMPLE_FORMAT, PLANAR, DNG_VERSION, ACROSS, DOWN, UNIT}
_PER_INCH = {2: 1.0, 3: 2.54}  # by the unit: inch, centimetre
_DENSITIES = (1.0, 20_000.0)  # pixels per inch that a device has; what lies outside is a slip of the pen
_RATIONAL = 5  # a type: two 32-bit numbers
_REDUCED, _MASK = 1, 4  # flags of SUBFILE
MAX_PAGES = 9999  # a file may chain a million empty directories; nobody needs the exact number


@dataclass(frozen=True, slots=True)
class Directory:
    """One page's tags: the first value of each that is wanted, and where the next page's stand (0: none). ratios: the RATIONAL ones."""

    tags: dict[int, int]
    next: int
    ratios: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Layout:
    order: str  # "<" or ">"
    big: bool  # BigTIFF: 8-byte offsets, 20-byte entries
    first: int


def directories(data: bytes) -> list[Directory]:
    """The pages of a TIFF file that are pictures of their own (no previews, no masks), the first page always among them.

    Stops quietly at a damaged or circular chain: what stands before it is what there is.

    Raises:
        ValueError: no TIFF header, or no readable first directory.
    """
    layout = _layout(data)
    found: list[Directory] = []
    seen: set[int] = set()
    at = layout.first
    while at and at not in seen and len(seen) < MAX_PAGES:
        seen.add(at)
        try:
            page = _directory(data, at, layout)
        except struct.error as fault:
            if not found:
                raise ValueError("no readable directory") from fault
            break
        if not found or not page.tags.get(SUBFILE, 0) & (_REDUCED | _MASK):
            found.append(page)
        at = page.next
    if not found:
        raise ValueError("no directory")
    return found


def orientation(exif: bytes) -> int:
    """EXIF orientation 1..8 out of an EXIF block, with or without its `Exif\\0\\0`; 1 where there is none, or nonsense."""
    try:
        value = directories(exif.removeprefix(b"Exif\0\0"))[0].tags.get(ORIENTATION, 1)
    except ValueError:
        return 1
    return value if 1 <= value <= 8 else 1


def resolution(exif: bytes) -> tuple[float, float] | None:
    """Pixels per inch across and down as stored, out of an EXIF block or a TIFF file; None where there is none, or nonsense."""
    try:
        page = directories(exif.removeprefix(b"Exif\0\0"))[0]
    except ValueError:
        return None
    times = _PER_INCH.get(page.tags.get(UNIT, 2), 0.0)
    return per_inch(page.ratios.get(ACROSS, 0.0) * times, page.ratios.get(DOWN, 0.0) * times)


def per_inch(across: float, down: float) -> tuple[float, float] | None:
    """Both, where a device could have them; None else."""
    low, high = _DENSITIES
    return (across, down) if low <= across <= high and low <= down <= high else None


def _layout(data: bytes) -> _Layout:
    order = {b"II": "<", b"MM": ">"}.get(data[:2])
    try:
        magic = struct.unpack_from(f"{order}H", data, 2)[0] if order else 0
        if magic == 42:
            return _Layout(str(order), False, struct.unpack_from(f"{order}I", data, 4)[0])
        if magic == 43:
            return _Layout(str(order), True, struct.unpack_from(f"{order}Q", data, 8)[0])
    except struct.error as fault:
        raise ValueError("cut-off TIFF header") from fault
    raise ValueError("no TIFF header")


def _directory(data: bytes, at: int, layout: _Layout) -> Directory:
    order = layout.order
    count_format, size, offset = ("Q", 20, "Q") if layout.big else ("H", 12, "I")
    if at > len(data):  # struct takes no offset beyond 2^63
        raise struct.error("directory beyond the end")
    (count,) = struct.unpack_from(order + count_format, data, at)
    body = at + struct.calcsize(order + count_format)
    tags: dict[int, int] = {}
    ratios: dict[int, float] = {}
    inline = 8 if layout.big else 4
    for entry in range(body, min(body + count * size, len(data)), size):
        tag, kind = struct.unpack_from(order + "HH", data, entry)
        if kind == _RATIONAL and tag in _WANTED and tag not in ratios:
            (at,) = struct.unpack_from(order + offset, data, entry + size - inline)
            if inline == 8:
                at = entry + size - inline
            if at + 8 <= len(data):
                over, under = struct.unpack_from(order + "II", data, at)
                ratios[tag] = over / under if under else 0.0
        elif tag in _WANTED and tag not in tags:
            (values,) = struct.unpack_from(order + offset, data, entry + 4)
            value = _first_value(data, kind, values, entry + size - inline, inline, order + offset)
            if value is not None:
                tags[tag] = value
    (following,) = struct.unpack_from(order + offset, data, body + count * size) if body + count * size < len(data) else (0,)
    return Directory(tags, following, ratios)


def _first_value(data: bytes, kind: int, count: int, at: int, inline: int, offset: str) -> int | None:
    code = {1: "B", 3: "H", 4: "I"}.get(kind)
    if code is None or not count:
        return None
    if struct.calcsize(code) * count > inline:
        (at,) = struct.unpack_from(offset, data, at)
        if at + struct.calcsize(code) > len(data):
            return None
    return int(struct.unpack_from(offset[0] + code, data, at)[0])
