"""The mark can't be seen, can't be lost on the usual ways, and can't be found where it isn't."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.errors import Cancelled
from engines.provenance import detection, payload, watermark
from engines.provenance.allowance import Allowance
from engines.provenance.keys import MarkKey
from engines.provenance.mark import MarkedImage, mark
from engines.provenance.watermark import DOSES, detect, embed
from engines.timing import Run
from engines.types import Floats, Frame, Pixels
from engines.vision import io

Change = Callable[[Pixels], Pixels]
ID = "7F3-A91-C04"
WHO = ["astronaut", "officer"]


def psnr(one: Pixels, other: Pixels) -> float:
    return float(10 * np.log10(255**2 / np.mean((one.astype(np.float64) - other) ** 2)))


@pytest.mark.parametrize("who", WHO)
def test_it_survives_what_happens_to_pictures(marked: dict[str, MarkedImage], key: MarkKey, who: str, change: Change) -> None:
    assert detect(change(marked[who].pixels), key).id == marked[who].mark.id


@pytest.mark.parametrize("who", WHO)
def test_it_survives_cuts_and_borders(marked: dict[str, MarkedImage], key: MarkKey, who: str, cut: Change) -> None:
    assert detect(cut(marked[who].pixels), key, deep=True).id == marked[who].mark.id


def test_it_tells_how_the_picture_lies(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    pixels = marked["astronaut"].pixels
    for turns in range(4):
        for mirrored in (False, True):
            lying = np.ascontiguousarray(np.rot90(pixels[:, ::-1] if mirrored else pixels, turns))
            found = detect(lying, key)
            assert (found.id, found.turns, found.mirrored) == (marked["astronaut"].mark.id, turns, mirrored)
    part = detect(np.ascontiguousarray(pixels[:410, :410]), key, deep=True)
    assert part.scale == pytest.approx(410 / 512, abs=0.006)


def test_it_tells_the_angle(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    pixels = marked["astronaut"].pixels
    around = cv2.getRotationMatrix2D((255.5, 255.5), 7, 1)
    found = detect(np.asarray(cv2.warpAffine(pixels, around, (512, 512)), np.uint8), key, deep=True)
    assert found.id == marked["astronaut"].mark.id
    assert abs(found.angle) == pytest.approx(7, abs=0.2)


def test_no_more_messages_are_tried_than_the_bound_allows(astronaut: Pixels, key: MarkKey, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    monkeypatch.setattr(detection, "_PROMISING", 0.0)
    monkeypatch.setattr(payload, "decode", lambda *_: tried.append(1))
    assert detect(astronaut, key, deep=True).id is None
    assert len(tried) == Allowance().messages


@pytest.mark.parametrize("who", WHO)
def test_another_key_reads_nothing(marked: dict[str, MarkedImage], other_key: MarkKey, who: str) -> None:
    found = detect(marked[who].pixels, other_key)
    assert found.id is None
    assert found.score < 6


@pytest.mark.parametrize("who", WHO)
def test_a_mark_of_an_older_key_is_read(
    marked: dict[str, MarkedImage], portraits: dict[str, Frame], key: MarkKey, other_key: MarkKey, who: str
) -> None:
    now = MarkKey(other_key.secret, older=(key,))
    around = cv2.getRotationMatrix2D((250, 250), 4, 1)
    turned = np.asarray(cv2.warpAffine(marked[who].pixels, around, marked[who].pixels.shape[1::-1]), np.uint8)
    for pixels, deep in ((marked[who].pixels, False), (turned, True)):
        found = detect(pixels, now, deep)
        assert (found.id, found.key) == (marked[who].mark.id, key.name)
    assert mark(io.from_array(marked[who].pixels), now).mark.id == marked[who].mark.id
    fresh = mark(portraits[who], now)
    assert detect(fresh.pixels, now).key == other_key.name
    assert detect(fresh.pixels, key).id is None


def unmarked(astronaut: Pixels, officer: Pixels) -> list[Pixels]:
    """200 crops of unmarked photographs, noises and gradients."""
    random = np.random.default_rng(11)
    ramp = np.linspace(0, 255, 300)
    made = [
        random.integers(0, 256, (300, 400, 3)).astype(np.uint8),
        np.clip(random.normal(128, 3, (300, 400, 3)), 0, 255).astype(np.uint8),
        np.broadcast_to(ramp[:, None, None], (300, 300, 3)).astype(np.uint8),
        np.broadcast_to(ramp[None, :, None], (300, 300, 3)).astype(np.uint8),
        *(np.full((260, 260, 3), value, np.uint8) for value in (0, 128, 255)),
    ]
    while len(made) < 200:
        whole = (astronaut, officer)[len(made) % 2]
        height, width = random.integers(120, 500, 2)
        top, left = random.integers(0, whole.shape[0] - height + 1), random.integers(0, whole.shape[1] - width + 1)
        made.append(whole[top : top + height, left : left + width])
    return [np.ascontiguousarray(one) for one in made]


def test_nothing_is_found_where_nothing_is(astronaut: Pixels, officer: Pixels, key: MarkKey) -> None:
    found = [detect(one, key) for one in unmarked(astronaut, officer)]
    assert [one for one in found if one.id] == []
    assert max(one.score for one in found) < 7


def test_nothing_is_found_by_looking_longer(astronaut: Pixels, key: MarkKey) -> None:
    found = detect(astronaut, key, deep=True)
    assert found.id is None
    assert found.score < 7


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("limit", [42.0, 44.0, 50.0])
def test_the_change_is_small_everywhere(portraits: dict[str, Frame], key: MarkKey, who: str, limit: float) -> None:
    pixels = portraits[who].pixels
    changed = embed(pixels, ID, key, psnr=limit, dose=DOSES[-1])
    assert psnr(pixels, changed) >= limit
    assert np.abs(pixels.astype(int) - changed).max() <= 9
    flat = cv2.blur(cv2.absdiff(pixels, cv2.blur(pixels, (9, 9))).max(axis=2), (9, 9)) < 2
    assert flat.sum() > 300
    assert np.abs(pixels.astype(int) - changed)[flat].mean() < 0.7


def seen(before: Pixels, after: Pixels) -> Floats:
    """(H, W), the change as an eye at a screen takes it in: averaged over about a pixel and a half."""
    return np.asarray(cv2.GaussianBlur(after.astype(np.float32) - before, (0, 0), 1.0).mean(axis=2))


SMOOTH: dict[str, Pixels] = {
    "wall": np.full((600, 800, 3), (198, 152, 124), np.uint8),
    "gradient": np.repeat(np.linspace(20, 235, 900)[None, :, None], 600, 0).repeat(3, 2).astype(np.uint8),
    "sky": np.clip(
        np.linspace([70, 110, 180], [200, 190, 170], 900)[:, None] + np.random.default_rng(3).normal(0, 1.2, (900, 1400, 1)), 0, 255
    ).astype(np.uint8),
}


@pytest.mark.parametrize(("name", "limit"), [("wall", 0.5), ("gradient", 0.5), ("sky", 0.35)])
def test_smooth_areas_stay_smooth(key: MarkKey, name: str, limit: float) -> None:
    """In levels; a sky has grain of 1.2. Where there is none, nothing below half a level can be written: it would be rounded away."""
    made = mark(io.from_array(SMOOTH[name]), key)
    assert made.mark.kind == "watermark"
    change = seen(SMOOTH[name], made.pixels)
    assert np.sqrt((change**2).mean()) < limit
    assert np.abs(change).max() < 2


def test_texture_takes_what_smooth_areas_are_spared(key: MarkKey) -> None:
    random = np.random.default_rng(9)
    grain = np.where(np.arange(800)[None, :, None] < 400, 1.0, 14.0)
    pixels = np.clip(140 + cv2.GaussianBlur(random.normal(0, 1, (600, 800)), (0, 0), 1.2)[..., None] * 3 * grain, 0, 255)
    pixels = pixels.repeat(3, axis=2).astype(np.uint8)
    change = np.abs(seen(pixels, mark(io.from_array(pixels), key).pixels))
    assert change[:, :350].mean() < 0.35 * change[:, 450:].mean()


@pytest.mark.parametrize("who", WHO)
def test_portraits_look_the_same(portraits: dict[str, Frame], marked: dict[str, MarkedImage], who: str) -> None:
    """The two figures that are promised of the default: 44 dB, and 0.99 of structural similarity (Wang et al. 2004, 11 × 11 Gaussian)."""
    one, other = (np.asarray(cv2.cvtColor(p, cv2.COLOR_RGB2GRAY), np.float64) for p in (portraits[who].pixels, marked[who].pixels))
    assert psnr(portraits[who].pixels, marked[who].pixels) >= 44

    def near(values: Floats) -> Floats:
        return np.asarray(cv2.GaussianBlur(values, (11, 11), 1.5))

    mean, mean_other = near(one), near(other)
    varied, varied_other = near(one * one) - mean**2, near(other * other) - mean_other**2
    together = near(one * other) - mean * mean_other
    alike = (2 * mean * mean_other + 6.5025) * (2 * together + 58.5225)
    assert (alike / ((mean**2 + mean_other**2 + 6.5025) * (varied + varied_other + 58.5225))).mean() >= 0.99


def test_hue_stays(key: MarkKey) -> None:
    """Smooth, dark, saturated skin: the mark makes it lighter and darker, not greyer."""
    skin = np.empty((600, 800, 3), np.uint8)
    skin[:] = (96, 58, 40)
    skin = np.clip(skin + np.random.default_rng(2).normal(0, 2, (600, 800, 1)), 0, 255).astype(np.uint8)
    change = embed(skin, ID, key).astype(int) - skin
    strong = np.abs(change[..., 0]) >= 2
    assert strong.any()
    assert (np.abs(change[strong][:, 2]) <= np.abs(change[strong][:, 0])).all()


def test_what_is_transparent_stays(portraits: dict[str, Frame], key: MarkKey) -> None:
    pixels = portraits["astronaut"].pixels
    alpha = np.full(pixels.shape[:2], 255, np.uint8)
    alpha[100:300, 100:300] = 0
    changed = embed(pixels, ID, key, alpha=alpha)
    assert np.array_equal(changed[104:296, 104:296], pixels[104:296, 104:296])
    assert not np.array_equal(changed[300:], pixels[300:])


@given(st.integers(1, 700), st.integers(1, 700), st.integers(0, 3))
@settings(max_examples=25)
def test_any_size_is_marked_at_its_size(height: int, width: int, seed: int) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)
    key = MarkKey(bytes(range(32)))
    before = pixels.copy()
    changed = embed(pixels, ID, key)
    assert changed.shape == pixels.shape
    assert changed.dtype == np.uint8
    assert np.array_equal(before, pixels)
    detect(changed, key)


def test_strips_fit_together() -> None:
    """Against OpenCV's resize of the whole: the seams between strips are nowhere."""
    gain = np.random.default_rng(5).normal(1, 0.05, (96, 128)).astype(np.float32)
    flat = np.full((1100, 1300, 3), 200, np.uint8)
    whole = np.rint(200 * cv2.resize(gain, (1300, 1100), interpolation=cv2.INTER_CUBIC))
    assert np.abs(watermark._multiply(flat, gain, Run()) - np.clip(whole, 0, 255)[..., None]).max() <= 1


