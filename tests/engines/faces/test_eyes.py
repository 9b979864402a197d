"""Eyes: the source's under the target's light, in drawn faces where every value is known.

Where the lids' openings differ too much, the target's picture inside them with the source's iris colour.
"""

from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.faces import eyes
from engines.faces.canonical import EYE_RINGS, IRISES, SOCKETS, chart
from engines.types import Pixels
from engines.vision.color import LUMA, luma
from engines.vision.mask import disk, polygon


def iris_at(where: Any, eye: int) -> tuple[NDArray[np.float64], float]:
    centre, rim = where.shape[IRISES[eye][0], :2], where.shape[IRISES[eye][1:], :2]
    return centre, float(np.linalg.norm(rim - centre, axis=1).mean())


def coloured(
    drawn: Any, iris: tuple[int, int, int], white: tuple[int, int, int] = (200, 200, 200), side: int = 512, points: Any = None
) -> Pixels:
    """A source's chart with irises of one colour; of the mean face's eyes or of `points`."""
    points = drawn.mean if points is None else points
    out, at = np.full((side, side, 3), 120, np.float32), chart().pixels(side)
    for ring, ids in zip(EYE_RINGS, IRISES, strict=True):
        base = np.column_stack([points[ring, :2], np.ones(len(ring))])
        moved = np.column_stack([points[ids, :2], np.ones(5)]) @ np.linalg.lstsq(base, at[ring], rcond=None)[0]
        radius = float(np.linalg.norm(moved[1:] - moved[0], axis=1).mean())
        inside = polygon(at[ring], side, side)[..., None]
        out += inside * (np.array(white, np.float32) - out)
        out += inside * disk(moved[0], radius, side, side)[..., None] * (np.array(iris, np.float32) - out)
    return np.dstack([out.astype(np.uint8), np.full((side, side), 255, np.uint8)])


@pytest.fixture(scope="module")
def wide(drawn: Any) -> NDArray[np.float64]:
    """Eyes opened so far that the source's can't be painted into the mean face's lids."""
    return np.asarray(drawn.lidded(-2.2))


def white_of(where: Any, eye: int) -> NDArray[np.bool_]:
    centre, radius = iris_at(where, eye)
    core = cv2.erode(polygon(where.shape[EYE_RINGS[eye]], where.size, where.size), np.ones((11, 11), np.uint8)) > 0.99
    found = core & (disk(centre, 1.3 * radius, where.size, where.size) < 0.01)
    assert found.sum() > 20
    return np.asarray(found)


def iris_of(drawn: Any, where: Any, eye: int) -> NDArray[np.bool_]:
    centre, radius = iris_at(where, eye)
    return np.asarray(drawn.inside(where, EYE_RINGS[eye]) & (disk(centre, 0.7 * radius, where.size, where.size) > 0.99))


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("theirs", [25.0, 90.0, 220.0])
@pytest.mark.parametrize("mine", [10.0, 160.0, 250.0])
def test_whites_come_to_the_targets_light(drawn: Any, wide: NDArray[np.float64], mine: float, theirs: float, alike: bool) -> None:
    """Neither brighter than in the target, nor black, whosever eye is painted."""
    points = drawn.mean if alike else wide
    where = drawn.spot(drawn.mean, points)
    fused, own = drawn.face(where, mine, 30), drawn.face(where, theirs, 30)
    eyes.finish(fused, own, where, drawn.source(points), False)
    for eye in (0, 1):
        np.testing.assert_allclose(luma(fused)[white_of(where, eye)], theirs, atol=3)


def test_a_white_takes_most_of_the_targets_hue(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, 180), drawn.face(where, 150) * np.array([1.15, 1, 0.8], np.float32)
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        white = white_of(where, eye)
        red, _, blue = np.median(fused[white], axis=0)
        assert 1.15 < red / blue < 1.15 / 0.8
        np.testing.assert_allclose(luma(fused)[white], luma(own)[white], rtol=0.03)


