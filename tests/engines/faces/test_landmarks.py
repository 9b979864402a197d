"""The 68-point view of the mesh."""

import numpy as np
import pytest

from engines.faces.landmarks import MESH_TO_68, to_68
from engines.types import FaceMesh, Pose

# iBUG's own left-right pairs: jaw, brows, nostrils, eyes, lips (the number that each point becomes in a mirrored picture).
PAIRS = [
    *zip(range(8), range(16, 8, -1), strict=True),
    *zip(range(17, 22), range(26, 21, -1), strict=True),
    (31, 35),
    (32, 34),
    (36, 45),
    (39, 42),
    (48, 54),
    (60, 64),
]


def test_every_point_is_another_vertex() -> None:
    assert len(set(MESH_TO_68.tolist())) == 68
    assert MESH_TO_68.min() >= 0
    assert MESH_TO_68.max() < 468


def test_points_are_picked_in_order_and_in_the_plane() -> None:
    points = np.random.default_rng(0).normal(size=(478, 3)).astype(np.float32)
    picked = to_68(FaceMesh(points, Pose(0, 0, 0)))
    assert picked.shape == (68, 2)
    assert picked.dtype == np.float32
    np.testing.assert_array_equal(picked, points[MESH_TO_68, :2])


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_left_and_right_mirror_each_other(left: int, right: int) -> None:
    from engines.faces.topology import topology

    assert topology().mirror[MESH_TO_68[left]] == MESH_TO_68[right]
