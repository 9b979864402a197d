"""A crop against both baselines, and what it loses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import InvalidOption
from engines.tokens.prices import Price
from engines.tokens.savings import SIZES, Count, FacePlace, background_share, savings
from engines.tokens.visual import load
from engines.vision.geometry import ARCFACE_TEMPLATE, arcface_matrix

MODELS = load()
NOBODY = np.empty((0, 2))


def face(scale: float, left: float = 0.0, top: float = 0.0, others: np.ndarray = NOBODY) -> FacePlace:
    """A face whose crop of 112 px covers `scale` times 112 px of the picture."""
    points = ARCFACE_TEMPLATE * scale + (left, top)
    angle = np.linspace(0, 2 * np.pi, 36, endpoint=False)
    outline = np.stack([np.cos(angle) * 38, np.sin(angle) * 50], 1) * scale + np.array([56, 60]) * scale + (left, top)
    return FacePlace(points, outline, others)


def test_the_shrunk_photo_keeps_the_faces_pixels() -> None:
    """A face of 800 px in 12 megapixels, 20 % of the width: at 224 px the photo has 1120 × 840, as the measured table says."""
    found = savings(4000, 3000, [MODELS[name] for name in ("qwen2_5_vl", "openai_tile", "llava_next")], face(800 / 112, 1500, 1000))
    assert found.shrunk == (1120, 840)
    assert [(row.photo.tokens, row.shrunk.tokens, row.crop.tokens) for row in found.rows if row.shrunk] == [
        (15301, 1200, 64), (765, 765, 255), (2340, 2340, 1176),
    ]  # fmt: skip
    assert not found.enlarged


@pytest.mark.parametrize(
    ("name", "vs_photo"),
    [("clip_l14", 0), ("gemini_3", 0), ("qwen2_5_vl", 1 - 64 / 15301), ("smolvlm_2b", 1 - 1377 / 1053), ("openai_tile", 1 - 255 / 765)],
)
def test_a_saving_is_what_is_left(name: str, vs_photo: float) -> None:
    (row,) = savings(4000, 3000, [MODELS[name]]).rows
    assert row.saving_vs_photo == pytest.approx(vs_photo)
    assert row.as_dict()["one_size"] is (vs_photo == 0)


def test_a_face_with_fewer_pixels_than_the_crop_is_never_enlarged_in_the_photo() -> None:
    found = savings(640, 480, [MODELS["qwen2_5_vl"]], face(1.0, 100, 100))
    assert found.enlarged
    assert found.shrunk == (640, 480)
    (row,) = found.rows
    assert row.shrunk is not None
    assert row.saving_vs_photo == row.saving_vs_shrunk


def test_what_a_crop_loses() -> None:
    crop = face(2.0, 100, 50, np.array([(150.0, 100.0), (900.0, 100.0), (5.0, 5.0)]))
    found = savings(1000, 500, [MODELS["claude"]], crop)
    assert found.lost_faces == 2  # one lies in the crop
    assert found.background == pytest.approx(1 - 224 * 224 / 500_000, abs=1e-6)


def test_a_crop_beyond_the_picture_loses_only_what_the_picture_has() -> None:
    matrix = arcface_matrix(ARCFACE_TEMPLATE - (56, 0), 112)  # its left half lies outside
    assert background_share(112, 112, matrix, 112) == pytest.approx(0.5, abs=1e-6)
    assert background_share(10, 10, arcface_matrix(ARCFACE_TEMPLATE - 40, 112), 112) == pytest.approx(0, abs=1e-6)


def test_context_use_is_useful_through_all() -> None:
    found = savings(1000, 500, [MODELS["qwen2_5_vl"]], face(2.0, 100, 50))
    (row,) = found.rows
    assert row.photo.layout is not None
    assert row.photo.useful is not None
    use, tokens = row.photo.context_use(), row.photo.layout.tokens
    assert use == row.photo.useful / tokens
    assert row.photo.context_use(text=20, useful_text=15) == (row.photo.useful + 15) / (tokens + 20)
    in_crop = row.crop.context_use()
    assert in_crop is not None
    assert in_crop > 3 * use
    assert Count(None, None).context_use() is None


def test_a_single_cell_tells_nothing_of_the_place() -> None:
    (row,) = savings(1000, 500, [MODELS["gemini_3"]], face(2.0, 100, 50)).rows
    assert row.photo.context_use() is None


def test_without_a_face_there_is_nothing_to_shrink_for() -> None:
    found = savings(1000, 500, [MODELS["claude"]])
    told = found.as_dict(None)
    assert (told["shrunk"], told["lost"]) == (None, None)
    assert told["rows"][0]["saving_vs_shrunk"] is None
    assert told["rows"][0]["saving_vs_photo"] == pytest.approx(1 - 64 / 648, abs=1e-4)


def test_a_price_is_told_with_its_source() -> None:
    price = Price(3.0, "USD", "Some", "a page", "2026-01-31")
    told = savings(1000, 500, [MODELS["claude"], MODELS["gemma3"]], None, 224, {"claude": price}).as_dict("a.jpg")
    assert told["rows"][0]["price"]["crop"] == pytest.approx(64 * 3 / 1e6)
    assert told["rows"][0]["price"]["source"] == "a page"
    assert told["rows"][1]["price"] is None
    assert told["rows"][0]["window_share"]["crop"] == pytest.approx(64 / 200_000)


def test_a_picture_that_a_model_refuses_has_no_saving() -> None:
    (row,) = savings(20_000, 20, [MODELS["qwen2_5_vl"]]).rows
    assert (row.photo.tokens, row.saving_vs_photo, row.compression) == (None, None, None)
    assert row.as_dict()["crop"] == {"112": 16, "224": 64, "256": 81, "512": 324}


@pytest.mark.parametrize("size", [0, 128, 1024])
def test_a_crop_that_is_not_offered_is_refused(size: int) -> None:
    with pytest.raises(InvalidOption):
        savings(100, 100, list(MODELS.values()), None, size)


@given(st.integers(1, 8000), st.integers(1, 8000), st.floats(0.2, 30), st.sampled_from(SIZES))
def test_nothing_is_ever_out_of_range(width: int, height: int, scale: float, size: int) -> None:
    found = savings(width, height, [MODELS["claude"], MODELS["internvl"]], face(scale, width / 3, height / 3), size)
    assert found.shrunk is not None
    assert found.background is not None
    assert 1 <= found.shrunk[0] <= width
    assert 1 <= found.shrunk[1] <= height
    assert 0 <= found.background <= 1
    for row in found.rows:
        for count in (row.photo, row.shrunk, row.crop):
            use = count.context_use() if count else None
            assert use is None or 0 <= use <= 1
