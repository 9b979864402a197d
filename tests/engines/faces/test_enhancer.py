from collections.abc import Callable, Mapping
from pathlib import Path

import cv2
import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from engines.errors import Cancelled, ModelUnknown
from engines.faces.enhancer import PLANS, Enhancer, merged, resized
from engines.runtime.fake import FakeSession
from engines.runtime.session import Array, Session, TensorSpec, open_session
from engines.timing import Progress, Run
from engines.types import Face, FusedCrop, Pixels
from engines.vision.geometry import apply, warp

FAST, FULL = "realesr_animevideov3", "realesrgan_x4plus"


@pytest.fixture(scope="module")
def tiny_session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A seeded network of the same kind: three convolutions of 3 × 3, then depth to space by 4. It reaches 3 px."""
    rng = np.random.default_rng(5)
    nodes, weights, last = [], [], "input"
    for i, (given_, made) in enumerate([(3, 8), (8, 8), (8, 48)]):
        weights += [
            numpy_helper.from_array(rng.normal(0, 0.25, (made, given_, 3, 3)).astype(np.float32), f"w{i}"),
            numpy_helper.from_array(rng.uniform(0, 0.2, made).astype(np.float32), f"b{i}"),
        ]
        nodes.append(helper.make_node("Conv", [last, f"w{i}", f"b{i}"], [f"c{i}"], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Sigmoid", [f"c{i}"], [f"r{i}"]))
        last = f"r{i}"
    nodes.append(helper.make_node("DepthToSpace", [last], ["output"], blocksize=4))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["B", 3, "H", "W"])],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, ["B", 3, "Ho", "Wo"])],
        weights,
    )
    path: Path = tmp_path_factory.mktemp("tiny") / "tiny.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return open_session(path, "cpu", 1)


def fake(function: Callable[[Array], Array]) -> FakeSession:
    inputs, outputs = TensorSpec("input", "float32", ("B", 3, "H", "W")), TensorSpec("output", "float32", ("B", 3, "Ho", "Wo"))

    def run(feeds: Mapping[str, Array]) -> dict[str, Array]:
        return {"output": function(feeds["input"]).astype(np.float32)}

    return FakeSession((inputs,), (outputs,), run)


def repeated(stack: Array) -> Array:
    return stack.repeat(4, axis=2).repeat(4, axis=3)


def blurred(stack: Array) -> Array:
    return np.stack([cv2.GaussianBlur(repeated(one[None])[0].transpose(1, 2, 0), (0, 0), 6).transpose(2, 0, 1) for one in stack])


def noise(*shape: int) -> Pixels:
    return np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)


@settings(max_examples=12)
@given(height=st.integers(1, 330), width=st.integers(1, 330))
def test_tiles_leave_no_seam(height: int, width: int, tiny_session: Session) -> None:
    """In tiles as in one piece, to a level of rounding, at sizes that no tile divides."""
    pixels = noise(height, width, 3)
    tiled = Enhancer(tiny_session, FULL).upscale(pixels, Run())
    feed = pixels.transpose(2, 0, 1)[None].astype(np.float32) / 255
    whole = np.rint(tiny_session.run({"input": feed})["output"][0].transpose(1, 2, 0) * 255)
    assert tiled.shape == (4 * height, 4 * width, 3)
    assert np.abs(tiled.astype(np.int16) - whole).max() <= 1


def test_without_the_overlap_there_would_be_a_seam(tiny_session: Session) -> None:
    """The test above can fail: a tile cut off bare differs where its neighbour is missing."""
    pixels = noise(200, 200, 3)
    enhancer = Enhancer(tiny_session, FULL)
    good = enhancer.upscale(pixels, Run())
    enhancer.plan = enhancer.plan._replace(overlap=0)
    assert np.abs(enhancer.upscale(pixels, Run()).astype(np.int16) - good).max() > 8


def test_no_piece_is_larger_than_a_tile_and_its_overlap() -> None:
    """The memory doesn't grow with the picture."""
    seen: list[tuple[int, ...]] = []

    def keep(stack: Array) -> Array:
        seen.append(stack.shape)
        return repeated(stack)

    pixels = noise(300, 517, 3)
    assert np.array_equal(Enhancer(fake(keep), FULL).upscale(pixels, Run()), pixels.repeat(4, axis=0).repeat(4, axis=1))
    most = PLANS[FULL].tile + 2 * PLANS[FULL].overlap
    assert max(max(shape) for shape in seen) <= most
    assert len(seen) == 15


def test_every_tile_is_told_and_may_be_stopped() -> None:
    steps: list[Progress] = []
    Enhancer(fake(repeated), FULL).upscale(noise(200, 200, 3), Run(steps.append))
    assert [(step.stage, step.done, step.count) for step in steps] == [("enhance", i, 4) for i in range(4)]

    run: Run

    def stop(step: Progress) -> None:
        if step.done == 1:
            run.cancel()

    session = fake(repeated)
    run = Run(stop)
    with pytest.raises(Cancelled):
        Enhancer(session, FULL).upscale(noise(200, 200, 3), run)
    assert session.calls == 1  # the second tile's graph was not begun


