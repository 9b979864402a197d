"""`fusion-studio persona make` and `persona show`."""

from pathlib import Path
from typing import Annotated

import typer

from engines.runtime.session import PROVIDERS
from engines.text import shell_language, text
from studio.terminal import Terminal


def _help(key: str, **facts: object) -> str:
    return text(f"cli.help.{key}", shell_language(), **facts)


app = typer.Typer(help=_help("persona"), no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help=_help("json"))]


@app.command(help=_help("persona_make"))
def make(
    name: Annotated[str, typer.Argument(help=_help("persona_name"))],
    photos: Annotated[list[Path], typer.Argument(help=_help("persona_photos"))],
    output: Annotated[Path | None, typer.Option("--output", "-o", help=_help("persona_output"))] = None,
    export: Annotated[bool, typer.Option("--export", help=_help("persona_export"))] = False,
    provider: Annotated[str | None, typer.Option(help=_help("provider", providers=", ".join(PROVIDERS)))] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help=_help("overwrite"))] = False,
    as_json: Json = False,
) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.personas import check_photos, file_name
        from engines.pipeline import Studio
        from engines.provenance.output import check_place

        with Studio.open(terminal.settings(provider=provider)) as studio:
            path = output or Path(file_name(check_photos(name, len(photos))))
            check_place(path, overwrite)  # before the work, not after it
            run = terminal.run()
            persona = studio.persona(photos, name, run=run)
            persona.save(path, studio.key, export, overwrite)
        timings = run.timings()
        values = persona.as_dict() | {"output": str(path), "bytes": path.stat().st_size, "encrypted": not export}
        lines = [
            terminal.say("persona_saved", path=path, kilobytes=values["bytes"] / 1e3, photos=persona.photos),
            terminal.say("persona_exported" if export else "persona_encrypted"),
        ]
        terminal.answer(values | {"timings_ms": timings.as_dict()}, lines)


@app.command(help=_help("persona_show"))
def show(file: Annotated[Path, typer.Argument(help=_help("persona_file"))], as_json: Json = False) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.persona_file import is_encrypted, load
        from engines.pipeline import Studio
        from engines.vision.io import printable, read_bytes

        with Studio.open(terminal.settings()) as studio:
            data = read_bytes(file)
            persona = load(data, studio.key, printable(file.name))
        values = persona.as_dict() | {"file": str(file), "bytes": len(data), "encrypted": is_encrypted(data)}
        lines = [
            terminal.say("persona_line", **values | {"kilobytes": len(data) / 1e3}),
            terminal.say("persona_encrypted" if values["encrypted"] else "persona_exported"),
        ]
        terminal.answer(values, lines)
