"""Colours from their own space to sRGB: against the colour spaces' published numbers, computed here."""

import io as streams
import struct
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image, ImageCms

from engines.types import Pixels
from engines.vision import io
from engines.vision.decode import profile
from engines.vision.decode.encoded import Samples
from tests.strategies import picture, pillow_bytes

Floats = NDArray[np.float64]
D50, D65 = np.array([0.9642, 1.0, 0.8249]), np.array([0.95047, 1.0, 1.08883])
BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
# Primaries (x, y of red, green, blue), white, and the curve's exponent (0: sRGB's own).
SPACES: dict[str, tuple[tuple[tuple[float, float], ...], Floats, float]] = {
    "sRGB": (((0.64, 0.33), (0.30, 0.60), (0.15, 0.06)), D65, 0),
    "Display P3": (((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)), D65, 0),  # SMPTE EG 432-1
    "Adobe RGB": (((0.64, 0.33), (0.21, 0.71), (0.15, 0.06)), D65, 563 / 256),  # Adobe RGB (1998)
    "ProPhoto": (((0.734699, 0.265301), (0.159597, 0.840403), (0.036598, 0.000105)), D50, 1.8),  # ISO 22028-2
}


def to_xyz(space: str) -> Floats:
    """(3, 3): linear RGB of the space → XYZ under D50."""
    primaries, white, _ = SPACES[space]
    columns = np.array([[x / y, 1, (1 - x - y) / y] for x, y in primaries]).T
    scaled = columns * np.linalg.solve(columns, white)
    adapt = np.linalg.inv(BRADFORD) @ np.diag(BRADFORD @ D50 / (BRADFORD @ white)) @ BRADFORD
    return np.asarray(adapt @ scaled)


def linear(values: Floats, exponent: float) -> Floats:
    if exponent:
        return np.asarray(values**exponent)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def coded(values: Floats, exponent: float) -> Floats:
    values = np.clip(values, 0, 1)
    if exponent:
        return np.asarray(values ** (1 / exponent))
    return np.where(values <= 0.0031308, values * 12.92, 1.055 * np.maximum(values, 1e-9) ** (1 / 2.4) - 0.055)


def fixed(*numbers: float) -> bytes:
    return b"".join(struct.pack(">i", round(number * 65536)) for number in numbers)


def icc(kind: bytes, space: bytes, connection: bytes, tags: dict[bytes, bytes], name: str) -> bytes:
    """An ICC profile of version 2 (ICC.1:2001-04)."""
    text = name.encode() + b"\0"
    tags = {b"desc": b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + bytes(79), b"wtpt": b"XYZ \0\0\0\0" + fixed(*D50), **tags}
    table, body, at = struct.pack(">I", len(tags)), b"", 132 + 12 * len(tags)
    for tag, value in tags.items():
        table += tag + struct.pack(">II", at + len(body), len(value))
        body += value + bytes(-len(value) % 4)
    head = struct.pack(">I4xI4s4s4s12x4s28x", at + len(body), 0x02400000, kind, space, connection, b"acsp") + fixed(*D50)
    return head.ljust(128, b"\0") + table + body


def curve(exponent: float) -> bytes:
    table = (linear(np.linspace(0, 1, 1024), exponent) * 65535).round().astype(">u2")
    return b"curv\0\0\0\0" + struct.pack(">I", 1024) + table.tobytes()


def matrix_profile(space: str) -> bytes:
    matrix, tone = to_xyz(space), curve(SPACES[space][2])
    tags = {bytes([letter]) + b"XYZ": b"XYZ \0\0\0\0" + fixed(*matrix[:, n]) for n, letter in enumerate(b"rgb")}
    return icc(b"mntr", b"RGB ", b"XYZ ", tags | {bytes([letter]) + b"TRC": tone for letter in b"rgb"}, space)


def gray_profile(exponent: float) -> bytes:
    return icc(b"mntr", b"GRAY", b"XYZ ", {b"kTRC": curve(exponent)}, "gray")


INK, BLACK = 0.75, 0.95  # a made-up press, whose inks are much weaker than the plain formula assumes


def press_rgb(inks: Floats) -> Floats:
    return np.asarray((1 - INK * inks[..., :3]) * (1 - BLACK * inks[..., 3:]))


