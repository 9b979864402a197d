"""Metadata is found where the formats keep it, and damage is no reason to stop."""

import struct
import zlib
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin, TiffImagePlugin

from engines.provenance import containers
from engines.provenance.boxes import made
from engines.provenance.containers import Parts, parts_of, png_chunks, png_with
from engines.provenance.metadata import labels_of
from engines.types import Pixels

XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">hello</x:xmpmeta>'


def encoded(format: str, **options: object) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", (5, 4), (10, 200, 30)).save(buffer, format, **options)
    return buffer.getvalue()


def exif() -> Image.Exif:
    tags = Image.Exif()
    tags[0x0131] = "a program"
    return tags


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
    assert parts_of(b"GIF89a....." + XMP + b"....jumdc2pa....").xmp == XMP
    assert parts_of(b"....jumbjumdc2pa....").c2pa.startswith(b"jumdc2pa")
    assert parts_of(encoded("GIF")) == Parts()


WORDS = "a cat\nNegative prompt: dog"


def told() -> Image.Exif:
    tags = exif()
    tags[270] = "a description"
    tags.get_ifd(0x8769)[37510] = b"UNICODE\0" + WORDS.encode("utf-16-be")
    return tags


@pytest.mark.parametrize(("format", "brand"), [("AVIF", b"avif"), ("AVIF", b"heic"), ("TIFF", b""), ("TIFF big", b"")])
def test_what_stands_in_an_avif_a_heic_and_a_tiff_is_found_where_it_belongs(format: str, brand: bytes) -> None:
    if format == "AVIF":
        data = encoded("AVIF", xmp=XMP, exif=told()).replace(b"ftypavif", b"ftyp" + brand).replace(b"avifmif1", brand + b"mif1")
    else:
        data = encoded("TIFF", tiffinfo=told_in_tags(), big_tiff=format == "TIFF big")
    found = parts_of(data)
    assert found.xmp == XMP
    assert b"a program" in found.exif
    assert b"a description" in found.exif
    assert labels_of(found).others == ("parameters",)
    loose = parts_of(data + XMP.replace(b"hello", b"a lie") + b"jumdc2pa")
    assert (loose.xmp, loose.c2pa) == (XMP, b"")
    nothing = encoded("AVIF") if format == "AVIF" else encoded("TIFF")
    assert parts_of(nothing + XMP + b"jumdc2pa") == parts_of(nothing) == Parts()


def told_in_tags() -> TiffImagePlugin.ImageFileDirectory_v2:
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[305], tags[270], tags[700] = "a program", f"a description, {WORDS}", XMP
    tags.tagtype[700] = 1
    return tags


def heif(version: int, way: int, extents: list[tuple[int, int]], inner: bytes = b"", behind: bytes = b"", kind: bytes = b"mime") -> bytes:
    """A HEIC of one item, whose bytes lie at `extents`: in the file (way 0), or in `idat` (1)."""
    number = struct.pack(">I" if version == 2 else ">H", 7)
    entry = made(b"infe", bytes([3 if version == 2 else 2, 0, 0, 0]), number, bytes(2), kind, b"\0application/rdf+xml\0\0")
    places = b"".join(struct.pack(">II", *extent) for extent in extents)
    count = struct.pack(">I" if version == 2 else ">H", 1)
    method = struct.pack(">H", way) if version else b""
    table = bytes([version, 0, 0, 0, 0x44, 0]) + count + number + method + bytes(2) + struct.pack(">H", len(extents)) + places
    info = made(b"iinf", bytes(4), b"\0\1", entry)
    meta = made(b"meta", bytes(4), made(b"hdlr", bytes(20)), info, made(b"iloc", table), made(b"idat", inner))
    return made(b"ftyp", b"heic", bytes(4), b"mif1heic") + meta + made(b"mdat", behind)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_items_in_one_piece_and_in_several(version: int) -> None:
    at = len(heif(version, 0, [(0, 0)] * 2))
    assert parts_of(heif(version, 0, [(at, 10), (at + 10, len(XMP) - 10)], behind=XMP)).xmp == XMP
    assert parts_of(heif(version, 0, [(at - 8, len(XMP))], behind=XMP)).xmp == XMP
    if version:
        assert parts_of(heif(version, 1, [(3, len(XMP))], inner=b"xyz" + XMP)).xmp == XMP
        assert parts_of(heif(version, 2, [(3, len(XMP))], inner=b"xyz" + XMP)).xmp == b""
    assert parts_of(heif(version, 0, [(1 << 31, 99)], behind=XMP)).xmp == b""
    assert parts_of(heif(version, 0, [(at, 99)], behind=XMP, kind=b"hvc1")).xmp == b""


def test_an_item_of_many_pieces_and_one_without_an_end_are_bounded() -> None:
    assert len(parts_of(heif(1, 0, [(0, 0)] * 60000, behind=bytes(1 << 20))).xmp) <= containers.LIMIT


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
    encoded("AVIF", xmp=XMP, exif=told()),
    encoded("TIFF", tiffinfo=told_in_tags()),
    encoded("TIFF", tiffinfo=told_in_tags(), big_tiff=True),
    heif(2, 1, [(3, len(XMP))], inner=b"xyz" + XMP),
]


@given(st.sampled_from(WHOLE), st.data())
def test_damage_never_raises(whole: bytes, data: st.DataObject) -> None:
    broken = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 8))):
        if broken:
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    assert isinstance(parts_of(bytes(broken)), Parts)


@given(
    st.sampled_from([b"", b"\xff\xd8", containers.PNG_SIGNATURE, b"RIFF\0\0\0\0WEBP", b"\0\0\0\x0cftypavif", b"II*\0\x08\0\0\0", b"MM\0+"]),
    st.binary(max_size=400),
)
def test_garbage_never_raises(start: bytes, rest: bytes) -> None:
    assert isinstance(parts_of(start + rest), Parts)
