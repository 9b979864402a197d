"""What a person may turn: the one place that makes `FuseOptions` of what the page, a command or an endpoint gives.

`CONTROLS` names every field once, with the way in which it is turned and where the page's "More" panel has it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, Literal

from engines.errors import InvalidOption
from engines.face_mask import STANDARD, FaceMask
from engines.options import BOOSTS, CHOICES, FuseOptions
from engines.text import text
from engines.types import FivePoints

Kind = Literal["share", "switch", "choice", "face", "points", "model", "number", "mask"]
GROUPS = ("form", "own", "source", "way", "mask", "models")  # of the panel, from top to bottom
POINTS_ALLOWED = "x,y,x,y,x,y,x,y,x,y"
SHARES_SHOWN = 100.0  # the page counts in percent


@dataclass(frozen=True, slots=True)
class Control:
    """How one field of `FuseOptions` is turned.

    Attributes:
        kind: share (0..1; the page shows 0..100), switch, choice, model (a name in models.toml), number (one of a few), mask, or what
            the picture boxes give: face, points.
        group: of the page's panel; "" where the page has it elsewhere.
    """

    name: str
    kind: Kind
    group: str = ""

    @property
    def default(self) -> Any:
        """As the page shows it: a share in percent, a number as it stands in a list."""
        value = _DEFAULTS[self.name]
        if self.kind == "number":
            return str(value)
        if self.kind == "mask":
            return value.as_dict()
        return round(SHARES_SHOWN * value) if self.kind == "share" else value

    @property
    def choices(self) -> tuple[str, ...]:
        return CHOICES.get(self.name, ())


_DEFAULTS = {field.name: getattr(FuseOptions(), field.name) for field in fields(FuseOptions)}
CONTROLS = (
    Control("face", "face"),
    Control("source_face", "face"),
    Control("points", "points"),
    Control("source_points", "points"),
    Control("strength", "share"),
    Control("enhance", "choice"),
    Control("shape", "share", "form"),
    Control("colour", "share", "form"),
    Control("texture", "share", "form"),
    Control("feather", "share", "form"),
    Control("keep_eyes", "switch", "own"),
    Control("keep_mouth", "switch", "own"),
    Control("beard", "choice", "own"),
    Control("marks", "switch", "source"),
    Control("glasses", "switch", "source"),
    Control("mode", "choice", "way"),
    Control("model", "model", "models"),
    Control("boost", "number", "models"),
    Control("restore", "model", "models"),
    Control("restore_share", "share", "models"),
    Control("fidelity", "share", "models"),
    Control("mask", "mask", "mask"),
)


def panel_controls(group: str) -> tuple[Control, ...]:
    """Those of one group of the page's panel."""
    return tuple(control for control in CONTROLS if control.group == group)


def panel_defaults() -> dict[str, Any]:
    """The panel's value at first: shares in percent."""
    return {control.name: control.default for group in GROUPS for control in panel_controls(group)}


def shown_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Values of `FuseOptions` as the page counts them: shares in percent, numbers as the words of a choice."""
    kinds = {control.name: control.kind for control in CONTROLS}
    turned: dict[str, Callable[[Any], Any]] = {"share": lambda value: round(SHARES_SHOWN * value), "number": str, "mask": _whole}
    return {name: turned.get(kinds[name], lambda each: each)(value) for name, value in options.items()}


def options_of(**given: Any) -> FuseOptions:
    """`FuseOptions` of a command's or an endpoint's values; None stands for the default. The pipeline checks the ranges.

    Raises:
        InvalidOption: points that aren't five pairs of numbers, or what is no mask.
        TypeError: a name that is no option; a programming fault.
    """
    values = {name: value for name, value in given.items() if value is not None}
    for control in CONTROLS:
        if control.kind == "points" and control.name in values:
            values[control.name] = points_of(values[control.name], control.name)
        elif control.kind == "mask" and not isinstance(values.get(control.name, STANDARD), FaceMask):
            values[control.name] = FaceMask.of_dict(values[control.name])
    return FuseOptions(**values)


def options_of_page(
    panel: Mapping[str, Any] | None, strength: Any, enhance: Any, source: Mapping[str, Any] | None, target: Mapping[str, Any] | None
) -> FuseOptions:
    """The same of the Swap tab: its panel (shares in percent, unknown names left out), its two sliders and its two picture boxes.

    Raises:
        InvalidOption: what isn't a number, isn't five points, or is no mask.
    """
    given = {**panel_defaults(), **(panel or {}), "strength": strength, "enhance": enhance}
    given |= {"face": chosen_face(target), "source_face": chosen_face(source), "points": _hand(target), "source_points": _hand(source)}
    turned = {"share": _share, "number": _number}
    values = {c.name: turned[c.kind](c.name, given[c.name]) if c.kind in turned else given[c.name] for c in CONTROLS}
    return options_of(**values)


def points_of(value: Any, name: str = "points") -> FivePoints:
    """Five (x, y) of a command's "x,y,x,y,…", of ten numbers, or of five pairs. Raises `InvalidOption`."""
    listed = value.replace(";", ",").split(",") if isinstance(value, str) else value
    try:
        numbers = [float(number) for number in _flat(listed)]
    except (TypeError, ValueError) as fault:
        raise InvalidOption(name=name, value=value, allowed=POINTS_ALLOWED) from fault
    if len(numbers) != 10 or not all(map(math.isfinite, numbers)):
        raise InvalidOption(name=name, value=value, allowed=POINTS_ALLOWED)
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def option_words(options: FuseOptions, language: str) -> str:
    """All that were used, in one line for a person; those of the picture boxes only where they were given by hand, and those of models
    that don't come with the studio only where one was asked for."""
    told = {}
    for control in CONTROLS:
        value = getattr(options, control.name)
        if control.kind == "face" or (control.kind == "points" and value is None):
            continue
        if (control.group != "models" and control.kind != "mask") or value != _DEFAULTS[control.name]:
            told[control.name] = value
    return value_words(told, language)


