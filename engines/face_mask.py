"""Where on a face a fusion may show: the value that a person's choice of areas, its grow and their brush make."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from engines.errors import InvalidOption

Region = Literal["skin", "brows", "eyes", "nose", "lips", "mouth"]
Area = Literal["outline", "box", "oval", "skin", "brows", "eyes", "nose", "lips", "mouth"]
REGIONS: tuple[str, ...] = get_args(Region)
AREAS: tuple[str, ...] = get_args(Area)
SIDES = ("top", "right", "bottom", "left")
PADDING = (-50.0, 95.0)  # bounds of one side, in percent
GROW = 20.0  # at most, either way, in percent of the face's width
_NOTHING = 8  # levels round mid-grey that say nothing: what a lossy file makes of a grey that was even

Layer = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Paint:
    """What a brush says of one picture, in its pixels or in those of a smaller copy; (H, W) uint8 each, 255 = all of it.

    Attributes:
        fuse: fuse here too.
        keep: keep the target here. It wins.
    """

    fuse: Layer
    keep: Layer

    @classmethod
    def of(cls, image: Layer, alpha: Layer | None = None) -> Self:
        """Reads both layers out of one picture: white fuses, black keeps, mid-grey and what is transparent says nothing.

        Args:
            image: (H, W) or (H, W, 3) uint8 RGB. alpha: (H, W) uint8; None = opaque.
        """
        grey = image if image.ndim == 2 else image.astype(np.uint16).sum(2) // 3
        said = grey.astype(np.float32) - 128
        share = np.float32(1) if alpha is None else alpha.astype(np.float32) / np.float32(255)
        fuse, keep = (np.clip(way * said - _NOTHING, 0, None) / (top - _NOTHING) for way, top in ((1, 127), (-1, 128)))
        return cls(*(np.rint(255 * layer * share).astype(np.uint8) for layer in (fuse, keep)))

    def over(self, other: "Paint") -> "Paint":
        """Both together, of one picture. Raises `InvalidOption` (paint_size)."""
        if self.size != other.size:
            sizes = (f"{width} × {height}" for width, height in (self.size, other.size))
            raise InvalidOption("paint_size", name="mask.paint", value=next(sizes), allowed=next(sizes))
        return Paint(np.maximum(self.fuse, other.fuse), np.maximum(self.keep, other.keep))

    @property
    def size(self) -> tuple[int, int]:
        """Width, height."""
        return int(self.fuse.shape[1]), int(self.fuse.shape[0])

    @property
    def digest(self) -> str:
        """SHA-256 of both layers and their size, in hexadecimal: two brushes are the same where it is."""
        told = hashlib.sha256(repr(self.fuse.shape).encode())
        for layer in (self.fuse, self.keep):
            told.update(layer.tobytes())
        return told.hexdigest()

    def fits(self, width: int, height: int) -> bool:
        """Whether it has the proportions of a picture of that size, to a pixel of its own."""
        across, down = self.size
        return abs(across * height - down * width) <= max(width, height)


@dataclass(frozen=True, slots=True)
class FaceMask:
    """Where a fusion may show: all of `areas`, less what is left out, and then what the brush says.

    The mask only limits: it never makes a fusion reach further than what it draws. The mesh draws the face within its outline; a
    swapper of models.toml its whole crop, of which box and oval can show more than the outline.

    Attributes:
        areas: of `AREAS`. outline: the whole face. box, oval: upright with the face, round its outline. skin: the outline without the
            other regions. mouth: within the lips.
        leave_out: of `REGIONS`: not touched by a single value; the fusion fades out beside them.
        padding: what box and oval leave off, top, right, bottom, left, in percent of the face's height and width; below 0 they are larger.
        grow: how much larger the areas are, in percent of the face's width; below 0 smaller. What is left out stays as it is.
        occlusion: what lies over the face stays before it. False paints over glasses, hair and hands.
        paint: the brush; it speaks of one picture, and no preset has it.
    """

    areas: tuple[str, ...] = ("outline",)
    leave_out: tuple[str, ...] = ()
    padding: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    grow: float = 0.0
    occlusion: bool = True
    paint: Paint | None = None

    @property
    def standard(self) -> bool:
        """Whether it limits nothing: then no mask is made at all."""
        return self == STANDARD

    def as_dict(self) -> dict[str, Any]:
        """For JSON: a preset's form. Of the brush it says only that there was one."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        told = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        painted = {"paint": True} if told.pop("paint") is not None else {}
        return told | painted

    def differing(self) -> dict[str, Any]:
        """What a preset has to say of it: that in which it differs from the standard, numbers to one place, and nothing of the brush."""
        plain = STANDARD.as_dict()
        values = {name: _rounded(value) for name, value in self.as_dict().items() if name in plain}
        return {name: value for name, value in values.items() if value != plain[name]}

    @classmethod
    def of_dict(cls, given: Mapping[str, Any]) -> Self:
        """Reads a preset's form; what isn't named is the standard. Raises `InvalidOption`: a name or a value that can't be.

        No area at all is read, since a brush may come to it; `check` refuses it where none does.
        """
        known = [field.name for field in fields(cls) if field.name != "paint"]
        if not isinstance(given, Mapping):
            raise InvalidOption(name="mask", value=given, allowed=", ".join(known))
        for name, value in given.items():
            if name not in known:
                raise InvalidOption(name="mask", value=name, allowed=", ".join(known))
            if name in ("areas", "leave_out", "padding") and not isinstance(value, list | tuple):
                raise InvalidOption(name=f"mask.{name}", value=value, allowed="a list")
        values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
        made = cls(**values)
        _check_values(made)
        return made


STANDARD = FaceMask()


def check(mask: FaceMask) -> None:
    """Raises `InvalidOption` for the first value outside its range; reason no_area: nothing at all is left to fuse."""
    _check_values(mask)
    if not mask.areas and (mask.paint is None or not mask.paint.fuse.any()):
        raise InvalidOption("no_area", name="mask.areas", value="", allowed=", ".join(AREAS))


def _check_values(mask: FaceMask) -> None:
    for name, allowed in (("areas", AREAS), ("leave_out", REGIONS)):
        listed = getattr(mask, name)
        if not isinstance(listed, tuple) or any(each not in allowed for each in listed):
            raise InvalidOption(name=f"mask.{name}", value=listed, allowed=", ".join(allowed))
    padding, (low, high) = mask.padding, PADDING
    if not isinstance(padding, tuple) or len(padding) != 4 or not all(_within(each, low, high) for each in padding):
        raise InvalidOption(name="mask.padding", value=padding, allowed=f"4 × {low:.0f} … {high:.0f}")
    if padding[0] + padding[2] > high or padding[1] + padding[3] > high:
        raise InvalidOption(name="mask.padding", value=padding, allowed=f"top + bottom, left + right ≤ {high:.0f}")
    if not _within(mask.grow, -GROW, GROW):
        raise InvalidOption(name="mask.grow", value=mask.grow, allowed=f"{-GROW:.0f} … {GROW:.0f}")
    if not isinstance(mask.occlusion, bool):
        raise InvalidOption(name="mask.occlusion", value=mask.occlusion, allowed="true, false")
    if mask.paint is not None and (not isinstance(mask.paint, Paint) or mask.paint.fuse.shape != mask.paint.keep.shape):
        raise InvalidOption(name="mask.paint", value=type(mask.paint).__name__, allowed="Paint")


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(float(value), 1) if isinstance(value, Real) and not isinstance(value, bool) else value


def _within(value: Any, low: float, high: float) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and low <= float(value) <= high