@pytest.mark.parametrize("alike", [1.0, 0.6])
def test_skin_read_as_a_white_paints_no_bleeding_eye(drawn: Any, alike: float) -> None:
    """Behind lenses or in a blur a target's white may be as red as its skin; the fusion's is redder than grey, but a white."""
    where = drawn.spot(drawn.mean, drawn.mean)
    red = np.array([1.4, 0.9, 0.7], np.float32)
    fused, own = drawn.face(where, 180), drawn.face(where, 150) * red
    for ring in EYE_RINGS:  # as red as the skin, or less
        inside = polygon(where.shape[ring], where.size, where.size)[..., None]
        own += inside * (own * red ** np.float32(alike - 1) - own)
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        found = np.median(fused[white_of(where, eye)], axis=0)
        assert found[0] / found[1] < (1.4 / 0.9) ** 0.5
        assert found[0] / found[1] > 1.05


def test_a_source_without_a_clear_white_has_no_blue_iris(drawn: Any) -> None:
    """What is red between its lids is made white; its grey iris stays nearly grey."""
    where = drawn.spot(drawn.mean, drawn.mean)
    own, fused = drawn.face(where, 160), drawn.face(where, 120, 60)
    red = np.array([1.5, 0.9, 0.8], np.float32)
    grey = np.zeros((where.size, where.size), np.float32)
    for eye, ring in enumerate(EYE_RINGS):
        centre, radius = iris_at(where, eye)
        grey += polygon(where.shape[ring], where.size, where.size) * disk(centre, radius, where.size, where.size)
    fused *= 1 + (1 - grey[..., None]) * (red - 1)
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        white, iris = (np.median(fused[part(eye)], axis=0) for part in (lambda e: white_of(where, e), lambda e: iris_of(drawn, where, e)))
        assert white[0] / white[1] < 1.2
        assert iris[0] / iris[1] > 0.78


@pytest.mark.parametrize("light", [0.5, 0.8, 1.2])
def test_a_whites_own_shade_stays(drawn: Any, light: float) -> None:
    """A dimmer light makes no flat grey of it: its darker end stays as much darker as it was."""
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, 180), drawn.face(where, 180) * np.float32(light)
    ramp = np.ones((where.size, where.size), np.float32)
    for ring in EYE_RINGS:
        low, high = where.shape[ring, 0].min(), where.shape[ring, 0].max()
        part = slice(int(low), int(high) + 1)
        ramp[:, part] = np.linspace(0.75, 1.15, part.stop - part.start)
    fused *= ramp[..., None]
    before = luma(fused)
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        white = white_of(where, eye)
        was, now = (np.percentile(it[white], [5, 80]) for it in (before, luma(fused)))
        assert now[0] / now[1] == pytest.approx(was[0] / was[1], abs=0.08)


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_an_iris_keeps_its_contrast_to_a_dimmed_white(drawn: Any, share: float) -> None:
    """Light taken from the white alone would leave a pale iris in a grey eye; but a white in a lid's shade doesn't black it out."""
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, 200, 70), drawn.face(where, 200 * share, 20)
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        assert float(np.median(luma(fused)[iris_of(drawn, where, eye)])) == pytest.approx(70 * max(share, 0.7), rel=0.05)


def test_the_targets_catch_light_stays_and_the_sources_goes(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where), drawn.face(where)
    for eye in (0, 1):
        (x, y), _ = iris_at(where, eye)
        fused += (disk(np.array([x + 5, y]), 2.5, where.size, where.size) * 200)[..., None] * np.array([0.8, 0.9, 1], np.float32)
        own += (disk(np.array([x - 5, y]), 2.5, where.size, where.size) * 200)[..., None]
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        x, y = np.round(iris_at(where, eye)[0]).astype(int)
        assert luma(fused)[y, x + 5] < 40 + 0.2 * 200
        assert np.ptp(fused[y, x + 5]) < 4  # nor its blue glow
        np.testing.assert_allclose(fused[y, x - 5], own[y, x - 5], atol=12)  # and white: it is the room's


@pytest.mark.parametrize("colour", [(50, 80, 130), (110, 70, 40), (60, 100, 60)])
def test_a_sources_own_iris_stays_in_eyes_as_open(drawn: Any, colour: tuple[int, int, int]) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, 200), drawn.face(where, 200, 80)
    for eye, ring in enumerate(EYE_RINGS):
        centre, radius = iris_at(where, eye)
        iris = polygon(where.shape[ring], where.size, where.size) * disk(centre, radius, where.size, where.size)
        fused += iris[..., None] * (np.array(colour, np.float32) - fused)
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        np.testing.assert_allclose(np.median(fused[iris_of(drawn, where, eye)], axis=0), colour, atol=4)


