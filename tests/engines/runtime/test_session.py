"""The seam: what is checked before any backend runs."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import InvalidOption, SessionContract
from engines.runtime.session import FREE_BATCH, TensorSpec, batch_limit, check_tensors, open_session

IMAGE = TensorSpec("image", "float32", ("B", 3, "H", "W"))
SCALE = TensorSpec("scale", "int64", ())


def good() -> dict[str, np.ndarray]:
    return {"image": np.zeros((2, 3, 8, 9), np.float32), "scale": np.array(4, np.int64)}


def test_a_fitting_feed_passes() -> None:
    check_tensors("tiny", (IMAGE, SCALE), good())


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("image", None, "image is missing"),
        ("picture", np.zeros(1), "there is no picture, only image, scale"),
        ("image", np.zeros((2, 3, 8, 9)), "image is float64, not float32"),
        ("image", np.zeros((2, 3, 8, 9), np.uint8), "image is uint8, not float32"),
        ("image", np.zeros((2, 3, 8, 9), ">f4"), "image is >f4, not float32"),
        ("image", np.zeros((3, 8, 9), np.float32), "image has the shape (3, 8, 9), not (B, 3, H, W)"),
        ("image", np.zeros((2, 8, 9, 3), np.float32), "image has the shape (2, 8, 9, 3), not (B, 3, H, W)"),
        ("image", np.zeros((2, 3, 0, 9), np.float32), "image has the shape (2, 3, 0, 9), not (B, 3, H, W)"),
        ("image", [[1.0]], "image is of the type list, not an array"),
        ("scale", np.zeros(1, np.int64), "scale has the shape (1,), not ()"),
        ("scale", 4, "scale is of the type int, not an array"),
    ],
)
def test_what_does_not_fit_is_named(name: str, value: object, said: str) -> None:
    feeds = good()
    if value is None:
        del feeds[name]
    else:
        feeds[name] = value  # type: ignore[assignment]
    with pytest.raises(SessionContract) as caught:
        check_tensors("tiny", (IMAGE, SCALE), feeds)
    assert caught.value.facts == {"graph": "tiny", "detail": said}


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(SessionContract, match=r"scale is missing; there is no scala.*; image is float64"):
        check_tensors("tiny", (IMAGE, SCALE), {"image": np.zeros((1, 3, 2, 2)), "scala": np.array(1)})


@given(st.lists(st.integers(0, 5), max_size=5), st.lists(st.one_of(st.integers(1, 5), st.sampled_from("BHW")), max_size=5))
def test_a_shape_fits_exactly_when_each_axis_does(shape: list[int], declared: list[int | str]) -> None:
    fits = len(shape) == len(declared) and all(
        (have == want) if isinstance(want, int) else have > 0 for have, want in zip(shape, declared, strict=True)
    )
    spec = TensorSpec("x", "uint8", tuple(declared))
    if fits:
        check_tensors("tiny", (spec,), {"x": np.zeros(shape, np.uint8)})
    else:
        with pytest.raises(SessionContract):
            check_tensors("tiny", (spec,), {"x": np.zeros(shape, np.uint8)})


@pytest.mark.parametrize(
    ("shapes", "limit"),
    [
        ([("B", 3)], FREE_BATCH),
        ([(1, 3)], 1),
        ([(4, 3), ("B", 2)], 4),
        ([(4, 3), (2, 3)], 2),
        ([(), ("B",)], FREE_BATCH),
        ([()], 1),
        ([], 1),
    ],
)
def test_the_batch_limit_is_the_smallest_first_axis(shapes: list[tuple[int | str, ...]], limit: int) -> None:
    assert batch_limit([TensorSpec(f"x{i}", "float32", shape) for i, shape in enumerate(shapes)]) == limit


def test_an_unknown_provider_is_an_invalid_option(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="'gpu'"):
        open_session(tmp_path / "tiny.onnx", "gpu")