def press_inks(rgb: Floats) -> Floats:
    black = np.clip((1 - rgb.max(-1, keepdims=True)) / BLACK, 0, 0.9)
    return np.concatenate([np.clip((1 - rgb / (1 - BLACK * black)) / INK, 0, 1), black], -1)


def press_profile(steps: int = 9) -> bytes:
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, steps)] * 4, indexing="ij"), -1)
    ratio = linear(press_rgb(grid), 0) @ to_xyz("sRGB").T / D50
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    lab = np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)
    table = np.stack([lab[..., 0] * 652.8, (lab[..., 1] + 128) * 256, (lab[..., 2] + 128) * 256], -1).clip(0, 65535).round().astype(">u2")
    ramp = struct.pack(">2H", 0, 65535)
    lut = b"mft2\0\0\0\0" + bytes([4, 3, steps, 0]) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + struct.pack(">2H", 2, 2)
    return icc(b"prtr", b"CMYK", b"Lab ", {b"A2B0": lut + ramp * 4 + table.tobytes() + ramp * 3}, "press")


@pytest.fixture(scope="module")
def colours() -> Pixels:
    """(40, 60, 3): sRGB, patches of clear colours and skin, and a soft mixture."""
    pixels = picture(60, 40, "soft", seed=4)
    patches = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [224, 172, 105], [255, 255, 255], [0, 0, 0]]
    pixels[:10] = np.repeat(np.array(patches, np.uint8), 10, axis=0)
    return pixels


@pytest.mark.parametrize(("space", "tolerance"), [("Display P3", 2.0), ("Adobe RGB", 2.0), ("ProPhoto", 4.0)])
@pytest.mark.parametrize("kind", ["PNG", "TIFF", "WEBP"])
def test_wide_spaces_come_back_to_srgb(space: str, tolerance: float, kind: str, colours: Pixels) -> None:
    light = linear(colours / 255, 0) @ to_xyz("sRGB").T @ np.linalg.inv(to_xyz(space)).T
    stored = np.rint(coded(light, SPACES[space][2]) * 255).astype(np.uint8)
    assert np.abs(stored.astype(int) - colours).max() > 25  # not converting would show
    options = {"lossless": True} if kind == "WEBP" else {}
    frame = io.decode(pillow_bytes(stored, kind, icc_profile=matrix_profile(space), **options), "x", 1)
    off = np.abs(frame.pixels.astype(int) - colours)
    # Eight bits of a wide space are coarse where its values are small: a mean over all, a bound for the patches.
    assert off.mean() < tolerance / 2
    for patch in range(6):
        part = np.s_[1:9, patch * 10 + 1 : patch * 10 + 9]
        np.testing.assert_allclose(frame.pixels[part].mean((0, 1)), colours[part].mean((0, 1)), atol=2 * tolerance)
    assert frame.origin.profile == space
    assert frame.origin.notes == ()


def test_a_jpeg_with_a_wide_profile(colours: Pixels) -> None:
    large = np.repeat(np.repeat(colours, 8, 0), 8, 1)
    light = linear(large / 255, 0) @ to_xyz("sRGB").T @ np.linalg.inv(to_xyz("Display P3")).T
    stored = np.rint(coded(light, 0) * 255).astype(np.uint8)
    data = pillow_bytes(stored, "JPEG", quality=95, subsampling=0, icc_profile=matrix_profile("Display P3"))
    frame = io.decode(data, "x", 1)
    for patch, wanted in enumerate(([255, 0, 0], [0, 255, 0], [0, 0, 255], [224, 172, 105])):
        np.testing.assert_allclose(frame.pixels[16:64, patch * 80 + 16 : patch * 80 + 64].mean((0, 1)), wanted, atol=8)


def test_paper_is_white_and_all_inks_are_dark() -> None:
    inks = np.zeros((4, 8, 4), np.uint8)
    inks[:, 4:] = 255
    frame = io.decode(pillow_bytes(Image.frombytes("CMYK", (8, 4), inks.tobytes()), "TIFF", icc_profile=press_profile()), "x", 1)
    assert frame.pixels[:, :4].min() >= 254
    assert frame.pixels[:, 4:].max() <= 4


