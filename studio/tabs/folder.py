"""Many pictures in the Tokens tab: what each model spends on all of them, from their sizes alone."""

import json
from typing import Any, TypedDict

import gradio as gr

from engines.errors import FusionError
from engines.picture_tokens import count_sizes
from engines.text import LANGUAGES
from engines.tokens import prices as price_table
from engines.tokens.visual import LARGEST, load
from studio.context import Context, visitor_of
from studio.folder_panels import as_csv, folder_panel
from studio.i18n import both, mark
from studio.media import MEDIA_TYPES
from studio.presenters import notice_lines
from studio.tabs.answers import fault_panel
from studio.widgets import MOST_PICTURES, blank, folder_box, panel, static

Value = dict[str, Any]
EMPTY = "folder.empty"
NOTICES = ("vanished", "unsent")  # what only the page can meet


class Given(TypedDict, total=False):
    """What the page sends.

    Attributes:
        sizes: widths and heights. failed: the name of each that couldn't be read, and the two lines of why by language, or the name of
            a notice. of: how many pictures there were to count, where it was stopped before the last.
    """

    sizes: list[list[int]]
    failed: list[tuple[str, dict[str, list[str]] | str]]
    of: int


def build(ctx: Context, size: gr.Radio, typed: gr.BrowserState) -> None:
    """Adds the section to the open tab. Args: of the section above: the crop's size, and the prices that were typed."""
    static(f'<h2 class="fs-section">{mark("folder.title")}</h2><p class="fs-hint">{mark("folder.about")}</p>')
    box = folder_box()
    answer = panel("folder", EMPTY)
    handlers = FolderHandlers(ctx)
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "concurrency_id": "text", "concurrency_limit": 1}
    box.submit(handlers.count, [box, size, typed], answer, **private)
    size.input(handlers.count, [box, size, typed], answer, trigger_mode="always_last", **private)


class FolderHandlers:
    """What the section's events do."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def count(self, given: Given, size: int, typed: dict[str, float], request: gr.Request) -> Value:
        """The panel. Not at the desk: it needs no model and no picture."""
        sizes, failed, wanted = _sizes(given), _failed(given), _wanted(given)
        if not sizes and not failed and not wanted:
            return blank("folder.none" if given else EMPTY)
        try:
            models = list(load(self._ctx.settings.data_dir).values())
            found = count_sizes(sizes, models, int(size), price_table.load(self._ctx.settings.data_dir, typed))
        except FusionError as fault:
            return fault_panel(fault)
        visitor, group, shelf = visitor_of(request.cookies), f"{request.session_hash}:folder", self._ctx.shelf
        shelf.clear(visitor, group)
        told = found.as_dict() | {"failed": [{"image": name, "error": lines["en"]} for name, lines in failed]}
        told |= {"stopped_of": wanted} if wanted else {}
        files = {
            "csv": shelf.add(visitor, as_csv(found).encode(), "folder-tokens.csv", MEDIA_TYPES["csv"], group),
            "json": shelf.add(visitor, json.dumps(told, indent=1).encode(), "folder-tokens.json", MEDIA_TYPES["json"], group),
        }
        return both(lambda language: folder_panel(found, [(name, lines[language]) for name, lines in failed], files, language, wanted))


def _sizes(given: Given) -> list[tuple[int, int]]:
    """What comes from outside may be anything: sizes that no picture has are left out."""
    pairs = (given or {}).get("sizes")
    listed = pairs[:MOST_PICTURES] if isinstance(pairs, list) else []
    good = [pair for pair in listed if isinstance(pair, list) and len(pair) == 2 and all(type(side) is int for side in pair)]
    return [(wide, high) for wide, high in good if 1 <= wide <= LARGEST and 1 <= high <= LARGEST]


def _failed(given: Given) -> list[tuple[str, dict[str, str]]]:
    """Names, and the first line of why, in both languages."""
    listed = (given or {}).get("failed")
    found = []
    for each in listed[:MOST_PICTURES] if isinstance(listed, list) else []:
        try:
            name, why = each
            lines = both(lambda language, why=why: notice_lines(why, language)) if why in NOTICES else why  # type: ignore[misc]
            found.append((str(name), {language: str(lines[language][0]) for language in LANGUAGES}))
        except (TypeError, ValueError, KeyError, IndexError):
            continue
    return found


def _wanted(given: Given) -> int:
    """How many pictures there were, of a run that was stopped; 0 of one that came to its end."""
    wanted = (given or {}).get("of")
    return wanted if type(wanted) is int and 0 < wanted <= MOST_PICTURES else 0
