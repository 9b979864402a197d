"""What must not travel from an input into an output."""

import io
import re
import struct
import zipfile
import zlib

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin

from engines.pipeline import Studio
from engines.provenance.archive import bundle

Pixels = NDArray[np.uint8]


def everything_in(data: bytes) -> bytes:
    """The bytes, and what its compressed text chunks unpack to."""
    found = [data]
    if data.startswith(b"\x89PNG"):
        at = 8
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at : at + 8])
            body = data[at + 8 : at + 8 + length]
            if kind in (b"zTXt", b"iTXt"):
                for start in (m.end() for m in re.finditer(b"\0", body)):
                    try:
                        found.append(zlib.decompress(body[start:]))
                    except zlib.error:
                        continue
            at += 12 + length
    return b"\n".join(found)


@pytest.fixture(scope="module")
def private(astronaut: Pixels) -> dict[str, bytes]:
    """A JPEG and a PNG full of what cameras and other programs write: place, serial number, owner, preview, comments, prompts."""
    exif = Image.Exif()
    for tag in (0x10E, 0x10F, 0x110, 0x13B, 0x9C9B):
        exif[tag] = "CANARY"
    exif.get_ifd(0x8825).update({1: "N", 2: (48.0, 51.0, 30.0), 3: "E", 4: (2.0, 17.0, 40.0), 27: b"CANARY"})
    exif.get_ifd(0x8769).update({0xA431: "CANARY", 0xA430: "CANARY", 0x927C: b"CANARY-MAKERNOTE", 0x9286: b"ASCII\0\0\0CANARY"})
    picture, jpeg, png = Image.fromarray(astronaut), io.BytesIO(), io.BytesIO()
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">CANARY</x:xmpmeta>'
    picture.save(jpeg, "JPEG", quality=92, exif=exif, xmp=xmp, comment=b"CANARY")
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "CANARY")
    info.add_text("Comment", "CANARY " * 30, zip=True)
    info.add_itxt("XML:com.adobe.xmp", xmp.decode(), zip=True)
    picture.save(png, "PNG", exif=exif, pnginfo=info)
    made = {"jpg": jpeg.getvalue(), "png": png.getvalue()}
    assert all(b"CANARY" in everything_in(data) for data in made.values())
    return made


@pytest.mark.parametrize("format", ["png", "jpg", "webp"])
@pytest.mark.parametrize("kind", ["jpg", "png"])
@pytest.mark.parametrize("role", ["source", "target"])
def test_case_p01_nothing_personal_in_the_fusion(
    studio: Studio, officer: Pixels, private: dict[str, bytes], role: str, kind: str, format: str
) -> None:
    pair = (private[kind], officer) if role == "source" else (officer, private[kind])
    data = studio.fuse(*pair).encode(format).data
    assert b"CANARY" not in everything_in(data)
    with Image.open(io.BytesIO(data)) as picture:
        exif = picture.getexif()
        assert exif.get(0x112, 1) == 1
        assert not exif.get_ifd(0x8825)
        assert 0x927C not in exif.get_ifd(0x8769)
        assert not exif.get_ifd(1)


@pytest.mark.parametrize("kind", ["jpg", "png"])
def test_case_p01_nothing_personal_in_crops_and_their_zip(studio: Studio, private: dict[str, bytes], kind: str) -> None:
    found = studio.faces(private[kind])
    crop = studio.encode(studio.mark(studio.crop(found.frame, found.faces[0], 256).pixels, "crop"))
    packed = bundle([("crop.png", crop)])
    assert b"CANARY" not in everything_in(crop.data)
    assert b"CANARY" not in packed
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert all(b"CANARY" not in everything_in(archive.read(name)) for name in archive.namelist())
