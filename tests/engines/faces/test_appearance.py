"""Colour, light and texture matched on made-up skins."""

import cv2
import numpy as np
import pytest

from engines.faces import appearance
from engines.types import Floats

SIDE, FACE = 128, 100.0


def skin(colour: tuple[float, float, float], grain: float = 2.0, seed: int = 0, side: int = SIDE) -> Floats:
    noise = np.random.default_rng(seed).normal(0, grain, (side, side, 1))
    return np.clip(np.array(colour) + noise, 0, 255).astype(np.float32)


def disc(side: int = SIDE) -> Floats:
    rows, columns = np.mgrid[:side, :side]
    return np.clip(side * 0.42 - np.hypot(rows - side / 2, columns - side / 2), 0, 1).astype(np.float32)


@pytest.mark.parametrize(
    ("source", "target"), [((190, 150, 130), (90, 62, 48)), ((90, 62, 48), (215, 180, 165)), ((128, 128, 128), (190, 150, 130))]
)
def test_the_skin_takes_the_targets_colour(source: tuple[float, ...], target: tuple[float, ...]) -> None:
    warp, wanted = skin(source), skin(target, seed=1)
    tone = appearance.tone(warp, wanted, disc(), disc(), FACE)
    np.testing.assert_allclose(tone.apply(warp)[40:88, 40:88].mean((0, 1)), target, atol=3)


def test_equal_pictures_stay_as_they_are() -> None:
    picture = skin((150, 120, 100))
    tone = appearance.tone(picture, picture, disc(), disc(), FACE)
    np.testing.assert_allclose(tone.apply(picture)[disc() > 0], picture[disc() > 0], atol=2)


def test_the_targets_slow_light_is_taken_over() -> None:
    side_light = np.linspace(1.3, 0.6, SIDE)[None, :, None]
    target = (skin((150, 120, 100), seed=1) * side_light).astype(np.float32)
    out = appearance.tone(skin((150, 120, 100)), target, disc(), disc(), FACE)
    toned = out.apply(skin((150, 120, 100)))
    fall = toned[50:78, 30:45].mean() - toned[50:78, 83:98].mean()
    wanted = target[50:78, 30:45].mean() - target[50:78, 83:98].mean()
    assert 0.5 * wanted < fall < 1.1 * wanted


def test_the_correction_holds_at_any_size() -> None:
    tone = appearance.tone(skin((190, 150, 130)), skin((90, 62, 48), seed=1), disc(), disc(), FACE)
    large = tone.apply(skin((190, 150, 130), side=512))
    np.testing.assert_allclose(large[200:300, 200:300].mean((0, 1)), (90, 62, 48), atol=3)


def test_nothing_to_measure_gives_a_finite_tone() -> None:
    nothing = np.zeros((SIDE, SIDE), np.float32)
    assert np.isfinite(appearance.tone(skin((190, 150, 130)), skin((90, 62, 48)), nothing, nothing, FACE).apply(skin((1, 2, 3)))).all()


def test_only_the_edge_can_be_unlike() -> None:
    warp, target = skin((150, 120, 100)), skin((150, 120, 100), seed=1)
    target[:, 88:] = 10  # hair across the right side
    tone = appearance.Tone(np.eye(3, 4, dtype=np.float32), np.zeros((SIDE, SIDE, 3), np.float32))
    found = appearance.unlike(tone, warp, target, disc(), FACE)
    assert found[64, 117] > 0.7  # at the edge, on the hair
    assert found[64, 11] < 0.1  # at the edge, on skin
    target[56:72, 56:72] = 10
    assert appearance.unlike(tone, warp, target, disc(), FACE)[64, 64] < 0.1  # in the middle


def energy(image: Floats) -> float:
    part = image[140:240, 140:240]
    return float(np.std(part - cv2.GaussianBlur(part, (0, 0), 1.5)))


@pytest.mark.parametrize(("mine", "theirs"), [(0.3, 6.0), (8.0, 0.8), (3.0, 3.0), (0.0, 4.0), (5.0, 0.0)])
def test_grain_comes_to_the_targets_both_ways(mine: float, theirs: float) -> None:
    warp, target = (skin((120, 120, 120), grain, seed, 384)[..., 0] for grain, seed in ((mine, 1), (theirs, 2)))
    nothing = np.zeros((384, 384), np.float32)
    out = warp + appearance.texture_gain(warp, target, target, disc(384), nothing, 320.0)
    assert energy(out) == pytest.approx(energy(target), rel=0.25, abs=0.45)


def test_what_resampling_takes_away_is_made_up_for() -> None:
    warp, target = (skin((120, 120, 120), 4, seed, 384)[..., 0] for seed in (1, 2))
    worn = np.asarray(cv2.GaussianBlur(target, (0, 0), 0.5), np.float32)
    nothing = np.zeros((384, 384), np.float32)
    plain, more = (warp + appearance.texture_gain(warp, target, w, disc(384), nothing, 320.0) for w in (target, worn))
    assert 1.1 * energy(plain) < energy(more) < 2.6 * energy(plain)


def test_edges_of_features_are_never_made_crisper_than_the_targets() -> None:
    rows, columns = np.mgrid[:384, :384]
    sharp = (120 + 60 * (np.abs(rows - 190) < 12)).astype(np.float32)
    soft = np.asarray(cv2.GaussianBlur(sharp, (0, 0), 3), np.float32)
    lips = (np.abs(rows - 190) < 30).astype(np.float32) * (np.abs(columns - 190) < 100)
    out = sharp + appearance.texture_gain(sharp, soft, soft, disc(384) * (1 - lips), lips, 320.0)
    assert np.abs(np.diff(out[150:230, 190])).max() < 0.8 * np.abs(np.diff(sharp[150:230, 190])).max()
