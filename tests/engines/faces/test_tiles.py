from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.faces.tiles import MOST, SIDE, STEP, Detail, tiles, worthwhile
from engines.types import Pixels


@given(st.integers(1, 7000), st.integers(1, 7000))
def test_tiles_cover_every_pixel_and_every_small_face_lies_whole_in_one(rows: int, columns: int) -> None:
    """Along each side: the pieces overlap by 80 px, and none is larger than the view."""
    pieces = tiles(rows, columns)
    for low, high, end in (("left", "right", columns), ("top", "bottom", rows)):
        spans = sorted({(getattr(one, low), getattr(one, high)) for one in pieces})
        assert spans[0][0] == 0
        assert spans[-1][1] == end
        assert all(first[1] - second[0] >= SIDE - STEP for first, second in pairwise(spans))
        assert all(0 < far - near <= SIDE for near, far in spans)
    assert len(pieces) == len({(one.left, one.top) for one in pieces})


def scene(*spots: tuple[int, int], size: int = 4) -> Pixels:
    """Grey, 1000 × 750, with small checks: each `size` px wide, as a face of 16 px in 12 megapixels is."""
    picture = np.full((750, 1000, 3), 120, np.uint8)
    for x, y in spots:
        picture[y : y + size, x : x + size] = np.where(np.indices((size, size)).sum(axis=0) // 2 % 2, 180, 70)[..., None]
    return picture


def richest(picture: Pixels, people: tuple[tuple[tuple[float, float], float, float], ...] = (), most: int = MOST) -> list[tuple[int, int]]:
    busy = Detail(picture).busy_outside((np.array(middle), size, roll) for middle, size, roll in people)
    return [(one.left, one.top) for one in worthwhile(tiles(3000, 4000), busy, 3000, 4000, most)]


@pytest.mark.parametrize(("x", "y", "tile"), [(20, 20, (0, 0)), (400, 300, (1120, 1120)), (990, 740, (3360, 2800))])
def test_a_tile_is_worth_a_look_where_something_small_is(x: int, y: int, tile: tuple[int, int]) -> None:
    found = richest(scene((x, y)))
    assert tile in found
    assert all(left <= 4 * x + 16 and 4 * x <= left + SIDE for left, _ in found)
    assert len(found) <= 4


def test_flat_soft_and_noisy_grounds_are_worth_none() -> None:
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:750, :1000]
    soft = np.repeat((120 + 60 * np.sin(columns / 25) * np.sin(rows / 20))[..., None], 3, axis=2)
    for picture in (np.full((750, 1000, 3), 250), soft, soft + rng.normal(0, 1, (750, 1000, 1))):
        assert richest(picture.clip(0, 255).astype(np.uint8)) == []


def test_the_richest_come_first_and_so_many_at_most() -> None:
    picture = scene((50, 50), *((x, y) for x in range(700, 800, 10) for y in range(500, 600, 10)))
    found = richest(picture)
    assert found[0] in {(2800, 1680), (2240, 1680), (2800, 2240)}
    assert found[-1] == (0, 0)
    assert richest(picture, most=2) == found[:2]


@pytest.mark.parametrize(
    ("x", "y", "roll", "theirs"),
    [(500, 300, 0, True), (540, 600, 0, True), (500, 150, 0, False), (900, 300, 0, False), (800, 300, -90, True), (540, 600, 180, False)],
)
def test_hair_and_clothes_of_who_was_found_count_for_nothing(x: int, y: int, roll: float, theirs: bool) -> None:
    """A face of 80 px at (500, 300): its head and body, whichever way up."""
    people = (((0.5, 0.4), 0.08, roll),)
    assert (richest(scene((x, y)), people) == []) == theirs


@pytest.mark.parametrize("shape", [(1, 1), (1, 1000), (750, 1), (3, 5)])
def test_the_smallest_pictures_have_detail_too(shape: tuple[int, int]) -> None:
    busy = Detail(np.zeros((*shape, 3), np.uint8)).busy_outside(())
    assert worthwhile(tiles(*shape), busy, *shape) == []
