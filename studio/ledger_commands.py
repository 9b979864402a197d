"""`fusion-studio ledger find|export|delete`: the outputs that were made here, by file, id or look."""

import csv
import io
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from engines.errors import InvalidOption
from engines.provenance.entry import Entry, Match
from studio.fuse_options import Json, Overwrite, help_of
from studio.terminal import Terminal

app = typer.Typer(help=help_of("ledger"), no_args_is_help=True)
_ID = re.compile(r"[0-9A-F]{3}-[0-9A-F]{3}-[0-9A-F]{3}", re.IGNORECASE)
_FORMATS = ("jsonl", "csv")


@app.command(help=help_of("ledger_find"))
def find(
    wanted: Annotated[str, typer.Argument(metavar="FILE|ID", help=help_of("ledger_wanted"))],
    as_json: Json = False,
) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.pipeline import Studio

        with Studio.open(terminal.settings()) as studio:
            by_id = _ID.fullmatch(wanted) and not Path(wanted).exists()
            found = studio.ledger.match(id=wanted.upper()) if by_id else studio.find(Path(wanted), run=terminal.run())
        terminal.answer(
            {"matches": [each.as_dict() for each in found]}, [_line(terminal, each) for each in found] or [terminal.say("ledger_none")]
        )


@app.command(help=help_of("ledger_export"))
def export(
    output: Annotated[Path | None, typer.Option("--output", "-o", help=help_of("ledger_output"))] = None,
    format: Annotated[str, typer.Option(help=help_of("ledger_format"))] = "jsonl",
    since: Annotated[str | None, typer.Option(help=help_of("ledger_since"))] = None,
    until: Annotated[str | None, typer.Option(help=help_of("ledger_until"))] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.pipeline import Studio
        from engines.provenance.output import check_place, write_text

        if format not in _FORMATS:
            raise InvalidOption(name="format", value=format, allowed=", ".join(_FORMATS))
        if output is not None:
            check_place(output, overwrite)
        with Studio.open(terminal.settings()) as studio:
            entries = studio.ledger.entries(_seconds(since, "since") or 0, _seconds(until, "until"))
            if as_json and output is None:
                terminal.answer({"outputs": [each.as_dict() for each in entries]}, [])
            elif output is None:
                for line in _lines(entries, format):
                    typer.echo(line)
            else:
                lines = list(_lines(entries, format))
                write_text("\n".join((*lines, "")), output, overwrite)
                count = len(lines) - (format == "csv")
                terminal.answer({"output": str(output), "outputs": count}, [terminal.say("ledger_exported", path=output, count=count)])


@app.command(help=help_of("ledger_delete"))
def delete(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]…", help=help_of("ledger_ids"))] = None,
    before: Annotated[str | None, typer.Option(help=help_of("ledger_before"))] = None,
    everything: Annotated[bool, typer.Option("--all", help=help_of("ledger_all"))] = False,
    as_json: Json = False,
) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.pipeline import Studio

        if not (ids or before or everything):
            raise InvalidOption(name="ID", value="", allowed="ID, --before, --all")
        with Studio.open(terminal.settings()) as studio:
            limit = 1 << 62 if everything else _seconds(before, "before")
            count = studio.ledger.delete([each.upper() for each in ids or ()], limit)
        terminal.answer({"deleted": count}, [terminal.say("ledger_deleted", count=count)])


def _line(terminal: Terminal, match: Match) -> str:
    facts = match.as_dict()
    models = ", ".join(f"{model['name']} ({model['licence']})" for model in facts["models"])
    facts |= {"how": terminal.say(f"ledger_how.{match.how}", distance=match.distance), "labels": ", ".join(facts["labels"])}
    return terminal.say("ledger_line", **facts | {"models": models or "–"})


def _lines(entries: Iterable[Entry], format: str) -> Iterable[str]:
    """JSONL: an object a line. CSV: RFC 4180, a head first; several values of one field are separated by a space and a semicolon."""
    if format == "jsonl":
        yield from (json.dumps(each.as_dict(), ensure_ascii=False) for each in entries)
        return
    nobody = Entry("", 0, "", "", "", 0, 0, "", (), b"", None, ())
    yield _row(nobody.as_dict())
    for each in entries:
        models = "; ".join(f"{name} ({licence})" for name, licence in each.models)
        yield _row((each.as_dict() | {"models": models, "labels": "; ".join(each.labels)}).values())


def _row(values: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(["" if value is None else value for value in values])
    return out.getvalue()


def _seconds(given: str | None, name: str) -> int | None:
    """Of a day or a time in ISO 8601; without a zone it is UTC."""
    if given is None:
        return None
    try:
        time = datetime.fromisoformat(given)
    except ValueError as fault:
        raise InvalidOption(name=name, value=given, allowed="2026-01-31, 2026-01-31T12:00") from fault
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())
