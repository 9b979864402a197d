"""What bytes are, whatever they are called."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.errors import FusionError, UnreadableImage
from engines.vision.decode.codecs import OPENERS
from engines.vision.decode.sniff import ends_early, picture_format
from tests.strategies import FORMATS, picture

PICTURE = picture(24, 18)


@pytest.mark.parametrize("layout", FORMATS)
def test_every_format_is_known_by_its_content(layout: str) -> None:
    expected = "JPEG 2000" if layout == "JPEG 2000" else layout.split()[0]
    assert picture_format(FORMATS[layout](PICTURE), "x.txt") == expected
    assert expected in OPENERS


def _box(*brands: bytes) -> bytes:
    body = brands[0] + bytes(4) + b"".join(brands)
    return (8 + len(body)).to_bytes(4, "big") + b"ftyp" + body


@pytest.mark.parametrize(
    ("data", "reason", "facts"),
    [
        (b"", "empty", {}),
        (bytes(5000), "empty", {}),  # room was reserved, and nothing arrived
        (b"This is not a picture.\n" * 40, "text", {}),
        (b'{"error": "access denied"}', "text", {}),
        ("这不是图片，是文字。".encode(), "text", {}),
        ("这不是图片，是文字。".encode("gbk"), "text", {}),
        (b"BMW builds cars; this text begins like a bitmap", "text", {}),
        (b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "text", {}),
        (b"<!doctype html><html><body>Please sign in</body></html>", "web_page", {}),
        (b"\n\n <!-- proxy -->\n<HTML><TITLE>Blocked</TITLE></HTML>", "web_page", {}),
        ("<html><body>登录</body></html>".encode("utf-16"), "web_page", {}),
        (b"\xef\xbb\xbf<html></html>", "web_page", {}),
        (b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "codec", {"format": "SVG"}),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "other", {"kind": "PDF"}),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "other", {"kind": "PostScript"}),
        (b"PK\x03\x04\x14\0\0\0", "other", {"kind": "ZIP"}),
        (b"RIFF\x10\0\0\0AVI LIST", "other", {"kind": "AVI"}),
        (_box(b"isom", b"mp42"), "other", {"kind": "MP4"}),
        (_box(b"qt  "), "other", {"kind": "MOV"}),
        (_box(b"crx ", b"isom"), "codec", {"format": "camera raw"}),
        (b"\xff\x0a" + bytes(range(64)), "codec", {"format": "JPEG XL"}),
        (b"\x76\x2f\x31\x01\x02\0\0\0", "codec", {"format": "OpenEXR"}),
        (b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n", "codec", {"format": "Radiance HDR"}),
        (b"8BPS\0\x01" + bytes(40), "codec", {"format": "Photoshop"}),
        (b"\x89PN", "truncated", {}),
        (b"\xff\xd8", "truncated", {}),
        (b"BM\0\0", "truncated", {}),
        (b"RIFF\x10\0", "truncated", {}),
        (b"\0\0\0\x18ftyp", "truncated", {}),
        (bytes([7, 1, 200, 3, 0, 9, 77, 130]) * 20, "unknown", {}),
    ],
)
def test_what_is_no_picture_is_named(data: bytes, reason: str, facts: dict[str, str]) -> None:
    with pytest.raises(UnreadableImage) as caught:
        picture_format(data, "photo.jpg")
    assert (caught.value.reason, caught.value.facts) == (reason, {"name": "photo.jpg", **facts})
    for language in ("en", "zh-CN"):
        assert "photo.jpg" in caught.value.message(language)
        assert caught.value.hint(language)


@pytest.mark.parametrize(
    ("brands", "expected"),
    [
        ((b"heic", b"mif1"), "HEIC"),
        ((b"mif1", b"heic"), "HEIC"),
        ((b"mif1", b"avif"), "AVIF"),
        ((b"avis", b"msf1"), "AVIF"),
        ((b"hevc",), "HEIC"),
    ],
)
def test_boxed_formats_by_their_brands(brands: tuple[bytes, ...], expected: str) -> None:
    assert picture_format(_box(*brands) + bytes(40), "x") == expected


@pytest.mark.parametrize("layout", ["WebP", "BMP", "GIF", "AVIF", "JPEG 2000"])
def test_a_cut_shows_in_the_sizes_that_a_file_claims(layout: str) -> None:
    data, format = FORMATS[layout](PICTURE), layout
    assert not ends_early(format, data)
    for share in (0.3, 0.6, 0.95):
        assert ends_early(format, data[: int(len(data) * share)])
    assert ends_early(format, data[: len(data) // 2] + bytes(1024))  # reserved and never filled


HEADS = [b"", b"RIFF", b"\0\0\0\x10ftyp", b"BM", b"II*\0", b"MM\0+", b"\xfe\xff", b"\xff\xd8\xff"]


@settings(deadline=None, max_examples=150)
@given(head=st.sampled_from(HEADS), tail=st.binary(max_size=80))
def test_any_bytes_get_a_name_or_a_typed_refusal(head: bytes, tail: bytes) -> None:
    try:
        format = picture_format(head + tail, "x")
    except FusionError:
        return
    assert ends_early(format, head + tail) in (True, False)
    assert format in OPENERS
