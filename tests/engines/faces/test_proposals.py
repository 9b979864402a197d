from collections.abc import Mapping

import numpy as np
import pytest

from engines.errors import Cancelled
from engines.faces.centerface import CenterFace
from engines.faces.proposals import Proposer
from engines.runtime.fake import FakeSession
from engines.runtime.session import Array, TensorSpec
from engines.timing import Progress, Run
from engines.types import Pixels


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
    found = Proposer(fake.detector, scene(width, height, x, y, size), Run()).whole(side)
    assert found
    middle = np.array([x, y]) + (size - 1) / 2
    cell = 4 * max(width, height) / side
    assert min(np.abs(np.array(one.box.centre) - middle).max() for one in found) < 2 * cell
    assert max(fake.views[0]) == side


@pytest.mark.parametrize(
    ("width", "height", "tiles"), [(400, 300, 2), (1200, 600, 8), (2400, 1200, 15), (4000, 3000, 48), (4799, 40, 9), (12000, 9000, 24)]
)
def test_tiles_cover_the_picture_and_are_bounded(width: int, height: int, tiles: int) -> None:
    """At most 63 views of 640 px, however large the picture."""
    fake = Bright()
    Proposer(fake.detector, np.zeros((height, width, 3), np.uint8), Run()).tiles()
    assert len(fake.views) <= 63
    assert max(max(view) for view in fake.views) <= 640
    assert len(fake.views) == pytest.approx(tiles, abs=tiles * 0.5)


@pytest.mark.parametrize(("x", "y"), [(3, 5), (559, 559), (600, 1000), (1390, 1190), (700, 20)])
def test_a_small_thing_is_found_in_some_tile_at_its_place(x: int, y: int) -> None:
    found = Proposer(Bright().detector, scene(1400, 1200, x, y, 6), Run()).tiles()
    middle = np.array([x, y]) + 2.5
    assert min(np.abs(np.array(one.box.centre) - middle).max() for one in found) < 4
    assert max(np.abs(np.array(one.box.centre) - middle).max() for one in found) < 12


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
    with pytest.raises(Cancelled):
        Proposer(fake.detector, np.zeros((1800, 2400, 3), np.uint8), run).tiles()
    assert len(fake.views) == 3
    assert [step.stage for step in steps] == ["detect"]
