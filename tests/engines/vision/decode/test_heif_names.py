"""A HEIC whose items are named in no text ends libheif's binding, and so is refused before it."""

import struct
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from engines.errors import UnreadableImage
from engines.vision import io
from engines.vision.decode.heif_names import names_are_text

SAID = b"<x/>"


@pytest.fixture(scope="module")
def heic() -> bytes:
    heif = pytest.importorskip("pillow_heif")
    buffer = BytesIO()
    heif.from_pillow(Image.fromarray(np.full((32, 32, 3), 90, np.uint8))).save(buffer, xmp=SAID)
    return buffer.getvalue()


def test_a_whole_one_is_read(heic: bytes) -> None:
    assert names_are_text(heic)
    assert io.decode(heic, "a.heic", 1).pixels.shape == (32, 32, 3)


@pytest.mark.parametrize("old", [b"mime", b"application/rdf+xml"])
def test_a_name_that_is_no_text_is_refused(heic: bytes, old: bytes) -> None:
    """Without the look before it, this test ends the whole run (pi_heif 1.4.0)."""
    assert heic.count(old) == 1
    broken = heic.replace(old, old[:2] + b"\xc9" + old[3:])
    assert not names_are_text(broken)
    with pytest.raises(UnreadableImage) as caught:
        io.decode(broken, "a.heic", 1)
    assert caught.value.reason == "damaged"


@pytest.mark.parametrize(("version", "start"), [(0, 8), (1, 8), (2, 8), (3, 10)])
def test_every_version_of_an_entry(version: int, start: int) -> None:
    entry = bytes([version]) + bytes(start - 1) + b"mim\xff" + b"name\0type\0"
    for meta in (bytes(4) + struct.pack(">I4s", 8 + len(entry), b"infe") + entry, bytes(4) + struct.pack(">I4s", 1, b"infe") + entry):
        data = b"\0\0\0\x08ftyp" + struct.pack(">I4s", 8 + len(meta), b"meta") + meta
        assert not names_are_text(data)
        assert names_are_text(data.replace(b"mim\xff", b"mime"))
        assert not names_are_text(struct.pack(">I4s", 0, b"meta") + meta)
        assert not names_are_text(struct.pack(">I4sQ", 1, b"meta", 16 + len(meta)) + meta)


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_have_an_answer(before: bytes, behind: bytes) -> None:
    names_are_text(struct.pack(">I4s", 0, b"meta") + before + b"infe" + behind)
    names_are_text(before)
