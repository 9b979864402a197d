"""The visual tokens of pictures: of one with its faces, and of a folder, of which only the headers are read until a face is needed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from engines.batch import pictures_of
from engines.errors import Cancelled, FaceIndexError, FusionError
from engines.faces.topology import OVAL, five_points
from engines.results import FoundFaces
from engines.timing import Run
from engines.tokens.counters import COUNTERS
from engines.tokens.prices import Price
from engines.tokens.savings import SIZE, SIZES, FacePlace, Savings, rounded, saving, savings
from engines.tokens.visual import VisualModel
from engines.types import Face
from engines.vision import io

Finder = Callable[[Path, Run], FoundFaces]


def place_of(faces: Sequence[Face], index: int | None = None) -> FacePlace | None:
    """The face that a crop would be cut of: that number, else the largest usable one, else the largest; None where there is none.

    Raises:
        FaceIndexError: there is no such face.
    """
    if index is not None and not 0 <= index < len(faces):
        raise FaceIndexError(role="target", index=index, count=len(faces))
    if not faces:
        return None
    pool = [faces[index]] if index is not None else [face for face in faces if face.verdict.usable] or faces
    face = max(pool, key=lambda one: one.mesh.size)
    others = np.array([one.box.centre for one in faces if one is not face], np.float64).reshape(-1, 2)
    return FacePlace(five_points(face.mesh.points), np.asarray(face.mesh.points[list(OVAL), :2], np.float64), others)


def count(
    found: FoundFaces, models: Sequence[VisualModel], index: int | None = None, size: int = SIZE,
    prices: Mapping[str, Price] | None = None,
) -> Savings:  # fmt: skip
    """What each model makes of a picture and of a crop of one of its faces.

    >>> from engines import Studio
    >>> from engines.picture_tokens import count
    >>> from engines.tokens.visual import load
    >>> with Studio.open() as studio:
    ...     row = count(studio.faces(TARGET), [load()["qwen2_5_vl"]]).rows[0]
    >>> row.crop.tokens
    64

    Raises:
        FaceIndexError, and what `savings` raises.
    """
    return count_size(found.frame.width, found.frame.height, models, place_of(found.faces, index), size, prices)


def count_size(
    width: int, height: int, models: Sequence[VisualModel], face: FacePlace | None = None, size: int = SIZE,
    prices: Mapping[str, Price] | None = None,
) -> Savings:  # fmt: skip
    """`savings`, told to the counters of this process. Raises as it does."""
    found = savings(width, height, models, face, size, prices)
    COUNTERS.picture(found)
    return found


@dataclass(slots=True)
class Tally:
    """One model's tokens over many pictures."""

    model: VisualModel
    photo: list[int] = field(default_factory=list)
    shrunk: list[int] = field(default_factory=list)
    crops: dict[int, int] = field(default_factory=lambda: dict.fromkeys(SIZES, 0))
    refused: int = 0

    def add(self, row: Any) -> None:
        counts = [row.photo, *([row.shrunk] if row.shrunk else []), *row.crops.values()]
        if any(one.tokens is None for one in counts):
            self.refused += 1
            return
        self.photo.append(row.photo.tokens)
        if row.shrunk:
            self.shrunk.append(row.shrunk.tokens)
        for side, one in row.crops.items():
            self.crops[side] += one.tokens


