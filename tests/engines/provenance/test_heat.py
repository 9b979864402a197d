"""Where the mark answers: everywhere in a marked picture, nowhere in what was pasted into it, nowhere in an unmarked one."""

import cv2
import numpy as np
import pytest

from engines.provenance import payload, watermark
from engines.provenance.canvas import luma
from engines.provenance.carrier import carrier
from engines.provenance.heat import WARM, Heat, asked, drawn, heat_of
from engines.provenance.keys import MarkKey
from engines.provenance.tracking import laid
from engines.types import Frame, Pixels
from tests.engines.provenance.conftest import Change, cropped, in_turn, recoded, tilted, turned

ID = "7F3-A91-C04"
PATCH = (slice(150, 300), slice(180, 330))  # rows and columns of the astronaut: her suit, textured


@pytest.fixture(scope="module")
def carrying(portraits: dict[str, Frame], key: MarkKey) -> dict[str, Pixels]:
    """Both portraits with one and the same id: what is counted here is counted of the same pictures each time."""
    return {name: watermark.embed(frame.pixels, ID, key) for name, frame in portraits.items()}


def read(pixels: Pixels, key: MarkKey) -> Heat:
    found = heat_of(watermark.detect(pixels, key, True), key)
    assert found is not None
    return found


def cells(heat: Heat, patch: tuple[slice, slice], shape: tuple[int, ...], within: int) -> tuple[slice, slice]:
    """The cells of a patch; `within`: without so many at its edges, or with so many round it."""
    rows, columns = heat.answers.shape
    return (
        slice(patch[0].start * rows // shape[0] + within, patch[0].stop * rows // shape[0] - within),
        slice(patch[1].start * columns // shape[1] + within, patch[1].stop * columns // shape[1] - within),
    )


@pytest.mark.parametrize("way", ["as it is", "JPEG 80", "cut, sent"])
def test_a_patch_of_the_unmarked_photo_is_cold_and_the_rest_is_warm(
    carrying: dict[str, Pixels], portraits: dict[str, Frame], key: MarkKey, way: str
) -> None:
    pixels = carrying["astronaut"].copy()
    pixels[PATCH] = portraits["astronaut"].pixels[PATCH]  # nothing to be seen: the same photo, without its mark
    patch = PATCH
    if way == "JPEG 80":
        pixels = recoded("JPEG", 80)(pixels)
    if way == "cut, sent":
        pixels = recoded("JPEG", 85)(np.ascontiguousarray(pixels[40:480, 30:490]))
        patch = (slice(110, 260), slice(150, 300))
    heat = read(pixels, key)
    inner, outer = cells(heat, patch, pixels.shape, 3), cells(heat, patch, pixels.shape, -2)
    assert (heat.answers[inner] < WARM).mean() > 0.9
    rest = heat.asked.copy()
    rest[outer] = False
    assert (heat.answers[rest] >= WARM).mean() > 0.8


@pytest.mark.parametrize("who", ["astronaut", "officer"])
def test_an_unmarked_picture_is_cold_everywhere(portraits: dict[str, Frame], key: MarkKey, who: str) -> None:
    """The very pattern that a mark would have, laid where it would lie."""
    brightness = luma(portraits[who].pixels)
    canvas = laid(brightness, np.eye(2) * 512 / max(brightness.shape))
    assert canvas is not None
    heat = asked(canvas, carrier(key).tile(payload.encode(ID, key)))
    assert heat.heard > 0.5
    assert heat.warm < 0.2
    assert 0.5 < heat.answers[heat.asked].std() < 1.5  # as chance is spread


def test_another_key_s_pattern_is_cold(carrying: dict[str, Pixels], key: MarkKey, other_key: MarkKey) -> None:
    brightness = luma(carrying["astronaut"])
    canvas = laid(brightness, np.eye(2) * 512 / max(brightness.shape))
    assert canvas is not None
    assert asked(canvas, carrier(other_key).tile(payload.encode("7F3-A91-C04", other_key))).warm < 0.2


CHANGES: dict[str, Change] = {
    "mirrored": lambda pixels: np.ascontiguousarray(pixels[:, ::-1]),
    "quarter turn": lambda pixels: np.ascontiguousarray(np.rot90(pixels)),
    "turned": turned(5),
    "perspective": tilted(0.015),
    "cut and sent": in_turn(cropped(0.1, 0.1, 0.92, 0.92), recoded("JPEG", 75)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_it_follows_the_picture(carrying: dict[str, Pixels], key: MarkKey, change: Change) -> None:
    pixels = change(carrying["astronaut"])
    heat = read(pixels, key)
    assert heat.warm > 0.7
    rows, columns = heat.answers.shape
    assert abs(rows / columns - pixels.shape[0] / pixels.shape[1]) < 0.05


def test_what_cannot_carry_a_mark_is_not_asked(carrying: dict[str, Pixels], key: MarkKey) -> None:
    pixels = carrying["officer"].copy()
    pixels[:120] = 0
    heat = read(pixels, key)
    assert not heat.asked[: 120 * heat.asked.shape[0] // 600 - 3].any()


def test_nothing_read_nothing_asked(portraits: dict[str, Frame], key: MarkKey) -> None:
    assert heat_of(watermark.detect(portraits["officer"].pixels, key), key) is None


def test_the_picture_is_blue_where_it_is_cold_and_orange_where_it_is_warm(officer: Pixels) -> None:
    answers = np.zeros((4, 4), np.float32)
    answers[:, 2:] = 20
    out = drawn(officer, Heat(answers, np.ones((4, 4), bool))).astype(int)
    assert out.shape == officer.shape
    left, right = out[:, :100].mean((0, 1)), out[:, -100:].mean((0, 1))
    assert left[2] > left[0] + 50
    assert right[0] > right[2] + 50
    unread = drawn(officer, None).astype(int)
    assert (unread[..., 2] > unread[..., 0]).all()
    grey = drawn(officer, Heat(np.zeros((4, 4), np.float32), np.zeros((4, 4), bool)))
    assert cv2.absdiff(grey[..., 0], grey[..., 2]).max() <= 1
