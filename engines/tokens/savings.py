"""What a clean crop of a face saves of a model's tokens, against two baselines.

Most of what a crop saves, it saves by having fewer pixels, and whoever only wants fewer pixels may shrink the photo. So a crop is held
against the photo as it is, and against the whole photo shrunk until the face has the pixels that it has in the crop.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.errors import InvalidOption, PictureSizeRefused
from engines.tokens.layout import Layout
from engines.tokens.prices import Price
from engines.tokens.visual import VisualModel
from engines.vision import geometry

SIZES = (112, 224, 256, 512)  # of crops, in pixels
SIZE = 224  # the one that savings are told for, unless asked otherwise
Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class FacePlace:
    """Where a face lies in a picture, in its pixels.

    Attributes:
        points: (5, 2), those of the ArcFace template. outline: (N, 2), closed: what counts as the face.
        others: (K, 2) centres of the other faces, which a crop loses unless they lie in it.
    """

    points: Points
    outline: Points
    others: Points


@dataclass(frozen=True, slots=True)
class Count:
    """What one model makes of one picture.

    Attributes:
        layout: None where its processor refuses such a picture.
        useful: tokens whose cells overlap the face; None where no face is known, or where a single cell is the whole picture, which
            tells nothing of the place.
    """

    layout: Layout | None
    useful: float | None

    @property
    def tokens(self) -> int | None:
        return self.layout.tokens if self.layout else None

    def context_use(self, text: int = 0, useful_text: int = 0) -> float | None:
        """Useful ÷ all tokens of a prompt, 0..1; None where the useful ones aren't known.

        Args:
            text, useful_text: tokens of the prompt's words, and of those that are no fillers.
        """
        if self.layout is None or self.useful is None:
            return None
        return (self.useful + useful_text) / (self.layout.tokens + text)


@dataclass(frozen=True, slots=True)
class Row:
    """One model's counts.

    Attributes:
        shrunk: of the photo shrunk for the crop of side `size`; None where no face is known.
        crops: by the side of the crop.
        price: None where none is known.
    """

    model: VisualModel
    photo: Count
    shrunk: Count | None
    crops: Mapping[int, Count]
    size: int
    price: Price | None

    @property
    def crop(self) -> Count:
        return self.crops[self.size]

    @property
    def saving_vs_photo(self) -> float | None:
        """1 - crop ÷ photo; negative where the crop costs more."""
        return saving(self.crop.tokens, self.photo.tokens)

    @property
    def saving_vs_shrunk(self) -> float | None:
        """1 - crop ÷ shrunk photo."""
        return saving(self.crop.tokens, self.shrunk.tokens) if self.shrunk else None

    @property
    def compression(self) -> float | None:
        """Photo ÷ crop."""
        return None if self.photo.tokens is None or not self.crop.tokens else self.photo.tokens / self.crop.tokens

    def window_share(self, count: Count | None) -> float | None:
        """Of the model's context window; None where no prompt takes its tokens."""
        return None if count is None or count.tokens is None or not self.model.context else count.tokens / self.model.context

    def cost(self, count: Count | None) -> float | None:
        """In the price's currency; None where no price is known."""
        return None if count is None or count.tokens is None or self.price is None else self.price.of(count.tokens)

    def as_dict(self) -> dict[str, Any]:
        three = {"photo": self.photo, "shrunk": self.shrunk, "crop": self.crop}
        price = self.price
        return {
            "model": self.model.name,
            "photo": self.photo.tokens,
            "shrunk": self.shrunk.tokens if self.shrunk else None,
            "crop": {str(side): count.tokens for side, count in self.crops.items()},
            "saving_vs_photo": rounded(self.saving_vs_photo),
            "saving_vs_shrunk": rounded(self.saving_vs_shrunk),
            "compression": rounded(self.compression, 2),
            "context_use": {name: rounded(count.context_use()) if count else None for name, count in three.items()},
            "window": self.model.context or None,
            "window_share": {name: rounded(self.window_share(count), 6) for name, count in three.items()},
            "price": None
            if price is None
            else {
                "input_per_million": price.input,
                "currency": price.currency,
                "for": price.product,
                "source": price.source,
                "date": price.date,
                **{name: rounded(self.cost(count), 8) for name, count in three.items()},
            },
            "formula": {name: count.layout.sum if count and count.layout else None for name, count in three.items()},
            "one_size": self.model.one_size,
            "checked": self.model.checked,
            "source": self.model.source,
            "date": self.model.date,
        }