@dataclass(frozen=True, slots=True)
class Folder:
    """Many pictures.

    Attributes:
        pictures: how many were counted. faceless: how many had no face and are in no total; None where no face was looked for:
            the crops are then those of one face a picture, and nothing is known of the shrunk photo.
        failed: those that couldn't be read, each with its error.
    """

    size: int
    pictures: int
    faceless: int | None
    tallies: tuple[Tally, ...]
    failed: tuple[tuple[Path, FusionError], ...]
    prices: Mapping[str, Price]

    def as_dict(self, language: str = "en") -> dict[str, Any]:
        return {
            "pictures": self.pictures,
            "faceless": self.faceless,
            "size": self.size,
            "failed": [{"image": str(path), "error": fault.as_dict(language)} for path, fault in self.failed],
            "rows": [self._row(tally) for tally in self.tallies],
        }

    def _row(self, tally: Tally) -> dict[str, Any]:
        crop, price = tally.crops[self.size], self.prices.get(tally.model.name)
        photo, shrunk = distribution(tally.photo), distribution(tally.shrunk)
        return {
            "model": tally.model.name,
            "photo": photo,
            "shrunk": shrunk,
            "crop": {str(side): total for side, total in tally.crops.items()},
            "saving_vs_photo": rounded(saving(crop, photo["total"] if photo else None)),
            "saving_vs_shrunk": rounded(saving(crop, shrunk["total"] if shrunk else None)),
            "refused": tally.refused,
            "price": price
            and {
                "currency": price.currency,
                "photo": price.of(sum(tally.photo)),
                "shrunk": price.of(sum(tally.shrunk)) if shrunk else None,
                "crop": price.of(crop),
            },
            "source": tally.model.source,
            "date": tally.model.date,
        }


def count_many(
    given: Iterable[Path], models: Sequence[VisualModel], find: Finder | None = None, size: int = SIZE,
    prices: Mapping[str, Price] | None = None, run: Run | None = None,
) -> Folder:  # fmt: skip
    """Counts pictures one after the other; a bad one is reported and never stops the rest.

    Args:
        given: pictures, and folders of pictures.
        find: finds a picture's faces; without it only headers are read.

    Raises:
        UnreadableImage: no such file or folder. InvalidOption: no picture in all of them. Cancelled.
    """
    run, paths = run or Run(), pictures_of(given)
    tallies, failed = tuple(Tally(model) for model in models), list[tuple[Path, FusionError]]()
    counted = faceless = 0
    known = _BySize(models, size)
    for number, path in enumerate(paths, 1):
        try:
            with run.stage("count", number, len(paths)):
                found = known(io.size_of(path)) if find is None else count(find(path, run), models, None, size)
        except Cancelled:
            raise
        except FusionError as fault:
            failed.append((path, fault))
            continue
        if find is not None and found.shrunk is None:
            faceless += 1
            continue
        counted += 1
        for tally, row in zip(tallies, found.rows, strict=True):
            tally.add(row)
    return Folder(size, counted, faceless if find else None, tallies, tuple(failed), prices or {})


def count_sizes(
    sides: Iterable[tuple[int, int]], models: Sequence[VisualModel], size: int = SIZE, prices: Mapping[str, Price] | None = None,
    run: Run | None = None,
) -> Folder:  # fmt: skip
    """The same of pictures whose widths and heights are known already.

    Raises:
        InvalidOption: a side that no picture has. Cancelled.
    """
    run, tallies, known, pictures = run or Run(), tuple(Tally(model) for model in models), _BySize(models, size), 0
    for each in sides:
        run.check()
        pictures += 1
        for tally, row in zip(tallies, known(each).rows, strict=True):
            tally.add(row)
    return Folder(size, pictures, None, tallies, (), prices or {})


class _BySize:
    """`savings` without a face, once a size: photos of one camera have one size."""

    def __init__(self, models: Sequence[VisualModel], size: int) -> None:
        self._models, self._size = models, size
        self._known: dict[tuple[int, int], Savings] = {}

    def __call__(self, sides: tuple[int, int]) -> Savings:
        if sides not in self._known:
            self._known[sides] = savings(*sides, self._models, None, self._size)
        COUNTERS.picture(self._known[sides])
        return self._known[sides]


def distribution(values: Sequence[int]) -> dict[str, int] | None:
    """Total, least, quartiles and 90th percentile (of the values themselves, none in between), most; None of nothing."""
    if not values:
        return None
    shares = {"min": 0, "p25": 25, "median": 50, "p75": 75, "p90": 90, "max": 100}
    return {"total": sum(values)} | {name: int(np.percentile(values, share, method="inverted_cdf")) for name, share in shares.items()}