def value_words(values: Mapping[str, Any], language: str) -> str:
    """Some options by their names in `FuseOptions`, in one line for a person."""
    return " · ".join(_word(control, values[control.name], language) for control in CONTROLS if control.name in values)


def _word(control: Control, value: Any, language: str) -> str:
    label = option_label(control.name, language)
    if control.kind == "points":
        return label
    key = "page.options.used_share" if control.kind == "share" else "page.options.used"
    return text(key, language, label=label, value=value_word(control, value, language))


def value_word(control: Control, value: Any, language: str) -> str:
    """One option's value as a person reads it, without its name."""
    if value is None:
        return "–"
    if control.kind == "share":
        return f"{SHARES_SHOWN * value:.0f}"
    if control.kind == "points":
        return " ".join(f"{x:.0f},{y:.0f}" for x, y in value)
    if control.kind == "mask":
        return mask_words(value, language)
    if control.kind == "model" and value == control.default:
        return text(f"page.options.{control.name}_none", language)
    if control.kind in ("switch", "choice"):
        said = "on" if value is True else "off" if value is False else str(value)
        return text(f"page.options.{said}" if control.kind == "switch" else choice_key(control.name, said), language)
    return str(value)


def compared_value(value: Any) -> str:
    """One option's value, so that two differ where it does: of a brush its digest, which no words tell."""
    return f"{value.as_dict()} {value.paint.digest if value.paint else ''}" if isinstance(value, FaceMask) else str(value)


def mask_words(value: FaceMask | Mapping[str, Any], language: str) -> str:
    """A mask for a person: "Whole face, without eyes, +2 %"."""
    mask = value if isinstance(value, FaceMask) else FaceMask.of_dict(value)

    def say(key: str, **facts: object) -> str:
        return text(f"page.mask.{key}", language, **facts)

    def listed(names: Iterable[str]) -> str:
        return say("and").join(say(f"area_{name}") for name in names)

    parts = [listed(mask.areas)] if mask.areas else []
    if mask.leave_out:
        parts.append(say("without", regions=listed(mask.leave_out)))
    if any(mask.padding) and {"box", "oval"} & set(mask.areas):
        parts.append(say("padded", padding=" ".join(f"{side:g}" for side in mask.padding)))
    if mask.grow:
        parts.append(say("grown", grow=mask.grow))
    parts += [say("over")] if not mask.occlusion else []
    parts += [say("painted")] if mask.paint is not None else []
    return say("then").join(parts)


def _whole(value: Mapping[str, Any]) -> dict[str, Any]:
    """A preset's mask with all that it doesn't name."""
    return FaceMask.of_dict(value).as_dict()


def option_label(name: str, language: str) -> str:
    """The option's name as the page has it."""
    return text(f"page.{label_key(name)}", language)


def label_key(name: str) -> str:
    """Under `page.`."""
    return f"swap.{name}" if name in ("strength", "enhance") else f"options.{name}"


def choice_key(name: str, choice: str) -> str:
    """The full key of a choice's word."""
    return f"page.swap.{name}_{choice}" if name == "enhance" else f"page.options.{name}_{choice}"


def _share(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidOption(name=name, value=value, allowed="0 … 1")
    return float(value) / SHARES_SHOWN


def _number(name: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError) as fault:
        raise InvalidOption(name=name, value=value, allowed=", ".join(map(str, BOOSTS))) from fault


def _flat(value: Any) -> Iterator[Any]:
    for each in value:
        if isinstance(each, list | tuple):
            yield from each
        else:
            yield each


def chosen_face(box: Mapping[str, Any] | None) -> int | None:
    """The number of a picture box's chosen face."""
    chosen = (box or {}).get("chosen")
    return chosen if isinstance(chosen, int) and not isinstance(chosen, bool) else None


def _hand(box: Mapping[str, Any] | None) -> Any:
    return (box or {}).get("hand")
