"""The source's half of a fusion: prepared once per identity, used for any number of targets."""

from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces import albedo
from engines.faces.albedo import Lit
from engines.faces.beard import Beard, measure, no_beard, shaven, untouched
from engines.faces.canonical import BROWS, GRID, chart
from engines.faces.crop import box_of
from engines.faces.enhancer import FACTOR, Enhancer
from engines.faces.geometry_transfer import facing, width
from engines.faces.hands import HandFinder
from engines.faces.marks import unmarked
from engines.faces.occlusion.occluders import OnSource, find_on_source
from engines.faces.skin import skin_likeness
from engines.faces.spectacles import Spectacles
from engines.timing import Run
from engines.types import FaceMesh, Floats, Pixels
from engines.vision.color import low_pass
from engines.vision.geometry import apply, similarity_transform
from engines.vision.mask import convex, grow, polygon, smoothstep, soften, to_bytes
from engines.vision.raster import enlarge, extend, look_up

# Side of the chart by the width of the face in the photo: about one pixel of the chart for each of the photo's.
SMALL = 250.0  # px of a face's width below which a network draws it anew, once: from 109 px to 586 it gains .03 of identity, and lids
_BROW, _PART = 0.015, 0.1  # how much wider than its vertices a brow is, in face widths; share of it from which it counts as mirrored
_FRINGE = 0.04  # face widths beyond what was taken off a forehead, in which single hairs and their shadow are left
_SIDES = ((320, 1024), (140, 512), (0, 256))


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """A face in the chart, independent of any target.

    Attributes:
        levels: (C, C, 4) uint8, then the same at C/2, C/4 … 64: RGB and how far the pixel is known to be this face's skin or
            feature (255) and not hair, a shoulder or a guess (0); the half that the photo hides is filled from the half that it
            shows.
        points: (478, 3) float64, the mesh in pixels of the source's picture.
        beard: whether and where the face wears one.
        found: what lay over the face and was taken off: see `Occlusion.found`.
        spectacles: the glasses that were taken off.
    """

    levels: tuple[Pixels, ...]
    points: NDArray[np.float64]
    beard: Beard = field(default_factory=no_beard)
    found: tuple[tuple[str, float], ...] = ()
    spectacles: Spectacles | None = None
    _lit: list[Lit] = field(default_factory=list, init=False, compare=False, repr=False)
    _looks: "dict[tuple[bool, bool, bool], PreparedSource]" = field(default_factory=dict, compare=False, repr=False)

    def look(self, shaved: bool, marks: bool, glasses: bool = False) -> "PreparedSource":
        """The same face without its beard, without its marks, or with its glasses on; made on first use and kept."""
        worn = self.spectacles if glasses else None
        key = (shaved and self.beard.worn, marks, worn is not None)
        if key == (False, True, False):
            return self
        if key not in self._looks:
            texture, confidence = self.levels[0][..., :3], self.levels[0][..., 3]
            if worn is not None:
                texture = worn.put_on(texture)
            if key[0]:
                texture = shaven(texture, self.beard)
            if not key[1]:
                texture = unmarked(texture, self.beard.map)
            self._looks[key] = replace(self, levels=pyramid(texture, confidence), _looks={})
        return self._looks[key]

    @property
    def lit(self) -> Lit:
        """The light on it, to be taken out; measured on first use and kept."""
        if not self._lit:
            level = next((level for level in self.levels[::-1] if level.shape[0] >= 2 * albedo.SIDE), self.levels[0])
            self._lit.append(albedo.of_texture(level, self.beard.map))
        return self._lit[0]

    def sample(self, uv: Floats, face_width: float) -> Pixels:
        """The texture (h, w, 4) at chart positions (h, w, 2) in 0..1, for a face of `face_width` px in the result."""
        wanted = face_width / chart().scale
        # bilinear from a level 0.9 to 1.8 times as fine: as sharp as bicubic at its own size, at a sixteenth of the time
        level = next((level for level in self.levels[::-1] if level.shape[0] >= 0.9 * wanted), self.levels[0])
        if level.shape[0] < 0.9 * wanted:  # a small source on a large face: bilinear would show its diamonds
            side = round(min(wanted, 4 * level.shape[0]))
            level = np.asarray(cv2.resize(level, (side, side), interpolation=cv2.INTER_CUBIC), np.uint8)
        at = np.asarray(uv * np.float32(level.shape[0]) - np.float32(0.5), np.float32)
        return look_up(level, at)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes: what a cache counts."""
        held = (self.levels, *(look.levels for look in self._looks.values()))
        pictures = sum(level.nbytes for levels in held for level in levels) + (self.spectacles.nbytes if self.spectacles else 0)
        return pictures + int(self.points.nbytes) + int(self.beard.map.nbytes)


def prepare(
    pixels: Pixels, mesh: FaceMesh, hands: HandFinder | None = None, run: Run | None = None, enhancer: Enhancer | None = None
) -> PreparedSource:
    """Reads a face's texture into the chart.

    Args:
        pixels: (H, W, 3) uint8 RGB, the source's whole picture.
        mesh: the face in it.
        hands: finds hands before it; without it they are told by their colour alone.
        run: asked between the steps whether the job was stopped.
        enhancer: draws a face under `SMALL` px anew at four times its size, before it is laid into the chart.

    Returns:
        What `fuse` needs of the source; the same bytes for the same input.

    Raises:
        Cancelled: the job was stopped.
    """
    points = mesh.points.astype(np.float64)
    crop, local = _cut(pixels, points)
    seen = find_on_source(crop, local, _hands(pixels, points, local, hands), run)
    over = seen.occlusion
    clean, at = over.clean, local
    if enhancer is not None and width(points) < SMALL:
        clean, at = _redrawn(clean, local, enhancer, run or Run())
    side = next(side for least, side in _SIDES if width(at) >= least)
    where, place = chart().spread(local[:, :2]), chart().spread(at[:, :2])
    texture = _read(clean, place, side)
    known = _inside(where, crop.shape[1], crop.shape[0]) * (1 - _over(over.solid, where))
    filled, confidence = _fill(texture, local, known)
    prepared = assembled(filled, confidence, points, untouched(crop, over, where), over.found)
    return prepared if seen.glass is None else replace(prepared, spectacles=_spectacles(seen, local))


def _spectacles(seen: OnSource, local: NDArray[np.float64]) -> Spectacles | None:
    """The glasses that were taken off the face."""
    if seen.bespectacled is None or seen.glass is None:
        return None
    change = cv2.absdiff(seen.bespectacled, seen.occlusion.clean)
    most = cv2.max(cv2.max(change[..., 0], change[..., 1]), change[..., 2])
    return Spectacles(np.dstack([seen.bespectacled, to_bytes(seen.glass)]), np.asarray(most, np.uint8), local[:, :2])


def is_small(mesh: FaceMesh) -> bool:
    """Whether a source's face is worth drawing anew before it is carried to another."""
    return width(mesh.points) < SMALL