@dataclass(frozen=True, slots=True)
class Savings:
    """All models' rows for one picture.

    Attributes:
        shrunk: width and height of the shrunk photo; None where no face is known.
        enlarged: whether the crop has more pixels of the face than the photo: it then adds tokens and no detail.
        background: share of the photo that isn't in the crop, 0..1. lost_faces: other faces that aren't.
    """

    width: int
    height: int
    size: int
    rows: tuple[Row, ...]
    shrunk: tuple[int, int] | None = None
    enlarged: bool = False
    background: float | None = None
    lost_faces: int = 0

    def as_dict(self, image: str | None) -> dict[str, Any]:
        """The JSON answer. Savings are shares: 0.996 is 99.6 % fewer tokens, -0.3 is 30 % more."""
        return {
            "image": image,
            "width": self.width,
            "height": self.height,
            "size": self.size,
            "shrunk": {"width": self.shrunk[0], "height": self.shrunk[1]} if self.shrunk else None,
            "enlarged": self.enlarged,
            "lost": {"background": rounded(self.background), "faces": self.lost_faces} if self.shrunk else None,
            "rows": [row.as_dict() for row in self.rows],
        }


def savings(
    width: int, height: int, models: Sequence[VisualModel], face: FacePlace | None = None, size: int = SIZE,
    prices: Mapping[str, Price] | None = None,
) -> Savings:  # fmt: skip
    """Counts what each model makes of a picture of width × height pixels, of the shrunk one and of the crops.

    Args:
        face: whose crop is meant; without it there is no shrunk photo, and nothing that is lost is known.
        size: side of the crop that the photo is shrunk for and that savings are told for.

    Raises:
        InvalidOption: a side outside 1..2^24; a crop's side that isn't one of `SIZES`.
    """
    if size not in SIZES:
        raise InvalidOption(name="crop", value=size, allowed=", ".join(map(str, SIZES)))
    scale = shrinking(face, size) if face else 1.0
    small = (max(1, round(width * scale)), max(1, round(height * scale)))
    outline = face.outline if face else None
    smaller = geometry.apply(geometry.resizing(scale), outline) if outline is not None else None
    cut = {side: geometry.apply(geometry.arcface_matrix(face.points, side), face.outline) if face else None for side in SIZES}
    rows = tuple(
        Row(
            model,
            _count(model, width, height, outline),
            _count(model, *small, smaller) if face else None,
            {side: _count(model, side, side, cut[side]) for side in SIZES},
            size,
            (prices or {}).get(model.name),
        )
        for model in models
    )
    if face is None:
        return Savings(width, height, size, rows)
    matrix = geometry.arcface_matrix(face.points, size)
    return Savings(
        width, height, size, rows, small, geometry.scale_of(matrix) > 1, background_share(width, height, matrix, size),
        int((~_inside(geometry.apply(matrix, face.others.reshape(-1, 2)), size)).sum()),
    )  # fmt: skip


def shrinking(face: FacePlace, size: int) -> float:
    """By how much the photo may be shrunk, 0..1, until the face has as many pixels as in the crop; never enlarged."""
    return min(1.0, geometry.scale_of(geometry.arcface_matrix(face.points, size)))


def background_share(width: int, height: int, matrix: NDArray[np.float64], size: int) -> float:
    """The part of a picture, 0..1, that a crop of side `size` leaves out. `matrix`: (2, 3) picture → crop."""
    # Pixels are squares round their centres, so a picture reaches half a pixel beyond its outermost centres.
    corners = np.array([(0, 0), (size, 0), (size, size), (0, size)], np.float64) - 0.5
    quad = geometry.apply(geometry.invert(matrix), corners)
    frame = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float64) - 0.5
    kept, _ = cv2.intersectConvexConvex(quad.astype(np.float32), frame.astype(np.float32))
    return float(np.clip(1 - kept / (width * height), 0, 1))


def saving(after: int | None, before: int | None) -> float | None:
    """1 - after ÷ before; None where one of them isn't known."""
    return None if after is None or not before else 1 - after / before


def rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)


def _count(model: VisualModel, width: int, height: int, outline: Points | None) -> Count:
    try:
        layout = model.layout(width, height)
    except PictureSizeRefused:
        return Count(None, None)
    placed = outline is not None and sum(sheet.columns * sheet.rows for sheet in layout.sheets) > 1
    return Count(layout, layout.useful(outline) if outline is not None and placed else None)


def _inside(points: Points, size: int) -> NDArray[np.bool_]:
    return np.asarray(((points > -0.5) & (points < size - 0.5)).all(axis=1), np.bool_)
