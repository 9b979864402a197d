"""Many pictures in the Tokens tab: totals, distribution, and files to take along."""

import csv
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engines.picture_tokens import count_sizes
from engines.settings import Settings
from engines.text import LANGUAGES
from engines.tokens.visual import load
from studio.context import VISITOR, Context, new_visitor
from studio.folder_panels import SHOWN, SPREAD, as_csv, folder_panel
from studio.tabs.folder import FolderHandlers

SIZES = [[640, 480], [640, 480], [56, 28]]
WHY = {"en": ["It is no picture.", "Look again."], "zh-CN": ["不是图片。", "请检查。"]}


@pytest.fixture
def counted(tmp_path: Path) -> Any:
    ctx, visitor = Context(Settings(data_dir=tmp_path, provider="cpu")), new_visitor()
    request = SimpleNamespace(cookies={VISITOR: visitor}, session_hash="s")

    def count(given: Any, typed: dict[str, float] | None = None) -> tuple[dict[str, str], dict[str, str]]:
        panel = FolderHandlers(ctx).count(given, 224, typed or {}, request)  # type: ignore[arg-type]
        files = (
            {item.name: item.path.read_text("utf-8") for item in ctx.shelf._visitors[visitor].items.values()} if "<a" in panel["en"] else {}
        )
        return panel, files

    yield count
    ctx.close()


def test_totals_distribution_and_downloads(counted: Any) -> None:
    panel, files = counted({"sizes": SIZES, "failed": [["<b>.jpg", WHY]]}, {"claude": 100_000.0})
    one = load()["claude"].count(640, 480)
    told = json.loads(files["folder-tokens.json"])
    row = next(row for row in told["rows"] if row["model"] == "claude")
    assert (told["pictures"], told["failed"]) == (3, [{"image": "<b>.jpg", "error": WHY["en"][0]}])
    assert (row["photo"]["total"], row["photo"]["min"], row["photo"]["max"]) == (2 * one + 2, 2, one)
    assert row["price"]["photo"] == pytest.approx((2 * one + 2) / 10)
    lines = list(csv.DictReader(io.StringIO(files["folder-tokens.csv"].lstrip("\ufeff"))))
    assert [line["model"] for line in lines] == list(load())
    line = next(line for line in lines if line["model"] == "claude")
    assert [int(line[f"photo_{key}"]) for key in SPREAD] == [row["photo"][key] for key in SPREAD]
    assert float(line["price_photo"]) == row["price"]["photo"]
    for language in LANGUAGES:
        assert WHY[language][0] in panel[language]
        assert "<b>.jpg" not in panel[language]
        assert f"{2 * one + 2:,}" in panel[language]


@pytest.mark.parametrize(
    "given",
    [
        None,
        {},
        {"sizes": "x", "failed": 3},
        {"sizes": [[0, 1], ["1", 1], [1], 7, [1 << 30, 1], [True, 2]], "failed": [1, ["a"], ["a", {}]]},
    ],
)
def test_what_a_page_cannot_have_meant_counts_for_nothing(counted: Any, given: Any) -> None:
    panel, files = counted(given)
    assert "fs-empty" in panel["en"]
    assert files == {}


def test_a_table_of_nothing_is_none_and_a_long_list_is_cut() -> None:
    nothing = count_sizes([], list(load().values()))
    panel = folder_panel(nothing, [(f"{number}.jpg", "why") for number in range(SHOWN + 5)], {}, "en")
    assert "<table" not in panel
    assert panel.count("<li>") == SHOWN + 1
    assert "5" in panel.rsplit("<li>", 1)[1]
    assert len(as_csv(nothing).splitlines()) == 1 + len(load())


def test_a_run_that_was_stopped_says_how_far_it_came(counted: Any) -> None:
    panel, files = counted(
        {"sizes": SIZES, "failed": [["gone.jpg", "vanished"], ["cut.jpg", "unsent"], ["x.jpg", "no such notice"]], "of": 90}
    )
    assert panel["en"].startswith(
        '<div class="fs-visual-answer"><p class="fs-what" role="status">Stopped after 5 of 90: what was counted stays. 3 '
    )
    assert "已在第 5 / 90 张处停止" in panel["zh-CN"]
    told = json.loads(files["folder-tokens.json"])
    assert (told["pictures"], told["stopped_of"]) == (3, 90)
    assert [each["image"] for each in told["failed"]] == ["gone.jpg", "cut.jpg"]
    assert "moved, deleted or changed" in panel["en"]
    assert "被移动、删除或更改" in panel["zh-CN"]


def test_a_run_that_was_stopped_at_once_has_counted_nothing(counted: Any) -> None:
    panel, _ = counted({"sizes": [], "failed": [], "of": 7})
    assert "Stopped after 0 of 7" in panel["en"]
    assert "<table" not in panel["en"]
    assert "fs-empty" in counted({"sizes": [], "failed": [], "of": True})[0]["en"]