def test_a_large_picture_is_marked_as_a_small_one(astronaut: Pixels, key: MarkKey) -> None:
    large = np.asarray(cv2.resize(astronaut, (3000, 3000), interpolation=cv2.INTER_CUBIC), np.uint8)
    changed = embed(large, ID, key)
    found = detect(changed, key)
    assert found.id == ID
    small = np.asarray(cv2.resize(changed, (600, 600), interpolation=cv2.INTER_AREA), np.uint8)
    assert detect(small, key).id == ID


def test_a_message_that_was_destroyed_still_shows(astronaut: Pixels, key: MarkKey, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(7).integers(0, 2, payload.BITS).astype(np.uint8)
    monkeypatch.setattr(payload, "encode", lambda mark_id, key: noise)
    found = detect(embed(astronaut, ID, key), key)
    assert found.id is None
    assert found.score > 9


def test_a_wrong_id_is_refused(astronaut: Pixels, key: MarkKey) -> None:
    with pytest.raises(ValueError, match="not an id"):
        embed(astronaut, "nonsense", key)


def test_the_deep_search_can_be_stopped(astronaut: Pixels, key: MarkKey) -> None:
    run = Run()
    run.cancel()
    with pytest.raises(Cancelled):
        detect(astronaut, key, deep=True, run=run)
