"""The two portraits' faces, cut out, and what is found over them."""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces.canonical import OVAL
from engines.faces.crop import carried, cut, square
from engines.faces.occlusion.occluders import find_occluders
from engines.types import Face, Floats, Occlusion, Pixels
from engines.vision.mask import polygon


@dataclass(frozen=True)
class Cut:
    """A face in its crop of `SIDE` px; `painted`: where a fusion paints."""

    pixels: Pixels
    points: NDArray[np.float64]
    painted: NDArray[np.bool_]


SIDE = 384


def cut_out(pixels: Pixels, face: Face) -> Cut:
    matrix, size = square(face.mesh.points, SIDE)
    points = carried(face.mesh.points, matrix)
    outline = points[OVAL, :2].copy()
    brow = points[[105, 334, 107, 336], 1].mean()
    outline[:, 1] += 0.15 * np.maximum(brow - outline[:, 1], 0)
    inside = cv2.erode(polygon(outline, size, size), np.ones((5, 5), np.uint8)) > 0.5
    return Cut(cut(pixels, matrix, size), points, np.asarray(inside))


@pytest.fixture(scope="session")
def bare(astronaut: Pixels, astronaut_face: Face) -> Cut:
    """A face with nothing over it but the fringe at its upper edge."""
    return cut_out(astronaut, astronaut_face)


@pytest.fixture(scope="session")
def spectacled(officer: Pixels, officer_face: Face) -> Cut:
    """A face with glasses and a cap."""
    return cut_out(officer, officer_face)


@pytest.fixture(scope="session")
def found_bare(bare: Cut) -> Occlusion:
    return find_occluders(bare.pixels, bare.points)


@pytest.fixture(scope="session")
def found_spectacled(spectacled: Cut) -> Occlusion:
    return find_occluders(spectacled.pixels, spectacled.points)


@pytest.fixture(scope="session")
def rate() -> Callable[[Floats, Floats], tuple[float, float]]:
    """Soft precision and recall with a tolerance of 2 px."""
    ball = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))

    def measure(found: Floats, true: Floats) -> tuple[float, float]:
        wide = np.asarray(cv2.dilate(true, ball)), np.asarray(cv2.dilate(found, ball))
        return float(np.minimum(found, wide[0]).sum() / max(found.sum(), 1)), float(np.minimum(wide[1], true).sum() / max(true.sum(), 1))

    return measure
