"""Strands kept whole or not at all, and things that end in shade."""

import cv2
import numpy as np
import pytest

from engines.faces.occlusion.occluders import find_occluders
from engines.faces.occlusion.threads import _runs, _tapered
from engines.types import Floats, Occlusion
from tests.engines.faces.occlusion.conftest import Cut
from tests.engines.faces.occlusion.drawn import Canvas


@pytest.mark.parametrize(
    ("seen", "gap", "runs"),
    [
        ("", 2, []),
        ("....", 2, []),
        ("####", 2, [(0, 4)]),
        ("##..##", 2, [(0, 6)]),
        ("##...##", 2, [(0, 2), (5, 7)]),
        (".#.", 0, [(1, 2)]),
    ],
)
def test_runs_bridge_gaps_up_to_the_bound(seen: str, gap: int, runs: list[tuple[int, int]]) -> None:
    assert _runs(np.array([mark == "#" for mark in seen], bool), gap) == runs


@pytest.mark.parametrize(("first", "last"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_free_end_thins_out(first: bool, last: bool) -> None:
    share = _tapered(40, 8, first, last)
    assert share[0] == float(first)
    assert share[-1] == float(last)
    assert (share[10:-10] == 1).all()


def _marked(bare: Cut, found_bare: Occlusion, xy: list[tuple[float, float]], thickness: float) -> tuple[float, Floats]:
    """Share of a drawn dark line that is found, and its alpha."""
    canvas = Canvas(bare.points, *bare.pixels.shape[:2])
    canvas.lay(canvas.line(np.array(xy), thickness), (30, 22, 18))
    alpha = canvas.alpha[..., None]
    pixels = np.clip(bare.pixels * (1 - alpha) + canvas.colour * alpha + 0.5, 0, 255).astype(np.uint8)
    found = find_occluders(pixels, bare.points).alpha * (1 - found_bare.alpha)
    line = (canvas.alpha > 0.7) & bare.painted & (found_bare.alpha == 0)
    return float(found[line].mean()), found


def test_a_strand_from_the_hair_is_kept_and_a_bit_on_the_cheek_is_not(bare: Cut, found_bare: Occlusion) -> None:
    whole, _ = _marked(bare, found_bare, [(0.12 + 0.06 * t * t, -0.5 + 0.75 * t) for t in np.linspace(0, 1, 30)], 0.007)
    bit, _ = _marked(bare, found_bare, [(-0.22 - 0.01 * t, 0.12 + 0.12 * t) for t in np.linspace(0, 1, 12)], 0.007)
    assert whole > 0.6
    assert bit < 0.1


def test_shade_at_the_side_is_no_thing(bare: Cut, found_bare: Occlusion) -> None:
    """A cheek that darkens smoothly to a fifth of its light."""
    wide = float(np.ptp(bare.points[:468, 0]))
    left = bare.points[:468, 0].min()
    place = (np.arange(bare.pixels.shape[1], dtype=np.float32) - left) / wide
    light = 0.2 + 0.8 * np.clip((place - 0.05) / 0.3, 0, 1)
    found = find_occluders((bare.pixels * light[None, :, None]).astype(np.uint8), bare.points)
    cheek = bare.painted & (found_bare.alpha < 0.01)
    cheek[: int(bare.points[[33, 263], 1].max())] = False
    assert (found.alpha * cheek).sum() / cheek.sum() < 0.03


def test_an_edge_in_shade_is_soft(bare: Cut) -> None:
    """No step of the alpha where the picture has none: on a face in the dark that hair has no border with."""
    dark = cv2.GaussianBlur(bare.pixels, (0, 0), 6)
    found = find_occluders((dark * 0.25).astype(np.uint8), bare.points)
    assert np.abs(np.diff(found.alpha, axis=1)).max() < 0.5