def test_the_job_goes_along_into_the_graph_where_a_tile_takes_seconds() -> None:
    given: list[Run | None] = []

    class Seen(FakeSession):
        def run(self, feeds: Mapping[str, Array], run: Run | None = None) -> dict[str, Array]:
            given.append(run)
            return FakeSession.run(self, feeds, run)

    run, plain = Run(), fake(repeated)
    Enhancer(Seen(plain.inputs, plain.outputs, lambda feeds: plain.run(feeds)), FULL).upscale(noise(40, 40, 3), run)
    assert given == [run]


def test_a_network_without_a_plan_is_refused() -> None:
    with pytest.raises(ModelUnknown):
        Enhancer(fake(repeated), "esrgan")


def square(pixels: Pixels, face: Face, size: int, enlarge: float = 1.0) -> FusedCrop:
    """A face in the middle of a crop, `enlarge` crop pixels for one of the picture."""
    x, y = face.box.centre
    matrix = np.array([[enlarge, 0.0, size / 2 - enlarge * x], [0.0, enlarge, size / 2 - enlarge * y]])
    mask = np.zeros((size, size), np.uint8)
    cv2.circle(mask, (size // 2, size // 2), size // 3, 255, -1)
    return FusedCrop(warp(pixels, matrix, (size, size)), mask, matrix)


@pytest.mark.parametrize(("enlarge", "side"), [(1.0, 256), (2.0, 256), (0.95, 256), (0.8, 320), (0.5, 512), (0.25, 512)])
def test_a_crop_that_is_coarser_than_its_picture_grows_at_most_twice(
    enlarge: float, side: int, officer: Pixels, officer_face: Face
) -> None:
    crop = square(officer, officer_face, 256, enlarge)
    better = Enhancer(fake(repeated), FAST).enhance(crop, Run())
    assert better.pixels.shape == (side, side, 3)
    assert better.mask.shape == (side, side)
    middle = np.array(officer_face.box.centre)
    assert (apply(better.matrix, middle) + 0.5) / side == pytest.approx((apply(crop.matrix, middle) + 0.5) / 256, abs=1e-6)
    assert better.mask.mean() == pytest.approx(crop.mask.mean(), rel=0.01)


def test_the_real_network_sharpens_a_soft_face_and_keeps_its_tones(light_session: Session, astronaut: Pixels, astronaut_face: Face) -> None:
    crop = square(astronaut, astronaut_face, 256, 2.0)
    better = Enhancer(light_session, FAST).enhance(crop, Run()).pixels.astype(np.float32)
    before = crop.pixels.astype(np.float32)
    inside = crop.mask > 0

    def fine(values: Array) -> float:
        return float((values - cv2.GaussianBlur(values, (0, 0), 2))[inside].std())

    assert fine(better) > 1.03 * fine(before)
    coarse = cv2.GaussianBlur(better, (0, 0), 12) - cv2.GaussianBlur(before, (0, 0), 12)
    assert np.abs(coarse[inside]).mean() < 1


def test_the_tiles_of_the_real_network_are_equal_to_one_piece(light_session: Session, officer: Pixels) -> None:
    enhancer, pixels = Enhancer(light_session, FAST), np.ascontiguousarray(officer[120:260, 180:330])
    whole = enhancer.upscale(pixels, Run())
    enhancer.plan = enhancer.plan._replace(tile=64)
    assert np.abs(enhancer.upscale(pixels, Run()).astype(np.int16) - whole).max() <= 1


def test_skin_keeps_its_grain() -> None:
    """A network that only smooths adds nothing: the crop comes out as it went in."""
    crop = FusedCrop(noise(256, 256, 3), np.full((256, 256), 255, np.uint8), np.eye(2, 3))
    assert np.array_equal(Enhancer(fake(blurred), FAST).enhance(crop, Run()).pixels, crop.pixels)


def test_only_fine_structure_comes_from_the_network() -> None:
    """A picture of another brightness with a stronger edge: the edge is taken, the brightness isn't."""
    own = np.full((128, 128, 3), 100, np.uint8)
    new = np.full((128, 128, 3), 160, np.uint8)
    new[:, 64:66] = 250
    result = merged(own, new, 3.0, 1.0)
    assert result[64, 65].min() > 130
    assert np.abs(result[:, :40].astype(np.int16) - 100).max() <= 1


def test_no_share_changes_nothing() -> None:
    own, new = noise(64, 64, 3), np.flip(noise(64, 64, 3))
    assert np.array_equal(merged(own, new, 2.0, 0.0), own)


def test_a_size_that_stays_costs_nothing() -> None:
    pixels = noise(40, 40, 3)
    assert resized(pixels, 40) is pixels
    assert resized(pixels, 20).shape == resized(pixels[:20, :20], 20).shape
