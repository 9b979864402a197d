"""What a person painted on the Swap tab's target: the brush's file, and the options with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engines.face_mask import STANDARD
from engines.options import FuseOptions
from engines.timing import Run
from studio.media import Item, Shelf

if TYPE_CHECKING:
    from engines.pipeline import Studio


def brush_of(panel: Mapping[str, Any] | None, target: Mapping[str, Any] | None, shelf: Shelf, visitor: str) -> Item | None:
    """The file that assets/theme/brush.js sent; None where nothing was painted on this very target. Raises `Gone`.

    Args:
        panel: the options' value, `paint` = {"token": the file, "of": the picture that was painted on}.
        target: the target's box.
    """
    paint, token = (panel or {}).get("paint"), (target or {}).get("token")
    if not isinstance(paint, dict) or not token or paint.get("of") != token:
        return None
    return shelf.get(visitor, str(paint.get("token", "")))


def brush_among(panel: Mapping[str, Any] | None, targets: Sequence[Item], shelf: Shelf, visitor: str) -> tuple[str, Item] | None:
    """Of several targets the one that was painted on, by its token, and the brush's file. Raises `Gone`."""
    for target in targets:
        if (brush := brush_of(panel, {"token": target.token}, shelf, visitor)) is not None:
            return target.token, brush
    return None


def without_brush(options: FuseOptions) -> FuseOptions:
    """The options for a target that nobody painted on: where only what is painted was to be fused, the whole face."""
    return options if options.mask.areas else replace(options, mask=replace(options.mask, areas=STANDARD.areas))


def with_brush(studio: "Studio", options: FuseOptions, brush: Item | None, run: Run) -> FuseOptions:
    """The options with what was painted. Raises what `Studio.paint` does."""
    if brush is None:
        return options
    paint = studio.paint(brush.path.read_bytes(), brush.name, run)
    return replace(options, mask=replace(options.mask, paint=paint))
