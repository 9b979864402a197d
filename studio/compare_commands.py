"""`fusion-studio compare`: the same fusion by several models, beside each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engines.options import FuseOptions
from studio import fuse_options as given
from studio.fuse_options import help_of
from studio.terminal import Terminal

if TYPE_CHECKING:
    from engines.comparing import Compared

DEFAULTS = FuseOptions()


def compare(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(help=help_of("source"))],
    target: Annotated[Path, typer.Argument(help=help_of("target"))],
    models: Annotated[list[str] | None, typer.Option("--model", help=help_of("compare_models"))] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help=help_of("compare_output"))] = None,
    preset: given.Preset = None,
    face: given.Face = None,
    source_face: given.SourceFace = None,
    strength: given.Strength = DEFAULTS.strength,
    enhance: given.Enhance = DEFAULTS.enhance,
    provider: given.Provider = None,
    overwrite: given.Overwrite = False,
    as_json: given.Json = False,
) -> None:
    """See `cli.help.compare`."""
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.comparing import swappers
        from engines.errors import OutputUnwritable
        from engines.pipeline import Studio
        from engines.provenance.output import check_writable

        options = given.options_given(context, preset, face=face, source_face=source_face, strength=strength, enhance=enhance)
        if output is not None and not output.is_dir():
            raise OutputUnwritable("folder", path=output, detail="")
        with Studio.open(terminal.settings(provider=provider)) as studio:
            place = {name: output / f"{target.stem}-{name}.png" for name in models or swappers(studio.manifest)} if output else {}
            for path in place.values():
                check_writable(path, overwrite=overwrite)  # before the work, not after it
            run = terminal.run()
            done = studio.compare(source, target, models or None, options, run)
            rows, lines = [], []
            for one in done:
                saved = None
                if place and (result := one.result) is not None:
                    saved = result.save(place[one.name], overwrite=overwrite, run=run)
                rows.append(one.as_dict(terminal.language) | {"output": str(saved.path) if saved else None})
                lines.append(_line(terminal, one))
            terminal.answer({"models": rows}, lines)


def _line(terminal: Terminal, one: "Compared") -> str:
    if one.face is None:
        told = one.as_dict(terminal.language)["error"]
        return terminal.say("compare_not", name=one.name, message=told["message"], hint=told["hint"])
    trade = terminal.say("compare_trade" if one.commercial else "compare_no_trade")
    memory = terminal.say("compare_memory", rise=one.memory_mb, peak=one.peak_mb) if one.memory_mb is not None else "–"
    facts = {"before": one.face.similarity_before, "after": one.face.similarity_after, "licence": one.licence, "trade": trade}
    return terminal.say("compare_line", name=one.name, first=one.first_ms, warm=one.warm_ms, memory=memory, **facts)
