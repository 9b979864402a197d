import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.faces.refused import MOST, refusals
from engines.faces.trust import SMALL, UNSEEN, Evidence
from engines.text import LANGUAGES, section, text
from engines.types import Box, Detection


def evidence(x: float, y: float, size: float, score: float, against: str = UNSEEN, look: float = 0.1) -> Evidence:
    """A proposal of `size` px with its middle at (x, y); its mesh fills the box."""
    detection = Detection(Box(x - size / 2, y - size / 2, size, size), score, np.zeros((5, 2), np.float32))
    points = np.zeros((478, 3))
    points[:, :2] = np.random.default_rng(1).uniform(-size / 2, size / 2, (478, 2)) + np.array([x, y])
    return Evidence(detection, detection, points, size, 0.0, look, against=against)


def test_each_place_is_told_once_best_score_first() -> None:
    seen = [evidence(100, 100, 40, 0.35), evidence(400, 100, 40, 0.5), evidence(104, 98, 44, 0.45, look=0.3), evidence(100, 110, 20, 0.31)]
    found = refusals(seen, [])
    assert [(one.score, one.look) for one in found] == [(0.5, 0.1), (0.45, 0.3)]
    assert found[1].box == seen[2].proposal.box


def test_what_lies_on_a_face_that_was_found_is_not_told() -> None:
    """A detector's half of a face, that the mesh refused, is no second place."""
    face = evidence(200, 200, 100, 0.9, against="")
    assert refusals([evidence(210, 180, 50, 0.5), evidence(200, 200, 100, 0.4)], [face]) == ()
    assert len(refusals([evidence(320, 200, 50, 0.5)], [face])) == 1


def test_too_small_to_tell_says_how_small() -> None:
    (one,) = refusals([evidence(50, 50, 11, 0.6, SMALL, 0.0)], [])
    assert dict(one.facts) == {"size": 11.0, "minimum": 14.0}


@given(st.lists(st.tuples(st.floats(0, 3000), st.floats(0, 2000), st.floats(5, 400), st.floats(0.3, 1)), max_size=60))
def test_the_list_is_sorted_and_bounded_and_nothing_in_it_lies_within_another(rows: list[tuple[float, float, float, float]]) -> None:
    found = refusals([evidence(*row) for row in rows], [])
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert len(found) <= MOST
    assert bool(found) == bool(rows)
    for i, one in enumerate(found):
        for other in found[:i]:
            wide = min(one.box.x + one.box.width, other.box.x + other.box.width) - max(one.box.x, other.box.x)
            high = min(one.box.y + one.box.height, other.box.y + other.box.height) - max(one.box.y, other.box.y)
            least = min(one.box.width * one.box.height, other.box.width * other.box.height)
            assert max(wide, 0) * max(high, 0) <= 0.5 * least + 1e-6


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_has_its_sentence(language: str) -> None:
    from engines.faces import trust

    reasons = {trust.SMALL, trust.UNSEEN, trust.DISAGREE, trust.UNSETTLED, trust.WOBBLING}
    assert set(section(language, "refusals")) == reasons
    for reason in reasons:
        (one,) = refusals([evidence(50, 50, 11, 0.6, reason)], [])
        assert "{" not in text(f"refusals.{reason}", language, **dict(one.facts))
