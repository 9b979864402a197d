"""From Pillow's pictures to arrays, and from more bits to eight."""

import numpy as np
import pytest
from PIL import Image

from engines.errors import UnreadableImage
from engines.vision.decode import encoded
from engines.vision.decode.encoded import samples_of, to_eight
from tests.strategies import picture


@pytest.mark.parametrize("peak", [4095, 65535])
def test_every_value_is_rounded_to_the_nearest(peak: int) -> None:
    values = np.arange(peak + 1, dtype=np.uint16)
    exact = (values.astype(np.int64) * 510 + peak) // (2 * peak)  # round half up; no half occurs
    np.testing.assert_array_equal(to_eight(values, peak), exact)


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (5, 7, 4), (1, 1, 2)])
@pytest.mark.parametrize("order", ["<u2", ">u2"])
def test_shape_and_byte_order_are_kept(shape: tuple[int, ...], order: str) -> None:
    values = np.random.default_rng(1).integers(0, 65536, shape, dtype=np.uint16)
    np.testing.assert_array_equal(to_eight(values.astype(order)), np.rint(values / 257))
    np.testing.assert_array_equal(to_eight(values[..., ::-1]), np.rint(values / 257)[..., ::-1])  # not contiguous


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "La"])
@pytest.mark.parametrize("strip", [1, 200, 1 << 20])
def test_strips_join_to_what_pillow_gives_at_once(mode: str, strip: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoded, "STRIP_PIXELS", strip)
    base = Image.fromarray(picture(31, 23, channels=4), "RGBA")
    given = base.convert("RGBa").convert("RGBA").convert("LA").convert("La") if mode == "La" else base.convert(mode)
    samples = samples_of(given)
    whole = np.asarray(given.convert({"L": "LA", "RGB": "RGBA"}.get(samples.space, samples.space)))
    colours = whole if samples.space == "CMYK" else whole[..., 0] if samples.space == "L" else whole[..., :3]
    np.testing.assert_array_equal(samples.values, colours)
    assert samples.values.flags.c_contiguous
    if mode in ("LA", "PA", "RGBA", "RGBa", "La"):
        np.testing.assert_array_equal(samples.alpha, whole[..., -1])
    else:
        assert samples.alpha is None


@pytest.mark.parametrize(("mode", "said"), [("F", "floating-point"), ("I", "32-bit")])
def test_samples_without_a_white_are_refused(mode: str, said: str) -> None:
    with pytest.raises(UnreadableImage) as caught:
        samples_of(Image.new(mode, (4, 3)))
    assert (caught.value.reason, caught.value.facts["format"]) == ("codec", said)
