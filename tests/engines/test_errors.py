"""Every error that the code can raise has its sentence and its hint, in both languages, from the facts that it is raised with."""

import ast
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest

from engines import errors
from engines.errors import FaceNotUsable, FusionError, InvalidOption, NoFace, UnreadableImage
from engines.text import ASSETS, LANGUAGES, section

ROOT = Path(__file__).resolve().parents[2]


def descendants(kind: type[FusionError]) -> Iterator[type[FusionError]]:
    for child in kind.__subclasses__():
        yield child
        yield from descendants(child)


CLASSES = {kind.__name__: kind for kind in (FusionError, *descendants(FusionError))}
OF_THEIR_OWN = [kind for kind in CLASSES.values() if "code" in vars(kind)]


class Raised(NamedTuple):
    """One place that makes an error: its class, its reasons ("" for none; None for one that is computed), its facts."""

    place: str
    kind: type[FusionError]
    reason: str | None
    facts: frozenset[str]
    more: bool  # further facts come from a mapping


def raised(tree: ast.AST, place: str) -> Iterator[Raised]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).split(".")[-1] not in CLASSES:
            continue
        kind = CLASSES[ast.unparse(node.func).split(".")[-1]]
        facts = frozenset(each.arg for each in node.keywords if each.arg)
        for reason in reasons(node.args[0]) if node.args else [""]:
            yield Raised(f"{place}:{node.lineno}", kind, reason, facts, any(each.arg is None for each in node.keywords))


