"""The report of what was verified on the page, as files to download."""

import json
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from engines.errors import FusionError
from engines.text import LANGUAGES
from studio.context import Context
from studio.media import MEDIA_TYPES, Item, stem_of
from studio.verify_report import has_heat, heat_jpeg, report

if TYPE_CHECKING:
    from engines.provenance.verify import Verification


def report_files(
    ctx: Context, visitor: str, session: str, answers: "Sequence[tuple[str, Verification | FusionError]]", data: Sequence[bytes]
) -> dict[str, list[tuple[str, Item]]]:
    """By language, (key of the button under `page.`, file). The session's report before it goes.

    Args:
        data: the files, in the order of `answers`.
    """
    shelf, group = ctx.shelf, f"{session}:verify"
    shelf.clear(visitor, group)
    stem = f"{stem_of(answers[0][0])}-report" if len(answers) == 1 else "report"
    heats = {place: heat_jpeg(ctx.studio, data[place], answer) for place, (_, answer) in enumerate(answers) if has_heat(answer)}
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
