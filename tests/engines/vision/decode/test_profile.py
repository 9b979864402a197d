"""Colours from their own space to sRGB: against the colour spaces' published numbers, computed here."""

import io as streams
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from engines.types import Pixels
from engines.vision import io
from engines.vision.decode import profile
from engines.vision.decode.encoded import Samples
from tests.colour_profiles import coded, gray_profile, linear, matrix_profile, press_inks, press_profile, press_rgb, through
from tests.strategies import picture, pillow_bytes


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
    stored = np.rint(through(colours / 255, "sRGB", space) * 255).astype(np.uint8)
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
    stored = np.rint(through(large / 255, "sRGB", "Display P3") * 255).astype(np.uint8)
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
