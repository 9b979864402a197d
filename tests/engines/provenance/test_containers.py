"""Metadata is found where the formats keep it, and damage is no reason to stop."""

import struct
import zlib
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from engines.provenance import containers
from engines.provenance.containers import Parts, parts_of, png_chunks, png_with
from engines.types import Pixels

XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">hello</x:xmpmeta>'


def encoded(format: str, **options: object) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (5, 4), (10, 200, 30)).save(buffer, format, **options)
    return buffer.getvalue()


def exif() -> Image.Exif:
    made = Image.Exif()
    made[0x0131] = "a program"
    return made


def text_chunks() -> PngImagePlugin.PngInfo:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "a cat, Steps: 20")
    info.add_text("packed", "b" * 500, zip=True)
    info.add_itxt("unicode", "猫", zip=True)
    info.add_itxt(containers.XMP_KEYWORD, XMP.decode(), zip=True)
    return info


@pytest.mark.parametrize("format", ["JPEG", "WEBP"])
def test_what_pillow_writes_is_found(format: str) -> None:
    found = parts_of(encoded(format, xmp=XMP, exif=exif()))
    assert found.xmp == XMP
    assert b"a program" in found.exif
    assert found.exif[:2] in (b"II", b"MM")


def test_png_text_is_unpacked() -> None:
    found = parts_of(encoded("PNG", pnginfo=text_chunks(), exif=exif()))
    assert found.xmp == XMP
    assert b"a program" in found.exif
    assert dict(found.texts) == {"parameters": "a cat, Steps: 20", "packed": "b" * 500, "unicode": "猫"}


def test_other_formats_show_their_packet() -> None:
    assert parts_of(b"\0\0\0\x18ftypheic....." + XMP + b"....jumdc2pa....").xmp == XMP
    assert parts_of(b"....jumbjumdc2pa....").c2pa.startswith(b"jumdc2pa")
    assert parts_of(encoded("GIF")) == Parts()


def test_manifests_are_found_in_each_format() -> None:
    box = b"\0\0\0\x20jumb\0\0\0\x18jumdc2pa-manifest"
    segment = b"JP\0\1\0\0\0\1" + box
    jpeg = encoded("JPEG")
    jpeg = jpeg[:2] + struct.pack(">BBH", 0xFF, 0xEB, len(segment) + 2) + segment + jpeg[2:]
    assert parts_of(jpeg).c2pa == box
    assert parts_of(png_with(encoded("PNG"), [(b"caBX", box)])).c2pa == box
    assert parts_of(encoded("WEBP") + b"C2PA" + struct.pack("<I", len(box)) + box).c2pa == box


def test_an_added_chunk_leaves_a_valid_picture(astronaut: Pixels) -> None:
    buffer = BytesIO()
    Image.fromarray(astronaut[:20, :30]).save(buffer, "PNG")
    data = png_with(buffer.getvalue(), [(b"tEXt", b"key\0value")])
    with Image.open(BytesIO(data)) as picture:
        assert picture.text == {"key": "value"}
        assert picture.tobytes() == astronaut[:20, :30].tobytes()
    assert [name for name, _ in png_chunks(data)][:2] == [b"IHDR", b"tEXt"]


def test_a_text_that_unfolds_to_a_gigabyte_is_cut() -> None:
    bomb = zlib.compress(bytes(64 << 20), 9)
    data = png_with(encoded("PNG"), [(b"zTXt", b"parameters\0\0" + bomb)])
    assert len(dict(parts_of(data).texts)["parameters"]) == containers.LIMIT


def test_many_such_texts_are_not_all_unpacked() -> None:
    bomb = zlib.compress(bytes(5 << 20), 9)
    data = png_with(encoded("PNG"), [(b"zTXt", b"k%d\0\0" % number + bomb) for number in range(20)])
    assert sum(len(value) for _, value in parts_of(data).texts) == 4 * containers.LIMIT


def test_ten_thousand_texts_are_not_all_read() -> None:
    data = png_with(encoded("PNG"), [(b"tEXt", b"k%d\0v" % number) for number in range(10000)])
    assert len(parts_of(data).texts) == 256


WHOLE = [
    encoded("JPEG", xmp=XMP, exif=exif()),
    encoded("PNG", pnginfo=text_chunks(), exif=exif()),
    encoded("WEBP", xmp=XMP, exif=exif()),
]


@given(st.sampled_from(WHOLE), st.data())
def test_damage_never_raises(whole: bytes, data: st.DataObject) -> None:
    broken = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 8))):
        if broken:
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    assert isinstance(parts_of(bytes(broken)), Parts)


@given(st.sampled_from([b"", b"\xff\xd8", containers.PNG_SIGNATURE, b"RIFF\0\0\0\0WEBP"]), st.binary(max_size=400))
def test_garbage_never_raises(start: bytes, rest: bytes) -> None:
    assert isinstance(parts_of(start + rest), Parts)
