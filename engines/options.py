"""Whether the options of a fusion are within their ranges, and their form in JSON."""

from dataclasses import fields
from typing import Any, get_args

from engines import face_mask
from engines.errors import InvalidOption
from engines.types import Beard, EnhanceMode, FuseOptions, Mode

SHARES = ("strength", "shape", "colour", "texture", "feather", "restore_share", "fidelity")
CHOICES: dict[str, tuple[str, ...]] = {"enhance": get_args(EnhanceMode), "beard": get_args(Beard), "mode": get_args(Mode)}
BOOSTS = (1, 2, 4)
SWITCHES = ("keep_mouth", "keep_eyes", "marks", "glasses")


def check(options: FuseOptions) -> None:
    """Raises `InvalidOption` for the first value outside its range."""
    for name in SHARES:
        value = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
            raise InvalidOption(name=name, value=value, allowed="0 … 1")
    for name, allowed in CHOICES.items():
        if getattr(options, name) not in allowed:
            raise InvalidOption(name=name, value=getattr(options, name), allowed=", ".join(allowed))
    for name in SWITCHES:
        if not isinstance(getattr(options, name), bool):
            raise InvalidOption(name=name, value=getattr(options, name), allowed="true, false")
    if isinstance(options.boost, bool) or options.boost not in BOOSTS:
        raise InvalidOption(name="boost", value=options.boost, allowed=", ".join(map(str, BOOSTS)))
    for name in ("points", "source_points"):
        points = getattr(options, name)
        if points is not None and (len(points) != 5 or any(len(point) != 2 for point in points)):
            raise InvalidOption(name=name, value=points, allowed="5 × (x, y)")
    if not isinstance(options.mask, face_mask.FaceMask):
        raise InvalidOption(name="mask", value=options.mask, allowed="FaceMask")
    face_mask.check(options.mask)


def as_dict(options: FuseOptions) -> dict[str, Any]:
    """For JSON, by the names of `FuseOptions`; of a brush it says only that there was one."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return values | {"mask": options.mask.as_dict()}