def test_unlike_openings_show_the_targets_eye(drawn: Any, wide: NDArray[np.float64]) -> None:
    where = drawn.spot(drawn.mean, wide)
    fused, own = drawn.face(where, 120, 90), drawn.face(where, 200, 80)
    eyes.finish(fused, own, where, drawn.source(wide), False)
    for ring in EYE_RINGS:
        core = cv2.erode(polygon(where.shape[ring], where.size, where.size), np.ones((7, 7), np.uint8)) > 0.99
        np.testing.assert_allclose(luma(fused)[core], luma(own)[core], atol=1.5)


@pytest.mark.parametrize(("iris", "channel"), [((50, 80, 130), 2), ((110, 70, 40), 0), ((60, 100, 60), 1)])
def test_the_targets_iris_takes_the_sources_hue_at_its_own_light(
    drawn: Any, wide: NDArray[np.float64], iris: tuple[int, int, int], channel: int
) -> None:
    where = drawn.spot(drawn.mean, wide)
    fused, own = drawn.face(where), drawn.face(where, 200, 80)
    eyes.finish(fused, own, where, drawn.source(wide, coloured(drawn, iris, points=wide)), False)
    for eye in (0, 1):
        found = np.median(fused[iris_of(drawn, where, eye)], axis=0)
        assert int(found.argmax()) == channel
        assert found.max() - found.min() > 15
        assert float(LUMA @ found) == pytest.approx(80, rel=0.06)
        centre, radius = iris_at(where, eye)
        beyond = drawn.inside(where, EYE_RINGS[eye]) & (disk(centre, 1.4 * radius, where.size, where.size) < 0.01)
        assert np.ptp(np.median(fused[beyond], axis=0)) < 1


def test_a_warm_rooms_white_is_no_hue_of_the_iris(drawn: Any, wide: NDArray[np.float64]) -> None:
    """A grey iris under a lamp is nearer to grey than the same iris colour under white light."""
    where = drawn.spot(drawn.mean, wide)
    casts = []
    for white in ((200, 200, 200), (220, 200, 170)):
        fused, own = drawn.face(where), drawn.face(where, 200, 80)
        eyes.finish(fused, own, where, drawn.source(wide, coloured(drawn, (99, 90, 76), white, points=wide)), False)
        x, y = np.round(iris_at(where, 0)[0]).astype(int)
        casts.append(float(fused[y, x, 0] - fused[y, x, 2]))
    assert casts[1] < 0.6 * casts[0]


def test_a_half_lowered_lids_shade_is_not_on_the_iris(drawn: Any) -> None:
    """The lids that come along take the fusion's brighter light, the eye between them does not: its iris would be pale."""
    where = drawn.spot(drawn.lidded(0.6), drawn.mean)
    fused, own = drawn.face(where, 180, 30, skin=200), drawn.face(where, 180, 30, skin=90)
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        assert float(np.median(luma(fused)[iris_of(drawn, where, eye)])) < 40


@pytest.mark.parametrize(("side", "lid"), [(64, 0.0), (512, 0.7)])
def test_an_iris_of_few_pixels_or_under_a_lid_says_nothing(drawn: Any, wide: NDArray[np.float64], side: int, lid: float) -> None:
    where = drawn.spot(drawn.lidded(lid), wide)
    fused, own = drawn.face(where), drawn.face(where, 200, 80)
    eyes.finish(fused, own, where, drawn.source(wide, coloured(drawn, (50, 80, 200), side=side, points=wide)), False)
    assert float(np.ptp(fused, axis=2).max()) < 1e-3


@pytest.mark.parametrize("shut", [(0, 1), (0,), (1,)])
def test_a_shut_eyes_lids_come_along(drawn: Any, shut: tuple[int, ...]) -> None:
    """Their structure does, in the fusion's light; an open eye beside it keeps the source's lids."""
    where = drawn.spot(drawn.lidded(0.95, shut), drawn.mean)
    size = where.size
    lines = (30 * np.sin(np.arange(size) / 2.0)).astype(np.float32)[:, None, None]
    fused, own = np.full((size, size, 3), 150, np.float32), np.full((size, size, 3), 110, np.float32) + lines
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    for eye in (0, 1):
        lid = cv2.erode(polygon(where.shape[SOCKETS[eye]], size, size), np.ones((13, 13), np.uint8)) > 0.99
        lid &= cv2.dilate(polygon(where.shape[EYE_RINGS[eye]], size, size), np.ones((11, 11), np.uint8)) < 0.01
        found = luma(fused)[lid]
        if eye in shut:
            assert float(found.std()) == pytest.approx(float(luma(own)[lid].std()), rel=0.15)
            assert float(found.mean()) == pytest.approx(150, abs=10)
        else:
            np.testing.assert_allclose(found, 150, atol=1.5)