def _redrawn(crop: Pixels, local: NDArray[np.float64], enhancer: Enhancer, run: Run) -> tuple[Pixels, NDArray[np.float64]]:
    """A small face's crop at four times its size, but no finer than the largest chart, and the mesh in it."""
    factor = min(float(FACTOR), _SIDES[0][1] * chart().scale / width(local))
    drawn = enhancer.upscale(crop, run)
    if factor < FACTOR:
        drawn = np.asarray(cv2.resize(drawn, None, fx=factor / FACTOR, fy=factor / FACTOR, interpolation=cv2.INTER_AREA), np.uint8)
    half = np.array([0.5, 0.5, 0.0])
    return drawn, (local + half) * factor - half


def assembled(
    texture: Pixels,
    confidence: Pixels,
    points: NDArray[np.float64],
    untouched: Floats | None = None,
    found: tuple[tuple[str, float], ...] = (),
) -> PreparedSource:
    """A source of its texture (C, C, 3) and confidence (C, C), be they one photo's or several photos' mean: all else is measured on them.

    Args:
        untouched: (GRID, GRID) 0..1, where the texture is the photo's own and not filled in; None: everywhere.
    """
    seen = np.asarray(cv2.resize(confidence, (GRID, GRID), interpolation=cv2.INTER_AREA), np.float32) / np.float32(255)
    beard = measure(texture, seen if untouched is None else seen * untouched)
    return PreparedSource(pyramid(texture, confidence), points, beard, found)


