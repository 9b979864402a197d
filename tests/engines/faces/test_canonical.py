"""The chart: flat, whole, symmetric, and read-only."""

import numpy as np
import pytest

from engines.faces import canonical
from engines.faces.canonical import GRID, chart
from engines.faces.topology import topology


def test_no_triangle_of_the_chart_is_folded_over() -> None:
    a, b, c = (chart().uv[topology().triangles[:, k]] for k in range(3))
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    assert area.min() > 0


def test_the_chart_lies_inside_its_square_and_fills_it() -> None:
    uv = chart().uv
    assert uv.min() >= 0.02
    assert uv.max() <= 0.98
    assert np.ptp(uv, axis=0).max() == pytest.approx(0.94)


def test_mirroring_the_face_flips_the_chart() -> None:
    uv = chart().uv
    flipped = np.column_stack([1 - uv[:, 0], uv[:, 1]])
    np.testing.assert_allclose(uv[topology().mirror], flipped, atol=2e-3)
    covered = chart().covered
    assert np.abs(covered - covered[:, ::-1]).mean() < 0.01


def test_spreading_the_charts_own_places_gives_each_pixel_its_place() -> None:
    places = chart().spread(chart().uv)
    axis = (np.arange(GRID) + 0.5) / GRID
    expected = np.dstack(np.meshgrid(axis, axis))
    inside = chart().covered > 0
    np.testing.assert_allclose(places[inside], expected[inside], atol=1e-4)
    # a plane goes on beyond the mesh as a plane
    np.testing.assert_allclose(places, expected, atol=1e-3)


@pytest.mark.parametrize("size", [GRID, 2 * GRID, 1024])
def test_spreading_keeps_places_at_any_size(size: int) -> None:
    places = chart().spread(chart().uv, size)
    axis = (np.arange(size) + 0.5) / size
    step = size // GRID + 1
    inner = slice(step, size - step)
    np.testing.assert_allclose(places[inner, inner], np.dstack(np.meshgrid(axis, axis))[inner, inner], atol=1e-3)


def test_doubt_is_for_the_rim_and_the_forehead() -> None:
    doubt, rim = chart().doubt, chart().rim
    assert doubt[[10, 127, 356]].min() == 1  # hairline and temples
    assert doubt[[4, 0, 205, 425]].max() < 0.1  # nose, lip, cheeks
    assert rim[canonical.OVAL].min() == 1
    assert rim[[4, 50, 280, 151]].max() == 0


def test_tables_are_made_once_and_cannot_be_written() -> None:
    assert chart() is chart()
    for table in (chart().uv, chart().doubt, chart().rim, chart().features):
        assert not table.flags.writeable


def test_falloff_is_whole_inside_and_gone_at_its_reach() -> None:
    ring = tuple(canonical.LIPS_OUTER.tolist())
    weight = canonical.falloff(ring, 0.1)
    assert weight[canonical.LIPS_INNER].min() == 1
    assert weight[[10, 152, 33, 263]].max() == 0
    assert canonical.falloff(ring, 0.1) is weight
