"""Who becomes whom, where a picture has several faces: by order, by likeness, by place."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from engines.errors import InvalidOption, NoMatch
from engines.faces.embedder import distance
from engines.types import Face, Identity

Order = Literal["left-right", "large-small"]
Pairs = tuple[tuple[int, int], ...]  # the source's number and the face's, in the order of the sources

THRESHOLD = 0.5  # dlib's own line between one person and another, as Euclidean distance


def in_order(sources: int, faces: Sequence[Face], order: str) -> Pairs:
    """The first source for the first usable face, the second for the second; faces left over stay as they are.

    Args:
        sources: how many there are. One alone is for all faces.
        faces: of one picture.
        order: "left-right" as they are numbered, or "large-small".

    Raises:
        InvalidOption: no such order; too_few (reason): more sources than usable faces.
    """
    if order not in get_args(Order):
        raise InvalidOption(name="order", value=order, allowed=", ".join(get_args(Order)))
    usable = [face for face in faces if face.verdict.usable]
    if order == "large-small":
        usable.sort(key=lambda face: (-face.mesh.size, face.index))
    if sources == 1:
        return tuple((0, face.index) for face in usable)
    if sources > len(usable):
        raise InvalidOption("too_few", name="order", sources=sources, faces=len(usable))
    return tuple((number, face.index) for number, face in enumerate(usable[:sources]))


def by_likeness(references: Sequence[Identity], faces: Mapping[int, Identity], threshold: float = THRESHOLD) -> Pairs:
    """The faces that show the persons of some reference pictures: each goes to the reference that it is nearest to.

    Args:
        references: the n-th stands for the n-th source.
        faces: by their number.
        threshold: largest distance, 0..2 (dlib's scale), at which a face is that person.

    Raises:
        InvalidOption: the threshold. NoMatch: no face lies within it.
    """
    if isinstance(threshold, bool) or not 0 < threshold <= 2:
        raise InvalidOption(name="threshold", value=threshold, allowed="0 … 2")
    away = {(number, index): distance(one, face) for number, one in enumerate(references) for index, face in faces.items()}
    nearest = {index: min(range(len(references)), key=lambda number: (away[number, index], number)) for index in faces}
    found = sorted((number, index) for index, number in nearest.items() if away[number, index] <= threshold)
    if not found:
        raise NoMatch(nearest=min(away.values(), default=float("inf")), threshold=threshold, count=len(faces))
    return tuple(found)


def at_place(faces: Sequence[Face], x: float, y: float) -> Face:
    """The face at a point of the picture: of those whose box holds it, the one whose centre is nearest.

    Raises:
        NoMatch: (reason place) none does.
    """

    def away(face: Face) -> float:
        return float(np.hypot(face.box.centre[0] - x, face.box.centre[1] - y))

    here = [
        face for face in faces if abs(face.box.centre[0] - x) <= face.box.width / 2 and abs(face.box.centre[1] - y) <= face.box.height / 2
    ]
    if not here:
        raise NoMatch("place", x=x, y=y)
    return min(here, key=away)
