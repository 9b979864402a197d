"""The default pack's sessions, opened once, and what they find in the two portraits."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces.centerface import CenterFace
from engines.faces.embedder import Embedder
from engines.faces.facemesh import FaceMeshNet
from engines.faces.finder import FaceFinder
from engines.runtime.session import Session, open_session
from engines.timing import Run
from engines.types import Face, Pixels

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
