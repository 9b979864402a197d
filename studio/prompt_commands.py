"""`fusion-studio prompt`: a prompt said shorter, many of them, and what that saves."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engines.errors import InvalidOption
from engines.text import text as sentence
from studio.fuse_options import Json, Overwrite, help_of
from studio.terminal import Terminal

if TYPE_CHECKING:
    from engines.prompts.optimise import Optimised


def prompt(
    words: Annotated[list[str] | None, typer.Argument(metavar="[PROMPT]…", help=help_of("prompt_text"))] = None,
    source: Annotated[Path | None, typer.Option("--from", metavar="FILE|FOLDER", help=help_of("prompt_from"))] = None,
    level: Annotated[str, typer.Option(help=help_of("prompt_level"))] = "safe",
    negative: Annotated[str | None, typer.Option(help=help_of("prompt_negative"))] = None,
    negations: Annotated[bool, typer.Option(help=help_of("prompt_negations"))] = True,
    template: Annotated[str | None, typer.Option(help=help_of("prompt_template"))] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help=help_of("prompt_output"))] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """See `cli.help.prompt`."""
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.prompts import library
        from engines.prompts.files import Entry, entries
        from engines.prompts.optimise import optimise
        from engines.provenance.output import check_place, write_text
        from engines.tokens.counters import COUNTERS
        from engines.tokens.text import load

        if bool(words) == (source is not None):
            raise InvalidOption(name="PROMPT", value=" ".join(words or ()), allowed="PROMPT, --from")
        if output is not None:
            check_place(output, overwrite)
        settings = terminal.settings()
        data_dir, alike = settings.data_dir, _alike(settings.sentence_model)
        prefix = library.template(template, data_dir) if template else ""
        preset = {"negative_preset": library.negative(negative, data_dir)} if negative else {}
        counters = {name: each.count for name, each in load(data_dir).items()}

        def answers() -> Iterator[dict[str, Any]]:
            for entry in entries(source) if source else [Entry("", " ".join(words or ()))]:
                found = optimise(library.begun(prefix, entry.text), level, counters, negations=negations, prefix=prefix)
                COUNTERS.prompt(found.tokens)
                place = {"place": entry.place, "source": entry.text} if source else {}
                held = {"held": [{"reason": reason, "words": said} for reason, said in found.held]} if found.held else {}
                yield place | found.as_dict() | preset | held | alike(found)

        if source is None:
            (answer,) = answers()
            terminal.answer(answer, list(_lines(answer, terminal)))
            return
        total = _Total()
        if output is None:
            done = [total.add(answer) for answer in answers()]
            lines = [line for answer in done for line in (answer["text"], *([f"  ¬ {answer['negative']}"] if answer["negative"] else []))]
            terminal.answer({"prompts": done, "total": total.as_dict()}, [*lines, *total.lines(terminal)])
            return
        rows = [json.dumps(total.add(answer), ensure_ascii=False) for answer in answers()]
        write_text("\n".join((*rows, "")), output, overwrite)
        saved = terminal.say("prompt_saved", path=output, count=total.prompts)
        terminal.answer({"output": str(output), "total": total.as_dict()}, [saved, *total.lines(terminal)])


def _alike(where: str) -> "Callable[[Optimised], dict[str, Any]]":
    """What a sentence model says of an answer; nothing where none is named. Raises as `engines.sentences.opened`."""
    if not where:
        return lambda _: {}
    from engines.sentences import opened
    from studio.likeness import likeness

    model = opened(where)

    def told(found: "Optimised") -> dict[str, Any]:
        known = likeness(model, found)
        return {"similarity": {"value": round(known.value, 4), "warns": known.warns, "model": model.name}}

    return told


class _Total:
    """What many prompts come to."""

    def __init__(self) -> None:
        self.prompts, self._before, self._after, self._levels = 0, dict[str, int](), dict[str, int](), dict[str, int]()

    def add(self, answer: dict[str, Any]) -> dict[str, Any]:
        self.prompts += 1
        self._levels[answer["level"]] = self._levels.get(answer["level"], 0) + 1
        for name, each in answer["tokens"].items():
            self._before[name] = self._before.get(name, 0) + each["before"]
            self._after[name] = self._after.get(name, 0) + each["after"]
        return answer

    def as_dict(self) -> dict[str, Any]:
        tokens = {name: {"before": before, "after": self._after[name]} for name, before in self._before.items()}
        return {"prompts": self.prompts, "levels": self._levels, "tokens": tokens}

    def lines(self, terminal: Terminal) -> list[str]:
        return [terminal.say("prompt_total", count=self.prompts), *_counts(self.as_dict()["tokens"], terminal)]


def _lines(answer: Mapping[str, Any], terminal: Terminal) -> Iterator[str]:
    yield answer["text"]
    if answer["negative"]:
        yield terminal.say("prompt_negative", text=answer["negative"])
    if "negative_preset" in answer:
        yield terminal.say("prompt_preset", text=answer["negative_preset"])
    for each in answer.get("held", ()):
        yield sentence(f"prompts.why.{each['reason']}", terminal.language, words=each["words"])
    if answer.get("similarity", {}).get("warns"):
        yield sentence("page.prompt.unlike", terminal.language, value=answer["similarity"]["value"])
    for each in answer["removed"]:
        yield terminal.say("prompt_removed", text=each["text"], reason=sentence(f"prompts.reason.{each['reason']}", terminal.language))
    yield from _counts(answer["tokens"], terminal)


def _counts(tokens: Mapping[str, Mapping[str, int]], terminal: Terminal) -> list[str]:
    shares = [(name, each["before"], each["after"]) for name, each in tokens.items()]
    return [
        terminal.say("prompt_tokens", name=name, before=before, after=after, percent=100 * (before - after) / before if before else 0.0)
        for name, before, after in shares
    ]
