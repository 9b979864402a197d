"""The default pack's sessions, opened once, and what they find in the two portraits."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces.centerface import CenterFace
from engines.faces.embedder import Embedder
from engines.faces.facemesh import FaceMeshNet
from engines.faces.finder import FaceFinder
from engines.runtime.session import Session, open_session
from engines.timing import Run
from engines.types import Face, FaceMesh, Floats, Pixels, Pose

PACK = Path(__file__).resolve().parents[3] / "assets" / "models"


def _opened(file: str) -> Iterator[Session]:
    session = open_session(PACK / file, "cpu", 2)
    yield session
    session.close()


@pytest.fixture(scope="session")
def detector_session() -> Iterator[Session]:
    yield from _opened("centerface.onnx")


@pytest.fixture(scope="session")
def mesh_session() -> Iterator[Session]:
    yield from _opened("facemesh478.onnx")


@pytest.fixture(scope="session")
def identity_session() -> Iterator[Session]:
    yield from _opened("dlib_resnet29.onnx")


@pytest.fixture(scope="session")
def light_session() -> Iterator[Session]:
    yield from _opened("realesr_animevideov3_x4.w16.onnx")


@pytest.fixture(scope="session")
def detector(detector_session: Session) -> CenterFace:
    return CenterFace(detector_session)


@pytest.fixture(scope="session")
def mesh_net(mesh_session: Session) -> FaceMeshNet:
    return FaceMeshNet(mesh_session)


@pytest.fixture(scope="session")
def finder(detector: CenterFace, mesh_net: FaceMeshNet) -> FaceFinder:
    return FaceFinder(detector, mesh_net)


@pytest.fixture(scope="session")
def embedder(identity_session: Session) -> Embedder:
    return Embedder(identity_session, "dlib_resnet29")


@pytest.fixture(scope="session")
def find_one(finder: FaceFinder) -> Callable[[Pixels], Face]:
    """The only face of a picture."""

    def find(pixels: Pixels) -> Face:
        faces = finder.find(pixels, Run())
        assert len(faces) == 1
        return faces[0]

    return find


@pytest.fixture(scope="session")
def astronaut_face(find_one: Callable[[Pixels], Face], astronaut: NDArray[np.uint8]) -> Face:
    return find_one(astronaut)


@pytest.fixture(scope="session")
def officer_face(find_one: Callable[[Pixels], Face], officer: NDArray[np.uint8]) -> Face:
    return find_one(officer)


class DrawnFaces:
    """Grey faces drawn on the mean mesh, 380 px wide, of which every value is known. `mean`: (478, 3), its mouth shut."""

    def __init__(self) -> None:
        from engines.faces.geometry_transfer import sewn
        from engines.faces.topology import topology

        self.mean = sewn(topology().mean.astype(np.float64))  # the mean mouth is a little open

    def opened(self, by: float) -> NDArray[np.float64]:
        """The mean face with its lower lip `by` face widths lower."""
        from engines.faces.canonical import LIPS_INNER, LIPS_OUTER

        out = self.mean.copy()
        out[np.concatenate([LIPS_INNER[11:], LIPS_OUTER[11:]]), 1] += by
        return out

    def lidded(self, share: float, eyes: tuple[int, ...] = (0, 1)) -> NDArray[np.float64]:
        """The mean face with its upper lids lowered by a share of the way."""
        from engines.faces.canonical import EYE_RINGS

        out = self.mean.copy()
        for eye in eyes:
            ring = EYE_RINGS[eye]
            out[ring[1:8]] += share * (out[ring[:8:-1]] - out[ring[1:8]])
        return out

    def source(self, points: NDArray[np.float64], level: Pixels | None = None) -> Any:
        """A prepared source of these points and this chart (n, n, 4); grey without one."""
        from engines.faces.source import PreparedSource

        chart = np.full((512, 512, 4), 120, np.uint8) if level is None else level
        return PreparedSource((chart,), points * 380)

    def spot(
        self, points: NDArray[np.float64], source: NDArray[np.float64], size: float = 420, keep: tuple[bool, bool] = (False, False)
    ) -> Any:
        """Where a drawn source lies in a drawn target."""
        from engines.faces.placement import place
        from engines.faces.target import prepare_target

        mesh = FaceMesh((points * size + [0.8 * size, 0.8 * size, 0]).astype(np.float32), Pose(0, 0, 0))
        side = round(1.6 * size)
        return place(prepare_target(np.full((side, side, 3), 120, np.uint8), mesh, "live"), source * 380, 1.0, keep)

    def face(self, where: Any, white: float = 180, iris: float = 40, lips: float = 100, mouth: float = 100, skin: float = 120) -> Floats:
        """(S, S, 3) float32 grey, drawn on the fusion's shape."""
        from engines.faces.canonical import EYE_RINGS, IRISES, LIPS_INNER, LIPS_OUTER
        from engines.vision.mask import disk, polygon

        size, shape = where.size, where.shape
        out = np.full((size, size), skin, np.float32)
        for ring, ids in zip(EYE_RINGS, IRISES, strict=True):
            inside = polygon(shape[ring], size, size)
            radius = float(np.linalg.norm(shape[ids[1:], :2] - shape[ids[0], :2], axis=1).mean())
            out += inside * (white - out)
            out += inside * disk(shape[ids[0], :2], radius, size, size) * (iris - out)
        for outline, value in ((LIPS_OUTER, lips), (LIPS_INNER, mouth)):
            out += polygon(shape[outline], size, size) * (value - out)
        return np.repeat(out[..., None], 3, 2)

    def inside(self, where: Any, ring: NDArray[np.integer]) -> NDArray[np.bool_]:
        """(S, S) well within a ring of the fusion's shape."""
        from engines.vision.mask import polygon

        return np.asarray(polygon(where.shape[ring], where.size, where.size) > 0.99)


@pytest.fixture(scope="session")
def drawn() -> DrawnFaces:
    return DrawnFaces()
