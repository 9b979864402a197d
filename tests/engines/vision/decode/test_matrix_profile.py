"""The short way to sRGB against littleCMS, which reads the same profiles in its own way."""

import struct
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from engines.types import Pixels
from engines.vision.decode import profile
from engines.vision.decode.encoded import Samples
from engines.vision.decode.matrix_profile import MatrixProfile, matrix_profile
from tests.strategies import damaged, picture

D50 = (0.9642, 1.0, 0.8249)
P3 = ((0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407))  # red, green, blue as XYZ under D50


def fixed(*numbers: float) -> bytes:
    return b"".join(struct.pack(">i", round(number * 65536)) for number in numbers)


def rgb_profile(curve: bytes, **extra: bytes) -> bytes:
    """A display profile of version 4 with Display P3's primaries and one curve for all channels."""
    name = "made for a test".encode("utf-16-be")
    text = b"mluc\0\0\0\0" + struct.pack(">II2s2sII", 1, 12, b"en", b"US", len(name), 28) + name
    tags = {b"desc": text, b"cprt": text, b"wtpt": b"XYZ \0\0\0\0" + fixed(*D50)}
    tags |= {letter + b"XYZ": b"XYZ \0\0\0\0" + fixed(*column) for letter, column in zip((b"r", b"g", b"b"), P3, strict=True)}
    tags |= {letter + b"TRC": curve for letter in (b"r", b"g", b"b")} | {key.encode(): value for key, value in extra.items()}
    table, body, at = struct.pack(">I", len(tags)), b"", 132 + 12 * len(tags)
    for tag, value in tags.items():
        table += tag + struct.pack(">II", at + len(body), len(value))
        body += value + bytes(-len(value) % 4)
    head = struct.pack(">I4xI4s4s4s12x4s28x", at + len(body), 0x04300000, b"mntr", b"RGB ", b"XYZ ", b"acsp") + fixed(*D50)
    return head.ljust(128, b"\0") + table + body


def parametric(kind: int, *numbers: float) -> bytes:
    return b"para\0\0\0\0" + struct.pack(">Hxx", kind) + fixed(*numbers)


def table(*values: int) -> bytes:
    return b"curv\0\0\0\0" + struct.pack(f">I{len(values)}H", len(values), *values)


CURVES = {
    "identity": table(),
    "gamma 2.2": table(563),
    "table of 1024": table(*(round((n / 1023) ** 2.4 * 65535) for n in range(1024))),
    "table of 17": table(*(round((n / 16) ** 2 * 65535) for n in range(17))),
    "parametric gamma": parametric(0, 1.8),
    "parametric sRGB": parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045),  # what Apple's Display P3 has
}
OTHERS = {
    "CIE 122": parametric(1, 2.2, 1, 0),
    "IEC 61966-3": parametric(2, 2.2, 1, 0, 0),
    "all seven": parametric(4, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045, 0, 0),
}


def littlecms(pixels: Pixels, icc: bytes) -> Pixels:
    source = ImageCms.ImageCmsProfile(BytesIO(icc))
    converted = ImageCms.profileToProfile(Image.fromarray(pixels), source, ImageCms.createProfile("sRGB"), 1, outputMode="RGB")
    assert converted is not None
    return np.asarray(converted)


@pytest.mark.parametrize("curve", CURVES)
def test_the_short_way_is_taken_and_agrees(curve: str) -> None:
    icc, pixels = rgb_profile(CURVES[curve]), picture(80, 60, "noise")
    short = matrix_profile(icc)
    assert short is not None
    assert np.abs(short.apply(pixels).astype(int) - littlecms(pixels, icc)).max() <= 1
    converted, name, notes = profile.to_srgb(Samples(pixels.copy(), "RGB"), icc)
    np.testing.assert_array_equal(converted, short.apply(pixels))
    assert (name, notes) == ("made for a test", ())


@pytest.mark.parametrize("curve", OTHERS)
def test_other_curves_go_through_littlecms(curve: str) -> None:
    icc, pixels = rgb_profile(OTHERS[curve]), picture(80, 60, "noise")
    assert matrix_profile(icc) is None
    converted, _, _ = profile.to_srgb(Samples(pixels.copy(), "RGB"), icc)
    assert np.abs(converted.astype(int) - littlecms(pixels, icc)).max() <= 1


def test_where_the_two_differ_littlecms_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    icc, pixels = rgb_profile(table(600)), picture(80, 60, "noise")
    wrong = MatrixProfile(np.zeros((1, 256, 3), np.float32), np.eye(3, dtype=np.float32))
    monkeypatch.setattr(profile, "matrix_profile", lambda _: wrong)
    converted, _, _ = profile.to_srgb(Samples(pixels.copy(), "RGB"), icc)
    assert np.abs(converted.astype(int) - littlecms(pixels, icc)).max() <= 1


def test_tables_come_before_the_matrix() -> None:
    assert matrix_profile(rgb_profile(CURVES["gamma 2.2"], A2B0=b"mAB \0\0\0\0" + bytes(24))) is None


@settings(deadline=None, max_examples=150)
@given(icc=st.sampled_from(sorted(CURVES)).flatmap(lambda name: damaged(rgb_profile(CURVES[name]))) | st.binary(max_size=200))
def test_broken_profiles_give_nothing_or_finite_numbers(icc: bytes) -> None:
    short = matrix_profile(icc)
    if short is not None:
        assert np.isfinite(short.curves).all()
        assert np.isfinite(short.matrix).all()
        assert short.apply(picture(8, 6)).dtype == np.uint8
