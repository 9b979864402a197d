"""Shade beside a thing stays shade under another skin, and what has no shade is the plain matting equation."""

import numpy as np

from engines.faces.occlusion.shade import shaded
from engines.types import Floats, Pixels

SIDE = 256
SKIN, THING, NEW = np.array([200, 150, 120]), np.array([40, 30, 20]), np.array([110, 80, 60])


def _whole(colour: "np.ndarray[tuple[int], np.dtype[np.int_]]") -> Pixels:
    return np.broadcast_to(colour, (SIDE, SIDE, 3)).astype(np.uint8)


def _alpha() -> Floats:
    """A bar with soft edges."""
    ramp = np.clip((12 - np.abs(np.arange(SIDE) - SIDE / 2)) / 3, 0, 1)
    return np.broadcast_to(ramp, (SIDE, SIDE)).astype(np.float32)


def _seen(alpha: Floats, light: float) -> Pixels:
    mixed = alpha[..., None] * THING + (1 - alpha[..., None]) * light * SKIN
    return np.clip(mixed + 0.5, 0, 255).astype(np.uint8)


def test_before_plain_ground_it_is_the_matting_equation() -> None:
    alpha, clean = _alpha(), _whole(SKIN)
    seen = _seen(alpha, 1)
    out = shaded(_whole(NEW).astype(np.float32), seen, clean, alpha)
    plain = seen.astype(np.float32) + NEW - SKIN
    mask = 1 - alpha[..., None]
    assert np.abs((out - plain) * mask).max() < 4


def test_shade_is_as_dark_on_another_skin_and_never_black() -> None:
    """Added whole, the difference of the skins would leave nothing of it."""
    alpha, clean = _alpha(), _whole(SKIN)
    seen = _seen(alpha, 0.4)
    out = shaded(_whole(NEW).astype(np.float32), seen, clean, alpha)
    beside = alpha < 0.01
    assert np.abs(out[beside] - 0.4 * NEW).max() < 6
    assert (seen.astype(np.float32) + NEW - SKIN)[beside].max() < 0


def test_what_grows_lighter_is_added_whole() -> None:
    alpha, clean = _alpha(), _whole(SKIN)
    seen = _seen(alpha, 0.4)
    out = shaded(_whole(SKIN).astype(np.float32) + 30, seen, clean, alpha)
    assert np.allclose(out, seen.astype(np.float32) + 30)


def test_where_nothing_lies_over_the_face_nothing_changes() -> None:
    fused = _whole(NEW).astype(np.float32)
    assert shaded(fused.copy(), _whole(SKIN), _whole(SKIN), np.zeros((SIDE, SIDE), np.float32)).tobytes() == fused.tobytes()


def test_black_grain_is_no_shade() -> None:
    """Levels of 0 and 1 of a channel made dots of pure colour."""
    clean = _whole(np.array([120, 2, 0]))
    seen = clean.copy()
    seen[::2, ::2] = (118, 1, 0)
    seen[0, 0] = (0, 0, 0)
    out = shaded(_whole(np.array([100, 0, 0])).astype(np.float32), seen, clean, np.zeros((SIDE, SIDE), np.float32))
    assert np.abs(out[4:, 4:] - (100, 0, 0)).max() < 3
