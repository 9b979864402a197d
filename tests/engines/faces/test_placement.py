"""That each map of a placement points where it says."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces.canonical import LIPS_INNER, chart
from engines.faces.geometry_transfer import sewn
from engines.faces.placement import place, window
from engines.faces.target import prepare_target
from engines.faces.topology import topology
from engines.types import FaceMesh, Pose
from engines.vision.raster import look_up
from tests.strategies import picture


def mesh(size: float, roll: float = 0.0, centre: tuple[float, float] = (300, 300)) -> FaceMesh:
    b = np.radians(roll)
    tilt = np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]])
    return FaceMesh((topology().mean @ tilt.T * size + [*centre, 0]).astype(np.float32), Pose(0, 0, roll))


def source(size: float = 200.0) -> NDArray[np.float64]:
    return topology().mean.astype(np.float64) * size


@pytest.mark.parametrize(("size", "roll"), [(150, 0), (150, 33), (400, -90)])
def test_without_strength_every_pixel_comes_from_itself(size: float, roll: float) -> None:
    pixels = picture(600, 600, "soft", 3)
    spot = place(prepare_target(pixels, mesh(size, roll), "live"), source(), 0.0)
    difference = np.abs(spot.own() - spot.pixels)
    assert np.percentile(difference, 99) < 3.5  # a coarse map, at a turned face its rounding twice
    np.testing.assert_array_equal(spot.shape[:, 2], spot.target[:, 2])


def test_chart_positions_lead_to_the_vertices() -> None:
    spot = place(prepare_target(picture(600, 600), mesh(300), "live"), source(), 1.0)
    uv = spot.fine_uv()
    middle = np.array([4, 50, 280, 151, 168, 205, 425])
    at = spot.shape[middle, :2]
    seen = np.array([uv[round(y), round(x)] for x, y in at])
    np.testing.assert_allclose(seen, chart().uv[middle], atol=0.006)


def test_a_shut_mouth_shows_nothing_between_the_lips() -> None:
    """No pixel of the fine map reads the source where its teeth are, not even by blending across the sewn line."""
    opened = source()
    opened[LIPS_INNER[11:], 1] += 25
    shut = FaceMesh(sewn(mesh(400).points.astype(np.float64)).astype(np.float32), Pose(0, 0, 0))
    spot = place(prepare_target(picture(600, 600), shut), opened, 1.0)
    assert spot.sealed
    teeth = np.zeros((1024, 1024), np.uint8)
    inner = chart().pixels(1024)[LIPS_INNER]
    low, high = inner.min(0), inner.max(0)
    rows, columns = np.mgrid[:1024, :1024]
    lips = chart().pixels(1024)[[13, 14]].mean(0)
    teeth[(np.abs(rows - lips[1]) < 2) & (columns > low[0] + 20) & (columns < high[0] - 20)] = 255
    left, top, right, bottom = window(spot.shape[LIPS_INNER], 0, spot.size)
    at = (spot.fine_uv() * 1024 - 0.5).astype(np.float32)[top:bottom, left:right]
    share = look_up(teeth, at)
    assert (share > 60).mean() < 0.05


def test_an_open_mouth_isnt_sewn() -> None:
    face = mesh(400)
    points = face.points.copy()
    points[LIPS_INNER[11:], 1] += 40
    assert not place(prepare_target(picture(600, 600), FaceMesh(points, face.pose), "live"), source(), 1.0).sealed


@pytest.mark.parametrize("points", [[(5, 5), (9, 12)], [(-50, -50), (500, 500)], [(900, 900), (901, 901)]])
def test_windows_stay_in_the_crop_and_are_never_empty(points: list[tuple[float, float]]) -> None:
    left, top, right, bottom = window(np.array(points, float), 2, 256)
    assert 0 <= left < right <= 256
    assert 0 <= top < bottom <= 256
