"""What an MP4 or MOV says about itself: where it stands in the file, read and written.

Written, and read:
- `moov/udta/meta`, keys of the handler "mdta" and their values (QuickTime File Format, "Metadata"): `AIGC`, where GB 45438-2025 puts its
  label in a video, as `ffmpeg -movflags use_metadata_tags -metadata AIGC=…` does, and the program's name;
- a `uuid` box at the top with the XMP packet (XMP specification part 3, "MPEG-4").

Read besides: keys in `moov/meta`, iTunes' list, QuickTime's own texts, `XMP_` in `udta`, and the manifest of C2PA.
"""

import struct
from collections.abc import Iterator

from engines.provenance import aigc
from engines.provenance.boxes import C2PA_UUID, XMP_UUID, Box, boxes, child, inside, made
from engines.provenance.labels import TOOL, Labels
from engines.provenance.xmp import build_xmp

AIGC = "AIGC"
_SOFTWARE = "com.apple.quicktime.software"
_PLACES = (b"moov/udta/meta", b"moov/meta", b"meta")
_UTF8 = 1  # type of a value (QuickTime File Format, "Well-known types")
_MOST = 256  # texts of a file
_LIMIT = 4 << 20  # bytes of all texts, and of a packet

Text = tuple[str, str]


def user_data(labels: Labels) -> bytes:
    """The box `udta` of a labelled video."""
    said = [(AIGC, aigc.written(labels)), (_SOFTWARE, TOOL)]
    values = [(key.encode(), value.encode()) for key, value in said if value]
    keys = [struct.pack(">I4s", 8 + len(key), b"mdta") + key for key, _ in values]
    items = [
        made(struct.pack(">I", number), made(b"data", struct.pack(">II", _UTF8, 0), value)) for number, (_, value) in enumerate(values, 1)
    ]
    handler = made(b"hdlr", struct.pack(">II4s12xx", 0, 0, b"mdta"))
    table = made(b"keys", struct.pack(">II", 0, len(keys)), *keys)
    return made(b"udta", made(b"meta", bytes(4), handler, table, made(b"ilst", *items)))


def packet_box(labels: Labels) -> bytes:
    """The `uuid` box with the XMP packet."""
    return made(b"uuid", XMP_UUID, build_xmp(labels))


def read_movie(data: bytes) -> tuple[bytes, bytes, tuple[Text, ...], bytes]:
    """Of an MP4 or MOV: the XMP packet, all comments one after the other, keys with their values, the manifest of C2PA; empty where there
    is none. Never raises for what `data` holds."""
    packet, manifest = b"", b""
    for box in boxes(data):
        if box.uuid == XMP_UUID:
            packet = packet or data[box.body : min(box.end, box.body + _LIMIT)]
        elif box.uuid == C2PA_UUID:
            manifest = manifest or data[box.body : box.end]
    older = child(data, b"moov/udta/XMP_")
    if older is not None and not packet:
        packet = data[older.body : min(older.end, older.body + _LIMIT)]
    texts: list[Text] = []
    left = _LIMIT
    for key, value in _texts(data):
        left -= len(value)
        if left < 0 or len(texts) == _MOST:
            break
        texts.append((key, value.decode("utf-8", "replace")))
    comments = "\n".join(value for key, value in texts if not key)
    return packet, comments.encode(), tuple(each for each in texts if each[0]), manifest


def _texts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Keys and values of all places; "" for those of comments and descriptions, which have no key of their own."""
    for place in _PLACES:
        meta = child(data, place)
        named = {} if meta is None else {box.kind: box for box in inside(data, meta)}
        if b"ilst" in named:
            found = _keyed(data, named[b"keys"], named[b"ilst"]) if b"keys" in named else _itunes(data, named[b"ilst"])
            yield from found
    older = child(data, b"moov/udta")
    for box in inside(data, older) if older else ():
        if box.kind[:1] == b"\xa9" and box.body + 4 <= box.end:
            (size,) = struct.unpack_from(">H", data, box.body)
            yield _plain_key(box.kind), data[box.body + 4 : min(box.end, box.body + 4 + size)]


def _keyed(data: bytes, keys: Box, listed: Box) -> Iterator[tuple[str, bytes]]:
    names: list[str] = []
    at = keys.body + 8
    while at + 8 <= keys.end and len(names) < _MOST:
        (size,) = struct.unpack_from(">I", data, at)
        if size < 8 or at + size > keys.end:
            break
        names.append(data[at + 8 : at + size].decode("utf-8", "replace"))
        at += size
    for item in inside(data, listed):
        (number,) = struct.unpack(">I", item.kind)
        if 1 <= number <= len(names):
            yield names[number - 1], _value(data, item)


def _itunes(data: bytes, listed: Box) -> Iterator[tuple[str, bytes]]:
    for item in inside(data, listed):
        if item.kind == b"----":
            name = child(data, b"name", item)
            if name is not None:
                yield data[name.body + 4 : name.end].decode("utf-8", "replace"), _value(data, item)
        elif item.kind[:1] == b"\xa9" or item.kind == b"desc":
            yield _plain_key(item.kind), _value(data, item)


def _value(data: bytes, item: Box) -> bytes:
    value = child(data, b"data", item)
    return b"" if value is None else data[value.body + 8 : value.end]


def _plain_key(kind: bytes) -> str:
    """Of a program's name in four bytes; the others are comments."""
    return "Software" if kind in (b"\xa9too", b"\xa9swr") else ""
