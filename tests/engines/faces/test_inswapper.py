"""The learned swapper's arithmetic against the original's, on a tiny graph with the same tensors and the same last initialiser."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from engines.errors import Cancelled, SessionContract
from engines.faces.arcface import unit
from engines.faces.inswapper import Inswapper
from engines.faces.norm_crop import norm_crop
from engines.faces.pixel_boost import implode
from engines.onnx_file import last_initialiser
from engines.runtime.session import open_session
from engines.timing import Run
from engines.types import Face, Identity, Pixels
from tests import graphs

ENTRY = graphs.entry("inswapper", "swap", 128, high=1, identity="w600k")
WHO = Identity(np.random.default_rng(5).normal(size=512).astype(np.float32), "w600k")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return graphs.inswapper(tmp_path / "tiny.onnx")


@pytest.fixture
def swapper(path: Path) -> Inswapper:
    return Inswapper(open_session(path, "cpu", 1), ENTRY, last_initialiser(path))


def test_the_latent_is_the_originals(swapper: Inswapper, path: Path) -> None:
    emap = onnx.numpy_helper.to_array(onnx.load(str(path)).graph.initializer[-1])
    latent = (WHO.embedding / np.linalg.norm(WHO.embedding)).reshape(1, -1) @ emap
    np.testing.assert_allclose(swapper.latent(WHO), latent / np.linalg.norm(latent), atol=1e-6)
    assert np.linalg.norm(swapper.latent(WHO)) == pytest.approx(1, abs=1e-6)


def test_the_crop_is_the_originals_arithmetic(swapper: Inswapper, path: Path, officer: Pixels, officer_face: Face) -> None:
    points = officer_face.detection.points
    blob = (norm_crop(officer, points, 128).pixels.astype(np.float32) / 255).transpose(2, 0, 1)[None]
    drawn = open_session(path, "cpu", 1).run({"target": blob, "source": swapper.latent(WHO)})["output"][0].transpose(1, 2, 0)
    found = swapper.swap(officer, points, WHO)
    away = np.abs(found.pixels.astype(int) - np.clip(255 * drawn, 0, 255).astype(np.uint8))
    assert away.max() <= 1
    assert found.size == 128
    assert found.pixels.std() > 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("person", ["astronaut", "officer"])
def test_the_crop_is_the_packages(person: str, path: Path, swapper: Inswapper, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("insightface")
    from insightface.app.common import Face as TheirFace
    from insightface.model_zoo.inswapper import INSwapper

    pixels, points = request.getfixturevalue(person), request.getfixturevalue(f"{person}_face").detection.points
    source = TheirFace(embedding=WHO.embedding)
    theirs, matrix = INSwapper(str(path)).get(np.ascontiguousarray(pixels[..., ::-1]), TheirFace(kps=points), source, paste_back=False)
    ours = swapper.swap(pixels, points, WHO)
    np.testing.assert_allclose(ours.matrix, matrix, atol=1e-4)
    away = np.abs(ours.pixels.astype(int) - theirs[..., ::-1])
    assert away.max() <= 1
    np.testing.assert_allclose(unit(WHO), source.normed_embedding, atol=1e-6)


@pytest.mark.parametrize("boost", [1, 2, 4])
def test_a_boosted_crop_is_made_of_its_grids(boost: int, swapper: Inswapper, officer: Pixels, officer_face: Face) -> None:
    points = officer_face.detection.points
    found = swapper.swap(officer, points, WHO, boost)
    grids = implode(norm_crop(officer, points, 128 * boost).pixels, 128)
    latent = swapper.latent(WHO)
    assert found.pixels.shape == (128 * boost, 128 * boost, 3)
    for number, grid in enumerate(grids):
        row, column = divmod(number, boost)
        np.testing.assert_array_equal(found.pixels[row::boost, column::boost], swapper.swap_crop(grid, latent))


def test_a_stop_is_noticed_between_grids(swapper: Inswapper, officer: Pixels, officer_face: Face) -> None:
    steps: list[int] = []
    run = Run(lambda progress: (steps.append(progress.done), run.cancel() if progress.done == 2 else None)[0])
    with pytest.raises(Cancelled):
        swapper.swap(officer, officer_face.detection.points, WHO, 2, run)
    assert steps == [0, 1, 2]


def test_what_does_not_fit_is_refused(path: Path, tmp_path: Path, swapper: Inswapper) -> None:
    session = open_session(path, "cpu", 1)
    with pytest.raises(SessionContract, match="its matrix"):
        Inswapper(session, ENTRY, np.zeros((3, 5, 5), np.float32))
    with pytest.raises(SessionContract, match="1 and 1"):
        Inswapper(open_session(graphs.arcface(tmp_path / "other.onnx"), "cpu", 1), ENTRY, last_initialiser(path))
    with pytest.raises(SessionContract, match="128"):
        swapper.latent(Identity(np.zeros(128, np.float32), "dlib_resnet29"))
    with pytest.raises(ValueError, match="boost"):
        swapper.swap(np.zeros((9, 9, 3), np.uint8), np.zeros((5, 2)), WHO, 3)
