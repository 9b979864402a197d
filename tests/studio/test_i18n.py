"""The page's words: complete in both languages, safe inside a script, chosen as the visitor wishes."""

import json
import re
from typing import Any

import pytest

from engines.text import LANGUAGES, section
from studio import i18n


def leaves(node: Any, path: str = "") -> dict[str, str]:
    if isinstance(node, str):
        return {path: node}
    return {key: value for name, child in node.items() for key, value in leaves(child, f"{path}.{name}").items()}


def test_both_languages_say_the_same_things() -> None:
    english, chinese = (leaves(section(language, "page")) for language in LANGUAGES)
    assert english.keys() == chinese.keys()
    for key, words in english.items():
        assert set(re.findall(r"\{(\w+)", words)) == set(re.findall(r"\{(\w+)", chinese[key])), key
        assert words.strip(), key
        assert chinese[key].strip(), key


def test_chinese_is_chinese() -> None:
    """Every sentence of more than a name or a figure holds a Han character."""
    same = {key for key, words in leaves(section("zh-CN", "page")).items() if not re.search(r"[\u4e00-\u9fff]", words)}
    assert all(re.fullmatch(r"[\W\d]*(\{[^}]*\}[\W\d]*)*|Ctrl\+Enter", section_word(key)) for key in same), same


def section_word(key: str) -> str:
    return leaves(section("zh-CN", "page"))[key]


def test_marks_are_filled_in_either_language() -> None:
    page = f'{{"label": "{i18n.mark("swap.fuse")}", "title": "{i18n.mark("title")}"}}'
    assert json.loads(i18n.fill(page, "en")) == {"label": "Fuse", "title": "Fusion Studio"}
    assert json.loads(i18n.fill(page, "zh-CN")) == {"label": "融合", "title": "融合工作室"}


def test_a_mark_without_words_is_a_fault_at_start() -> None:
    with pytest.raises(KeyError):
        i18n.mark("swap.no_such_words")


def test_given_values_stand_before_words() -> None:
    assert i18n.fill('"⟦tab⟧"', "en", {"tab": "align"}) == '"align"'


@pytest.mark.parametrize("value", ["</script><script>alert(1)</script>", 'a "quoted" \\ word', "it's & <b>\nnew line"])
def test_words_cannot_leave_their_string(value: str) -> None:
    filled = i18n.fill('"⟦tab⟧"', "en", {"tab": value})
    assert json.loads(filled) == value
    assert not set("<>&'") & set(filled)


def test_the_scripts_texts_are_one_safe_object() -> None:
    for language in LANGUAGES:
        words = i18n.script_texts(language)
        assert json.loads(words) == section(language, "page")["script"]
        assert not set("<>&'") & set(words)


@pytest.mark.parametrize(
    ("cookies", "header", "fixed", "language"),
    [
        ({}, "", "", "en"),
        ({}, "zh-CN,zh;q=0.9,en;q=0.8", "", "zh-CN"),
        ({}, "zh-Hant-TW", "", "zh-CN"),
        ({}, "fr-FR,fr;q=0.9,en;q=0.5,zh;q=0.3", "", "en"),
        ({}, "fr, zh;q=0.2", "", "zh-CN"),
        ({}, "en;q=0.1, zh;q=0.7", "", "zh-CN"),
        ({}, "de, *;q=0.5", "", "en"),
        ({}, "zh;q=nonsense, en;q=0.4", "", "en"),
        ({}, "zh-CN", "en", "en"),  # the owner's setting stands above the browser's
        ({i18n.COOKIE: "zh-CN"}, "en", "en", "zh-CN"),  # and the visitor's choice above that
        ({i18n.COOKIE: "klingon"}, "zh", "", "zh-CN"),
    ],
)
def test_whose_wish_counts(cookies: dict[str, str], header: str, fixed: str, language: str) -> None:
    assert i18n.preferred(cookies, header, fixed) == language


def test_both_asks_for_each_language() -> None:
    assert i18n.both(lambda language: f"<{language}>") == {"en": "<en>", "zh-CN": "<zh-CN>"}