def test_a_blinking_source_opens_no_hole(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.lidded(1.0))
    fused, own = drawn.face(where, 60, 60), drawn.face(where, 200, 20)
    eyes.finish(fused, own, where, drawn.source(drawn.lidded(1.0)), False)
    for ring in EYE_RINGS:
        assert np.median(np.abs(fused - own)[drawn.inside(where, ring)]) < 2


def test_nothing_but_the_eyes_is_touched(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    fused, own = drawn.face(where, 60, 60, 250, 250), drawn.face(where, 200, 20, 80, 80, 90)
    before = fused.copy()
    eyes.finish(fused, own, where, drawn.source(drawn.mean), False)
    changed = np.abs(fused - before).max(2) > 0.5
    for vertex in (4, 50, 280, 151, 9, 105, 334, 14, 152):
        x, y = np.round(where.shape[vertex, :2]).astype(int)
        assert not changed[y - 3 : y + 4, x - 3 : x + 4].any()
    around = np.zeros_like(changed)
    for ring in EYE_RINGS:
        around |= cv2.dilate(polygon(where.shape[ring], where.size, where.size), np.ones((17, 17), np.uint8)) > 0
    assert not changed[~around].any()


def test_kept_eyes_are_the_targets_own_where_they_lay(drawn: Any) -> None:
    somebody = drawn.mean.copy()
    somebody[:, 0] *= 1.08
    where = drawn.spot(drawn.mean, somebody, keep=(True, False))
    np.testing.assert_allclose(
        where.shape[np.concatenate([*SOCKETS, *EYE_RINGS, *IRISES])], where.target[np.concatenate([*SOCKETS, *EYE_RINGS, *IRISES])]
    )
    own = drawn.face(where, 210, 25)
    fused = drawn.face(where, 120, 90)
    eyes.finish(fused, own, where, drawn.source(somebody, coloured(drawn, (50, 80, 200))), True)
    for ring in EYE_RINGS:
        core = cv2.erode(polygon(where.shape[ring], where.size, where.size), np.ones((7, 7), np.uint8)) > 0.99
        np.testing.assert_allclose(fused[core], own[core], atol=1)


def test_the_ground_covers_lids_and_brows_of_the_target_alone(drawn: Any) -> None:
    where = drawn.spot(drawn.mean, drawn.mean)
    found = eyes.ground(where)
    assert found.shape == (where.grid, where.grid)
    at = np.round(where.coarse(where.target)).astype(int)
    assert (found[at[np.concatenate([*EYE_RINGS]), 1], at[np.concatenate([*EYE_RINGS]), 0]] > 0.9).all()
    assert (found[at[[105, 334, 66, 296], 1], at[[105, 334, 66, 296], 0]] > 0.8).all()
    assert (found[at[[4, 50, 280, 14, 152, 10], 1], at[[4, 50, 280, 14, 152, 10], 0]] < 0.01).all()


@pytest.mark.parametrize("size", [6.0, 14.0, 40.0])
def test_tiny_faces_stay_finite(drawn: Any, size: float) -> None:
    where = drawn.spot(drawn.lidded(0.9), drawn.mean, size)
    for keep in (False, True):
        fused = np.full((where.size, where.size, 3), 130, np.float32)
        eyes.finish(fused, fused.copy(), where, drawn.source(drawn.mean), keep)
        assert np.isfinite(fused).all()
        np.testing.assert_allclose(fused, 130, atol=1)


def test_the_same_bytes_every_time(drawn: Any) -> None:
    where = drawn.spot(drawn.lidded(0.5), drawn.mean)
    made: list[Callable[[], bytes]] = []
    for _ in range(2):
        fused = drawn.face(where, 100, 60)
        eyes.finish(fused, drawn.face(where, 220, 40), where, drawn.source(drawn.mean, coloured(drawn, (50, 80, 130))), False)
        made.append(fused.tobytes)
    assert made[0]() == made[1]()
