"""A source's glasses laid over the fused face: whole, in their own colours, under the target's light."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.canonical import chart
from engines.faces.geometry_transfer import width
from engines.faces.light import Tone
from engines.faces.placement import Placement
from engines.timing import Run
from engines.types import Floats, Pixels
from engines.vision.color import LUMA
from engines.vision.mask import grow, soften
from engines.vision.raster import enlarge, extend

_RIGID = np.array([33, 133, 362, 263, 168, 6, 197, 127, 356, 34, 264, 111, 340])  # eyes, the nose's bridge and the temples

_PLAIN = 4  # levels of change from which a pixel was wholly glasses or their shadow
_LIGHT = (0.4, 1.1)  # least and most that a frame is darkened and lightened
_BEYOND = 0.02  # a rim may stand out beyond the mesh, in face widths


@dataclass(frozen=True, slots=True)
class Spectacles:
    """Glasses on a source.

    Attributes:
        layer: (h, w, 4) uint8, the photo round the face and how much of each pixel is frame or reflection.
        change: (h, w) uint8, levels by which the photo was changed when they were taken off, their shadow as well.
        points: (478, 2) float64, the mesh in the layer.
    """

    layer: Pixels
    change: Pixels
    points: NDArray[np.float64]

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return int(self.layer.nbytes + self.change.nbytes + self.points.nbytes)

    def put_on(self, texture: Pixels) -> Pixels:
        """The source's chart (C, C, 3) uint8 RGB with them on, and with the shadow that they cast."""
        wide = width(self.points)
        worn = soften(grow(np.minimum(self.change.astype(np.float32) / np.float32(_PLAIN), 1), 0.01 * wide), 0.006 * wide)
        x, y = cv2.split(chart().spread(self.points, texture.shape[0]))
        share = cv2.remap(worn, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        left, top, across, high = cv2.boundingRect((share > 0).astype(np.uint8))
        part = np.s_[top : top + high, left : left + across]
        out = texture.copy()
        if across:
            colours = np.ascontiguousarray(self.layer[..., :3])
            seen = cv2.remap(colours, x[part], y[part], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
            under = np.ascontiguousarray(texture[part])
            seen = cv2.min(seen, under)  # their shadow; what shines is the layer's, and would be lightened as skin is
            mixed = under + (seen.astype(np.float32) - under) * share[part][..., None]
            out[part] = np.clip(mixed + 0.5, 0, 255).astype(np.uint8)
        return out


def sample(worn: Spectacles, spot: Placement, tone: Tone, hidden: Floats, run: Run) -> tuple[Floats, Floats]:
    """The glasses where the target's face is.

    Args:
        hidden: (S, S) 0..1, what lies over the target's face: it lies over the glasses, too.

    Returns:
        (S, S, 3) float32 0..255 and alpha (S, S) float32 0..1.
    """
    run.check()
    layer, points = worn.layer, worn.points
    factor = spot.face_width / width(points)
    if factor < 0.8:  # finer than the result: bilinear sampling would skip pixels of a thin rim
        layer = np.asarray(cv2.resize(layer, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8)
        points = (points + 0.5) * factor - 0.5
    flat = np.column_stack([spot.shape[:, :2], np.ones(len(spot.shape))])
    turn = np.linalg.lstsq(flat[_RIGID], points[_RIGID], rcond=None)[0]  # what is rigid goes on straight beyond the face
    covered = spot.drawn.covered.astype(np.float32)
    place = extend(spot.drawn.interpolate(points - flat @ turn), covered)
    axis = ((np.arange(spot.grid, dtype=np.float32) + 0.5) * (spot.size / spot.grid) - 0.5).astype(np.float32)
    place += (axis[None, :, None] * turn[0] + axis[:, None, None] * turn[1] + turn[2]).astype(np.float32)
    # temples end where the face does: behind it lie another head's hair and ears
    near = soften(grow(covered, _BEYOND * spot.coarse_width), 0.5 * _BEYOND * spot.coarse_width)
    # a change of skin is none of a frame's colour (black turned blue, glare cyan), and glare is as white as it gets
    share = np.clip(np.exp(tone.gain @ LUMA / np.float32(2.2)), *_LIGHT)

    fields = (*cv2.split(place), near, share)
    x, y, fade, share = (enlarge(np.asarray(field, np.float32), spot.size) for field in fields)
    drawn = cv2.remap(np.ascontiguousarray(layer[..., 3]), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    alpha = drawn.astype(np.float32) * (fade * np.float32(1 / 255)) * (1 - hidden)
    left, top, wide, high = cv2.boundingRect((alpha > 0).astype(np.uint8))
    part = np.s_[top : top + high, left : left + wide]
    colours = np.zeros((spot.size, spot.size, 3), np.float32)
    if wide:
        seen = cv2.remap(layer, x[part], y[part], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
        colours[part] = seen[..., :3] * share[part][..., None]
        alpha[part] = _one_piece(np.ascontiguousarray(alpha[part]))
    return colours, alpha


def _one_piece(alpha: Floats) -> Floats:
    """Without the bits that came off: the end of a temple behind hair."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats((alpha > 0.1).astype(np.uint8), connectivity=8)
    sizes = stats[:, cv2.CC_STAT_AREA].copy()
    sizes[0] = 0
    kept = sizes > 0.15 * sizes.max()
    return np.asarray(alpha * kept[labels], np.float32)


def lay(fused: Floats, share: Floats, colours: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """Glasses over a fusion, also where it isn't painted.

    Args:
        fused: (S, S, 3), of which `share` (S, S) is laid over the picture.

    Returns:
        The same two with the glasses: the picture is seen past the face and the frame alone.
    """
    left, top, wide, high = cv2.boundingRect((alpha > 0).astype(np.uint8))
    part = np.s_[top : top + high, left : left + wide]
    out, total = fused.copy(), share.copy()
    if wide:
        over, rest = alpha[part], share[part] * (1 - alpha[part])
        total[part] = rest + over
        mixed = (fused[part] * rest[..., None] + colours[part] * over[..., None]) / np.maximum(total[part], np.float32(1e-3))[..., None]
        out[part] = np.where(over[..., None] > 0, mixed, fused[part])
    return out, total
