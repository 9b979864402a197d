"""One person's photos laid on one chart: in one light, with what only one of them shows found out.

The chart gives every place of a face one pixel, whatever the photo's pose, so that photos can be compared place by place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from engines.faces.canonical import GRID, chart
from engines.faces.geometry_transfer import Points, facing, posed, width
from engines.faces.source import PreparedSource
from engines.faces.topology import topology
from engines.timing import Run
from engines.types import Floats, Pixels
from engines.vision.color import edge_energy, low_pass, luma, quiet_energy
from engines.vision.mask import soften
from engines.vision.raster import enlarge

_SLOW = 0.12  # scale of the light that is made common, in face widths
_LIGHTER = 2.0  # and by how much at most: beyond, shadows would be noise
_TRUST = 6.0  # levels by which photos of one face differ anyhow (compression, skin's own changes)
_REACH = 3.0  # spreads from the median at which a place counts nothing
_FINE = 0.006  # scale on which places are compared, in face widths: under it noise would tell
_FINEST = 1.0  # px of a chart of side 512: the structure that tells how sharp a photo is


@dataclass(frozen=True, slots=True)
class Photo:
    """One photo in the common chart.

    Attributes:
        texture: (C, C, 3) uint8 RGB. small: (GRID, GRID, 3) float32, the same.
        known: (GRID, GRID) 0..1, the source's confidence. weight: how much the photo tells of each place.
        kept: (GRID, GRID) 0..1, how far each place agrees with the other photos: 0 on a strand or a hand that only this one shows.
        mesh: (478, 3), upright and frontal, at the common size.
        detail: strength of its finest structure round the features, in levels: how sharp it is.
    """

    texture: Pixels
    small: Floats
    known: Floats
    weight: Floats
    kept: Floats
    mesh: Points
    detail: float

    @property
    def counted(self) -> Floats:
        """(GRID, GRID) the weight of what agrees."""
        return np.asarray(self.weight * self.kept, np.float32)


def lay_out(sources: Sequence[PreparedSource], run: Run) -> list[Photo]:
    """The photos at the largest one's size. Raises `Cancelled`."""
    side = max(source.levels[0].shape[0] for source in sources)
    size = max(width(source.points) for source in sources)
    photos = []
    for source in sources:
        run.check()
        photos.append(_photo(source, side, size))
    # twice: what lies over one photo bends its slow light; once it is found out, it is left out of that
    agreed = _agreed(_relit(photos, _factors(photos)))
    factors = _factors([replace(photo, known=photo.known * one.kept) for photo, one in zip(photos, agreed, strict=True)])
    run.check()
    return [
        replace(photo, texture=np.clip(photo.texture * enlarge(factor, side) + np.float32(0.5), 0, 255).astype(np.uint8))
        for photo, factor in zip(_agreed(_relit(photos, factors)), factors, strict=True)
    ]


def _photo(source: PreparedSource, side: int, size: float) -> Photo:
    table, own = chart(), source.levels[0]
    whole = own if own.shape[0] == side else np.asarray(cv2.resize(own, (side, side), interpolation=cv2.INTER_CUBIC), np.uint8)
    small = np.asarray(cv2.resize(own, (GRID, GRID), interpolation=cv2.INTER_AREA), np.float32)
    known = small[..., 3] / np.float32(255)
    seen = np.clip(table.spread(facing(source.points)[:, None])[..., 0] - 0.1, 0.03, 1)
    weight = np.asarray(known * seen * seen, np.float32)  # squared: what is seen at 60 degrees has a quarter of the pixels
    mean = topology().mean.astype(np.float64)
    light = luma(whole[..., :3].astype(np.float32))
    fine = light - np.asarray(cv2.GaussianBlur(light, (0, 0), _FINEST * side / 512), np.float32)
    features = enlarge(table.features, side)
    skin = np.asarray(enlarge(table.covered * known, side) * (1 - features), np.float32)
    # what the features' edges have beyond the skin's own grain: noise makes no photo sharp
    noise = quiet_energy(fine, skin, max(2.0, 0.03 * table.scale * side))
    detail = float(np.sqrt(max(edge_energy(fine, features) ** 2 - noise**2, 1e-3)))
    return Photo(
        np.ascontiguousarray(whole[..., :3]),
        np.ascontiguousarray(small[..., :3]),
        known,
        weight,
        np.ones_like(known),
        posed(source.points, mean * (size / width(mean))),
        detail,
    )


def _factors(photos: Sequence[Photo]) -> list[Floats]:
    """For each photo (GRID, GRID, 3): what brings its slow light to the mean of all. A factor, as light is one."""
    sigma = _SLOW * chart().scale * GRID
    slow = [low_pass(photo.small, photo.known + np.float32(0.02), sigma) for photo in photos]
    weights = [soften(photo.weight + np.float32(1e-3), sigma)[..., None] for photo in photos]
    common = sum(own * weight for own, weight in zip(slow, weights, strict=True)) / sum(weights)
    return [np.clip(common / np.maximum(own, 1), 1 / _LIGHTER, _LIGHTER).astype(np.float32) for own in slow]


def _relit(photos: Sequence[Photo], factors: Sequence[Floats]) -> list[Photo]:
    return [replace(photo, small=np.clip(photo.small * factor, 0, 255)) for photo, factor in zip(photos, factors, strict=True)]


def _agreed(photos: Sequence[Photo]) -> list[Photo]:
    """With `kept`: Tukey's biweight (1960) of the distance to the place's weighted median in lightness."""
    fine = _FINE * chart().scale * GRID
    smooth = np.stack([soften(photo.small, fine) for photo in photos])
    weights = np.stack([photo.weight for photo in photos]) + np.float32(1e-4)
    order = np.argsort(np.stack([luma(one) for one in smooth]), axis=0, kind="stable")
    heaped = np.cumsum(np.take_along_axis(weights, order, 0), 0)
    middle = np.take_along_axis(order, np.argmax(heaped >= heaped[-1] / 2, axis=0)[None], 0)
    away = np.abs(smooth - np.take_along_axis(smooth, middle[..., None], 0)).max(3)
    counted = (weights > 0.05) & (chart().covered > 0)
    spread = _TRUST + (1.4826 * float(np.median(away[counted])) if counted.any() else 0.0)
    kept = np.square(np.clip(1 - np.square(away / np.float32(_REACH * spread)), 0, 1))
    return [replace(photo, kept=soften(np.asarray(one, np.float32), fine)) for photo, one in zip(photos, kept, strict=True)]
