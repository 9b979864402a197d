"""The one place that text for people comes from: `assets/locales/<language>/<section>.json`.

A key is dotted: the first part names the file, the rest walks its objects (`errors.no_face.message`).
Placeholders are Python's (`{limit}`); a missing key or fact is a programming fault and raises `KeyError`,
so that no half-filled sentence ever reaches a person.
"""

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).resolve().parent.parent / "assets"
LANGUAGES = ("en", "zh-CN")


def closest_language(wanted: str | None) -> str:
    """The language of ours nearest to a BCP 47 tag or a POSIX locale (`zh_TW.UTF-8` → `zh-CN`, unknown → `en`)."""
    return "zh-CN" if (wanted or "").lower().startswith("zh") else "en"


def shell_language() -> str:
    """The language that the environment asks for: our own variable first, then POSIX's order."""
    wanted = (os.environ.get(name) for name in ("FUSION_STUDIO_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))
    return closest_language(next((value for value in wanted if value), "en"))


@cache
def section(language: str, name: str) -> dict[str, Any]:
    """One locale file as nested dictionaries. Raises `KeyError` when there is none."""
    path = ASSETS / "locales" / language / f"{name}.json"
    if not path.is_file():
        raise KeyError(f"no locale file {language}/{name}.json")
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def has(key: str, language: str = "en") -> bool:
    """Whether `key` names a sentence in `language`."""
    return isinstance(_find(key, language), str)


def text(key: str, language: str = "en", **facts: object) -> str:
    """The sentence at `key`, its placeholders filled from `facts`."""
    found = _find(key, language)
    if not isinstance(found, str):
        raise KeyError(f"no text {key!r} in {language}")
    return found.format(**facts) if facts or "{" in found else found


def localised(facts: Mapping[str, object], language: str) -> dict[str, object]:
    """The facts of a sentence with those that are words themselves ("source", "target") in the reader's language."""
    role = facts.get("role")
    return {**facts, "role": text(f"words.role.{role}", language)} if role else dict(facts)


def _find(key: str, language: str) -> Any:
    name, *path = key.split(".")
    node: Any = section(language, name)
    for part in path:
        node = node.get(part) if isinstance(node, dict) else None
    return node
