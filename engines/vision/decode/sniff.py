"""What bytes are, by their first few: a picture format, something else with a name, text, a web page. Names don't count."""

import re
import struct

from engines.errors import UnreadableImage

_FORMATS: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"II+\0", "TIFF"),
    (b"MM\0+", "TIFF"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
    (b"\xff\x4f\xff\x51", "JPEG 2000"),
)
_UNSUPPORTED: tuple[tuple[bytes, str], ...] = (
    (b"\xff\x0a", "JPEG XL"),
    (b"\0\0\0\x0cJXL \r\n\x87\n", "JPEG XL"),
    (b"II\xbc\x01", "JPEG XR"),
    (b"\x76\x2f\x31\x01", "OpenEXR"),
    (b"#?RADIANCE", "Radiance HDR"),
    (b"#?RGBE", "Radiance HDR"),
    (b"8BPS", "Photoshop"),
    (b"\0\0\x01\0", "ICO"),
    (b"DDS ", "DDS"),
    (b"FUJIFILMCCD-RAW", "camera raw"),
    (b"IIRO", "camera raw"),
    (b"IIRS", "camera raw"),
    (b"IIU\0", "camera raw"),
)
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"PK\x05\x06", "ZIP"),
    (b"Rar!", "RAR"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x1f\x8b", "gzip"),
    (b"\x1aE\xdf\xa3", "WebM"),
    (b"ID3", "MP3"),
    (b"%!PS", "PostScript"),
)
_AVIF, _HEIC = {b"avif", b"avis"}, {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1"}
_BMP_HEADERS = {12, 16, 40, 52, 56, 64, 108, 124}
_LOOK = 4096
_PAGE = re.compile(rb"<\s*(!doctype\s+html|html|head|body|script|meta|title)\b", re.IGNORECASE)
_SVG = re.compile(rb"<\s*svg\b", re.IGNORECASE)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
_WIDE_TEXT = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_ZERO_TAIL = 512


def picture_format(data: bytes, name: str) -> str:
    """The format of a picture that can be read: a key of `codecs.OPENERS`.

    Raises:
        UnreadableImage: empty (no bytes, or zeros only), truncated (the first bytes of a signature), web_page, text,
            other (a PDF, an archive, a film), codec (a picture of a kind that isn't read), unknown.
    """
    if not data or (not data[0] and data.count(0) == len(data)):
        raise UnreadableImage("empty", name=name)
    for signature, format in _FORMATS:
        if data.startswith(signature):
            return format
    if data[:4] == b"RIFF" and len(data) >= 12:
        if data[8:12] == b"WEBP":
            return "WebP"
        raise UnreadableImage("other", name=name, kind={b"AVI ": "AVI", b"WAVE": "WAV"}.get(data[8:12], "RIFF"))
    if data[4:8] == b"ftyp":
        return _boxed(data, name)
    if data[:2] == b"BM" and len(data) >= 18 and struct.unpack_from("<I", data, 14)[0] in _BMP_HEADERS:
        return "BMP"
    for signature, format in _UNSUPPORTED:
        if data.startswith(signature):
            raise UnreadableImage("codec", name=name, format=format)
    for signature, kind in _OTHERS:
        if data.startswith(signature):
            raise UnreadableImage("other", name=name, kind=kind)
    if _is_start(data):
        raise UnreadableImage("truncated", name=name)
    raise _words(data, name)


def ends_early(format: str, data: bytes) -> bool:
    """Whether a picture that could not be decoded is one that was cut off (rather than damaged), by the sizes it claims."""
    if data.endswith(bytes(_ZERO_TAIL)):  # room was reserved for the whole file and never filled
        return True
    match format:
        case "WebP":
            return len(data) < 20 or 8 + struct.unpack_from("<I", data, 4)[0] > len(data)
        case "BMP":
            return len(data) < 54 or struct.unpack_from("<I", data, 2)[0] > len(data)
        case "GIF":
            return not data.rstrip(b"\0").endswith(b";")
        case "TIFF":
            order = "<" if data[:1] == b"I" else ">"
            return len(data) < 16 or (data[2:4].strip(b"\0") == b"*" and struct.unpack_from(order + "I", data, 4)[0] + 2 > len(data))
        case "JPEG 2000" if data[:1] == b"\xff":
            return not data.rstrip(b"\0").endswith(b"\xff\xd9")
        case "AVIF" | "HEIC" | "JPEG 2000":
            return _boxes_end(data) > len(data)
        case _:
            return False


def _boxes_end(data: bytes) -> int:
    """Where the last box of an ISO base media file would end (ISO/IEC 14496-12, 4.2)."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            return at + 8
        (size,) = struct.unpack_from(">I", data, at)
        if size == 0:  # to the end of the file, wherever that is
            return len(data)
        if size == 1:
            if at + 16 > len(data):
                return at + 16
            (size,) = struct.unpack_from(">Q", data, at + 8)
        at += max(8, size)
    return at


def _boxed(data: bytes, name: str) -> str:
    size = min(max(16, struct.unpack_from(">I", data)[0]), 256)
    brands = {data[8:12], *(data[at : at + 4] for at in range(16, size - 3, 4))}
    if brands & _AVIF:
        return "AVIF"
    if brands & _HEIC:
        return "HEIC"
    if b"crx " in brands:
        raise UnreadableImage("codec", name=name, format="camera raw")
    if len(data) < 12:
        raise UnreadableImage("truncated", name=name)
    raise UnreadableImage("other", name=name, kind="MOV" if b"qt  " in brands else "MP4")


def _is_start(data: bytes) -> bool:
    if len(data) < 12 and (data[:4] == b"RIFF" or b"RIFF".startswith(data)):
        return True
    return (data[:2] == b"BM" and len(data) < 18) or any(signature.startswith(data) for signature, _ in _FORMATS)


def _words(data: bytes, name: str) -> UnreadableImage:
    start = data[:_LOOK]
    wide = _WIDE_TEXT.get(start[:2])
    if wide:
        start = start[2 : 2 + (len(start) - 2) // 2 * 2].decode(wide, "replace").encode()
    if start.translate(None, _CONTROLS) != start:
        return UnreadableImage("unknown", name=name)
    if _SVG.search(start):
        return UnreadableImage("codec", name=name, format="SVG")
    return UnreadableImage("web_page" if _PAGE.search(start) else "text", name=name)
