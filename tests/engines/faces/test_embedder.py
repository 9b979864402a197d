from collections.abc import Callable

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.faces.embedder import CHIP, CHIP_VERTICES, MEAN_FACE, Embedder, chip_matrix, distance, similarity
from engines.types import Face, Identity, Pixels
from engines.vision.geometry import apply, warp

FindOne = Callable[[Pixels], Face]


def jpeg(pixels: Pixels, quality: int) -> Pixels:
    _, data = cv2.imencode(".jpg", pixels[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.ascontiguousarray(cv2.imdecode(data, cv2.IMREAD_COLOR)[..., ::-1])


def half(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def leaning(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    return np.asarray(cv2.warpAffine(pixels, cv2.getRotationMatrix2D((width / 2, height / 2), 20, 1), (width, height)), dtype=np.uint8)


CHANGES: dict[str, Callable[[Pixels], Pixels]] = {
    "mirrored": lambda p: np.ascontiguousarray(p[:, ::-1]),
    "jpeg": lambda p: jpeg(p, 50),
    "half": half,
    "leaning": leaning,
    "lying": lambda p: np.ascontiguousarray(np.rot90(p)),
    "darker": lambda p: (p * 0.6).astype(np.uint8),
}


@pytest.fixture(scope="module")
def identities(embedder: Embedder, astronaut: Pixels, officer: Pixels, astronaut_face: Face, officer_face: Face) -> dict[str, Identity]:
    return {
        "astronaut": embedder.embed(astronaut, astronaut_face.mesh),
        "officer": embedder.embed(officer, officer_face.mesh),
    }


def test_two_people_are_two(identities: dict[str, Identity]) -> None:
    apart = distance(identities["astronaut"], identities["officer"])
    assert apart > 0.6
    assert similarity(apart) < 15


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("person", ["astronaut", "officer"])
def test_one_person_stays_one(
    person: str, change: str, embedder: Embedder, find_one: FindOne, identities: dict[str, Identity], request: pytest.FixtureRequest
) -> None:
    changed = CHANGES[change](request.getfixturevalue(person))
    apart = distance(identities[person], embedder.embed(changed, find_one(changed).mesh))
    assert apart < 0.35
    assert similarity(apart) > 90


def test_an_identity_names_its_model_and_is_128_numbers(identities: dict[str, Identity]) -> None:
    identity = identities["astronaut"]
    assert identity.model == "dlib_resnet29"
    assert identity.embedding.shape == (128,)
    assert identity.embedding.dtype == np.float32


def test_many_at_once_are_the_same_as_one_by_one(
    embedder: Embedder, officer: Pixels, officer_face: Face, astronaut_face: Face, identities: dict[str, Identity]
) -> None:
    both = embedder.embed_all(officer, [officer_face.mesh, astronaut_face.mesh, officer_face.mesh])
    assert distance(both[0], identities["officer"]) < 1e-4
    assert distance(both[0], both[2]) < 1e-4
    assert distance(both[0], both[1]) > 0.3
    assert embedder.embed_all(officer, []) == ()


def test_identities_of_two_models_do_not_compare() -> None:
    numbers = np.zeros(128, np.float32)
    with pytest.raises(ValueError, match="don't compare"):
        distance(Identity(numbers, "dlib_resnet29"), Identity(numbers, "another"))


def test_the_chip_is_dlibs(officer: Pixels, officer_face: Face) -> None:
    """dlib's template with a quarter of padding: eyes level, a third from the top, in a chip of 150 px."""
    placed = apply(chip_matrix(officer_face.mesh), officer_face.mesh.points[list(CHIP_VERTICES), :2])
    wanted = (MEAN_FACE + 0.25) / 1.5 * 150
    assert np.abs(placed - wanted).max() < 8
    assert np.abs((placed - wanted).mean(axis=0)).max() < 1e-3
    chip = warp(officer, chip_matrix(officer_face.mesh), (CHIP, CHIP))
    assert chip.shape == (150, 150, 3)
    assert chip.std() > 30


@given(st.floats(0, 2), st.floats(0, 2))
def test_similarity_falls_with_distance_and_stays_within_0_and_100(a: float, b: float) -> None:
    assert 0 <= similarity(a) <= 100
    if a < b:
        assert similarity(a) >= similarity(b)


@pytest.mark.parametrize(
    ("apart", "wanted", "tolerance"), [(0.0, 100, 0.1), (0.35, 92, 1), (0.5, 50, 1e-9), (0.44, 73, 1), (0.82, 0.5, 0.1)]
)
def test_similarity_reads_as_documented(apart: float, wanted: float, tolerance: float) -> None:
    assert similarity(apart) == pytest.approx(wanted, abs=tolerance)
