"""Several photos of one person made one source: what they agree on is kept, what one of them adds is not.

Laid on one chart and brought to one light (`engines.faces.photos`), they are averaged without what lies over one of them. Structure
finer than the mesh can align is averaged only where the photos' edges agree; where they don't, a mean would be a blur, and the
sharpest photo's own structure stands. Eyes, or mouths, that differ come from one photo, with the mesh round them: a mean of two
glances has two irises.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import EYE_RINGS, GRID, LIPS_OUTER, chart, falloff
from engines.faces.geometry_transfer import Points, eye_opening
from engines.faces.photos import Photo, lay_out
from engines.faces.source import PreparedSource, assembled
from engines.timing import Run
from engines.types import Floats, Identity, Pixels
from engines.vision.color import luma
from engines.vision.mask import grow, polygon, smoothstep, soften
from engines.vision.raster import enlarge

_BANDS = (1.0, 2.0, 4.0)  # px of a chart of side 512: the scales that are finer than the mesh's error
_AGREE = (0.35, 0.75)  # share of the edges' energy that photos have in common: below the sharpest one's band stands, above the mean
_LEAST = 1e-3  # weight of a photo at a place that it doesn't show: what all of them guess is averaged too
_STAYS = 1.5  # the best photo keeps a place until another shows it this many times better
_PIECE = (5.0, 12.0)  # levels by which eyes, or mouths, differ: from here a mean shows it, from there one photo's stands alone
_LASTING = ("glasses", "lumps")  # of what is found over a photo, what somebody may wear in all of them
_SHUT = 0.16  # lid distance over eye width below which a photo's eyes aren't taken while another's are open


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
    photos = lay_out(sources, run)
    pieces = _pieces(photos)
    texture = _texture(photos, run)
    side = texture.shape[0]
    for piece in pieces:
        share = enlarge(piece.where * np.float32(piece.share), side)[..., None]
        texture = np.clip(texture * (1 - share) + photos[piece.photo].texture * share + 0.5, 0, 255).astype(np.uint8)
    weights = np.stack([photo.counted for photo in photos])
    known = (weights * np.stack([photo.known for photo in photos])).sum(0) / np.maximum(weights.sum(0), 1e-6)
    confidence = np.asarray(np.clip(enlarge(known.astype(np.float32), side) * 255 + 0.5, 0, 255), np.uint8)
    return assembled(texture, confidence, _mesh(photos, pieces), found=_over_all(sources))


def _over_all(sources: Sequence[PreparedSource]) -> tuple[tuple[str, float], ...]:
    """Of what lies over the photos that which lies over each of them, by its least measure: what one shows bare is known."""
    measures = [dict(source.found) for source in sources]
    return tuple((name, least) for name in _LASTING if (least := min(found.get(name, 0.0) for found in measures)) > 0)


def mean_identity(identities: Sequence[Identity]) -> Identity:
    """The mean of several embeddings of one model: nearer to each further photo of the person than a single one is."""
    stack = np.stack([identity.embedding for identity in identities]).astype(np.float64)
    return Identity(stack.mean(0).astype(np.float32), identities[0].model)


def _texture(photos: Sequence[Photo], run: Run) -> Pixels:
    """(C, C, 3) uint8: the weighted mean of what agrees, its finest bands as sharp as the sharpest photo's."""
    side = photos[0].texture.shape[0]
    sharpest = max(photo.detail for photo in photos)
    bands = [_Band.empty(side) for _ in _BANDS]
    base, total = np.zeros((side, side, 3), np.float32), np.zeros((side, side), np.float32)
    for photo, chosen in zip(photos, _winners(photos), strict=True):
        run.check()
        sharp = photo.detail / sharpest
        weight = enlarge(photo.counted + np.float32(_LEAST), side)
        fine, single = weight * np.float32(sharp**4), enlarge(chosen, side)
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


def _winners(photos: Sequence[Photo]) -> list[Floats]:
    """For each photo (GRID, GRID) where it alone lends its structure; they sum to 1. One photo keeps the face as far as it shows it."""
    wide = chart().scale * GRID
    scores = np.stack([soften(photo.counted, 0.03 * wide) * np.float32(photo.detail) for photo in photos]) + np.float32(1e-9)
    scores[int(scores.sum((1, 2)).argmax())] *= _STAYS
    first = scores.argmax(0)
    return [soften((first == index).astype(np.float32), 0.015 * wide) for index in range(len(photos))]


@dataclass(frozen=True, slots=True)
class _Band:
    """Sums over the photos of one scale's structure, (C, C[, 3]) float32: weighted evenly, and by the one that alone lends it."""

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
    """Eyes, or a mouth: its rings, where it lies in the chart (GRID, GRID), whose it is, and how far it is that photo's alone."""

    rings: tuple[NDArray[np.integer], ...]
    where: Floats
    photo: int
    share: float


def _pieces(photos: Sequence[Photo]) -> tuple[_Piece, ...]:
    """Both eyes as one piece, so that they look the same way, and the mouth."""
    table = chart()
    wide = table.scale * GRID
    skin = table.covered * (1 - table.features)
    opened = [min(eye_opening(photo.mesh, ring) for ring in EYE_RINGS) > _SHUT for photo in photos]
    out = []
    for rings, asked in ((EYE_RINGS, opened), ((LIPS_OUTER,), [True] * len(photos))):
        inside = np.zeros((GRID, GRID), np.float32)
        for ring in rings:
            inside = np.maximum(inside, polygon(table.pixels(GRID)[ring], GRID, GRID))
        # sharp, seen squarely, with nothing before it
        worth = [(asked[i], photo.detail * _mean(photo.weight, inside) * _mean(photo.kept, inside) ** 2) for i, photo in enumerate(photos)]
        best = max(range(len(photos)), key=lambda index: worth[index])
        apart = []
        for index, photo in enumerate(photos):
            if index != best:
                away = soften(np.abs(photo.small - photos[best].small).mean(2), 0.006 * wide)
                # less what the skin differs by: that is noise, and no reason to forgo the mean
                apart.append(_mean(away, photo.weight * inside) - _mean(away, photo.weight * skin))
        # the median: one photo that differs from all others is left out of the mean anyway
        share = _step(float(np.median(apart)) if apart else 0.0, _PIECE)
        out.append(_Piece(tuple(rings), soften(grow(inside, 0.02 * wide), 0.012 * wide), best, share))
    return tuple(out)


def _step(value: float, between: tuple[float, float]) -> float:
    return float(smoothstep(np.array([value], np.float32), *between)[0])


def _mean(field: Floats, weight: Floats) -> float:
    return float((field * weight).sum() / max(float(weight.sum()), 1e-6))


def _mesh(photos: Sequence[Photo], pieces: Sequence[_Piece]) -> Points:
    """(478, 3) the mean mesh, its corner at 0; round eyes or a mouth of one photo that photo's own, moved to where the mean has it."""
    weights = np.array([_mean(photo.weight, chart().covered) for photo in photos]) + 1e-6
    mesh = np.tensordot(weights / weights.sum(), np.stack([photo.mesh for photo in photos]), 1)
    for piece in pieces:
        own = photos[piece.photo].mesh
        for ring in piece.rings:
            shifted = own + (mesh[ring].mean(0) - own[ring].mean(0))
            share = piece.share * falloff(tuple(ring.tolist()), 0.06)[:, None]
            mesh = mesh * (1 - share) + shifted * share
    return np.asarray(mesh - mesh.min(0), np.float64)
