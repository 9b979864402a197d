"""The last initialiser, read without the onnx package, is the one that the onnx package reads."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from engines.errors import ModelCorrupt, ModelMissing
from engines.onnx_file import last_initialiser
from tests import graphs


def saved(path: Path, *tensors: onnx.TensorProto) -> Path:
    path.write_bytes(helper.make_model(helper.make_graph([], "tiny", [], [], tensors)).SerializeToString())
    return path


def test_it_is_the_matrix_of_a_swapper(tmp_path: Path) -> None:
    path = graphs.inswapper(tmp_path / "tiny.onnx")
    expected = numpy_helper.to_array(onnx.load(str(path)).graph.initializer[-1])
    found = last_initialiser(path)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_every_kind_of_float_becomes_float32(dtype: type, tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(3, 4, 5)).astype(dtype)
    first = numpy_helper.from_array(np.zeros(2, np.int64), "first")
    np.testing.assert_array_equal(
        last_initialiser(saved(tmp_path / "x", first, numpy_helper.from_array(values, "v"))), values.astype(np.float32)
    )


def test_numbers_that_do_not_stand_as_bytes(tmp_path: Path) -> None:
    tensor = helper.make_tensor("v", TensorProto.FLOAT, [2, 2], [1.5, -2, 3, 1e-9])
    np.testing.assert_array_equal(last_initialiser(saved(tmp_path / "x", tensor)), np.array([[1.5, -2], [3, 1e-9]], np.float32))


@pytest.mark.parametrize("case", ["none", "integers", "elsewhere", "empty", "missing"])
def test_what_cannot_be_read_is_said(case: str, tmp_path: Path) -> None:
    path = tmp_path / "x.onnx"
    tensor = numpy_helper.from_array(np.ones(3, np.float32), "v")
    if case == "none":
        saved(path)
    elif case == "integers":
        saved(path, numpy_helper.from_array(np.ones(3, np.int64), "v"))
    elif case == "elsewhere":
        tensor.data_location = TensorProto.EXTERNAL
        saved(path, tensor)
    elif case == "empty":
        path.touch()
    with pytest.raises(ModelMissing if case == "missing" else ModelCorrupt):
        last_initialiser(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.binary(min_size=1, max_size=200), cut=st.integers(0, 400))
def test_any_other_bytes_are_a_damaged_model_or_a_tensor(tmp_path: Path, data: bytes, cut: int) -> None:
    path = tmp_path / "x.onnx"
    whole = helper.make_model(
        helper.make_graph([], "tiny", [], [], [numpy_helper.from_array(np.ones((4, 4), np.float32), "v")])
    ).SerializeToString()
    for content in (data, whole[:cut] + data):
        path.write_bytes(content)
        try:
            found = last_initialiser(path)
        except ModelCorrupt:
            continue
        assert found.dtype == np.float32
