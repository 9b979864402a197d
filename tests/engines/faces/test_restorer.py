"""Restorers: the FFHQ crop, the range of their pictures, CodeFormer's second input, and how much of the answer is taken."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from engines.errors import Cancelled, SessionContract
from engines.faces.restorer import FFHQ_TEMPLATE, Restorer, ffhq_crop, lay
from engines.faces.target import prepare_target
from engines.runtime.session import open_session
from engines.timing import Run
from engines.types import Face, FusedCrop, Pixels
from engines.vision.geometry import apply
from tests import graphs

ENTRIES = {name: graphs.entry(name, "restore", 512) for name in ("gfpgan", "codeformer")}


def opened(kind: str, folder: Path) -> Restorer:
    from dataclasses import replace

    made = {"gfpgan": graphs.gfpgan, "codeformer": graphs.codeformer}[kind](folder / f"{kind}.onnx")
    entry = ENTRIES[kind]
    assert entry.input is not None
    return Restorer(open_session(made, "cpu", 1), replace(entry, input=replace(entry.input, range=(-1.0, 1.0))))


def test_the_crop_lies_on_the_template(officer: Pixels, officer_face: Face) -> None:
    points = officer_face.detection.points.astype(np.float64)
    cut = ffhq_crop(officer, points)
    matrix, _ = cv2.estimateAffinePartial2D(points, FFHQ_TEMPLATE, method=cv2.LMEDS)  # as facexlib's code has it
    assert cut.pixels.shape == (512, 512, 3)
    assert np.linalg.norm(apply(cut.matrix, points) - FFHQ_TEMPLATE, axis=1).mean() < 25
    assert np.linalg.norm(apply(cut.matrix, points) - apply(matrix, points), axis=1).mean() < 20
    far = ffhq_crop(officer, points - [5000, 0]).pixels
    assert tuple(far[0, 0]) == (135, 133, 132)


@pytest.mark.parametrize("kind", ["gfpgan", "codeformer"])
@pytest.mark.parametrize("fidelity", [0.0, 0.4, 1.0])
def test_a_crop_is_drawn_as_the_original_draws_it(kind: str, fidelity: float, tmp_path: Path, officer: Pixels, officer_face: Face) -> None:
    """(x / 255 − .5) / .5 in; (clamp(y, −1, 1) + 1) / 2 · 255 out, rounded."""
    restorer = opened(kind, tmp_path)
    crop = ffhq_crop(officer, officer_face.detection.points).pixels
    feeds = {"input": (((crop.astype(np.float32) / 255) - 0.5) / 0.5).transpose(2, 0, 1)[None]}
    if kind == "codeformer":
        feeds["weight"] = np.array([fidelity], np.float64)
    drawn = open_session(tmp_path / f"{kind}.onnx", "cpu", 1).run(feeds)["output"][0].transpose(1, 2, 0)
    expected = ((np.clip(drawn, -1, 1) + 1) / 2 * 255).round().astype(np.uint8)
    found = restorer.restore_crop(crop, fidelity)
    assert np.abs(found.astype(int) - expected).max() <= 1
    assert found.std() > 5


def test_only_codeformers_kind_asks_how_closely(tmp_path: Path, officer: Pixels, officer_face: Face) -> None:
    crop = ffhq_crop(officer, officer_face.detection.points).pixels
    kept = {kind: [opened(kind, tmp_path).restore_crop(crop, fidelity) for fidelity in (0.1, 0.9)] for kind in ENTRIES}
    np.testing.assert_array_equal(*kept["gfpgan"])
    assert (kept["codeformer"][0] != kept["codeformer"][1]).any()


def test_so_much_is_taken(tmp_path: Path, officer: Pixels, officer_face: Face) -> None:
    target = prepare_target(officer, officer_face.mesh, "live")
    crop = FusedCrop(target.pixels, np.full((target.size, target.size), 255, np.uint8), target.matrix)
    drawn = opened("gfpgan", tmp_path).restore(officer, officer_face.detection.points)
    none, half, whole = (lay(target, crop, drawn, share).pixels.astype(int) for share in (0.0, 0.5, 1.0))
    np.testing.assert_array_equal(none, target.pixels)
    np.testing.assert_allclose(half, (none + whole) / 2, atol=1)
    assert np.abs(whole - none).mean() > 5


def test_it_lies_where_it_came_from(officer: Pixels, officer_face: Face) -> None:
    """A restorer that changes nothing: what is laid back is the picture, but for sampling twice."""
    target = prepare_target(officer, officer_face.mesh, "live")
    crop = FusedCrop(np.zeros_like(target.pixels), np.full((target.size, target.size), 255, np.uint8), target.matrix)
    back = lay(target, crop, ffhq_crop(officer, officer_face.detection.points), 1.0).pixels
    inner = slice(target.size // 4, -target.size // 4)  # away from the soft rim
    assert np.abs(back.astype(int) - target.pixels)[inner, inner].mean() < 3


def test_a_stop_is_noticed(tmp_path: Path, officer: Pixels, officer_face: Face) -> None:
    run = Run()
    run.cancel()
    with pytest.raises(Cancelled):
        opened("gfpgan", tmp_path).restore(officer, officer_face.detection.points, run=run)


def test_another_graph_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionContract, match="gfpgan has 1 inputs"):
        Restorer(open_session(graphs.codeformer(tmp_path / "x.onnx"), "cpu", 1), ENTRIES["gfpgan"])
    with pytest.raises(SessionContract, match="codeformer has 2 inputs"):
        Restorer(open_session(graphs.gfpgan(tmp_path / "y.onnx"), "cpu", 1), ENTRIES["codeformer"])
