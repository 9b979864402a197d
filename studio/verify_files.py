"""The report of what was verified on the page, as files to download."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from engines.errors import FusionError
from engines.text import LANGUAGES
from studio.context import Context
from studio.media import MEDIA_TYPES, Item, stem_of
from studio.verify_report import report

if TYPE_CHECKING:
    from engines.provenance.verify import Verification


def report_files(
    ctx: Context, visitor: str, group: str, answers: "Sequence[tuple[str, Verification | FusionError]]", heats: Mapping[int, bytes]
) -> dict[str, list[tuple[str, Item]]]:
    """By language, (key of the button under `page.`, file). The group's report before it goes.

    Args:
        heats: see `studio.verify_report.report`.
    """
    shelf = ctx.shelf
    shelf.clear(visitor, group)
    stem = f"{stem_of(answers[0][0])}-report" if len(answers) == 1 else "report"
    told = [
        {"file": name} | (answer.as_dict() if not isinstance(answer, FusionError) else {"error": answer.as_dict("en")})
        for name, answer in answers
    ]
    facts = shelf.add(
        visitor, json.dumps({"files": told}, indent=1, ensure_ascii=False).encode(), f"{stem}.json", MEDIA_TYPES["json"], group
    )
    day = date.today().isoformat()
    pages = {
        language: shelf.add(visitor, report(answers, day, language, heats).encode(), f"{stem}.html", MEDIA_TYPES["html"], group)
        for language in LANGUAGES
    }
    return {language: [("verify.report_html", pages[language]), ("verify.report_json", facts)] for language in LANGUAGES}
