"""The options that the commands `fuse` and `batch` share, each with its help."""

from pathlib import Path
from typing import Annotated, Any

import typer

from engines.presets import built_in, preset
from engines.runtime.session import PROVIDERS
from engines.text import shell_language, text
from engines.types import FuseOptions
from studio.options import options_of


def help_of(key: str, **facts: object) -> str:
    """`cli.help.<key>` in the shell's language."""
    return text(f"cli.help.{key}", shell_language(), **facts)


Preset = Annotated[str | None, typer.Option("--preset", help=help_of("preset", known=", ".join(built_in())))]
Face = Annotated[int | None, typer.Option(help=help_of("face"))]
SourceFace = Annotated[int | None, typer.Option(help=help_of("source_face"))]
FaceMap = Annotated[list[str] | None, typer.Option("--map", metavar="N=FILE,…", help=help_of("map"))]
Order = Annotated[str | None, typer.Option("--order", help=help_of("order"))]
Match = Annotated[list[Path] | None, typer.Option("--match", help=help_of("match"))]
Threshold = Annotated[float, typer.Option("--threshold", help=help_of("threshold"))]
Strength = Annotated[float, typer.Option(help=help_of("strength"))]
Enhance = Annotated[str, typer.Option(help=help_of("enhance"))]
Shape = Annotated[float, typer.Option(help=help_of("shape"))]
Colour = Annotated[float, typer.Option(help=help_of("colour"))]
Texture = Annotated[float, typer.Option(help=help_of("texture"))]
Feather = Annotated[float, typer.Option(help=help_of("feather"))]
KeepEyes = Annotated[bool, typer.Option("--keep-eyes", help=help_of("keep_eyes"))]
KeepMouth = Annotated[bool, typer.Option("--keep-mouth", help=help_of("keep_mouth"))]
Beard = Annotated[str, typer.Option(help=help_of("beard"))]
Marks = Annotated[bool, typer.Option("--marks/--no-marks", help=help_of("marks"))]
Glasses = Annotated[bool, typer.Option("--glasses", help=help_of("glasses"))]
Mode = Annotated[str, typer.Option(help=help_of("mode"))]
Model = Annotated[str, typer.Option(help=help_of("model"))]
Boost = Annotated[int, typer.Option(help=help_of("boost"))]
Restore = Annotated[str, typer.Option(help=help_of("restore"))]
RestoreShare = Annotated[float, typer.Option(help=help_of("restore_share"))]
Fidelity = Annotated[float, typer.Option(help=help_of("fidelity"))]
Points = Annotated[str | None, typer.Option(metavar="X,Y,…", help=help_of("points"))]
SourcePoints = Annotated[str | None, typer.Option(metavar="X,Y,…", help=help_of("source_points"))]
Provider = Annotated[str | None, typer.Option(help=help_of("provider", providers=", ".join(PROVIDERS)))]
Format = Annotated[str | None, typer.Option(help=help_of("format"))]
Quality = Annotated[int | None, typer.Option(help=help_of("quality"))]
Overwrite = Annotated[bool, typer.Option("--overwrite", help=help_of("overwrite"))]
Json = Annotated[bool, typer.Option("--json", help=help_of("json"))]


def options_given(context: typer.Context, wanted: str | None, **given: Any) -> FuseOptions:
    """The options of a command: a preset's, where there is one, and over it what was said on the line.

    Raises:
        PresetUnusable, InvalidOption.
    """
    if wanted is None:
        return options_of(**given)
    said = {name: value for name, value in given.items() if _was_said(context, name)}
    return options_of(**preset(wanted).options | said)


def _was_said(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"
