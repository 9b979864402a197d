"""Photos that tell everything about people and places that a file of their format can hold, for tests that nothing of it travels."""

import struct
import zlib
from collections.abc import Callable
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin, TiffImagePlugin
from PIL.TiffImagePlugin import IFDRational

Pixels = NDArray[np.uint8]

OWNER, BODY, LENS, NOTES, COMMENT = b"Erika-Owner", b"SN-4711-Body", b"SN-4712-Lens", b"maker-says-so", b"a private comment"
FACE, TOWN, CAPTION, THUMBNAIL, FILM = b"Mustermann-Region", b"Hidden-Town", b"caption-of-iptc", b"an-older-crop", b"the-second-before"
SECRETS = (OWNER, BODY, LENS, NOTES, COMMENT, FACE, TOWN, CAPTION, THUMBNAIL, FILM)
XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" '
    f'xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" photoshop:City="{TOWN.decode()}">'
    f'<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li mwg-rs:Name="{FACE.decode()}" mwg-rs:Type="Face"/>'
    "</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>"
).encode()
IPTC = b"".join(
    b"\x1c\x02" + bytes([record]) + struct.pack(">H", len(value)) + value for record, value in ((80, OWNER), (90, TOWN), (120, CAPTION))
)
PHOTOSHOP = b"8BIM\x04\x04\0\0" + struct.pack(">I", len(IPTC)) + IPTC + bytes(len(IPTC) & 1)


def exif(pixels: Pixels, orientation: int = 1) -> bytes:
    """Place, owner, serial numbers, the maker's notes, a comment, and an embedded thumbnail in a directory of its own."""
    made = Image.Exif()
    made[0x0112] = orientation
    made[0x8298] = made[0x013B] = OWNER.decode()
    camera = made.get_ifd(0x8769)
    camera[0xA430], camera[0xA431], camera[0xA435] = OWNER.decode(), BODY.decode(), LENS.decode()
    camera[0x927C], camera[0x9286] = NOTES, b"ASCII\0\0\0" + COMMENT
    place = made.get_ifd(0x8825)
    place[1], place[2] = "N", (IFDRational(47), IFDRational(7), IFDRational(24441600, 1000000))
    block = bytearray(made.tobytes().removeprefix(b"Exif\0\0"))
    order = ">" if block[:2] == b"MM" else "<"
    small = BytesIO()
    Image.fromarray(pixels[::8, ::8]).save(small, "JPEG", comment=THUMBNAIL)
    entries = ((0x0103, 3, 6), (0x0201, 4, len(block) + 2 + 36 + 4), (0x0202, 4, len(small.getvalue())))
    (count,) = struct.unpack_from(order + "H", block, 8)
    struct.pack_into(order + "I", block, 10 + 12 * count, len(block))
    second = struct.pack(order + "H", 3)
    for tag, kind, value in entries:
        second += struct.pack(order + ("HHIHxx" if kind == 3 else "HHII"), tag, kind, 1, value)
    return b"Exif\0\0" + bytes(block) + second + bytes(4) + small.getvalue()


def jpeg(pixels: Pixels) -> bytes:
    """As a telephone writes it: on its side, with a second picture and a film behind the end."""
    out = BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", exif=exif(pixels, 6), xmp=XMP, comment=COMMENT, dpi=(300, 300), quality=92)
    data = out.getvalue()
    more = b"\xff\xed" + struct.pack(">H", 2 + 14 + len(PHOTOSHOP)) + b"Photoshop 3.0\0" + PHOTOSHOP
    film = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"\0\0\0\x30moov" + FILM + b"MotionPhoto_Data"
    return data[:2] + more + data[2:] + data + film


def png(pixels: Pixels) -> bytes:
    out, texts = BytesIO(), PngImagePlugin.PngInfo()
    texts.add_text("Author", OWNER.decode())
    texts.add_text("Comment", COMMENT.decode(), zip=True)
    texts.add_itxt("Description", CAPTION.decode(), zip=True)
    texts.add_itxt("XML:com.adobe.xmp", XMP.decode())
    texts.add_text("Raw profile type iptc", f"\niptc\n{len(IPTC):8d}\n{IPTC.hex()}\n")
    texts.add(b"tIME", struct.pack(">H5B", 2026, 1, 2, 3, 4, 5))
    texts.add(b"seCr", FILM)
    Image.fromarray(pixels).save(out, "PNG", pnginfo=texts, exif=exif(pixels), dpi=(300, 300))
    return out.getvalue() + THUMBNAIL


def webp(pixels: Pixels) -> bytes:
    out = BytesIO()
    Image.fromarray(pixels).save(out, "WEBP", lossless=True, exif=exif(pixels), xmp=XMP)
    body = out.getvalue()[8:] + b"seCr" + struct.pack("<I", len(FILM) + 1) + FILM + b"\0"
    return b"RIFF" + struct.pack("<I", len(body)) + body


def tiff(pixels: Pixels) -> bytes:
    out, tags = BytesIO(), TiffImagePlugin.ImageFileDirectory_v2()
    tags[315], tags[33432], tags[270] = OWNER.decode(), BODY.decode(), CAPTION.decode()
    tags[700], tags[33723], tags[34377] = XMP, IPTC, PHOTOSHOP
    tags.tagtype |= {700: 1, 33723: 7, 34377: 1}
    Image.fromarray(pixels).save(out, "TIFF", tiffinfo=tags, dpi=(300, 300))
    return out.getvalue() + FILM


def heic(pixels: Pixels) -> bytes:
    import pillow_heif

    out = BytesIO()
    pillow_heif.from_pillow(Image.fromarray(pixels)).save(out, quality=90, exif=exif(pixels), xmp=XMP)
    return out.getvalue()


def avif(pixels: Pixels) -> bytes:
    out = BytesIO()
    Image.fromarray(pixels).save(out, "AVIF", quality=90, exif=exif(pixels), xmp=XMP)
    return out.getvalue()


def gif(pixels: Pixels) -> bytes:
    out = BytesIO()
    Image.fromarray(pixels).quantize(64).save(out, "GIF", comment=COMMENT)
    return out.getvalue() + FILM


TELLTALES: dict[str, Callable[[Pixels], bytes]] = {
    "jpeg": jpeg, "png": png, "webp": webp, "tiff": tiff, "heic": heic, "avif": avif, "gif": gif,
}  # fmt: skip


def spelled(secret: bytes) -> tuple[bytes, ...]:
    """As text is kept: UTF-8, both orders of UTF-16, hexadecimal digits."""
    words = secret.decode()
    return (secret, words.encode("utf-16-le"), words.encode("utf-16-be"), secret.hex().encode())


def unpacked(data: bytes) -> bytes:
    """The bytes of a file, and behind them what is packed in a PNG's chunks."""
    found, at = [data], 8
    while data.startswith(b"\x89PNG") and at + 12 <= len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        for start in range(at + 8, at + 8 + size) if name in (b"zTXt", b"iTXt") else ():
            try:
                found.append(zlib.decompress(data[start : at + 8 + size]))
            except zlib.error:
                continue
        at += 12 + size
    return b"\n".join(found)


def told(data: bytes, secrets: tuple[bytes, ...] = SECRETS) -> list[bytes]:
    """Which secrets a file gives away."""
    whole = unpacked(data)
    return [secret for secret in secrets if any(way in whole for way in spelled(secret))]
