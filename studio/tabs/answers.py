"""What the Swap tab's handlers yield besides a result: how far a job is, and the two lines where something stood in its way."""

import secrets
from collections.abc import Callable
from typing import Any

from engines.errors import FusionError
from engines.text import text
from engines.timing import Progress
from studio import panels
from studio.i18n import both
from studio.presenters import error_lines, notice_lines

Value = dict[str, Any]


def fault_panel(fault: FusionError) -> Value:
    """The two lines of an error, where the result would stand."""
    return both(lambda language: panels.notice(error_lines(fault, language)))


def notice_panel(name: str, kind: str = "error") -> Value:
    """The two lines of `page.notice.<name>`, where the result would stand."""
    return both(lambda language: panels.notice(notice_lines(name, language), kind))


def over() -> Value:
    """No progress to show; different each time, since the page hears of changes only."""
    return {"turn": secrets.token_hex(4)}


def bar_of(step: Progress) -> Value:
    return _bar(lambda language: text(f"stages.{step.stage}", language, done=step.done, count=step.count))


def bar_of_target(number: int, count: int, name: str) -> Value:
    """Of several targets, the one that is being fused."""
    return _bar(lambda language: text("page.batch.progress", language, number=number, count=count, name=name))


def _bar(sentence: Callable[[str], str]) -> Value:
    return both(lambda language: panels.progress(sentence(language)))
