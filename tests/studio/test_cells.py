"""Grids over pictures."""

import re

import numpy as np
import pytest

from engines.tokens.visual import load
from studio.cells import cells

MODELS = load()


def rectangles(svg: str) -> list[tuple[float, float, float, float]]:
    drawn = re.search(r'class="touched" d="([^"]*)"', svg)
    assert drawn
    number = r"(-?[\d.]+)"
    return [tuple(map(float, found)) for found in re.findall(rf"M{number} {number}h{number}v{number}h", drawn[1])]  # type: ignore[misc]


@pytest.mark.parametrize("name", ["qwen2_5_vl", "claude", "openai_tile", "clip_l14", "llava_next", "pixtral"])
def test_what_is_coloured_is_what_counts_as_useful(name: str) -> None:
    layout = MODELS[name].layout(640, 480)
    outline = np.array([(200, 100), (300, 120), (280, 260), (190, 220)], np.float64)
    sheet = layout.sheets[0]
    cell = sheet.box[2] / sheet.columns * sheet.box[3] / sheet.rows
    area = sum(width * height for _, _, width, height in rectangles(cells(layout, 640, 480, outline)))
    assert area / cell == pytest.approx(int(sheet.touched(outline).sum()), rel=0.02)


def test_a_grid_has_its_lines_and_its_tiles() -> None:
    drawn = cells(MODELS["internvl"].layout(896, 448), 896, 448)
    lines = dict(re.findall(r'class="(cell|tile)" d="([^"]*)"', drawn))
    tiles = MODELS["internvl"].layout(896, 448).sheets[0].tiles
    assert tiles != (1, 1)
    assert lines["tile"].count("M") == sum(tiles) + 2
    assert lines["cell"].count("M") == 16 * sum(tiles) + 2
    assert "touched" not in drawn


def test_a_grid_too_fine_to_be_seen_is_not_drawn() -> None:
    assert 'class="cell"' not in cells(MODELS["qwen2_5_vl"].layout(8000, 100), 8000, 100)
