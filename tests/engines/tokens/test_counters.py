"""Context use and compression over many counts, written by several threads."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.tokens.counters import Counters, Figures
from engines.tokens.savings import FacePlace, savings
from engines.tokens.visual import chosen, load
from engines.vision.geometry import ARCFACE_TEMPLATE

MODELS = chosen(load(), ["claude", "clip_l14", "qwen2_5_vl"])
PLACE = FacePlace(ARCFACE_TEMPLATE * 4 + 300, ARCFACE_TEMPLATE[[0, 1, 4, 3]] * 4 + 300, np.empty((0, 2)))


def test_pictures_are_sums_and_one_quotient() -> None:
    counters, sizes = Counters(), [(1920, 1080), (800, 900)]
    found = [savings(*size, MODELS, PLACE) for size in sizes]
    for each in found:
        counters.picture(each)
    rows = [each.rows[0] for each in found]
    photo, crop = (counters.read()[kind, "claude"] for kind in ("photo", "crop"))
    assert (photo.counts, photo.tokens) == (2, sum(row.photo.tokens or 0 for row in rows))
    assert photo.context_use == sum(row.photo.useful or 0 for row in rows) / photo.tokens
    assert crop.compression == sum(row.photo.tokens or 0 for row in rows) / sum(row.crop.tokens or 0 for row in rows)
    assert photo.compression is None


def test_without_a_face_nothing_is_said_of_use() -> None:
    counters = Counters()
    counters.picture(savings(1920, 1080, MODELS))
    assert counters.as_dict()["photo"]["claude"]["context_use"] is None
    assert counters.as_dict()["crop"]["clip_l14"]["compression"] == 1
    counters.picture(savings(1920, 1080, MODELS, PLACE))
    assert counters.read()["photo", "claude"].of * 2 == counters.read()["photo", "claude"].tokens


def test_what_a_model_refuses_is_in_no_sum() -> None:
    counters = Counters()
    counters.picture(savings(4000, 1, MODELS))
    assert ("photo", "qwen2_5_vl") not in counters.read()
    assert counters.read()["crop", "qwen2_5_vl"].before == 0


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 500)), min_size=1, max_size=20))
def test_prompts_and_texts(pairs: list[tuple[int, int]]) -> None:
    counters = Counters()
    for before, after in pairs:
        counters.prompt({"clip": (before, after)})
        counters.text("clip", before)
    figures = counters.read()["prompt", "clip"]
    assert figures.counts == len(pairs)
    assert figures.context_use is not None
    assert 0 <= figures.context_use <= 1
    after = sum(pair[1] for pair in pairs)
    assert figures.compression == (pytest.approx(sum(pair[0] for pair in pairs) / after) if after else None)
    assert counters.read()["text", "clip"] == Figures(len(pairs), sum(pair[0] for pair in pairs))


def test_threads_lose_nothing() -> None:
    counters = Counters()

    def write() -> None:
        for _ in range(500):
            counters.prompt({"clip": (3, 2), "qwen": (5, 4)})

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters.read()["prompt", "qwen"] == Figures(2000, 10_000, 8_000, 10_000, 10_000, 8_000)
