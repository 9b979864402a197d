"""The page in the visitor's language.

The page is built once, with *marks* (`⟦swap.fuse⟧`) where words go; what leaves the server has them filled from
`assets/locales/<language>/page.json`. So one `Blocks`, with one queue, speaks both languages, in every place that Gradio's own
translation doesn't reach (title, choices, HTML), and a switch doesn't depend on the browser's own language.
"""

import json
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import TypeVar

from engines.text import LANGUAGES, section, text

COOKIE = "fusion_language"
T = TypeVar("T")
_MARK = re.compile(r"⟦([a-z0-9_.]+)⟧")


def mark(key: str) -> str:
    """Stands for `page.<key>` in what the page is built from. Raises `KeyError` when there is no such text, so at start."""
    for language in LANGUAGES:
        text(f"page.{key}", language)
    return f"⟦{key}⟧"


def say(key: str, language: str, **facts: object) -> str:
    """`page.<key>`, escaped."""
    return escape(text(f"page.{key}", language, **facts))


def fill(page: str, language: str, given: Mapping[str, str] | None = None) -> str:
    """Puts the words in, as they must stand inside a JSON string inside a `<script>`.

    Args:
        page: the HTML page or a JSON answer.
        given: values for marks that aren't texts (which tab is open).
    """
    given = given or {}

    def word(found: re.Match[str]) -> str:
        key = found.group(1)
        return _inside_json(given[key] if key in given else text(f"page.{key}", language))

    return _MARK.sub(word, page)


def script_texts(language: str) -> str:
    """The texts that the page's own script needs, as a JavaScript object."""
    return _safe(json.dumps(section(language, "page")["script"], ensure_ascii=False))


def both(make: Callable[[str], T]) -> dict[str, T]:
    """What `make` says in each language: what is on the page already follows a switch without being asked for again."""
    return {language: make(language) for language in LANGUAGES}


def preferred(cookies: Mapping[str, str], accept_language: str, fixed: str = "") -> str:
    """The visitor's choice, else the owner's (`Settings.language`), else the browser's."""
    chosen = cookies.get(COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    return fixed or _from_header(accept_language)


def _from_header(header: str) -> str:
    """The best of ours in an Accept-Language header (RFC 9110, 12.5.4); English when none fits."""
    best, weight = "en", 0.0
    for part in header.split(","):
        tag, _, parameter = part.strip().partition(";")
        try:
            quality = float(parameter.strip().removeprefix("q=")) if parameter else 1.0
        except ValueError:
            continue
        language = {"zh": "zh-CN", "en": "en"}.get(tag.lower().split("-")[0])
        if language and quality > weight:
            best, weight = language, quality
    return best


def _inside_json(words: str) -> str:
    return _safe(json.dumps(words, ensure_ascii=False)[1:-1])


def _safe(script: str) -> str:
    """As Gradio writes its own configuration: nothing in it can end the `<script>`."""
    return script.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("'", "\\u0027")
