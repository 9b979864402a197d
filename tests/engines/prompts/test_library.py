"""Texts with a name, and where a prompt leaves its prefix."""

from pathlib import Path

import pytest

from engines.errors import InvalidOption, ManifestInvalid
from engines.prompts.library import Break, begun, broken, negative, negatives, template, templates
from engines.prompts.optimise import optimise
from engines.text import LANGUAGES, has


def test_each_has_its_words() -> None:
    for kind, names in (("preset", negatives()), ("template", templates())):
        assert all(has(f"page.prompt.{kind}_{name}", language) for name in names for language in LANGUAGES)


@pytest.mark.parametrize("name", templates())
def test_a_template_is_as_short_as_it_can_be(name: str) -> None:
    assert optimise(template(name).rstrip(", ")).text == template(name).rstrip(", ")


def test_a_persons_own_come_after_and_over_those_that_come_along(tmp_path: Path) -> None:
    assert templates(tmp_path) == templates()
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "templates.toml").write_text('[studio]\nprefix = "mine"\n[anna]\nprefix = "portrait of Anna"', encoding="utf-8")
    assert (template("studio", tmp_path), template("anna", tmp_path)) == ("mine, ", "portrait of Anna, ")
    assert list(templates(tmp_path))[-1] == "anna"
    (tmp_path / "prompts" / "negatives.toml").write_text("[x]\nwords = 1", encoding="utf-8")
    with pytest.raises(ManifestInvalid):
        negatives(tmp_path)


@pytest.mark.parametrize("find", [negative, template])
def test_an_unknown_name(find: object) -> None:
    with pytest.raises(InvalidOption):
        find("nothing")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("studio, a man", None),
        ("studio, ", None),
        ("studio", Break(6, 0.75)),
        ("Studio, a man", Break(0, 0.0)),
        ("stud1o, a man", Break(4, 0.5)),
        ("", Break(0, 0.0)),
    ],
)
def test_where_a_prefix_breaks(text: str, found: Break | None) -> None:
    assert broken("studio, ", text) == found


def test_a_prefix_is_put_before_once() -> None:
    assert begun("studio, ", "a man") == begun("studio, ", "studio, a man") == "studio, a man"
