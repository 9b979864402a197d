"""Light taken out and put on, on made-up faces in the chart."""

import cv2
import numpy as np
import pytest

from engines.faces import albedo, light
from engines.faces.albedo import SIDE
from engines.faces.canonical import BROWS, chart
from engines.types import Floats
from engines.vision.color import LUMINANCE, log_light, relit
from engines.vision.mask import convex, polygon

ALL = np.ones((SIDE, SIDE), np.float32)


def face(colour: tuple[float, float, float], gain: Floats | None = None, grain: float = 1.0, seed: int = 0) -> Floats:
    """A skin in the chart with darker features, its linear light multiplied by exp(gain)."""
    noise = np.random.default_rng(seed).normal(0, grain, (SIDE, SIDE, 1))
    features = cv2.resize(chart().features, (SIDE, SIDE), interpolation=cv2.INTER_AREA)[..., None]
    plain = (np.array(colour) * (1 - 0.4 * features) + noise).astype(np.float32)
    lit = plain if gain is None else relit(plain, np.repeat(gain[..., None], 3, 2) if gain.ndim == 2 else gain)
    return np.clip(lit, 0, 255)


def sphere(side: float, front: float) -> Floats:
    """Logarithm of Lambert's light on a sphere that the chart is laid round, from the picture's left and the front."""
    x = (np.arange(SIDE, dtype=np.float32) / SIDE - 0.5)[None] * 1.4 * np.ones((SIDE, 1), np.float32)
    return np.asarray(np.log(0.15 + np.maximum(-side * x + front * np.sqrt(1 - np.clip(x * x, 0, 0.9)), 0)), np.float32)


def skin() -> Floats:
    return albedo.measure(face((150, 120, 100)), ALL).known > 0.9


def relit_face(source: Floats, target: Floats, colour: float = 1.0) -> Floats:
    change = light.gain(albedo.measure(source, ALL), albedo.measure(target, ALL), colour)
    return light.Tone(change).apply(source)


def test_side_light_is_put_on() -> None:
    out = log_light(relit_face(face((150, 120, 100)), face((150, 120, 100), sphere(0.9, 0.5), seed=1))) @ LUMINANCE
    wanted = log_light(face((150, 120, 100), sphere(0.9, 0.5), 0)) @ LUMINANCE
    error = cv2.GaussianBlur(out - wanted, (0, 0), 2)[skin()]
    assert np.abs(error).mean() < 0.1
    assert np.percentile(np.abs(error), 95) < 0.3


def test_the_sources_own_side_light_is_taken_out() -> None:
    out = log_light(relit_face(face((150, 120, 100), sphere(-0.8, 0.5)), face((150, 120, 100), seed=1))) @ LUMINANCE
    half = np.arange(SIDE)[None] < SIDE // 2
    left, right = out[skin() & half].mean(), out[skin() & ~half].mean()
    assert abs(left - right) < 0.12  # of 1.1 that it had


def test_a_cast_shadow_stays_sharp() -> None:
    """A third of the face in the shade: half of the step lies within 10 px of 83; the slow light alone would spread it over 50."""
    shade = np.zeros((SIDE, SIDE), np.float32)
    shade[:, 78:] = -1.2
    out = log_light(relit_face(face((190, 150, 130)), face((190, 150, 130), shade))) @ LUMINANCE
    row = np.median(out[70:74], axis=0)
    assert row[74] - row[84] > 0.55
    assert abs((row[60:72].mean() - row[88:96].mean()) - 1.2) < 0.3


@pytest.mark.parametrize(
    ("source", "target"), [((190, 150, 130), (90, 62, 48)), ((90, 62, 48), (215, 180, 165)), ((120, 140, 190), (190, 150, 130))]
)
def test_a_cast_of_colour_is_gone(source: tuple[float, ...], target: tuple[float, ...]) -> None:
    out = relit_face(face(source), face(target, seed=1))  # type: ignore[arg-type]
    np.testing.assert_allclose(np.median(out[skin()], axis=0), target, atol=4)


