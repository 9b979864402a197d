from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.runtime.fake import FakeSession
from engines.runtime.session import Array, Session, TensorSpec, open_session
from engines.safety import SafetyCheck, prepared

MODEL = Path(__file__).resolve().parents[2] / "assets" / "models" / "open_nsfw.w16.onnx"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    opened = open_session(MODEL, "cpu", 2)
    yield opened
    opened.close()


def answering(explicit: float) -> FakeSession:
    def run(feeds: Mapping[str, Array]) -> dict[str, Array]:
        return {"4195": np.array([[1 - explicit, explicit]], np.float32)}

    return FakeSession((TensorSpec("input_0", "float32", ("batch", 224, 224, 3)),), (TensorSpec("4195", "float32", ("n", 2)),), run)


@pytest.mark.parametrize("name", ["astronaut", "coffee", "rocket", "chelsea", "immunohistochemistry"])
def test_harmless_photographs_score_low(name: str, session: Session) -> None:
    import skimage.data

    found = SafetyCheck(session).score(np.ascontiguousarray(getattr(skimage.data, name)()))
    assert 0 <= found.score < 0.2
    assert found.model == "open_nsfw"


def test_portraits_score_low(session: Session, officer: NDArray[np.uint8]) -> None:
    assert SafetyCheck(session).score(officer).score < 0.05


def test_the_preparation_is_the_published_one(session: Session, astronaut: NDArray[np.uint8]) -> None:
    """Stretched by Pillow, through a real JPEG, the middle cut out, blue first: the score differs by less than .01."""
    for pixels in (astronaut, np.ascontiguousarray(astronaut[:, 100:300])):
        buffer = BytesIO()
        Image.fromarray(pixels).resize((256, 256), Image.Resampling.BILINEAR).save(buffer, "JPEG")
        with Image.open(BytesIO(buffer.getvalue())) as picture:
            square = np.asarray(picture.convert("RGB"))
        feed = square[16:240, 16:240, ::-1].astype(np.float32) - np.array([104, 117, 123], np.float32)
        published = float(session.run({"input_0": feed[None]})["4195"][0, 1])
        assert SafetyCheck(session).score(pixels).score == pytest.approx(published, abs=0.01)
        assert np.abs(prepared(pixels) - feed).mean() < 1.5


def test_the_second_of_the_two_answers_is_the_score() -> None:
    pixels = np.full((30, 40, 3), 120, np.uint8)
    assert SafetyCheck(answering(0.7)).score(pixels).score == pytest.approx(0.7)


def test_rounding_never_leaves_the_range() -> None:
    pixels = np.full((30, 40, 3), 120, np.uint8)
    assert SafetyCheck(answering(1.0000002)).score(pixels).score == 1.0
    assert SafetyCheck(answering(-1e-7)).score(pixels).score == 0.0


@pytest.mark.parametrize("shape", [(1, 1), (1, 3000), (20000, 10), (224, 224), (1500, 2100)])
def test_a_picture_of_any_size_gets_a_score(shape: tuple[int, int], session: Session) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    assert 0 <= SafetyCheck(session).score(pixels).score <= 1


def test_blue_comes_first_and_the_mean_is_off() -> None:
    """A flat colour on a JPEG's grid: red goes last."""
    ready = prepared(np.full((300, 300, 3), (200, 100, 50), np.uint8))
    assert ready.shape == (224, 224, 3)
    assert ready.dtype == np.float32
    assert ready.mean(axis=(0, 1)) == pytest.approx((50 - 104, 100 - 117, 200 - 123), abs=2)
