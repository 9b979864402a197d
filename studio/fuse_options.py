"""The options that the commands `fuse` and `batch` share, each with its help."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engines.errors import InvalidOption
from engines.face_mask import AREAS, REGIONS
from engines.face_mask import Paint as Paint_
from engines.options import FuseOptions
from engines.presets import built_in, preset
from engines.runtime.session import PROVIDERS
from engines.text import shell_language, text
from studio.options import options_of

if TYPE_CHECKING:
    from engines.pipeline import Studio

OF_A_MASK = {"mask": "areas", "leave_out": "leave_out", "grow": "grow", "padding": "padding", "occlusion": "occlusion"}


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
Mask = Annotated[str | None, typer.Option("--mask", metavar="AREA,…", help=help_of("mask", areas=", ".join(AREAS)))]
LeaveOut = Annotated[str | None, typer.Option("--leave-out", metavar="REGION,…", help=help_of("leave_out", regions=", ".join(REGIONS)))]
Grow = Annotated[float, typer.Option("--grow", help=help_of("grow"))]
Padding = Annotated[str | None, typer.Option("--padding", metavar="T,R,B,L", help=help_of("padding"))]
Occlusion = Annotated[bool, typer.Option("--occlusion/--no-occlusion", help=help_of("occlusion"))]
Paint = Annotated[list[Path] | None, typer.Option("--paint", help=help_of("paint"))]
Label = Annotated[bool, typer.Option("--label", help=help_of("label"))]
Provider = Annotated[str | None, typer.Option(help=help_of("provider", providers=", ".join(PROVIDERS)))]
Format = Annotated[str | None, typer.Option(help=help_of("format"))]
Quality = Annotated[int | None, typer.Option(help=help_of("quality"))]
Overwrite = Annotated[bool, typer.Option("--overwrite", help=help_of("overwrite"))]
Json = Annotated[bool, typer.Option("--json", help=help_of("json"))]


def options_given(context: typer.Context, wanted: str | None, **given: Any) -> FuseOptions:
    """The options of a command: a preset's, where there is one, and over it what was said on the line.

    Args:
        given: by the names of `FuseOptions`; and of a mask `mask`, `leave_out`, `grow`, `padding`, `occlusion`, as they were typed.

    Raises:
        PresetUnusable, InvalidOption.
    """
    typed = {field: given.pop(name) for name, field in OF_A_MASK.items() if name in given}
    said = {name: value for name, value in given.items() if wanted is None or _was_said(context, name)}
    of_mask = {OF_A_MASK[name]: typed[OF_A_MASK[name]] for name in OF_A_MASK if _was_said(context, name)}
    kept = {} if wanted is None else preset(wanted).options
    mask = {**kept.get("mask", {}), **{field: _typed(field, value) for field, value in of_mask.items()}}
    return options_of(**kept | said | {"mask": mask})


def painted(studio: "Studio", options: FuseOptions, files: Sequence[Path] | None) -> FuseOptions:
    """The options with what was painted: of several files all that they say. Raises `UnreadableImage`, `ImageTooLarge`, `InvalidOption`."""
    if not files:
        return options
    paint = reduce(Paint_.over, [studio.paint(path) for path in files])
    return replace(options, mask=replace(options.mask, paint=paint))


def _typed(field: str, value: Any) -> Any:
    """`eyes,brows` → a list of them; `10` or `10,0,0,0` → four numbers."""
    if field in ("areas", "leave_out"):
        return [each.strip() for each in value.split(",") if each.strip()]
    if field != "padding":
        return value
    try:
        numbers = [float(each) for each in value.split(",")]
    except ValueError as fault:
        raise InvalidOption(name="padding", value=value, allowed="10 or 10,0,20,0") from fault
    return numbers * 4 if len(numbers) == 1 else numbers


def _was_said(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"