def pyramid(texture: Pixels, confidence: Pixels) -> tuple[Pixels, ...]:
    """`PreparedSource.levels` of a texture (C, C, 3) and its confidence (C, C)."""
    levels = [np.dstack([texture, confidence])]
    while levels[-1].shape[0] > 64:
        levels.append(np.asarray(cv2.resize(levels[-1], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8))
    return tuple(levels)


def _cut(pixels: Pixels, points: NDArray[np.float64]) -> tuple[Pixels, NDArray[np.float64]]:
    """The face's part of the picture, reduced when it is finer than the largest chart, and the mesh in it."""
    low, high = points[:468, :2].min(0), points[:468, :2].max(0)
    rim = 0.2 * (high - low).max()
    limit = np.array([pixels.shape[1], pixels.shape[0]])
    start = np.clip(np.floor(low - rim), 0, limit - 1).astype(int)
    stop = np.clip(np.ceil(high + rim), start + 1, limit).astype(int)
    crop = pixels[start[1] : stop[1], start[0] : stop[0]]
    local = points - [start[0], start[1], 0]
    factor = _SIDES[0][1] * chart().scale / width(points)
    half = np.array([0.5, 0.5, 0.0])
    if factor < 0.8:  # else the remap would skip pixels
        crop = np.asarray(cv2.resize(crop, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8)
        local = (local + half) * factor - half
    return np.ascontiguousarray(crop), local


def _hands(pixels: Pixels, points: NDArray[np.float64], local: NDArray[np.float64], hands: HandFinder | None) -> list[NDArray[np.float64]]:
    """Hands near the face, in the crop's pixels."""
    found = [] if hands is None else hands.find(pixels, box_of(points))
    return [apply(similarity_transform(points[:468, :2], local[:468, :2]), hand) for hand in found]


def _read(crop: Pixels, place: Floats, side: int) -> Pixels:
    """The face laid out in the chart, (side, side, 3): `place` (GRID, GRID, 2), where the chart's pixels lie in the crop."""
    x, y = cv2.split(place if side == GRID else enlarge(place, side))
    return np.asarray(cv2.remap(crop, x, y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def _over(solid: Floats, where: Floats) -> Floats:
    """(GRID, GRID) float32: what nothing is known of, because something solid lies over it."""
    return np.asarray(cv2.remap(solid, where[..., 0], where[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)


def _inside(where: Floats, wide: int, high: int) -> Floats:
    """(GRID, GRID) 1 where the chart's pixel lies in the source's picture: a face may reach over its edge."""
    inside = (where > -0.5).all(2) & (where[..., 0] < wide - 0.5) & (where[..., 1] < high - 0.5)
    return inside.astype(np.float32)


def _outwards(foreign: Floats) -> Floats:
    """Hair that begins on the forehead or a temple goes on to the chart's edge: what lies behind it isn't carried half."""
    brow = int(chart().pixels(GRID)[[105, 334], 1].mean())
    middle = GRID // 2
    out = foreign.copy()
    out[:brow] = np.maximum.accumulate(foreign[:brow][::-1], axis=0)[::-1]
    out[:, middle:] = np.maximum(out[:, middle:], np.maximum.accumulate(foreign[:, middle:], axis=1))
    out[:, :middle] = np.maximum(out[:, :middle], np.maximum.accumulate(foreign[:, :middle][:, ::-1], axis=1)[:, ::-1])
    return out


def _whole_brows(instead: Floats) -> Floats:
    """What the other half stands in for: a brow that something hides in part, whole. The two halves' lie at heights of their own."""
    out = instead
    for place in _brows():
        if float((instead * place).sum()) > _PART * float(place.sum()):
            out = np.maximum(out, place)
    return out


def _brows() -> list[Floats]:
    """(GRID, GRID) 1 on each brow."""
    at, wider = chart().pixels(GRID), _BROW * chart().scale * GRID
    return [grow(polygon(convex(at[brow]), GRID, GRID), wider) for brow in BROWS]


def _on_forehead(hidden: Floats) -> Floats:
    """(GRID, GRID) what is hidden above the brows, and a little more."""
    brow = int(chart().pixels(GRID)[[105, 334], 1].mean())
    out = grow(np.concatenate([hidden[:brow], np.zeros_like(hidden[brow:])]).astype(np.float32), _FRINGE * chart().scale * GRID)
    for place in _brows():
        out = out * (1 - place)
    return out


def _fill(texture: Pixels, local: NDArray[np.float64], known: Floats) -> tuple[Pixels, Pixels]:
    """Takes what the photo hides from the mirrored half, where that shows it; returns the texture and its confidence."""
    table, side = chart(), texture.shape[0]
    small = texture if side == GRID else np.asarray(cv2.resize(texture, (GRID, GRID), interpolation=cv2.INTER_AREA), np.uint8)
    wide = table.scale * GRID
    covered, doubt = table.covered, np.clip(table.spread(table.doubt[:, None])[..., 0], 0, 1)
    skin = skin_likeness(small, table.pixels(GRID), wide)
    foreign = smoothstep((1 - skin) * doubt * (1 - table.features), 0.1, 0.5)
    foreign = np.asarray(cv2.morphologyEx(foreign, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)), np.float32)
    hidden = np.maximum(_outwards(grow(foreign, 0.015 * wide)), 1 - known) * covered
    seen = np.clip(table.spread(facing(local)[:, None])[..., 0] - 0.1, 0, 1)
    mirrored_seen, mirrored_hidden = seen[:, ::-1], hidden[:, ::-1]
    use = np.clip((mirrored_seen - seen - 0.15) / 0.35, 0, 1)
    instead = _whole_brows((np.clip((hidden - mirrored_hidden) * 2 - 0.2, 0, 1) * (mirrored_seen > 0.15)).astype(np.float32))
    use = soften((np.maximum(use, instead) * covered).astype(np.float32), 0.02 * wide)

    hidden = hidden * (1 - use) + mirrored_hidden * use
    best = seen * (1 - use) + mirrored_seen * use
    hidden = np.maximum(hidden, np.clip((0.18 - best) / 0.12, 0, 1) * covered)  # seen from neither side
    confidence = to_bytes((1 - hidden).astype(np.float32))
    if float(use.max()) > 0.01:
        # the two halves are lit differently: the mirrored one takes the light of the half that it stands in
        light = small.astype(np.float32)
        light = low_pass(light, covered, 0.12 * wide) - low_pass(np.ascontiguousarray(light[:, ::-1]), covered, 0.12 * wide)
        share = enlarge(use, side)[..., None]
        mixed = texture * (1 - share) + (texture[:, ::-1] + 0.7 * enlarge(light, side)) * share
        texture = np.clip(mixed + 0.5, 0, 255).astype(np.uint8)
        small = np.asarray(cv2.resize(texture, (GRID, GRID), interpolation=cv2.INTER_AREA), np.uint8)
    # at the outline a pixel of misfit shows the background, at a fringe's edge its last hairs: there the skin inside goes on instead
    outline = np.clip(table.spread(table.rim[:, None])[..., 0], 0, 1) * covered + (1 - covered)
    outline = np.maximum(outline, soften(_on_forehead(hidden), 0.006 * wide))
    inward = enlarge(extend(small.astype(np.float32), (1 - outline).astype(np.float32)), side)
    share = enlarge(outline.astype(np.float32), side)[..., None]
    texture = np.clip(texture * (1 - share) + inward * share + 0.5, 0, 255).astype(np.uint8)
    return texture, np.asarray(cv2.resize(confidence, (side, side), interpolation=cv2.INTER_LINEAR), np.uint8)