def reasons(node: ast.expr) -> list[str | None]:
    if isinstance(node, ast.IfExp):
        return [*reasons(node.body), *reasons(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else [None]


def everywhere() -> list[Raised]:
    paths = sorted(path for package in ("engines", "studio") for path in (ROOT / package).rglob("*.py"))
    trees = [(ast.parse(path.read_text(encoding="utf-8")), str(path.relative_to(ROOT))) for path in paths]
    return [each for tree, place in trees for each in raised(tree, place)]


def sentences(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from sentences(value)


def specimen(kind: type[FusionError]) -> dict[str, object]:
    """A value for every placeholder of a code's sentences: a number where the sentence formats one."""
    found: dict[str, object] = {"role": "source", "verdict": "turned"}
    for language in LANGUAGES:
        for sentence in (*sentences(section(language, "errors")[kind.code]), *sentences(section(language, "verdicts"))):
            for _, name, form, _ in Formatter().parse(sentence):
                if name and name not in found:
                    found[name] = 3.0 if form and form[-1] in "fg%" else 3
    return found


def faults(each: Raised) -> list[str]:
    """What is wrong with one place."""
    entry = section("en", "errors").get(each.kind.code, {})
    # A reason without a sentence of its own takes its class's; it then stands in the class's docstring, which a slip doesn't.
    if each.reason and each.reason not in entry and not re.search(rf"\b{each.reason}\b", each.kind.__doc__ or ""):
        return [f"{each.place} gives {each.kind.__name__} the reason {each.reason!r}, which has no sentence"]
    if each.more or each.kind is FusionError:
        return []
    facts = {name: specimen(each.kind).get(name, 3) for name in each.facts}
    told = [each.reason] if each.reason is not None else [name for name, value in entry.items() if isinstance(value, dict)]
    said = []
    for reason in told:
        try:
            error = each.kind(reason, **facts)
            said += [word for language in LANGUAGES for word in (error.message(language), error.hint(language)) if not word]
        except KeyError as missing:
            said.append(f"{each.place} doesn't give {each.kind.__name__} ({reason!r}) the fact {missing}")
    return said


def test_every_place_that_raises_gives_the_sentence_what_it_needs() -> None:
    places = everywhere()
    assert len(places) > 50
    assert [fault for each in places for fault in faults(each)] == []


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise errors.ImageTooLarge(width=1, height=2)", "the fact 'megapixels'"),
        ("raise UnreadableImage('emty', name='x')", "no sentence"),
        ("raise UnreadableImage('codec' if heic else 'nonsense', name='x', format='y')", "no sentence"),
        ("raise UnreadableImage('codec', name='x')", "the fact 'format'"),
        ("raise NoFace(role='source')", "the fact 'minimum'"),
        ("raise ModelMissing(name='x')", "the fact 'file'"),
    ],
)
def test_the_walk_finds_a_sentence_that_cannot_be_filled(code: str, said: str) -> None:
    found = [fault for each in raised(ast.parse(code), "here") for fault in faults(each)]
    assert found
    assert said in found[0]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", OF_THEIR_OWN, ids=lambda kind: kind.__name__)
def test_every_reason_has_a_message_and_a_hint(kind: type[FusionError], language: str) -> None:
    entry = section(language, "errors")[kind.code]
    assert entry["message"]
    assert entry["hint"]
    for reason in ["", *(name for name, value in entry.items() if isinstance(value, dict))]:
        error = kind(reason, **specimen(kind))
        answer = error.as_dict(language)
        assert list(answer) == ["code", "message", "hint"]
        assert answer["code"] == kind.code
        for sentence in (answer["message"], answer["hint"]):
            assert sentence
            assert "{" not in sentence
            assert "\n" not in sentence
        if kind is not NoFace and reason and "message" in entry[reason]:
            assert answer["message"] != kind("", **specimen(kind)).message(language), "a reason says more than its class"


@pytest.mark.parametrize("reason", sorted(section("en", "verdicts").keys() - {"usable"}))
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_face_that_is_not_usable_says_why(reason: str, language: str) -> None:
    error = FaceNotUsable(**specimen(FaceNotUsable) | {"verdict": reason})
    others = [FaceNotUsable(**specimen(FaceNotUsable) | {"verdict": other}) for other in section("en", "verdicts") if other != reason]
    assert error.message(language) not in {other.message(language) for other in others}


@pytest.mark.parametrize("kind", OF_THEIR_OWN, ids=lambda kind: kind.__name__)
def test_pickling_keeps_all(kind: type[FusionError]) -> None:
    reasons_of = [name for name, value in section("en", "errors")[kind.code].items() if isinstance(value, dict)]
    error = kind(*reasons_of[:1], **specimen(kind))
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert (copy.reason, copy.facts, str(copy)) == (error.reason, error.facts, str(error))
    assert copy.as_dict("zh-CN") == error.as_dict("zh-CN")


def test_an_exception_reads_as_its_english_sentence() -> None:
    error = InvalidOption(name="strength", value=7, allowed="0 … 1")
    assert str(error) == error.message("en") == "strength can't be 7."
    assert error.hint() == "Allowed: 0 … 1."
    assert error.message("zh-CN") != error.message("en")


def test_a_missing_fact_shows_at_once() -> None:
    with pytest.raises(KeyError):
        InvalidOption(name="strength")


def test_a_fact_with_braces_is_text_and_nothing_more() -> None:
    error = UnreadableImage("empty", name="{0.__class__} {x}.png")
    assert "{0.__class__} {x}.png" in error.message()


def test_codes_are_unique_and_drawn_in_the_tree() -> None:
    codes = [kind.code for kind in OF_THEIR_OWN]
    assert len(set(codes)) == len(codes)
    drawn = [line.split() for line in (errors.__doc__ or "").splitlines()]
    for kind in OF_THEIR_OWN[1:]:
        assert any(kind.__name__ in words and kind.code in words for words in drawn), f"{kind.__name__} is missing from the tree"


def test_no_sentence_is_left_for_a_code_that_is_gone() -> None:
    assert set(section("en", "errors")) == {kind.code for kind in OF_THEIR_OWN}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_message_is_one_whole_sentence(language: str) -> None:
    loaded = json.loads((ASSETS / "locales" / language / "errors.json").read_text(encoding="utf-8"))
    assert [sentence for sentence in sentences(loaded) if sentence != sentence.strip()] == []
    for code, entry in loaded.items():
        for message in (part["message"] for part in (entry, *entry.values()) if isinstance(part, dict) and "message" in part):
            assert message[-1] in ".。", f"{code}: {message}"
