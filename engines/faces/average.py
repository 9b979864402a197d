"""Several photos of one person made one source: what they agree on is kept, what one of them adds is not.

The chart lays every photo's texture on the same places, so that they can be compared pixel by pixel. The slow light is brought to
their common one; what lies far from the weighted median of a place (a strand, a hand, a highlight) counts nothing; the rest is
averaged. Structure finer than the mesh can align is averaged only where the photos' edges agree; where they don't, a mean would be a
blur, and the sharpest photo's own structure stands. Eyes and mouth that look or open differently come from one photo, with the mesh
round them: a mean of two glances has two irises.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import EYE_RINGS, GRID, LIPS_OUTER, chart, falloff
from engines.faces.geometry_transfer import Points, eye_opening, facing, posed, width
from engines.faces.source import PreparedSource
from engines.faces.topology import topology
from engines.timing import Run
from engines.types import Floats, Identity, Pixels
from engines.vision.color import edge_energy, low_pass, luma, quiet_energy
from engines.vision.mask import grow, polygon, smoothstep, soften
from engines.vision.raster import enlarge

_SLOW = 0.12  # scale of the light that is equalised, in face widths
_LIGHTER = 2.0  # and by how much at most: beyond, shadows would be noise
_TRUST = 6.0  # levels by which photos of one face differ anyhow (compression, skin's own changes)
_BANDS = (1.0, 2.0, 4.0)  # px of a chart of side 512: the scales that are finer than the mesh's error
_AGREE = (0.35, 0.75)  # correlation of the photos' edges: below the sharpest photo's band stands alone, above the mean
_LEAST = 1e-3  # weight of a photo at a place that it doesn't show: what all of them guess is averaged too
_PIECE = (5.0, 12.0)  # levels by which eyes, or mouths, differ: from here a mean shows it, from there one photo's stands alone
_SHUT = 0.16  # lid distance over eye width below which a photo's eyes aren't taken while another's are open


@dataclass(frozen=True, slots=True)
class _Photo:
    """One photo in the common chart.

    Attributes:
        texture: (C, C, 3) uint8 RGB. small: (GRID, GRID, 3) float32, the same.
        known: (GRID, GRID) 0..1, the source's confidence. weight: the same times how squarely the camera saw the place.
        mesh: (478, 3), upright and frontal, at the common size.
        detail: strength of its finest structure round the features, in levels: how sharp it is.
    """

    texture: Pixels
    small: Floats
    known: Floats
    weight: Floats
    mesh: Points
    detail: float


def average(sources: Sequence[PreparedSource], run: Run | None = None) -> PreparedSource:
    """One source of several of the same person.

    Args:
        sources: at least one; the same bytes come of the same ones in the same order.
        run: asked between the photos whether the job was stopped.

    Returns:
        A source whose mesh is upright and frontal and whose texture is as large as the largest given.

    Raises:
        Cancelled. ValueError: no source.
    """
    if not sources:
        raise ValueError("nothing to average")
    run = run or Run()
    side = max(source.levels[0].shape[0] for source in sources)
    size = max(width(source.points) for source in sources)
    photos = []
    for source in sources:
        run.check()
        photos.append(_photo(source, side, size))
    photos = _equalised(photos)
    run.check()
    kept = _inliers(photos)
    best = _best(photos)
    pieces = _pieces(photos, best)
    texture = _texture(photos, kept, run)
    for piece in pieces:
        share = enlarge(piece.where * np.float32(piece.share), side)[..., None]
        texture = np.clip(texture * (1 - share) + photos[best].texture * share + 0.5, 0, 255).astype(np.uint8)
    weights = np.stack([photo.weight * keep for photo, keep in zip(photos, kept, strict=True)])
    known = (weights * np.stack([photo.known for photo in photos])).sum(0) / np.maximum(weights.sum(0), 1e-6)
    confidence = np.asarray(np.clip(enlarge(known.astype(np.float32), side) * 255 + 0.5, 0, 255), np.uint8)
    return _assembled(sources[best], texture, confidence, _mesh(photos, best, pieces))


def mean_identity(identities: Sequence[Identity]) -> Identity:
    """The mean of several embeddings of one model: nearer to each further photo of the person than a single one is."""
    stack = np.stack([identity.embedding for identity in identities]).astype(np.float64)
    return Identity(stack.mean(0).astype(np.float32), identities[0].model)


def _photo(source: PreparedSource, side: int, size: float) -> _Photo:
    own = source.levels[0]
    whole = own if own.shape[0] == side else np.asarray(cv2.resize(own, (side, side), interpolation=cv2.INTER_CUBIC), np.uint8)
    small = np.asarray(cv2.resize(own, (GRID, GRID), interpolation=cv2.INTER_AREA), np.float32)
    known = small[..., 3] / np.float32(255)
    seen = np.clip(chart().spread(facing(source.points)[:, None])[..., 0] - 0.1, 0.03, 1)
    frontal = topology().mean.astype(np.float64) * (size / width(topology().mean))
    light = luma(whole[..., :3].astype(np.float32))
    fine = light - np.asarray(cv2.GaussianBlur(light, (0, 0), _BANDS[0] * side / 512), np.float32)
    features = enlarge(chart().features, side)
    skin = np.asarray(enlarge(chart().covered * known, side) * (1 - features), np.float32)
    # what the features' edges have beyond the skin's own grain: noise makes no photo sharp
    noise = quiet_energy(fine, skin, max(2.0, 0.03 * chart().scale * side))
    detail = float(np.sqrt(max(edge_energy(fine, features) ** 2 - noise**2, 1e-3)))
    # squared: a cheek seen at 60 degrees has a quarter of the pixels of one seen squarely
    weight = np.asarray(known * seen * seen, np.float32)
    return _Photo(
        np.ascontiguousarray(whole[..., :3]), np.ascontiguousarray(small[..., :3]), known, weight, posed(source.points, frontal), detail
    )


def _equalised(photos: list[_Photo]) -> list[_Photo]:
    """All in the mean of their slow lights: a factor per place and channel, as light is one."""
    wide = chart().scale * GRID
    slow = [low_pass(photo.small, photo.known + np.float32(0.02), _SLOW * wide) for photo in photos]
    weights = [soften(photo.weight + np.float32(1e-3), _SLOW * wide)[..., None] for photo in photos]
    common = sum(s * w for s, w in zip(slow, weights, strict=True)) / sum(weights)
    out = []
    for photo, own in zip(photos, slow, strict=True):
        factor = np.clip(common / np.maximum(own, 1), 1 / _LIGHTER, _LIGHTER).astype(np.float32)
        texture = np.clip(photo.texture * enlarge(factor, photo.texture.shape[0]) + np.float32(0.5), 0, 255).astype(np.uint8)
        out.append(dataclasses.replace(photo, texture=texture, small=np.clip(photo.small * factor, 0, 255)))
    return out


def _inliers(photos: Sequence[_Photo]) -> list[Floats]:
    """For each photo (GRID, GRID) 0..1, how near it is to the weighted median of the place (Tukey's biweight, 1960)."""
    fine = 0.006 * chart().scale * GRID
    smooth = np.stack([soften(photo.small, fine) for photo in photos])
    weights = np.stack([photo.weight for photo in photos]) + np.float32(1e-4)
    light = np.stack([luma(one) for one in smooth])
    order = np.argsort(light, axis=0, kind="stable")
    heaped = np.cumsum(np.take_along_axis(weights, order, 0), 0)
    middle = np.argmax(heaped >= heaped[-1] / 2, axis=0)[None]
    chosen = np.take_along_axis(order, middle, 0)
    median = np.take_along_axis(smooth, chosen[..., None], 0)
    away = np.abs(smooth - median).max(3)
    counted = (weights > 0.05) & (chart().covered > 0)
    spread = _TRUST + 1.4826 * float(np.median(away[counted])) if counted.any() else _TRUST
    kept = np.square(np.clip(1 - np.square(away / np.float32(4.685 * spread / 1.5)), 0, 1))
    return [soften(np.asarray(one, np.float32), fine) for one in kept]


def _best(photos: Sequence[_Photo]) -> int:
    """The photo that lends its own structure: sharp, and seen squarely; open eyes come first."""
    middle = chart().features * chart().covered
    seen = [float((photo.weight * middle).sum() / middle.sum()) for photo in photos]
    opened = [min(eye_opening(photo.mesh, ring) for ring in EYE_RINGS) > _SHUT for photo in photos]
    return max(range(len(photos)), key=lambda i: (opened[i], photos[i].detail * seen[i]))


def _texture(photos: Sequence[_Photo], kept: Sequence[Floats], run: Run) -> Pixels:
    """(C, C, 3) uint8: the weighted mean of what agrees, its finest bands as sharp as the sharpest photo's."""
    side = photos[0].texture.shape[0]
    sharpest = max(photo.detail for photo in photos)
    bands = [_Band.empty(side) for _ in _BANDS]
    base, total = np.zeros((side, side, 3), np.float32), np.zeros((side, side), np.float32)
    for photo, keep in zip(photos, kept, strict=True):
        run.check()
        sharp = photo.detail / sharpest
        weight = enlarge(np.asarray(photo.weight * keep + _LEAST, np.float32), side)
        fine, single = weight * np.float32(sharp**4), np.power(weight + np.float32(0.05), 6) * np.float32(sharp**12)
        level = photo.texture.astype(np.float32)
        for band, sigma in zip(bands, _BANDS, strict=True):
            # each scale is blurred from the photo itself: a difference of Gaussians, and all of them add up to it again
            below = np.asarray(cv2.GaussianBlur(photo.texture.astype(np.float32), (0, 0), sigma * side / 512), np.float32)
            band.add(level - below, fine, single)
            level = below
        base += level * weight[..., None]
        total += weight
    out = base / total[..., None]
    features = enlarge(chart().features, side)
    for band in bands:
        out += band.settled(features)
    return np.asarray(np.clip(out + 0.5, 0, 255), np.uint8)


@dataclass(frozen=True, slots=True)
class _Band:
    """Sums over the photos of one scale's structure, (C, C[, 3]) float32: weighted evenly, and all but alone by the sharpest."""

    mean: Floats
    own: Floats
    energy: Floats
    total: Floats
    alone: Floats
    squares: Floats

    @classmethod
    def empty(cls, side: int) -> "_Band":
        pictures = [np.zeros((side, side, 3), np.float32) for _ in range(2)]
        return cls(*pictures, *(np.full((side, side), 1e-12, np.float32) for _ in range(4)))

    def add(self, band: Floats, fine: Floats, single: Floats) -> None:
        np.add(self.mean, band * fine[..., None], out=self.mean)
        np.add(self.own, band * single[..., None], out=self.own)
        np.add(self.energy, np.square(luma(band)) * fine, out=self.energy)
        np.add(self.total, fine, out=self.total)
        np.add(self.alone, single, out=self.alone)
        np.add(self.squares, np.square(fine), out=self.squares)

    def settled(self, features: Floats) -> Floats:
        """The mean where the photos agree on the edges of the features, the sharpest photo's own where they don't.

        Photos that agree give a mean with the energy of one of them, photos that have nothing in common give an n-th of it.
        """
        mean, own = self.mean / self.total[..., None], self.own / self.alone[..., None]
        single = float((self.energy / self.total * features).sum())
        together = float((np.square(luma(mean)) * features).sum())
        count = float((np.square(self.total) / self.squares * features).sum() / features.sum())
        alike = 1.0 if count < 1.01 else (together / max(single, 1e-9) - 1 / count) / (1 - 1 / count)
        agree = _step(alike, _AGREE)
        return np.asarray(mean * agree + own * (1 - agree), np.float32)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Eyes, or a mouth: where they lie in the chart (GRID, GRID), their rings, and how far they are one photo's."""

    rings: tuple[NDArray[np.integer], ...]
    where: Floats
    share: float


def _pieces(photos: Sequence[_Photo], best: int) -> tuple[_Piece, ...]:
    """Both eyes as one piece, so that they look the same way, and the mouth."""
    table, out = chart(), []
    wide = table.scale * GRID
    skin = table.covered * (1 - table.features)
    own = photos[best]
    others = [photo for index, photo in enumerate(photos) if index != best]
    away = [soften(np.abs(photo.small - own.small).mean(2), 0.006 * wide) for photo in others]
    for rings in (EYE_RINGS, (LIPS_OUTER,)):
        inside = np.zeros((GRID, GRID), np.float32)
        for ring in rings:
            inside = np.maximum(inside, polygon(table.pixels(GRID)[ring], GRID, GRID))
        # less what the skin differs by: that is noise, and no reason to forgo the mean
        apart = [_mean(one, photo.weight * inside) - _mean(one, photo.weight * skin) for one, photo in zip(away, others, strict=True)]
        share = _step(max(apart, default=0.0), _PIECE)
        out.append(_Piece(tuple(rings), soften(grow(inside, 0.02 * wide), 0.012 * wide), share))
    return tuple(out)


def _step(value: float, between: tuple[float, float]) -> float:
    return float(smoothstep(np.array([value], np.float32), *between)[0])


def _mean(field: Floats, weight: Floats) -> float:
    return float((field * weight).sum() / max(float(weight.sum()), 1e-6))


def _mesh(photos: Sequence[_Photo], best: int, pieces: Sequence[_Piece]) -> Points:
    """(478, 3) the mean mesh, its corner at 0; round eyes or a mouth of one photo that photo's own, moved to where the mean has it."""
    middle = chart().covered
    weights = np.array([_mean(photo.weight, middle) for photo in photos]) + 1e-6
    mesh = np.tensordot(weights / weights.sum(), np.stack([photo.mesh for photo in photos]), 1)
    own = photos[best].mesh
    for piece in pieces:
        for ring in piece.rings:
            shifted = own + (mesh[ring].mean(0) - own[ring].mean(0))
            share = piece.share * falloff(tuple(ring.tolist()), 0.06)[:, None]
            mesh = mesh * (1 - share) + shifted * share
    return np.asarray(mesh - mesh.min(0), np.float64)


def _assembled(best: PreparedSource, texture: Pixels, confidence: Pixels, points: Points) -> PreparedSource:
    """With the levels of `engines.faces.source.prepare`. What else a source knows of its photo is the best photo's."""
    levels = [np.dstack([texture, confidence])]
    while levels[-1].shape[0] > 64:
        levels.append(np.asarray(cv2.resize(levels[-1], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8))
    known = {field.name: getattr(best, field.name) for field in dataclasses.fields(best) if not field.name.startswith("_")}
    return PreparedSource(**known | {"levels": tuple(levels), "points": points})