def test_inks_go_through_their_profile(colours: Pixels) -> None:
    wanted = np.clip(colours, 30, 255)  # colours that the press has
    inks = np.rint(press_inks(wanted / 255) * 255).astype(np.uint8)
    truth = press_rgb(inks / 255) * 255
    stored = Image.frombytes("CMYK", (60, 40), inks.tobytes())
    frame = io.decode(pillow_bytes(stored, "TIFF", icc_profile=press_profile()), "x", 1)
    assert np.abs(frame.pixels - truth).mean() < 5
    plain = io.decode(pillow_bytes(stored, "TIFF"), "x", 1)
    assert np.abs(plain.pixels - truth).mean() > 10
    assert (frame.origin.notes, plain.origin.notes) == ((), (("no_profile", ()),))


@pytest.mark.parametrize("exponent", [1.0, 1.8, 2.2])
def test_gray_goes_through_its_curve_and_stays_gray(exponent: float) -> None:
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None], 4, axis=0)
    frame = io.decode(pillow_bytes(ramp, "PNG", icc_profile=gray_profile(exponent)), "x", 1)
    np.testing.assert_allclose(frame.pixels[0, :, 0], coded(linear(np.arange(256) / 255, exponent), 0) * 255, atol=2)
    assert (np.ptp(frame.pixels, axis=-1) == 0).all()


def test_a_gray_picture_may_carry_an_rgb_profile() -> None:
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None], 4, axis=0)
    frame = io.decode(pillow_bytes(ramp, "PNG", icc_profile=matrix_profile("Adobe RGB")), "x", 1)
    np.testing.assert_allclose(frame.pixels[0, :, 0], coded(linear(np.arange(256) / 255, 563 / 256), 0) * 255, atol=2)
    assert (np.ptp(frame.pixels, axis=-1) == 0).all()
    assert frame.origin.notes == ()


@pytest.mark.parametrize(
    ("mode", "make", "key"),
    [
        ("RGB", lambda: b"nonsense" * 40, "profile_unreadable"),
        ("RGB", press_profile, "profile_unreadable"),
        ("RGB", lambda: gray_profile(2.2), "profile_unreadable"),
        ("RGB", lambda: matrix_profile("Display P3")[:200], "profile_unreadable"),
        ("CMYK", lambda: matrix_profile("Display P3"), "profile_unreadable_cmyk"),
        ("CMYK", lambda: b"nonsense" * 40, "profile_unreadable_cmyk"),
        ("L", press_profile, "profile_unreadable"),
    ],
)
def test_a_profile_that_does_not_fit_is_ignored_and_told(mode: str, make: Callable[[], bytes], key: str) -> None:
    stored = Image.fromarray(picture(20, 16)).convert(mode)
    frame = io.decode(pillow_bytes(stored, "TIFF", icc_profile=make()), "x", 1)
    np.testing.assert_array_equal(frame.pixels, np.asarray(stored.convert("RGB")))
    assert frame.origin.notes == ((key, ()),)
    assert frame.origin.profile is None


@pytest.mark.parametrize(
    "make", [lambda: matrix_profile("sRGB"), lambda: ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()]
)
def test_srgb_by_any_name_changes_no_value(make: Callable[[], bytes]) -> None:
    pixels = picture(60, 40, "noise")
    frame = io.decode(pillow_bytes(pixels, "PNG", icc_profile=make()), "x", 1)
    np.testing.assert_array_equal(frame.pixels, pixels)
    assert frame.origin.profile


def test_strips_and_threads_give_what_one_pass_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels, data = picture(97, 61, "noise"), matrix_profile("Display P3")
    source = ImageCms.ImageCmsProfile(streams.BytesIO(data))
    whole = ImageCms.profileToProfile(Image.fromarray(pixels), source, ImageCms.createProfile("sRGB"), 1, outputMode="RGB", flags=0x2000)
    assert whole is not None
    converted = []
    for strip in (1, 500, 1 << 20):
        monkeypatch.setattr(profile, "STRIP_PIXELS", strip)
        converted.append(profile.to_srgb(Samples(pixels.copy(), "RGB"), data)[0])
        np.testing.assert_array_equal(converted[-1], converted[0])
    assert np.abs(converted[0].astype(int) - np.asarray(whole)).max() <= 1


def test_threads_may_share_a_profile() -> None:
    pixels, data = picture(80, 60, "noise"), matrix_profile("Adobe RGB")
    wanted, _, _ = profile.to_srgb(Samples(pixels.copy(), "RGB"), data)
    results: list[Any] = []

    def work() -> None:
        results.extend(profile.to_srgb(Samples(pixels.copy(), "RGB"), data)[0] for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20
    for result in results:
        np.testing.assert_array_equal(result, wanted)
