from pathlib import Path

import numpy as np
import pytest

from engines.errors import ModelCorrupt, ModelMissing
from engines.faces import topology as module
from engines.faces.topology import EYE_LEFT, EYE_RIGHT, LIPS_INNER, LIPS_OUTER, OVAL, RIGID, SURFACE, VERTICES, five_points, topology
from engines.types import Face


def test_the_mesh_is_one_sheet_that_all_turns_the_same_way() -> None:
    """A face from the front: every triangle has its area on the same side, and no edge belongs to three of them."""
    triangles, mean = topology().triangles, topology().mean[:, :2].astype(np.float64)
    assert triangles.shape == (902, 3)
    a, b, c = (mean[triangles[:, i]] for i in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    assert (area >= 0).all()
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    assert counts.max() == 2


def test_the_only_border_is_the_oval() -> None:
    """Eyes and mouth are filled: what has one triangle only is the outline of the face."""
    triangles = topology().triangles
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    unique, counts = np.unique(edges, axis=0, return_counts=True)
    border = {tuple(edge) for edge in unique[counts == 1].tolist()}
    oval = {tuple(sorted(pair)) for pair in zip(OVAL, OVAL[1:] + OVAL[:1], strict=True)}
    assert border == oval


def test_the_mirror_is_its_own_inverse_and_mirrors_the_mean() -> None:
    mirror, mean = topology().mirror, topology().mean
    assert np.array_equal(mirror[mirror], np.arange(VERTICES))
    assert mean[mirror] * [-1, 1, 1] == pytest.approx(mean, abs=1e-5)


@pytest.mark.parametrize(("one", "other"), [(EYE_LEFT, EYE_RIGHT), (LIPS_INNER, LIPS_INNER), (LIPS_OUTER, LIPS_OUTER), (OVAL, OVAL)])
def test_the_rings_mirror_onto_each_other(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    assert set(topology().mirror[list(one)].tolist()) == set(other)


def test_the_rigid_vertices_are_the_same_on_both_sides() -> None:
    assert set(topology().mirror[list(RIGID)].tolist()) == set(RIGID)
    assert max(RIGID) < SURFACE


def test_the_mean_face_looks_at_us() -> None:
    """Nose in front, eyes above the mouth, the eye named left at the picture's left."""
    mean, five = topology().mean, five_points(topology().mean)
    assert int(mean[:SURFACE, 2].argmin()) in (1, 4, 5, 44, 274, 45, 275)
    assert five[0, 0] < 0 < five[1, 0]
    assert five[0, 1] < five[2, 1] < five[3, 1]
    assert np.ptp(mean[:, 0]) == pytest.approx(1, abs=0.01)


def test_nobody_can_change_the_shared_arrays() -> None:
    with pytest.raises(ValueError, match="read-only"):
        topology().mean[0] = 0


def test_the_five_points_are_where_the_detector_puts_its_own(astronaut_face: Face, officer_face: Face) -> None:
    for face in (astronaut_face, officer_face):
        apart = np.linalg.norm(five_points(face.mesh.points) - face.detection.points, axis=1)
        assert apart.max() < 0.1 * face.mesh.size


@pytest.mark.parametrize(("content", "error"), [(None, ModelMissing), (b"", ModelCorrupt), (b"no archive", ModelCorrupt)])
def test_a_missing_or_damaged_file_is_named(
    content: bytes | None, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "face_topology.npz"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(module, "FILE", path)
    topology.cache_clear()
    try:
        with pytest.raises(error, match=r"face_topology\.npz"):
            topology()
    finally:
        topology.cache_clear()


def test_arrays_of_another_shape_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "face_topology.npz"
    np.savez(path, tri=np.zeros((902, 3)), mirror=np.zeros(468), mean=np.zeros((468, 3)))
    monkeypatch.setattr(module, "FILE", path)
    topology.cache_clear()
    try:
        with pytest.raises(ModelCorrupt):
            topology()
    finally:
        topology.cache_clear()
