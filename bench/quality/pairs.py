"""Which faces are fused for measuring, and where their pictures come from.

A picture is known by its file's stem. Some come out of packages that developers have anyway; the others lie in a folder that the
caller names, and are left out where it isn't there.
"""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from engines.types import Pixels

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")


@dataclass(frozen=True, slots=True)
class Pair:
    """A source and a target by stem, the number of the target's face (None: the largest usable one), and what the pair is there for."""

    source: str
    target: str
    face: int | None = None
    about: str = ""

    @property
    def name(self) -> str:
        return f"{self.source}:{self.target}" + ("" if self.face is None else f"#{self.face}")


# The sources show what people bring (a studio portrait, a snapshot, three-quarter, glasses); no target serves more than three times.
PAIRS = (
    Pair("frontal_03", "beard_01", about="beard, half-shut eye, skin tone"),
    Pair("threequarter_01", "frontal_02", about="three-quarter source, very dark skin"),
    Pair("teeth_01", "threequarter_01", about="three-quarter, open mouth into a closed one"),
    Pair("frontal_02", "sidelight_01", about="side light, strands of hair"),
    Pair("beard_01", "glasses_01", about="glasses, cap, age"),
    Pair("glasses_02", "hand_01", about="source with glasses, hand, hard warm light"),
    Pair("teeth_01", "group_02", about="group, backlight, soft focus"),
    Pair("teeth_01", "group_02", 2, "group, second face"),
    Pair("frontal_03", "fringe_01", about="strands over the face, sun"),
    Pair("threequarter_01", "closeup_01", about="face that fills the frame"),
    Pair("teeth_01", "painting_01", about="painting, cracks"),
    Pair("frontal_02", "eyes_closed_01", about="pitch 43°: to be refused"),
    Pair("frontal_03", "profile_01", about="profile: to be refused"),
    Pair("frontal_01", "frontal_02", about="small source, large target"),
    Pair("frontal_01", "glasses_01", about="glasses, cap, small source"),
    Pair("glasses_01", "frontal_01", about="glasses in the source, smile with teeth"),
    Pair("frontal_03", "glasses_02", about="glasses and beard, head tilted"),
    Pair("frontal_02", "teeth_01", about="near-frontal, open mouth"),
    Pair("teeth_01", "frontal_03", about="near-frontal, stubble, chin up"),
    Pair("threequarter_01", "old_01", about="age, hard sun"),
    Pair("old_01", "frontal_02", about="wrinkles onto smooth skin"),
    Pair("frontal_03", "group_01", 1, "group, even light"),
    Pair("teeth_01", "group_01", 4, "group, even light"),
    Pair("frontal_02", "small_01", about="small face, hard sun"),
    Pair("portrait_1", "portrait_3", about="glasses in the source, laughing target"),
    Pair("portrait_4", "portrait_2", about="full beard in the source: to be refused"),
    Pair("frontal_03", "portrait_2", about="burnt skin, thin glasses, grey beard"),
    Pair("frontal_03", "portrait_1", about="glasses"),
)
QUICK = ("frontal_03:beard_01", "teeth_01:threequarter_01", "frontal_02:sidelight_01", "beard_01:glasses_01", "frontal_03:fringe_01")
QUICK += ("frontal_01:frontal_02", "glasses_01:frontal_01")


def chosen(names: str | None, quick: bool) -> tuple[Pair, ...]:
    """The pairs of the table by name ("a:b,a:b#2"), the quick ones, or all. A name outside the table makes a pair of its own.

    Raises:
        ValueError: a name isn't `source:target` or `source:target#face`.
    """
    table = {pair.name: pair for pair in PAIRS}
    if names is None:
        return tuple(table[name] for name in QUICK) if quick else PAIRS
    return tuple(table.get(name) or _parsed(name) for name in names.split(","))


def _parsed(name: str) -> Pair:
    source, colon, rest = name.partition(":")
    target, sharp, face = rest.partition("#")
    if not (source and colon and target) or (sharp and not face.isdigit()):
        raise ValueError(f"{name!r} is no pair: source:target or source:target#face")
    return Pair(source, target, int(face) if sharp else None)


class Album:
    """Pictures by stem: of the packages, then of the folder."""

    def __init__(self, folder: Path | None) -> None:
        self._places: dict[str, Callable[[], Pixels]] = {}
        if folder is not None and folder.is_dir():
            for path in sorted(folder.iterdir()):
                if path.suffix.lower() in SUFFIXES:
                    self._places[path.stem] = _reader(path)
        self._places |= _packaged()
        self._read: dict[str, Pixels] = {}

    def __contains__(self, stem: str) -> bool:
        return stem in self._places

    def __getitem__(self, stem: str) -> Pixels:
        """(H, W, 3) uint8 RGB, upright."""
        if stem not in self._read:
            self._read[stem] = self._places[stem]()
        return self._read[stem]


def _reader(path: Path) -> Callable[[], Pixels]:
    def read() -> Pixels:
        with Image.open(path) as picture:
            return np.ascontiguousarray(ImageOps.exif_transpose(picture).convert("RGB"))

    return read


def _packaged() -> dict[str, Callable[[], Pixels]]:
    """Faces inside packages, as far as they are installed: two public-domain portraits, and four that thumbor filters in its tests."""
    places: dict[str, Callable[[], Pixels]] = {}
    if importlib.util.find_spec("skimage"):

        def frontal() -> Pixels:
            from skimage.data import astronaut

            return np.ascontiguousarray(astronaut())

        places["frontal_01"] = frontal
    if importlib.util.find_spec("matplotlib"):
        from matplotlib.cbook import get_sample_data

        places["glasses_01"] = _reader(Path(str(get_sample_data("grace_hopper.jpg", asfileobj=False))))
    found = importlib.util.find_spec("thumbor")  # looked up, never imported: its dependencies needn't be there
    for root in (found.submodule_search_locations or ()) if found else ():
        filters = Path(root) / "fixtures" / "filters"
        for number, path in enumerate(sorted([*filters.glob("800px-*.jpg"), *filters.glob("*January_2015_01.jpg")]), 1):
            places[f"portrait_{number}"] = _reader(path)
    return places
