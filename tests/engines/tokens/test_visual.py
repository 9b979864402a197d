"""Every formula against the model's real processor, or against the vendor's own examples; and the table of models."""

import csv
import importlib.util
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import InvalidOption, ManifestInvalid, PictureSizeRefused
from engines.tokens.visual import FAMILIES, LARGEST, VisualModel, check_arguments, chosen, load
from tools.visual_counts import TABLE, counters, measured, sizes

MODELS = load()
WITH_PROCESSOR = [name for name, model in MODELS.items() if model.checked == "processor"]
with TABLE.open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))
SIDES = st.integers(1, 20_000)


def test_the_table_is_that_of_the_tool() -> None:
    assert [(int(row["width"]), int(row["height"])) for row in ROWS] == sizes()
    assert set(ROWS[0]) == {"width", "height", *WITH_PROCESSOR}
    assert len(ROWS) >= 300
    shapes = [int(row["width"]) / int(row["height"]) for row in ROWS]
    assert min(shapes) < 1 / 200
    assert max(shapes) > 200


@pytest.mark.parametrize("name", WITH_PROCESSOR)
def test_a_formula_counts_what_the_real_processor_made(name: str) -> None:
    found = {(row["width"], row["height"]): MODELS[name].count_or_none(int(row["width"]), int(row["height"])) for row in ROWS}
    expected = {(row["width"], row["height"]): int(row[name]) if row[name] else None for row in ROWS}
    assert found == expected


@pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="transformers is not installed; the table stands for it")
@pytest.mark.parametrize("name", WITH_PROCESSOR)
def test_a_formula_counts_what_the_real_processor_makes(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counter = counters()[name]
        for width, height in ((1, 1), (300, 200), (113, 449), (900, 5), (5, 900)):
            assert MODELS[name].count_or_none(width, height) == measured(counter, width, height)


@pytest.mark.parametrize(
    ("name", "width", "height", "tokens"),
    [
        # OpenAI, "Images and vision", calculating costs: the page's own examples of tiles and, times the factor, of patches.
        ("openai_tile", 1024, 1024, 765),
        ("openai_tile", 2048, 4096, 1105),
        ("openai_patch", 1024, 1024, 1659),  # 1024 patches × 1.62
        ("openai_patch", 1800, 2400, 2353),  # 1452 patches × 1.62
        ("openai_patch", 160, 320, 81),  # 50 × 1.62 exactly: no rounding up of a digit that isn't there
        # Anthropic, "Vision": ⌈w/28⌉ × ⌈h/28⌉, within 1568.
        ("claude", 28, 28, 1),
        ("claude", 29, 28, 2),
        ("claude", 1092, 1092, 1521),
        ("claude", 4000, 3000, 1564),
        ("claude_high", 4000, 3000, 4740),
        # Google, "Image understanding": 384 is one tile, 960 × 540 has the unit 360 and six.
        ("gemini_2", 384, 384, 258),
        ("gemini_2", 385, 384, 258 * 4),
        ("gemini_2", 960, 540, 258 * 6),
        ("gemini_3", 4000, 3000, 1120),
        # HD_transform with 16 crops: square pictures become 4 × 4 tiles.
        ("phi_3_5_vision", 512, 512, 17 * 144 + 1 + 5 * 12),
        ("phi_3_5_vision", 1920, 1080, 16 * 144 + 1 + 4 * 12),
        ("phi_3_5_vision", 1080, 1920, 16 * 144 + 1 + 6 * 12),
    ],
)
def test_a_published_formula_gives_the_published_numbers(name: str, width: int, height: int, tokens: int) -> None:
    assert MODELS[name].count(width, height) == tokens


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
@given(width=SIDES, height=SIDES)
def test_the_cells_of_a_layout_are_its_tokens(model: VisualModel, width: int, height: int) -> None:
    try:
        layout = model.layout(width, height)
    except PictureSizeRefused:
        assert max(width, height) / min(width, height) > 100
        return
    assert layout.tokens > 0
    assert layout.placeless >= -1e-6
    assert layout.placeless == pytest.approx(layout.tokens - sum(sheet.total for sheet in layout.sheets))
    assert model.one_size <= (layout.tokens == model.count(112, 112))
    for sheet in layout.sheets:
        assert sheet.columns % sheet.tiles[0] == 0 or model.family == "llava_next"  # where the padding is cut off again


@given(width=SIDES, height=SIDES)
def test_what_is_cut_into_patches_never_costs_more_than_its_limit(width: int, height: int) -> None:
    for name, limit in (("claude", 1568), ("openai_patch", 2489), ("qwen2_5_vl_1280", 1280), ("gemma4", 280)):
        count = MODELS[name].count_or_none(width, height)
        if name != "qwen2_5_vl_1280" or max(width, height) < 100 * min(width, height):  # a side is never less than one patch there
            assert (count or 0) <= limit


@pytest.mark.parametrize(("width", "height"), [(0, 5), (5, 0), (-1, 5), (LARGEST + 1, 5)])
def test_a_size_that_no_picture_has_is_refused(width: int, height: int) -> None:
    with pytest.raises(InvalidOption):
        MODELS["claude"].count(width, height)


def test_a_picture_that_the_processor_refuses_has_no_number() -> None:
    assert MODELS["phi_3_5_vision"].count_or_none(1, 5377) is None
    assert MODELS["qwen3_vl"].count_or_none(201, 1) is None
    with pytest.raises(PictureSizeRefused, match="Qwen3-VL doesn't take a picture of 201 × 1"):
        MODELS["qwen3_vl"].count(201, 1)


def test_models_are_chosen_by_name_in_the_order_asked_for() -> None:
    assert [model.name for model in chosen(MODELS, ["claude", "clip_l14", "claude"])] == ["claude", "clip_l14"]
    assert chosen(MODELS, None) == list(MODELS.values())
    with pytest.raises(InvalidOption, match="gpt"):
        chosen(MODELS, ["gpt"])


ROW = """format = 1
[models.{name}]
title = "Mine"
family = "{family}"
context = 1000
checked = "own"
source = "a test"
date = "2026-01-31"
[models.{name}.arguments]
{arguments}
"""


def own(folder: Path, name: str = "mine", family: str = "flat", arguments: str = "tokens = 7") -> Path:
    (folder / "tokenizers").mkdir()
    (folder / "tokenizers" / "visual.toml").write_text(ROW.format(name=name, family=family, arguments=arguments), encoding="utf-8")
    return folder


def test_a_row_of_ones_own_is_added(tmp_path: Path) -> None:
    models = load(own(tmp_path))
    assert list(models) == [*MODELS, "mine"]
    assert models["mine"].count(640, 480) == 7


def test_a_row_of_ones_own_replaces_one_of_the_same_name(tmp_path: Path) -> None:
    models = load(own(tmp_path, "claude"))
    assert list(models) == list(MODELS)
    assert models["claude"].count(640, 480) == 7


@pytest.mark.parametrize(
    ("family", "arguments", "where"),
    [
        ("flat", "", "models.mine.arguments"),
        ("flat", "tokens = -1", "models.mine.arguments"),
        ("flat", "tokens = true", "models.mine.arguments"),
        ("flat", "tokens = 7\nside = 2", "models.mine.arguments"),
        ("fixed", "side = 224\npatch = 14\ncrop = 1", "models.mine.arguments"),
        ("llava_next", "side = 336\npatch = 14\ngrids = [[336]]", "models.mine.arguments"),
        ("round", "tokens = 7", "models.mine.family"),
    ],
)
def test_a_row_that_is_wrong_says_where(tmp_path: Path, family: str, arguments: str, where: str) -> None:
    with pytest.raises(ManifestInvalid) as fault:
        load(own(tmp_path, family=family, arguments=arguments))
    assert fault.value.facts["where"] == where


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family_is_used_and_tells_what_it_takes(name: str) -> None:
    model = next(model for model in MODELS.values() if model.family == name)
    assert check_arguments(name, model.arguments) == model.arguments
