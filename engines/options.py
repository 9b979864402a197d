"""What a person may turn of a fusion: the options, their ranges, and their form in JSON."""

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from engines import face_mask
from engines.errors import InvalidOption
from engines.face_mask import STANDARD, FaceMask
from engines.types import FivePoints

EnhanceMode = Literal["none", "fast", "full"]
Mode = Literal["best", "live"]
Beard = Literal["target", "source"]
MESH = "mesh"  # `FuseOptions.model` of the default pack

SHARES = ("strength", "shape", "colour", "texture", "feather", "restore_share", "fidelity")
CHOICES: dict[str, tuple[str, ...]] = {"enhance": get_args(EnhanceMode), "beard": get_args(Beard), "mode": get_args(Mode)}
BOOSTS = (1, 2, 4)
SWITCHES = ("keep_mouth", "keep_eyes", "marks", "glasses")


@dataclass(frozen=True, slots=True)
class FuseOptions:
    """What a person may turn. Ranges are checked by `check`.

    Attributes:
        face: number of the target's face; None takes the only one, or the largest usable one of several.
        source_face: the same for the source.
        strength: 0..1, how far the target moves towards the source, in all.
        enhance: super-resolution of the fused face: none, fast (light network), full (Real-ESRGAN x4plus; minutes on a CPU).
        shape: 0..1, how far features and outline move to where the source has them.
        colour: 0..1, how far the source's skin takes the target's colour and light.
        texture: 0..1, how far its fine structure takes the target's sharpness, pores and grain.
        feather: 0..1, width of the soft edge; .5 is 1.4 % of the face's width.
        keep_mouth, keep_eyes: the target's own stay.
        beard: whose beard and stubble the face wears: all the way to the neck, or not at all.
        marks: skin patches, moles and make-up of the source come along.
        glasses: the source's glasses come along, whole.
        mode: best (photos), or live (all that fits in 50 ms a face).
        model: "mesh", the fusion of the default pack, or the name of a swapper in models.toml; then shape, colour, beard, marks and
            glasses don't count.
        boost: 1, 2 or 4: a swapper's crop in so many times its side, for boost² the time.
        restore: "", or the name of a restorer in models.toml that draws the fused face anew.
        restore_share: 0..1, how much of that is taken. fidelity: 0..1, how closely a restorer that asks for it keeps to the face.
        points, source_points: the five points of the face set by hand, (x, y) in pixels of the picture: image-left eye, image-right eye,
            nose, image-left and image-right corner of the mouth; they win over `face` and `source_face`.
        mask: where in the face the fusion may show.
    """

    face: int | None = None
    source_face: int | None = None
    strength: float = 1.0
    enhance: EnhanceMode = "none"
    shape: float = 1.0
    colour: float = 1.0
    texture: float = 1.0
    feather: float = 0.5
    keep_mouth: bool = False
    keep_eyes: bool = False
    beard: Beard = "target"
    marks: bool = True
    glasses: bool = False
    mode: Mode = "best"
    model: str = MESH
    boost: int = 1
    restore: str = ""
    restore_share: float = 0.8
    fidelity: float = 0.5
    points: FivePoints | None = None
    source_points: FivePoints | None = None
    mask: FaceMask = STANDARD


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
    if not isinstance(options.mask, FaceMask):
        raise InvalidOption(name="mask", value=options.mask, allowed="FaceMask")
    face_mask.check(options.mask)


def as_dict(options: FuseOptions) -> dict[str, Any]:
    """For JSON, by the names of `FuseOptions`; of a brush it says only that there was one."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return values | {"mask": options.mask.as_dict()}
