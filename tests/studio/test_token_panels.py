"""What the Tokens tab says of a picture, and what goes to people who weren't there."""

import csv
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from engines.tokens.prices import Price
from engines.tokens.prices import load as prices
from engines.tokens.savings import FacePlace, Savings, savings
from engines.tokens.visual import load
from engines.vision.geometry import ARCFACE_TEMPLATE
from studio.token_chart import chart
from studio.token_panels import percent, savings_panel, savings_table
from studio.token_report import as_csv, report

PLACE = FacePlace(ARCFACE_TEMPLATE * 4 + 300, ARCFACE_TEMPLATE[[0, 1, 4, 3]] * 4 + 300, np.array([(5.0, 5.0)]))


@pytest.fixture(scope="module")
def found() -> Savings:
    return savings(1920, 1080, list(load().values()), PLACE, 224, prices() | {"qwen2_5_vl": Price(1.5, "USD")})


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_a_row_a_model_with_both_savings(found: Savings, language: str) -> None:
    table = savings_table(found, language)
    rows = re.findall(r'<tr class="([^"]*)" data-model="([^"]*)">(.*?)</tr>', table)
    assert [name for _, name, _ in rows] == list(load())
    by_name = {name: re.findall(r"<td[^>]*>(.*?)</td>", cells) for _, name, cells in rows}
    assert by_name["qwen2_5_vl"][:5] == ["2,691", "64", "97.6%", "646", "90.1%"]  # 69 × 39, 8 × 8, 34 × 19
    assert by_name["clip_l14"][2] == "0 %"
    assert by_name["smolvlm_2b"][2] == "+30.8%"
    assert by_name["gemma3"][7:] == ["–", "–"]
    assert sum("fs-best" in marks for marks, _, _ in rows) >= 1


def test_a_model_of_one_size_says_so_and_one_that_enlarges_too(found: Savings) -> None:
    table = savings_table(found, "en")
    for name, words in (("clip_l14", "fixed size"), ("smolvlm_2b", "enlarges")):
        row = re.search(rf'data-model="{name}">(.*?)</tr>', table)
        assert row
        assert words in row[1]


@pytest.mark.parametrize(("value", "said"), [(None, "–"), (0.0, "0 %"), (0.0004, "0 %"), (0.25, "25.0%"), (-0.3077, "+30.8%")])
def test_a_saving_in_words(value: float | None, said: str) -> None:
    assert percent(value, "en") == said


def test_the_formula_and_the_source_of_each_number_are_there(found: Savings) -> None:
    panel = savings_panel(found, "claude", None, "en")
    assert "96 × 28" not in panel
    assert "69 × 39 = 2,691" in panel
    assert "Qwen/Qwen2.5-VL-7B-Instruct preprocessor_config.json" in panel
    assert "Claude Sonnet 4.5" in panel
    assert "typed in" in panel
    assert re.search(r'class="[^"]*fs-chosen[^"]*" data-model="claude"', panel)


def test_the_chart_is_a_drawing_of_its_own(found: Savings) -> None:
    for language in ("en", "zh-CN"):
        drawn = ElementTree.fromstring(chart(found, language))
        assert len(list(drawn.iter("{http://www.w3.org/2000/svg}rect"))) == 2 * len(found.rows) + 2
        width = float(drawn.attrib["viewBox"].split()[2])
        assert all(float(bar.attrib["x"]) + float(bar.attrib["width"]) < width for bar in drawn.iter("{http://www.w3.org/2000/svg}rect"))


def test_a_report_stands_by_itself_and_shows_no_picture(found: Savings) -> None:
    page = report(found, "<b>me & you</b>.jpg", "2026-12-02", "en")
    assert "<b>me" not in page
    assert "&lt;b&gt;me &amp; you" in page
    assert not re.search(r"<img|<script|/media/|src=|href=", page)
    assert page.count("<tr ") == len(found.rows)
    assert "<svg" in page


def test_a_table_for_a_spreadsheet_has_the_numbers_of_the_json(found: Savings) -> None:
    text = as_csv(found)
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text[1:])))
    for row, told in zip(rows, found.as_dict(None)["rows"], strict=True):
        assert (row["model"], int(row["photo"]), int(row["crop_224"])) == (told["model"], told["photo"], told["crop"]["224"])
        assert float(row["saving_vs_shrunk"]) == told["saving_vs_shrunk"]


def test_without_a_face_the_shrunk_photo_is_left_out() -> None:
    found = savings(1920, 1080, list(load().values()))
    panel = savings_panel(found, "claude", None, "en")
    assert "No face was found" in panel
    assert len(list(ElementTree.fromstring(chart(found, "en")).iter("{http://www.w3.org/2000/svg}rect"))) == len(found.rows) + 1
