"""Lines answer, edges and planes don't; locks of hair are told from single strands."""

import cv2
import numpy as np
import pytest

from engines.faces.occlusion.hair import texture
from engines.faces.occlusion.ridges import TURNS, along, ridges
from engines.faces.occlusion.scene import SIDE


def line(angle: float, depth: float, width: int = 2) -> np.ndarray:
    image = np.zeros((SIDE, SIDE), np.float32)
    d = np.array([np.cos(angle), np.sin(angle)]) * 80
    start, end = np.round((SIDE / 2 - d) * 16).astype(int), np.round((SIDE / 2 + d) * 16).astype(int)
    fine = np.zeros((SIDE, SIDE), np.uint8)
    cv2.line(fine, start.tolist(), end.tolist(), 255, width, cv2.LINE_AA, 4)
    image += fine.astype(np.float32) / 255 * depth
    return image


@pytest.mark.parametrize("turn", [0, 3, 8, 13])
@pytest.mark.parametrize("depth", [-0.4, 0.4])
def test_a_line_answers_in_its_own_direction_and_with_its_sign(turn: int, depth: float) -> None:
    found = ridges(line(np.pi * turn / TURNS, depth))
    middle = found.thin[:, SIDE // 2, SIDE // 2]
    assert np.abs(middle).argmax() == turn
    assert np.sign(middle[turn]) == np.sign(depth)
    assert abs(middle[turn]) > 0.15
    assert np.sign(found.wide[turn, SIDE // 2, SIDE // 2]) == np.sign(depth)


@pytest.mark.parametrize("turn", [0, 5, 8])
def test_an_edge_and_a_slope_answer_nothing(turn: int) -> None:
    rows, columns = np.mgrid[:SIDE, :SIDE].astype(np.float32)
    across = (columns - SIDE / 2) * np.float32(np.sin(np.pi * turn / TURNS)) - (rows - SIDE / 2) * np.float32(np.cos(np.pi * turn / TURNS))
    for image in ((across > 0).astype(np.float32), across * 0.01):
        found = ridges(image)
        inner = np.s_[:, 30:-30, 30:-30]
        assert np.abs(found.thin[inner]).max() < 0.06
        assert np.abs(found.wide[inner]).max() < 0.06


def test_strength_along_a_path_forgives_one_step_of_direction() -> None:
    found = ridges(line(0.0, 0.4))
    middle = np.array([[SIDE / 2, SIDE / 2]])
    straight, off, across = (along(found.thin, middle, np.array([a]))[0] for a in (0.0, np.pi / TURNS, np.pi / 2))
    assert straight > 0.15
    assert off == pytest.approx(0.9 * straight, rel=0.01)
    assert across < 0.3 * straight


def test_stripes_have_order_and_noise_has_none() -> None:
    rows, columns = np.mgrid[:SIDE, :SIDE].astype(np.float32)
    hair = 0.1 * np.sin(columns * 1.3 + rows * 0.1).astype(np.float32)
    noise = np.random.default_rng(0).normal(0, 0.1, (SIDE, SIDE)).astype(np.float32)
    inner = np.s_[40:-40, 40:-40]
    woven, rough = texture(ridges(hair)), texture(ridges(noise))
    assert np.median(woven.order[inner]) > 0.8
    assert np.median(rough.order[inner]) < 0.5
    assert np.median(woven.flow[inner]) > 2 * np.median(rough.flow[inner])
    assert np.median(woven.level[inner]) < -0.8  # they hang
