"""Facial hair on drawn charts: found where it grows, told from shade, hair on one side and roughness; taken off without a hole."""

import numpy as np
import pytest

from engines.faces import beard
from engines.faces.beard import Beard, Kept
from engines.faces.canonical import GRID, LIPS_OUTER, chart
from engines.types import FaceMesh, Floats, Occlusion, Pixels
from engines.vision.mask import polygon, soften

SIDE = 512
SEEN = np.ones((GRID, GRID), np.float32)
TONES = [(225, 190, 170), (150, 110, 88), (84, 58, 46)]
CHIN, CHEEK = (150, 175, 199, 400), (50, 280, 205, 425)


def grown(half: str = "both") -> Floats:
    """(SIDE, SIDE) 0..1 where a beard is drawn."""
    points = chart().pixels(SIDE)
    jaw = [132, 58, 172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379, 365, 397, 288, 361, 391, 393, 164, 167, 165, 186, 212, 214, 192]
    out = polygon(points[jaw], SIDE, SIDE) * (1 - polygon(points[LIPS_OUTER], SIDE, SIDE))
    out[:, : SIDE // 2] *= half != "right"
    return soften(out, 3)


def face(tone: tuple[int, int, int], hair: float = 0.0, dark: float = 1.0, half: str = "both", shade: float = 0.0) -> Pixels:
    """A skin with pores; `hair`: contrast of hairs in the beard's place, `dark`: factor on its light, `shade`: of the lower face."""
    rng = np.random.default_rng(7)
    light = 1 + rng.normal(0, 0.012, (SIDE, SIDE))
    where = grown(half)
    light *= 1 + where * (rng.normal(0, 1, (SIDE, SIDE)) * hair + dark - 1)
    out = np.array(tone, float) * light[..., None]
    fall = np.clip((np.arange(SIDE) / SIDE - 0.5) * 4, 0, 1)[:, None, None] * shade
    return np.clip(out * (1 - fall * np.array([0.75, 1.0, 1.15])), 0, 255).astype(np.uint8)


def at(field: Floats, vertices: tuple[int, ...]) -> Floats:
    points = np.round(chart().pixels(field.shape[0])[list(vertices)]).astype(int)
    return field[points[:, 1], points[:, 0]]


@pytest.mark.parametrize("tone", TONES)
def test_bare_skin_wears_none_in_light_and_in_shade(tone: tuple[int, int, int]) -> None:
    for shade in (0.0, 0.5):
        found = beard.measure(face(tone, shade=shade), SEEN)
        assert not found.worn
        assert not found.map.any()


@pytest.mark.parametrize("tone", TONES)
@pytest.mark.parametrize(("hair", "dark", "dense"), [(0.06, 0.95, False), (0.15, 0.3, True)])
def test_stubble_and_a_full_beard_are_found_where_they_grow(tone: tuple[int, int, int], hair: float, dark: float, dense: bool) -> None:
    found = beard.measure(face(tone, hair, dark), SEEN)
    assert found.worn
    assert found.dense == dense
    assert at(found.map, CHIN).min() > 0.8
    assert at(found.map, CHEEK).max() < 0.2
    below = found.map[round(float(chart().pixels(GRID)[61, 1])) :]
    assert (np.diff(below[:, GRID // 2]) > -1e-3).all()  # no bare island on the way down to the neck


def test_hair_over_one_half_is_no_beard() -> None:
    assert not beard.measure(face(TONES[1], 0.15, 0.3, half="right"), SEEN).worn


def test_nothing_is_said_of_what_cannot_be_seen() -> None:
    seen = SEEN.copy()
    seen[GRID // 2 :] = 0
    assert beard.measure(face(TONES[0], 0.06, 0.95), seen).score == 0


def test_a_face_in_a_crop_is_measured_like_its_chart() -> None:
    points = np.column_stack([chart().pixels(SIDE), np.zeros(478)])
    over = np.zeros((SIDE, SIDE), np.float32)
    for hair, worn in ((0.0, False), (0.06, True)):
        crop = face(TONES[0], hair, 1 - hair)
        assert beard.of_crop(crop, points, Occlusion(over, crop, over)).worn == worn
        over_jaw = over.copy()
        over_jaw[SIDE // 2 :] = 1
        assert not beard.of_crop(crop, points, Occlusion(over_jaw, crop.copy(), over_jaw)).worn


@pytest.mark.parametrize("tone", TONES)
def test_shaving_leaves_a_chin_as_fine_and_as_light_as_the_cheeks(tone: tuple[int, int, int]) -> None:
    picture = face(tone, 0.06, 0.9)
    found = beard.measure(picture, SEEN)
    out = beard.shaven(picture, found)
    row, column = (slice(int(0.8 * SIDE), int(0.85 * SIDE)), slice(int(0.45 * SIDE), int(0.55 * SIDE)))
    cheek = picture[int(0.5 * SIDE) : int(0.55 * SIDE), int(0.25 * SIDE) : int(0.33 * SIDE)].astype(float)
    assert out[row, column].astype(float).mean(2).std() < 0.5 * picture[row, column].astype(float).mean(2).std()
    assert abs(out[row, column].mean() - cheek.mean()) < abs(picture[row, column].mean() - cheek.mean()) + 1
    brows = slice(0, int(0.4 * SIDE))
    np.testing.assert_array_equal(out[brows], picture[brows])
    bare = face(tone)
    assert beard.shaven(bare, beard.measure(bare, SEEN)) is bare


def worn(dark: float, level: float) -> Beard:
    return Beard(0.9, dark, np.full((GRID, GRID), level, np.float32))


@pytest.mark.parametrize(
    ("target", "source", "choice", "form", "hair"),
    [
        (None, None, "target", None, None),
        (None, worn(0.1, 0.7), "target", None, None),  # light stubble is shaven off the texture instead
        (worn(0.9, 0.7), None, "target", 0.7, 0.7),
        (worn(0.1, 0.7), None, "target", 0.0, 0.7),
        (None, worn(0.9, 0.7), "target", 0.7 * beard.BORROWED, 0.0),
        (worn(0.9, 0.7), worn(0.9, 0.5), "source", None, None),
        (worn(0.9, 0.7), None, "source", 0.7, 0.7),  # a bare chin can't be put on a neck that has a beard
    ],
)
def test_whose_beard_stays(target: Beard | None, source: Beard | None, choice: str, form: float | None, hair: float | None) -> None:
    stays = beard.kept(target or beard.no_beard(), source or beard.no_beard(), choice)  # type: ignore[arg-type]
    if form is None or hair is None:
        assert stays is None
        return
    assert stays is not None
    middle = GRID // 2
    assert stays.form[middle, middle] == pytest.approx(form, abs=0.01)
    assert stays.hair[middle, middle] == pytest.approx(hair, abs=0.01)


def test_form_and_hair_are_laid_apart() -> None:
    rng = np.random.default_rng(0)
    fine = rng.normal(0, 10, (256, 256, 1)).astype(np.float32)
    own, new = np.full((256, 256, 3), 60, np.float32) + fine, np.full((256, 256, 3), 180, np.float32)
    off, on = np.zeros((64, 64), np.float32), np.ones((64, 64), np.float32)
    lips = np.zeros((256, 256), np.float32)
    inner = np.s_[40:-40, 40:-40]
    for stays, mean, spread in ((Kept(on, on), 60, 10), (Kept(off, on), 180, 10), (Kept(on, off), 60, 0), (Kept(off, off), 180, 0)):
        out = new.copy()
        beard.lay(out, own, stays, lips, 200)
        assert out[inner].mean() == pytest.approx(mean, abs=2)
        assert out[inner].std() == pytest.approx(spread, abs=2.5)


def test_the_portraits_wear_none_and_a_measurement_repeats(astronaut: Pixels, astronaut_face, officer: Pixels, officer_face) -> None:  # type: ignore[no-untyped-def]
    for pixels, mesh in ((astronaut, astronaut_face.mesh), (officer, officer_face.mesh)):
        assert isinstance(mesh, FaceMesh)
        nothing = np.zeros(pixels.shape[:2], np.float32)
        one, two = (beard.of_crop(pixels, mesh.points, Occlusion(nothing, pixels, nothing)) for _ in range(2))
        assert not one.worn
        assert one.score == two.score
