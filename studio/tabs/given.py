"""What the Swap tab's boxes name, taken from the visitor's shelf."""

from dataclasses import dataclass
from typing import Any

from engines.errors import FusionError
from engines.options import FuseOptions
from studio.batches import MOST
from studio.context import Context
from studio.face_maps import Row, rows_of
from studio.media import Gone, Item
from studio.options import options_of_page
from studio.people import gathered_tokens, source_tokens
from studio.tabs.answers import fault_panel, notice_panel

Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """What the page sends to have faces fused, by one model or by each: the values of the events' inputs, in this order.

    Attributes:
        source, target: the values of the picture boxes. panel: of the panel of options. face_map: who goes where.
        strength: in percent. enhance: as the options name it. label: whether people are to read words in the picture.
    """

    source: Value | None
    target: Value | None
    strength: float
    enhance: str
    panel: Value | None
    face_map: Value | None
    label: bool

    def options(self) -> FuseOptions:
        """What is wanted of a fusion. Raises `InvalidOption`."""
        return options_of_page(self.panel, self.strength, self.enhance, self.source, self.target)


class MissingPicture(LookupError):
    """`name`: of the notice."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


HINDRANCES = (MissingPicture, Gone, FusionError)


def hindered(fault: Exception) -> Value:
    """The two lines of why a job can't begin, where its result would stand. `fault`: one of `HINDRANCES`."""
    if isinstance(fault, FusionError):
        return fault_panel(fault)
    return notice_panel(fault.name if isinstance(fault, MissingPicture) else "gone")


def wanted(ctx: Context, visitor: str, source: Value | None, target: Value | None, face_map: Value | None) -> tuple[Item, tuple[Row, ...]]:
    """The target's file, and the rows of its face map. Raises `MissingPicture`, `InvalidOption`."""
    token = str((target or {}).get("token", ""))
    try:
        rows = rows_of(face_map, token, ctx.shelf, visitor) if token else ()
        if not rows and not source_tokens(source):
            raise MissingPicture("no_source")
        if not token:
            raise MissingPicture("no_target")
        return ctx.shelf.get(visitor, token), rows
    except Gone as gone:
        raise MissingPicture("gone") from gone


def source_of(ctx: Context, visitor: str, source: Value | None) -> tuple[Item, ...]:
    """Raises `MissingPicture`."""
    if not source_tokens(source):
        raise MissingPicture("no_source")
    return tuple(_on_shelf(ctx, visitor, token) for token in source_tokens(source))


def targets_of(ctx: Context, visitor: str, target: Value | None) -> tuple[Item, ...]:
    """Several targets; none where the box holds one picture, or nothing. Raises `MissingPicture`."""
    return tuple(_on_shelf(ctx, visitor, token) for token in gathered_tokens(target)[:MOST] if token)


def _on_shelf(ctx: Context, visitor: str, token: str) -> Item:
    try:
        return ctx.shelf.get(visitor, token)
    except Gone as gone:
        raise MissingPicture("gone") from gone
