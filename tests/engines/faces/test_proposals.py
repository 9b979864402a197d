from collections.abc import Mapping

import numpy as np
import pytest

from engines.errors import Cancelled
from engines.faces.centerface import CenterFace
from engines.faces.proposals import CLOSE, HINT, SCORE, Proposer
from engines.faces.search import MOST_HINTS, Search
from engines.faces.trust import Examiner
from engines.runtime.fake import FakeSession
from engines.runtime.session import Array, TensorSpec
from engines.timing import Progress, Run
from engines.types import Box, Detection, Pixels


class Bright:
    """A detector whose network calls every bright cell a face of 4 × 4 cells, and remembers how large its views were."""

    def __init__(self) -> None:
        self.views: list[tuple[int, ...]] = []
        names = {"537": 1, "538": 2, "539": 2, "540": 10}
        outputs = tuple(TensorSpec(name, "float32", ("B", c, "h", "w")) for name, c in names.items())
        self.detector = CenterFace(FakeSession((TensorSpec("input.1", "float32", ("B", 3, "H", "W")),), outputs, self._run))

    def _run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        red = feeds["input.1"][:, 0]
        count, rows, columns = red.shape
        self.views.append((rows, columns))
        heat = red.reshape(count, rows // 4, 4, columns // 4, 4).max(axis=(2, 4))[:, None] / 256
        shape = heat.shape[2:]
        return {
            "537": heat.astype(np.float32),
            "538": np.full((count, 2, *shape), np.log(4), np.float32),
            "539": np.zeros((count, 2, *shape), np.float32),
            "540": np.full((count, 10, *shape), 0.5, np.float32),
        }


def scene(width: int, height: int, x: int, y: int, size: int) -> Pixels:
    picture = np.zeros((height, width, 3), np.uint8)
    picture[y : y + size, x : x + size] = 250
    return picture


@pytest.mark.parametrize(("width", "height"), [(500, 400), (1300, 900), (4000, 3000), (3000, 200)])
@pytest.mark.parametrize("side", [320, 640, 960])
def test_the_whole_picture_comes_back_in_its_own_pixels(width: int, height: int, side: int) -> None:
    fake = Bright()
    size = max(4, round(12 * max(width, height) / side))
    x, y = width * 2 // 3, height // 3
    found = Proposer(fake.detector, scene(width, height, x, y, size), Run()).whole(side).proposals
    assert found
    middle = np.array([x, y]) + (size - 1) / 2
    cell = 4 * max(width, height) / side
    assert min(np.abs(np.array(one.box.centre) - middle).max() for one in found) < 2 * cell
    assert max(fake.views[0]) == side


@pytest.mark.parametrize(
    ("width", "height", "finest"),
    [(400, 300, 2.0), (1200, 600, 2.0), (1600, 900, 1.5), (2400, 1200, 1.0), (4000, 3000, 1.0), (6400, 100, 1.0), (6401, 100, 0.5)],
)
def test_the_nearest_look_enlarges_small_pictures_and_halves_huge_ones(width: int, height: int, finest: float) -> None:
    assert Proposer(Bright().detector, np.zeros((height, width, 3), np.uint8), Run()).finest() == finest


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
@pytest.mark.parametrize(("x", "y"), [(3, 5), (559, 559), (600, 1000), (1390, 1190), (700, 20)])
def test_a_small_thing_is_found_in_some_tile_at_its_place(x: int, y: int, scale: float) -> None:
    fake = Bright()
    proposer = Proposer(fake.detector, scene(1400, 1200, x, y, 6), Run())
    found = proposer.near(proposer.pieces(scale), scale).proposals
    middle = np.array([x, y]) + 2.5
    assert min(np.abs(np.array(one.box.centre) - middle).max() for one in found) <= 4 / scale
    assert max(np.abs(np.array(one.box.centre) - middle).max() for one in found) < 12 / scale
    assert max(max(view) for view in fake.views) <= 640


def test_tiles_are_one_stage_and_can_be_stopped() -> None:
    run: Run

    class Stopping(Bright):
        def _run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
            if len(self.views) == 2:
                run.cancel()
            return super()._run(feeds)

    steps: list[Progress] = []
    run = Run(steps.append)
    fake = Stopping()
    proposer = Proposer(fake.detector, np.zeros((1800, 2400, 3), np.uint8), run)
    with pytest.raises(Cancelled):
        proposer.near(proposer.pieces(1.0), 1.0)
    assert len(fake.views) == 3
    assert [step.stage for step in steps] == ["detect"]


def test_a_weak_answer_is_a_hint_and_no_proposal() -> None:
    picture = scene(640, 480, 100, 100, 8)
    picture[300:308, 400:408] = 50  # 50 of 256
    picture[400:408, 200:208] = 20  # too weak even for a hint
    look = Proposer(Bright().detector, picture, Run()).whole(640)
    assert {round(one.box.centre[0] / 100) for one in look.proposals} == {1}
    assert {round(one.box.centre[0] / 100) for one in look.hints} == {4}
    assert all(one.score >= SCORE for one in look.proposals)
    assert all(HINT < one.score < SCORE for one in look.hints)


@pytest.mark.parametrize(("x", "y", "size"), [(50, 60, 12), (800, 500, 40), (5, 595, 10), (400, 300, 300)])
def test_a_hint_is_looked_at_in_four_directions(x: int, y: int, size: int) -> None:
    """One view for all four; what is seen in each of them comes back to the same place."""
    fake = Bright()
    hint = Detection(Box(x - size / 2, y - size / 2, size, size), 0.2, np.zeros((5, 2), np.float32))
    dot = max(2, size // 8)
    found = Proposer(fake.detector, scene(900, 600, x - dot // 2, max(0, y - dot // 2), dot), Run()).close([hint]).proposals
    assert fake.views == [(2 * CLOSE, 2 * CLOSE)]
    assert len(found) >= 4
    for one in found:
        assert np.hypot(*np.subtract(one.box.centre, (x, y))) < 0.3 * size + 2


def test_hints_are_bounded() -> None:
    """A detector that hesitates everywhere: so many close looks and no more."""
    fake = Bright()
    picture = np.zeros((600, 800, 3), np.uint8)
    picture[::40, ::40] = 50
    search = Search(picture, fake.detector, Examiner.__new__(Examiner), Run())  # nothing is strong enough to be examined
    search.run_all()
    assert 0 < sum(view == (256, 256) for view in fake.views) <= 2 * MOST_HINTS
    assert search.trusted == search.refused == []
