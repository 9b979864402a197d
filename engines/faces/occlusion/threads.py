"""The alpha of strands: each kept from the hair, or the face's outline, to its tip, or not at all."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.occlusion.ridges import inside
from engines.faces.occlusion.scene import FACE, Bools, Points, Scene, blurred, grown
from engines.faces.occlusion.sheet import Sheet, unlike
from engines.types import Floats
from engines.vision.geometry import apply, invert
from engines.vision.matting import harmonic

_SHORT, _GAP, _TAPER = 0.15, 0.05, 0.06  # face widths: least length of a piece, longest gap in it, over which its tip thins out
_SEEN = 0.3  # alpha from which a strand is seen
_COLOURS = 45.0  # levels by which a strand's colour may change along it: on lips and teeth it is theirs
_MOST = 0.7  # least share of a piece that is seen


def threads(sheet: Sheet, scene: Scene, image: Floats, clean: Floats, paths: Sequence[Points], mass: Bools) -> tuple[Floats, Floats]:
    """What strands hide, and the crop without them.

    Args:
        image, clean: (h, w, 3) float32 0..255, the crop, and the crop without solid things.
        paths: (n, 2) each, in pixels of the scene.
        mass: (SIDE, SIDE) solid things, from which strands may come.
    """
    none = np.zeros(image.shape[:2], np.float32)
    alpha, ground = _alpha(sheet, image, clean, [apply(invert(scene.matrix), path) for path in paths])
    held = ~scene.covered | (scene.depth < 10) | grown(mass, 4)
    pieces = [piece for path in paths for piece in _pieces(scene, image, alpha, path, held)]
    if not pieces:
        return none, clean
    carried = [apply(invert(scene.matrix), piece) for piece, _ in pieces]
    alpha = np.asarray(alpha * _along(sheet, carried, [share for _, share in pieces]), np.float32)
    share = np.asarray(cv2.dilate(np.clip(alpha * 2, 0, 1), sheet.reach(0.006)))[..., None]
    return alpha, np.asarray(clean + (ground - clean) * share, np.float32)


def _alpha(sheet: Sheet, image: Floats, clean: Floats, paths: Sequence[Points]) -> tuple[Floats, Floats]:
    """A strand's alpha is its distance from the ground over the strand's own greatest (closed-form matting does worse, at .26)."""
    unit = sheet.unit
    band = sheet.lines([(path, False) for path in paths], 0.022 * unit)
    hole = np.asarray(cv2.dilate(band, sheet.reach(0.004)) > 0.05)
    ground = harmonic(clean, hole)
    off = unlike(image, ground) * band
    top = blurred(np.asarray(cv2.dilate(off, sheet.reach(0.015, 2)), np.float32), 0.02 * unit)
    alpha = np.clip(off / np.maximum(top, 8) * 1.6 - 0.45, 0, 1)
    return np.asarray(alpha, np.float32), ground


def _along(sheet: Sheet, paths: Sequence[Points], shares: Sequence[NDArray[np.float64]]) -> Floats:
    """(h, w) each path's shares, drawn as wide as a strand may be, and soft."""
    out = np.zeros((sheet.height, sheet.width), np.uint8)
    wide = max(1, round(0.022 * sheet.unit))
    for path, share in zip(paths, shares, strict=True):
        at = np.round(path * 16).astype(np.int32)
        for k in np.argsort(share[:-1], kind="stable"):
            thick = max(1, round(wide * (0.35 + 0.65 * float(share[k]))))
            cv2.line(out, tuple(at[k].tolist()), tuple(at[k + 1].tolist()), round(255 * float(share[k])), thick, cv2.LINE_AA, 4)
    return blurred(out.astype(np.float32) / np.float32(255), max(0.6, 0.003 * sheet.unit))


def _pieces(scene: Scene, image: Floats, alpha: Floats, path: Points, held: Bools) -> list[tuple[Points, NDArray[np.float64]]]:
    """The parts of a path that are seen, hang together, are long enough and come from the hair; each with its share, 0..1, per point."""
    if len(path) < 4:
        return []
    at = apply(invert(scene.matrix), path)
    high, wide = alpha.shape
    inner = (at[:, 0] >= 0) & (at[:, 1] >= 0) & (at[:, 0] <= wide - 1) & (at[:, 1] <= high - 1)
    x, y = at[:, 0].astype(np.float32)[None], at[:, 1].astype(np.float32)[None]
    near = np.asarray(cv2.dilate(alpha, np.ones((3, 3), np.uint8)))
    value = cv2.remap(near, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)[0]
    colour = np.asarray(cv2.remap(image, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)[0], np.float64)
    columns, rows = inside(path)
    plain = (value > _SEEN) & (scene.features[rows, columns] < 0.5)
    if plain.sum() < 4:
        return []
    own = np.median(colour[plain], axis=0)
    alike = np.linalg.norm(colour - own, axis=1) < _COLOURS * np.sqrt(3)
    seen = (value > _SEEN) & alike & inner
    step = float(np.linalg.norm(np.diff(path, axis=0), axis=1).mean())
    gap = max(1, round(_GAP * FACE / step))
    out = []
    for start, stop in _runs(seen, gap):
        piece = slice(start, stop)
        if (stop - start) * step < _SHORT * FACE or seen[piece].mean() < _MOST:
            continue
        ends = held[rows[piece], columns[piece]]
        reach = max(1, min(gap, len(ends) // 3))
        first, last = bool(ends[:reach].any()), bool(ends[-reach:].any())
        if first or last:
            out.append((path[piece], _tapered(stop - start, max(2, round(_TAPER * FACE / step)), first, last)))
    return out


def _runs(seen: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """Stretches of what is seen, over gaps of up to `gap` points."""
    at = np.flatnonzero(seen)
    if not len(at):
        return []
    cuts = np.flatnonzero(np.diff(at) > gap + 1)
    return list(zip(at[np.r_[0, cuts + 1]].tolist(), (at[np.r_[cuts, len(at) - 1]] + 1).tolist(), strict=True))


def _tapered(count: int, over: int, first: bool, last: bool) -> NDArray[np.float64]:
    """1 along a piece, falling to 0 at an end that hangs free."""
    place = np.arange(count, dtype=float)
    share = np.ones(count)
    if not first:
        share = np.minimum(share, place / over)
    if not last:
        share = np.minimum(share, (count - 1 - place) / over)
    return share
