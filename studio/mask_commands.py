"""`fusion-studio mask`: where a fusion would show, before there is a source."""

from pathlib import Path
from typing import Annotated

import typer

from engines.options import FuseOptions
from studio import fuse_options as given
from studio.fuse_options import help_of
from studio.terminal import Terminal

DEFAULTS = FuseOptions()


def mask(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(help=help_of("target"))],
    output: Annotated[Path, typer.Option("--output", "-o", help=help_of("output"))],
    preset: given.Preset = None,
    face: given.Face = None,
    points: given.Points = None,
    feather: given.Feather = DEFAULTS.feather,
    mode: given.Mode = DEFAULTS.mode,
    model: given.Model = DEFAULTS.model,
    mask: given.Mask = None,
    leave_out: given.LeaveOut = None,
    grow: given.Grow = 0.0,
    padding: given.Padding = None,
    occlusion: given.Occlusion = True,
    paint: given.Paint = None,
    provider: given.Provider = None,
    format: given.Format = None,
    quality: given.Quality = None,
    overwrite: given.Overwrite = False,
    as_json: given.Json = False,
) -> None:
    """See `cli.help.mask_preview`."""
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.pipeline import Studio
        from engines.provenance.save import check_writable, save
        from studio.options import mask_words

        options = given.options_given(
            context, preset, face=face, points=points, feather=feather, mode=mode, model=model,
            mask=mask, leave_out=leave_out, grow=grow, padding=padding, occlusion=occlusion,
        )  # fmt: skip
        with Studio.open(terminal.settings(provider=provider)) as studio:
            options = given.painted(studio, options, paint)
            check_writable(output, format, overwrite)  # before the work, not after it
            run = terminal.run()
            shown = studio.mask(target, options, run)
            saved = save(shown, output, format, quality, overwrite, key=studio.key, run=run)
        timings = run.timings()
        values = {"output": str(saved.path), "width": saved.width, "height": saved.height}
        line = terminal.say("mask_saved", path=saved.path, options=mask_words(options.mask, terminal.language))
        terminal.answer(values | {"mask": options.mask.as_dict(), "timings_ms": timings.as_dict()}, [line])
