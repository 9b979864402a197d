import numpy as np
import pytest

from engines.errors import SessionContract
from engines.runtime.fake import FakeSession
from engines.runtime.session import Session, TensorSpec

X = TensorSpec("x", "float32", ("B", 2))
Y = TensorSpec("y", "float32", ("B",))


def total(feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"y": feeds["x"].sum(axis=1)}


def test_it_runs_its_function_behind_the_protocol() -> None:
    session: Session = FakeSession((X,), (Y,), total)
    answer = session.run({"x": np.array([[1, 2], [3, 4]], np.float32)})
    assert answer["y"].tolist() == [3, 7]
    assert (session.inputs, session.outputs, session.provider, session.tried, session.max_batch) == ((X,), (Y,), "cpu", (), 8)


def test_a_wrong_feed_does_not_reach_the_function() -> None:
    session = FakeSession((X,), (Y,), total)
    with pytest.raises(SessionContract):
        session.run({"x": np.zeros((1, 3), np.float32)})
    assert session.calls == 0


def test_an_answer_that_is_not_as_declared_is_refused() -> None:
    session = FakeSession((X,), (Y,), lambda feeds: {"y": feeds["x"]})
    with pytest.raises(SessionContract, match="y has the shape"):
        session.run({"x": np.zeros((1, 2), np.float32)})


def test_a_closed_session_refuses() -> None:
    session = FakeSession((X,), (Y,), total)
    session.close()
    with pytest.raises(SessionContract, match="closed"):
        session.run({"x": np.zeros((1, 2), np.float32)})
