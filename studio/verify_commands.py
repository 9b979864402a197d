"""`fusion-studio verify`: one file, many, or whole folders; a report to print."""

from collections import Counter
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engines.errors import Cancelled, FusionError, InvalidOption
from studio.fuse_options import Json, Overwrite, help_of
from studio.terminal import FAILED, Terminal

if TYPE_CHECKING:
    from engines.pipeline import Studio
    from engines.provenance.verify import Verification


def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE|FOLDER…", help=help_of("verify_files"))],
    html: Annotated[Path | None, typer.Option("--html", help=help_of("verify_html"))] = None,
    heat: Annotated[Path | None, typer.Option("--heat", help=help_of("verify_heat"))] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """See `cli.help.verify`."""
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.batch import pictures_of
        from engines.pipeline import Studio
        from engines.provenance.output import check_place, write_text
        from engines.provenance.save import check_writable, save
        from engines.provenance.verify import VERDICTS
        from studio.presenters import verification_lines
        from studio.verify_report import has_heat, heat_jpeg, report

        if html is not None:
            check_place(html, overwrite)
        alone = len(files) == 1 and not files[0].is_dir()
        if heat is not None:
            if not alone:
                raise InvalidOption(name="FILE", value=" ".join(map(str, files)), allowed="1 FILE (--heat)")
            check_writable(heat, None, overwrite)
        paths = files if alone else pictures_of(files)
        with Studio.open(terminal.settings()) as studio:
            found = [(path, _asked(terminal, studio, path, alone, (number, len(paths)))) for number, path in enumerate(paths, 1)]
            answers = [(path.name, answer) for path, answer in found]
            if html is not None:
                heats = {place: heat_jpeg(studio, path, answer) for place, (path, answer) in enumerate(found) if has_heat(answer)}
                write_text(report(answers, date.today().isoformat(), terminal.language, heats), html, overwrite)
            first = found[0][1]
            if heat is not None and not isinstance(first, FusionError):
                saved = save(studio.heat(paths[0], first, run=terminal.run()), heat, overwrite=overwrite, key=studio.key)
                terminal.tell(terminal.say("verify_heat_saved", path=saved.path))
        counts = Counter("failed" if isinstance(answer, FusionError) else answer.verdict for _, answer in found)
        if alone and not isinstance(first, FusionError):
            terminal.answer(first.as_dict(), verification_lines(first, terminal.language))
        else:
            values = [{"file": str(path)} | _values(answer, terminal.language) for path, answer in found]
            known = (*VERDICTS, "failed")
            terminal.answer(
                {**{name: counts[name] for name in known}, "files": values},
                [terminal.say("verify_over", **dict.fromkeys(known, 0) | counts)],
            )
        if counts["failed"]:
            raise typer.Exit(FAILED)


def _asked(terminal: Terminal, studio: "Studio", path: Path, alone: bool, place: tuple[int, int]) -> "Verification | FusionError":
    """One file's answer; of many a bad one stops nothing."""
    from studio.presenters import verdict_of

    try:
        found = studio.verify(path, run=terminal.run())
    except Cancelled:
        raise
    except FusionError as fault:
        if alone:
            raise
        terminal.tell(
            terminal.say("verify_line", number=place[0], count=place[1], name=path.name, verdict=fault.message(terminal.language))
        )
        return fault
    if not alone:
        said = verdict_of(found, terminal.language)
        terminal.tell(terminal.say("verify_line", number=place[0], count=place[1], name=path.name, verdict=said))
    return found


def _values(answer: "Verification | FusionError", language: str) -> dict[str, Any]:
    return {"error": answer.as_dict(language)} if isinstance(answer, FusionError) else answer.as_dict()
