"""The words: complete in both languages, with the same blanks to fill."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from engines.text import ASSETS, LANGUAGES, closest_language, has, localised, section, text

ROOT = ASSETS.parent
SECTIONS = sorted(path.stem for path in (ASSETS / "locales" / "en").glob("*.json"))
CHINESE = re.compile("[一-鿿]")


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for name, value in node.items():
            yield from leaves(value, f"{path}.{name}" if path else name)
    else:
        yield path, node


def blanks(sentence: str) -> set[str]:
    return {name.split(".")[0].split("[")[0] for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def load(language: str, name: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs), f"{language}/{name}: a key stands twice"
        return dict(pairs)

    return json.loads((ASSETS / "locales" / language / f"{name}.json").read_text(encoding="utf-8"), object_pairs_hook=once)


def test_each_language_has_the_same_sections() -> None:
    folders = {path.name for path in (ASSETS / "locales").iterdir() if path.is_dir()}
    assert folders == set(LANGUAGES)
    for language in LANGUAGES:
        assert sorted(path.stem for path in (ASSETS / "locales" / language).glob("*.json")) == SECTIONS


@pytest.mark.parametrize("name", SECTIONS)
def test_each_section_has_the_same_keys_and_blanks(name: str) -> None:
    english, chinese = (dict(leaves(load(language, name))) for language in LANGUAGES)
    assert english.keys() == chinese.keys()
    assert {key: type(value) for key, value in english.items()} == {key: type(value) for key, value in chinese.items()}
    differing = {
        key: (blanks(english[key]), blanks(chinese[key]))
        for key in english
        if isinstance(english[key], str) and blanks(english[key]) != blanks(chinese[key])
    }
    assert differing == {}


@pytest.mark.parametrize("name", SECTIONS)
def test_nothing_is_left_untranslated(name: str) -> None:
    english, chinese = (dict(leaves(load(language, name))) for language in LANGUAGES)
    sentences = {
        key
        for key, value in english.items()
        if isinstance(value, str) and len(re.findall(r"[A-Za-z]{2,}", re.sub(r"\{.*?\}", "", value))) >= 4
    }
    commands = re.compile(r"^(pip|python3|fusion-studio) ")
    assert [key for key in sorted(sentences) if not CHINESE.search(chinese[key]) and not commands.match(english[key])] == []
    assert [key for key, value in english.items() if isinstance(value, str) and CHINESE.search(value)] in ([], ["language.zh-CN"])
    assert [key for key, value in (english | chinese).items() if value == ""] == []


def constant_keys() -> Iterator[tuple[str, str]]:
    """Every key that is written out in a call of `text`, with its place."""
    for package in ("engines", "studio"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "text" and node.args:
                    key = node.args[0]
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", key.value


def test_every_key_that_the_code_names_is_there() -> None:
    missing = [f"{place} {key} {language}" for place, key in constant_keys() for language in LANGUAGES if not has(key, language)]
    assert missing == []


@pytest.mark.parametrize(
    ("wanted", "language"),
    [
        ("en", "en"),
        ("en_GB.UTF-8", "en"),
        ("zh-CN", "zh-CN"),
        ("zh", "zh-CN"),
        ("zh_TW.UTF-8", "zh-CN"),
        ("ZH-Hans-CN", "zh-CN"),
        ("de_DE", "en"),
        ("C", "en"),
        ("", "en"),
        (None, "en"),
    ],
)
def test_the_closest_language(wanted: str | None, language: str) -> None:
    assert closest_language(wanted) == language


def test_a_sentence_is_found_and_filled() -> None:
    assert text("errors.invalid_option.hint", allowed="1 … 2") == "Allowed: 1 … 2."
    assert has("errors.no_face.source.message")
    assert not has("errors.no_face.source")  # an object, not a sentence
    assert not has("errors.no_face.source.message.deeper")


@pytest.mark.parametrize(
    ("key", "facts", "language"),
    [
        ("errors.nothing.message", {}, "en"),
        ("nothing.at.all", {}, "en"),
        ("errors.no_face", {}, "en"),
        ("errors", {}, "en"),
        ("errors.invalid_option.hint", {}, "en"),
        ("errors.invalid_option.hint", {"name": "x"}, "zh-CN"),
        ("errors.invalid_option.hint", {"allowed": "x"}, "de"),
    ],
)
def test_what_is_missing_is_a_fault_of_the_program(key: str, facts: dict[str, object], language: str) -> None:
    with pytest.raises(KeyError):
        text(key, language, **facts)


def test_facts_that_are_words_are_translated() -> None:
    facts = {"role": "target", "count": 2}
    assert localised(facts, "zh-CN") == {"role": section("zh-CN", "words")["role"]["target"], "count": 2}
    assert facts == {"role": "target", "count": 2}
    assert localised({"count": 2}, "zh-CN") == {"count": 2}


def test_every_stage_has_its_words() -> None:
    from engines.timing import STAGES

    for language in LANGUAGES:
        assert set(section(language, "stages")) == set(STAGES)
        for stage in STAGES:
            assert text(f"stages.{stage}", language, done=1, count=2)


def test_the_assets_lie_beside_the_packages() -> None:
    assert (ASSETS.parent / "engines" / "text.py").samefile(Path(text.__code__.co_filename))
