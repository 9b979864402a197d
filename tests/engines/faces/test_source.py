"""Preparing a source: the texture lands in the chart whatever the pose, the hidden half is filled, hair stays behind."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces import source
from engines.faces.canonical import BROWS, GRID, chart
from engines.faces.source import PreparedSource, prepare
from engines.faces.topology import topology
from engines.types import FaceMesh, Pixels, Pose
from engines.vision.raster import enlarge, rasterise

SKIN, EYE = (190, 150, 130), (60, 40, 30)


def mesh_of(points: NDArray[np.floating]) -> FaceMesh:
    return FaceMesh(points.astype(np.float32), Pose(0, 0, 0))


def posed_mean(size: float, yaw: float = 0.0, centre: tuple[float, float] = (200, 200)) -> NDArray[np.float64]:
    a = np.radians(yaw)
    turn = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    return topology().mean.astype(np.float64) @ turn.T * size + [*centre, 0]


def painted(points: NDArray[np.float64], side: int = 400) -> Pixels:
    """A picture in which each pixel of the face tells its place in the chart: red = u, green = v, blue = 90."""
    drawn = rasterise(points[:, :2], points[:, 2], topology().triangles, side, side)
    uv = drawn.interpolate(chart().uv)
    picture = np.dstack([uv * 255, np.full((side, side), 90.0)])
    picture[~drawn.covered] = (0, 255, 0)
    return np.rint(picture).astype(np.uint8)


@pytest.mark.parametrize(("size", "yaw", "side"), [(330, 0, 1024), (200, 0, 512), (200, 15, 512), (100, -20, 256)])
def test_each_place_of_the_face_is_found_in_its_place_of_the_chart(size: float, yaw: float, side: int) -> None:
    points = posed_mean(size, yaw)
    prepared = prepare(painted(points), mesh_of(points))
    texture = prepared.levels[0].astype(float)
    assert texture.shape == (side, side, 4)
    axis = (np.arange(side) + 0.5) / side * 255
    expected = np.dstack(np.meshgrid(axis, axis))
    middle = (
        enlarge((chart().covered * np.all(np.abs(np.indices((GRID, GRID)) - GRID / 2) < GRID * 0.28, 0)).astype(np.float32), side) > 0.99
    )
    off = np.abs(texture[..., :2] - expected)[middle]
    # shine is taken out of what looks like skin, and a wedge of colours does in places: the typical pixel is where it belongs
    assert np.median(off) < 1.5


def test_the_levels_halve_down_to_64() -> None:
    points = posed_mean(200)
    prepared = prepare(painted(points), mesh_of(points))
    assert [level.shape[0] for level in prepared.levels] == [512, 256, 128, 64]
    assert prepared.nbytes == 4 * (512**2 + 256**2 + 128**2 + 64**2) + 478 * 3 * 8 + prepared.beard.map.nbytes


def plain(points: NDArray[np.float64], side: int = 400) -> Pixels:
    """A face of one skin colour with a little grain, dark behind it."""
    drawn = rasterise(points[:, :2], points[:, 2], topology().triangles, side, side)
    picture = np.where(drawn.covered[..., None], np.array(SKIN), np.array((20, 40, 20))) + np.random.default_rng(0).normal(
        0, 2, (side, side, 1)
    )
    return np.clip(picture, 0, 255).astype(np.uint8)


def test_the_half_that_is_turned_away_is_filled_from_the_other() -> None:
    points = posed_mean(240, 38)
    picture = plain(points)
    mark = 50 if np.abs(points[50, 0] - points[4, 0]) > np.abs(points[280, 0] - points[4, 0]) else 280  # the cheek in sight
    x, y = points[mark, :2].astype(int)
    picture[y - 4 : y + 5, x - 4 : x + 5] = (40, 60, 160)  # a mark on it
    texture = prepare(picture, mesh_of(points)).levels[0].astype(int)
    side = texture.shape[0]
    u, v = chart().pixels(side)[mark].astype(int)
    seen = texture[v - 4 : v + 5, u - 4 : u + 5]
    assert (seen[..., 2] - seen[..., 0]).max() > 60  # what is in sight is read where it is
    cheeks = [chart().pixels(side)[v].astype(int) for v in (234, 454)]
    for u, v in cheeks:  # both outlines are skin, though one is behind the nose
        np.testing.assert_allclose(texture[v, np.clip(u, 12, side - 13), :3], SKIN, atol=40)


def test_a_fringe_is_doubted_up_to_the_edge_of_the_chart() -> None:
    points = posed_mean(240)
    picture = plain(points)
    brow, top = points[[105, 334], 1].mean(), points[10, 1]
    line = int(brow + 0.5 * (top - brow))
    picture[:line] = (35, 25, 20)
    confidence = prepare(picture, mesh_of(points)).levels[1][..., 3].astype(int)
    table = chart()
    inside = table.covered > 0
    rows = table.spread(points[:, 1:2])[..., 0]
    assert confidence[inside & (rows < line - 8)].max() < 90
    assert np.median(confidence[inside & (rows > brow + 10)]) > 240


def test_nothing_is_claimed_to_be_known_outside_the_picture() -> None:
    points = posed_mean(240, centre=(60, 200))
    confidence, table = prepare(plain(points), mesh_of(points)).levels[1][..., 3], chart()
    lost = (table.covered > 0) & (table.spread(points[:, :1])[..., 0] < -5)
    assert lost.sum() > 500
    assert np.median(confidence[lost]) > 200  # filled from the half that is in the picture
    far = posed_mean(240, centre=(-200, 200))
    assert prepare(plain(far), mesh_of(far)).levels[1][..., 3][table.covered > 0].mean() < 40


def test_sampling_takes_the_level_that_fits() -> None:
    levels = tuple(np.full((side, side, 4), side // 8, np.uint8) for side in (512, 256, 128, 64))
    source = PreparedSource(levels, np.zeros((478, 3)))
    at = np.full((2, 2, 2), 0.5, np.float32)
    scale = chart().scale
    for side, face_width in ((64, 20), (64, 64 * scale), (128, 100 * scale), (256, 256 * scale), (512, 500 * scale), (512, 2000)):
        assert source.sample(at, face_width)[0, 0, 0] == side // 8, face_width


def test_a_small_source_is_enlarged_smoothly() -> None:
    ramp = np.repeat(np.arange(64, dtype=np.uint8)[None, :, None] * 4, 64, 0).repeat(4, 2)
    source = PreparedSource((np.ascontiguousarray(ramp),), np.zeros((478, 3)))
    axis = np.linspace(0.2, 0.8, 200, dtype=np.float32)
    out = source.sample(np.dstack(np.meshgrid(axis, axis)), 256 * chart().scale)[..., 0].astype(float)
    np.testing.assert_allclose(out[0], axis * 256 - 2, atol=1.5)


def test_a_brow_that_is_hidden_in_part_comes_whole_from_the_other_half() -> None:
    at = chart().pixels(GRID)
    hidden = np.zeros((GRID, GRID), np.float32)
    left, right = (np.round(at[vertex]).astype(int) for vertex in (105, 334))  # the middle of each brow
    hidden[right[1] - 10 : right[1] + 10, right[0] :] = 1
    whole = source._whole_brows(hidden)
    brow = at[BROWS[1]].mean(0).astype(int), at[336].astype(int)
    assert all(whole[y, x] == 1 for x, y in brow)
    assert whole[left[1], left[0]] == 0
    hidden[:] = 0
    hidden[right[1] - 2, right[0] : right[0] + 2] = 1  # a hair over it
    np.testing.assert_array_equal(source._whole_brows(hidden), hidden)


def test_the_last_hairs_of_a_fringe_arent_carried() -> None:
    points = posed_mean(240)
    picture = plain(points)
    brow, top = points[[105, 334], 1].mean(), points[10, 1]
    line = int(brow + 0.6 * (top - brow))
    picture[:line] = (35, 25, 20)
    picture[line : line + 5, ::7] = (60, 45, 35)
    texture, table = prepare(picture, mesh_of(points)).levels[1], chart()
    side = texture.shape[0]
    rows = enlarge(table.spread(points[:, 1:2]), side).reshape(side, side)
    columns = enlarge(table.spread(points[:, :1]), side).reshape(side, side)
    near = (rows > line - 1) & (rows < line + 6) & (np.abs(columns - points[4, 0]) < 40)
    assert texture[near][:, 0].min() > SKIN[0] - 45