def test_light_split_in_two_colours_is_put_on() -> None:
    split = np.zeros((SIDE, SIDE, 3), np.float32)
    split[:, : SIDE // 2, 0], split[:, SIDE // 2 :, 2] = 0.5, 0.5
    target = face((150, 120, 110), split)
    out = relit_face(face((150, 120, 110)), target)
    left, right = np.s_[40:90, 30:52], np.s_[40:90, 76:98]
    for part in (left, right):
        np.testing.assert_allclose(np.median(out[part].reshape(-1, 3), 0), np.median(target[part].reshape(-1, 3), 0), atol=6)


def test_a_flat_source_under_flat_light_stays_as_it_is() -> None:
    picture = face((150, 120, 100))
    np.testing.assert_allclose(relit_face(picture, picture)[skin()], picture[skin()], atol=3)


def test_no_colour_asked_for_changes_nothing() -> None:
    lit = [albedo.measure(face(c), ALL) for c in ((190.0, 150.0, 130.0), (90.0, 62.0, 48.0))]
    assert not light.gain(*lit, 0.0).any()
    half, whole = light.gain(*lit, 0.5), light.gain(*lit, 1.0)
    np.testing.assert_allclose(half, whole / 2, atol=1e-6)


def test_shine_is_told_from_pale_skin_by_its_colour() -> None:
    spot = np.exp(-((np.arange(SIDE)[:, None] - 70) ** 2 + (np.arange(SIDE)[None] - 64) ** 2) / 30).astype(np.float32)
    plain = face((120, 80, 60), grain=0)
    shiny = albedo.measure(plain + 70 * spot[..., None], ALL)
    lighter = albedo.measure(relit(plain, np.repeat((0.5 * spot)[..., None], 3, 2)), ALL)
    assert float(shiny.shine[70, 64] @ LUMINANCE) > 0.2
    assert float(lighter.shine[70, 64] @ LUMINANCE) < 0.05


def test_a_grey_target_gets_a_grey_face() -> None:
    source, target = albedo.measure(face((190, 120, 100)), ALL), albedo.measure(face((140, 140, 140)), ALL)
    share = light.colourful(target, 1.0)
    out = light.Tone(light.gain(source, target, 1.0), share).apply(face((190, 120, 100)))
    assert np.ptp(out[skin()], axis=1).mean() < 4
    assert light.colourful(target, 0.0) == 1.0
    assert light.colourful(source, 1.0) == 1.0


@pytest.mark.parametrize("level", [0.0, 128.0, 255.0])
def test_flat_pictures_and_unknown_faces_give_finite_light(level: float) -> None:
    flat = np.full((SIDE, SIDE, 3), level, np.float32)
    for known in (ALL, ALL * 0):
        change = light.gain(albedo.measure(flat, known), albedo.measure(face((150, 120, 100)), ALL), 1.0)
        out = light.Tone(change).apply(flat)
        assert np.isfinite(out).all()
        assert out.min() >= 0
        assert out.max() <= 255


def test_the_blends_edge_takes_the_targets_own_light() -> None:
    warp, target = np.full((96, 96, 3), 150, np.float32), np.full((96, 96, 3), 110, np.float32)
    mask = np.zeros((96, 96), np.float32)
    mask[20:76, 20:76] = 1
    toned = light.tone(warp, target, np.zeros((96, 96, 3), np.float32), mask, mask, 60.0).apply(warp)
    assert abs(float(toned[21, 48, 0]) - 110) < 26
    assert abs(float(toned[48, 48, 0]) - 150) < 4


def test_only_the_edge_can_be_unlike() -> None:
    rows, columns = np.mgrid[:SIDE, :SIDE]
    disc = np.clip(SIDE * 0.42 - np.hypot(rows - 64, columns - 64), 0, 1).astype(np.float32)
    toned = np.full((SIDE, SIDE, 3), 130, np.float32)
    target = toned.copy()
    target[:, 88:] = 10  # hair across the right side
    target[56:72, 56:72] = 10
    found = light.unlike(toned, target, disc, 100.0)
    assert found[64, 117] > 0.7
    assert found[64, 11] < 0.1
    assert found[64, 64] < 0.1


ON_NOSE, ON_BROW = (70, 64), (26, 64)


def glossy(colour: tuple[float, float, float], amount: float, at: tuple[int, int] = ON_BROW) -> albedo.Lit:
    spot = np.exp(-((np.arange(SIDE)[:, None] - at[0]) ** 2 + (np.arange(SIDE)[None] - at[1]) ** 2) / 30).astype(np.float32)
    return albedo.measure(face(colour, grain=0) + amount * spot[..., None], ALL)


def test_a_highlight_no_stronger_than_the_targets_is_form_and_stays() -> None:
    """Of a shinier target some is put on, and nothing is taken off."""
    source = glossy((120, 80, 60), 50)
    for target in (source, glossy((120, 80, 60), 90)):
        assert float(light.gain(source, target, 1.0)[ON_BROW] @ LUMINANCE) > -0.02


def test_a_shine_that_the_target_has_not_comes_down() -> None:
    source, target = glossy((120, 80, 60), 70), glossy((120, 80, 60), 0)
    assert light._too_shiny(source, target, np.asarray(target.light - source.light)) == light.MATTE
    assert float(light.gain(source, target, 1.0)[ON_BROW] @ LUMINANCE) < -0.6 * float(source.shine[ON_BROW] @ LUMINANCE)


def test_a_dark_faces_shine_adds_no_more_to_a_pale_one() -> None:
    source, target = glossy((80, 55, 42), 60), glossy((200, 165, 145), 40)
    change = np.asarray(target.light - source.light)
    taken = light._too_shiny(source, target, change)
    assert taken > light._too_shiny(source, source, np.zeros_like(change)) + 0.5


def test_a_nose_keeps_its_own_shine_unless_it_would_be_a_glaze() -> None:
    source = glossy((120, 80, 60), 70, ON_NOSE)
    shine = float(source.shine[ON_NOSE] @ LUMINANCE)
    matte, pale = glossy((120, 80, 60), 0), glossy((230, 200, 185), 0)
    assert shine > 0.3
    assert abs(float(light.gain(source, matte, 1.0)[ON_NOSE] @ LUMINANCE)) < 0.2 * shine
    change = light.gain(source, pale, 1.0) @ LUMINANCE
    assert change[ON_NOSE] < change[ON_BROW] - 0.4 * shine


def test_light_that_both_halves_share_is_put_on_less_on_a_nose_than_beside_it() -> None:
    """The same slow light on a nose and on a brow: the first is form. From a side, it is light there too."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    spots = [0.5 * np.exp(-((y - at[0]) ** 2 + (x - at[1]) ** 2) / 450) for at in (ON_NOSE, ON_BROW)]
    side = np.where(x < SIDE / 2, np.float32(0.4), np.float32(-0.4))
    plain = albedo.measure(face((120, 90, 75), grain=0), ALL)
    nose, brow, sided = (albedo.measure(face((120, 90, 75), gain, grain=0), ALL) for gain in (spots[0], spots[1], spots[0] + side))
    at_nose, at_brow = (float(light.gain(plain, lit, 1.0)[at] @ LUMINANCE) for lit, at in ((nose, ON_NOSE), (brow, ON_BROW)))
    assert 0.03 < at_nose < 0.6 * at_brow
    across = (light.gain(plain, sided, 1.0) @ LUMINANCE)[ON_NOSE[0]]
    assert (across[60:69].mean()) > 1.5 * at_nose


def creased(depth: float) -> albedo.Lit:
    """A face with a dark crease from each wing of the nose past the mouth's corner."""
    at, line = chart().pixels(SIDE), np.zeros((SIDE, SIDE), np.float32)
    for fold in ((129, 203, 206, 216), (358, 423, 426, 436)):
        cv2.polylines(line, [np.round(at[list(fold)] * 16).astype(np.int32)], False, depth, 2, cv2.LINE_AA, 4)
    return albedo.measure(face((190, 150, 130), -line, grain=0), ALL)


def test_a_smiles_folds_go_with_it_and_a_cheeks_own_stay() -> None:
    plain, deep, shallow = creased(0.0), creased(0.8), creased(0.08)
    x, y = np.round(chart().pixels(SIDE)[206]).astype(int)
    kept, eased = (float(light.gain(deep, plain, 1.0, share)[y, x] @ LUMINANCE) for share in (0.0, 1.0))
    assert eased > kept + 0.2
    assert light.gain(shallow, plain, 1.0, 1.0)[y, x] @ LUMINANCE == light.gain(shallow, plain, 1.0)[y, x] @ LUMINANCE
    elsewhere = np.s_[: SIDE // 2]  # eyes, brow and the ridge of the nose
    np.testing.assert_array_equal(light.gain(deep, plain, 1.0, 1.0)[elsewhere], light.gain(deep, plain, 1.0)[elsewhere])


def shaded(redder: float, depth: float = 0.7) -> albedo.Lit:
    """A face with five small shades, whose blue falls by `redder` of their depth more than their red."""
    at = chart().pixels(SIDE)
    dark = sum(np.exp(-(np.square(np.mgrid[:SIDE, :SIDE] - at[v][::-1, None, None]).sum(0)) / 20) for v in (50, 280, 205, 425, 151)) * depth
    hue = np.array([1 - 0.5 * redder, 1.0, 1 + 0.5 * redder])
    return albedo.measure(face((190, 150, 130), -(dark[..., None] * hue).astype(np.float32), grain=0), ALL)


def test_shades_are_as_red_as_the_targets_and_none_is_made_grey() -> None:
    """The hue of a shade goes with the room's light: grey ones in a warm picture are soot."""
    grey, red = shaded(0.0), shaded(0.5)
    assert red.shade[2] - red.shade[0] > 0.12
    assert np.abs(grey.shade).max() < 0.02
    x, y = np.round(chart().pixels(SIDE)[50]).astype(int)
    warmed = (light.gain(grey, red, 1.0) - light.gain(grey, grey, 1.0))[y, x]
    assert warmed[0] - warmed[2] > 0.2
    kept = (light.gain(red, grey, 1.0) - (grey.light - red.light))[y, x]
    assert abs(kept[0] - kept[2]) < 0.05 < red.form[y, x, 0] - red.form[y, x, 2]


def test_what_is_too_bright_keeps_its_hue() -> None:
    """Each channel bent by itself would make a burnt skin yellow; red alone is bent alone, or a face in warm light would have no form."""
    burnt = np.array([[400.0, 330.0, 260.0], [300.0, 170.0, 150.0], [120.0, 90.0, 80.0]], np.float32)[None]
    out = light.Tone(np.zeros((1, 3, 3), np.float32)).apply(burnt)[0]
    assert out.max() < 255
    np.testing.assert_allclose(out[0] / out[0, 0], burnt[0, 0] / burnt[0, 0, 0], atol=0.01)
    np.testing.assert_allclose(out[1, 1:], burnt[0, 1, 1:])
    np.testing.assert_allclose(out[2], burnt[0, 2], atol=1e-3)


def browed(colour: tuple[float, float, float], step: float) -> tuple[albedo.Lit, tuple[int, int]]:
    """A face with brows so far below its skin, and the middle of one of them."""
    at = chart().pixels(SIDE)
    hair = np.maximum(*(polygon(convex(at[brow]), SIDE, SIDE) for brow in BROWS))
    y, x = np.round(at[BROWS[0]].mean(0)[::-1]).astype(int)
    return albedo.measure(relit(np.full((SIDE, SIDE, 3), colour, np.float32), -step * np.dstack([hair] * 3)), ALL), (y, x)


def test_a_black_brow_on_dark_skin_stays_black_on_a_fair_one() -> None:
    """It lies less below its skin than a black one on fair skin does, and was made as grey as shade."""
    (dark, at), (fair, _) = browed((80, 55, 42), 0.7), browed((200, 165, 145), 0.7)
    assert dark.dark[at] > 0.8
    assert fair.dark[at] < 0.3  # of a fair face it is brown
    lifted = light.gain(dark, fair, 1.0) @ LUMINANCE
    assert lifted[at] < 0.5 * float(np.median(lifted[skin()]))


def test_a_sheen_above_a_brow_comes_down_as_one_on_the_cheek_does() -> None:
    """Beside hairs a lamp's light was kept in full, and stood over the brows of a fairer face as a halo."""
    at = chart().pixels(SIDE)
    x, y = np.round([at[105, 0], at[BROWS[0], 1].min() - 2]).astype(int)
    spot = np.exp(-((np.arange(SIDE)[:, None] - y) ** 2 + (np.arange(SIDE)[None] - x) ** 2) / 20).astype(np.float32)
    plain = np.full((SIDE, SIDE, 3), (120, 80, 60), np.float32)
    source, target = albedo.measure(plain + 70 * spot[..., None], ALL), albedo.measure(np.full_like(plain, (200, 165, 145)), ALL)
    assert source.known[y, x] < 0.1
    assert float(source.shine[y, x] @ LUMINANCE) > 0.2
    change = light.gain(source, target, 1.0) @ LUMINANCE
    assert change[y, x] < float(np.median(change[skin()])) - 0.15
