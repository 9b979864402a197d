"""A person's mask on a target's face: the chosen areas as a map, what that means for the fusion, and the fusion kept within it.

Areas are drawn on the target's own mesh, before its shape moves: what a preview shows is what will be touched.
"""

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.face_mask import REGIONS, FaceMask
from engines.faces.canonical import BROWS, EYE_RINGS, LIPS_INNER, LIPS_OUTER, NOSE, OVAL
from engines.faces.coverage import EDGE, feather
from engines.faces.geometry_transfer import Points
from engines.faces.swapped import below_hair, outline
from engines.faces.target import PreparedTarget
from engines.options import MESH, FuseOptions
from engines.types import Floats, FusedCrop, Matrix, Occlusion, Pixels
from engines.vision.geometry import scale_of
from engines.vision.mask import convex, depth, grow, polygon, smoothstep, to_bytes
from engines.vision.raster import enlarge, on_grid

if TYPE_CHECKING:
    from engines.faces.learned_masks import Parser

Layer = TypeVar("Layer", Pixels, Floats)
FINEST = 512  # side of the grid on which areas are drawn; a larger crop's map is enlarged from it
# How much wider than its ring of vertices a region is, in face widths: lashes and the lid's rim, hairs of the brow, the lips' rim.
MARGINS = {"brows": 0.012, "eyes": 0.02, "nose": 0.0, "lips": 0.012, "mouth": 0.0}
SOFT = 1.2  # a chosen area's edge reaches this many feathers to either side, one left out twice as many outwards
_SHUT = 0.02  # of a map, below which a part is left alone


def applied(
    target: PreparedTarget, options: FuseOptions, size: tuple[int, int], parser: "Parser | None" = None
) -> tuple[PreparedTarget, FuseOptions, Floats | None]:
    """What a mask asks of the fusion, before it is made.

    Args:
        target: of `prepare_target`. size: width and height of its picture.
        parser: tells the regions, in place of the mesh.

    Returns:
        The target, the options and the map (S, S) float32 0..1 that `limited` takes; None for the standard, which changes nothing.
        Where the mask is shut the outline, the eyes and the mouth stay where the target has them, so that they fit what is round them.
    """
    if options.mask.standard:
        return target, options, None
    mask, paint = options.mask, options.mask.paint
    layers = None if paint is None else (_carried(paint.fuse, target, size), _carried(_thick(paint.keep, 1), target, size))
    shown = area_map(target, mask, options.feather, swapper=options.model != MESH, parser=parser)
    if layers is not None:
        shown = np.minimum(np.maximum(shown, layers[0]), 1 - _reaching(layers[1], target.matrix))
    over = target.occlusion if mask.occlusion else _nothing(target)
    if layers is not None and mask.occlusion:
        over = _opened(target, layers[0])
    hold = target.hold
    if hold is not None:
        at = np.clip(np.round(target.points[OVAL, :2]).astype(int), 0, target.size - 1)
        hold = replace(hold, free=hold.free * shown[at[:, 1], at[:, 0]])
    spot = target.changed(occlusion=over, hold=hold, asked=None if layers is None else layers[0])
    eyes = options.keep_eyes or all(_shut(shown, target, ring) for ring in EYE_RINGS)
    return spot, replace(options, keep_eyes=eyes, keep_mouth=options.keep_mouth or _shut(shown, target, LIPS_OUTER)), shown


def area_map(target: PreparedTarget, mask: FaceMask, feather_share: float, swapper: bool = False, parser: "Parser | None" = None) -> Floats:
    """(S, S) float32 0..1, the areas less what is left out; the brush apart.

    Args:
        feather_share: `FuseOptions.feather`.
        swapper: a network draws beyond the face's outline, so that the outline is one of the map's own edges. The mesh ends there by
            itself, and moves it: there the map ends only where the mask makes it smaller.
        parser: see `applied`.
    """
    size = target.size
    grid = size if size <= FINEST else FINEST
    points, wide = on_grid(target.points[:, :2], size, grid), target.face_width * grid / size
    one = max(feather(feather_share) * wide, 0.35)
    face = polygon(points[OVAL], grid, grid) > 0.5
    if parser is not None and {*mask.areas, *mask.leave_out} & set(REGIONS):
        parts = {name: _gridded(part, grid) for name, part in parser.regions(target.pixels, target.points).items()}
    else:
        parts = regions(points, grid, wide)
    features = reduce(np.logical_or, parts.values())
    parts["skin"] = face & ~features
    whole = face if swapper or mask.grow < 0 else np.ones_like(face)
    grown = np.float32(mask.grow / 100 * wide)
    out = reduce(np.logical_or, [parts[name] for name in mask.leave_out], np.zeros_like(face))
    shapes = [_round(points, grid, name, mask.padding) for name in ("box", "oval") if name in mask.areas]
    chosen = [parts[name] for name in mask.areas if name in parts and name != "skin"]
    if "skin" in mask.areas:
        chosen.append(whole & ~features)
    shown = np.zeros((grid, grid), np.float32)
    if chosen:
        shown = smoothstep(_signed(reduce(np.logical_or, chosen) & ~out) + grown, -SOFT * one, SOFT * one)
    if "outline" in mask.areas:  # its edge lies inside, as the fusion's own does
        shown = np.maximum(shown, smoothstep(_signed(whole) + grown, EDGE[0] * one, EDGE[1] * one))
    if swapper:
        shown = shown * np.asarray(cv2.resize(below_hair(target), (grid, grid), interpolation=cv2.INTER_AREA), np.float32)
    if shapes:
        shown = np.maximum(shown, smoothstep(_signed(reduce(np.logical_or, shapes)) + grown, -SOFT * one, SOFT * one))
    if mask.leave_out:
        shown = np.minimum(shown, smoothstep(_signed(~out), 0.5, 0.5 + 2 * SOFT * one))
    return shown if grid == size else enlarge(shown, size)


def regions(points: NDArray[np.float64], grid: int, wide: float) -> dict[str, NDArray[np.bool_]]:
    """(g, g) each region but the skin, which is what they leave of the face; no two overlap.

    Args:
        points: (478, 2) in pixels of the grid. wide: the face's width in them.
    """
    rings = {
        "brows": [convex(points[brow]) for brow in BROWS],
        "eyes": [points[ring] for ring in EYE_RINGS],
        "nose": [points[NOSE]],
        "lips": [points[LIPS_OUTER]],
        "mouth": [points[LIPS_INNER]],
    }
    drawn = {}
    for name, outlines in rings.items():
        filled = reduce(np.maximum, (polygon(outline, grid, grid) for outline in outlines))
        drawn[name] = np.asarray(grow(filled, MARGINS[name] * wide) > 0.5)
    taken = np.zeros((grid, grid), bool)
    for name in ("mouth", "lips", "eyes", "brows", "nose"):  # the first keeps what two claim
        drawn[name] &= ~taken
        taken |= drawn[name]
    return {name: drawn[name] for name in REGIONS if name in drawn}


def _gridded(part: NDArray[np.bool_], grid: int) -> NDArray[np.bool_]:
    return np.asarray(cv2.resize(part.astype(np.uint8), (grid, grid), interpolation=cv2.INTER_NEAREST) > 0)


def limited(crop: FusedCrop, shown: Floats | None) -> FusedCrop:
    """A fused crop whose mask reaches nowhere beyond the map (S, S), whatever side a network gave the crop meanwhile."""
    if shown is None:
        return crop
    side = crop.mask.shape[0]
    return replace(crop, mask=np.minimum(crop.mask, to_bytes(shown if shown.shape[0] == side else enlarge(shown, side))))


def previewed(target: PreparedTarget, options: FuseOptions, shown: Floats | None) -> FusedCrop:
    """The target's crop with the mask that a fusion of these options has before its source is known. `target`, `shown`: of `applied`."""
    open_ = 1 - target.occlusion.alpha
    if options.model == MESH or shown is None:
        open_ = open_ * outline(target, feather(options.feather))
    return limited(FusedCrop(target.pixels, to_bytes(open_), target.matrix), shown)


def _round(points: Points, grid: int, name: str, padding: tuple[float, float, float, float]) -> NDArray[np.bool_]:
    """(g, g) a box or the oval in it, round the face's outline, less its padding."""
    low, high = points[OVAL].min(0), points[OVAL].max(0)
    top, right, bottom, left = (each / 100 for each in padding)
    wide, tall = high - low
    low, high = low + np.array([left * wide, top * tall]), high - np.array([right * wide, bottom * tall])
    y, x = np.ogrid[:grid, :grid]
    if name == "box":
        return np.asarray((x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1]))
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 1e-6)
    return np.asarray(((x - middle[0]) / half[0]) ** 2 + ((y - middle[1]) / half[1]) ** 2 <= 1)


def _signed(inside: NDArray[np.bool_]) -> Floats:
    """(g, g) `depth` with a sign: positive inside, negative outside; infinite where there is no edge."""
    if inside.all() or not inside.any():
        return np.full(inside.shape, np.inf if inside.all() else -np.inf, np.float32)
    return np.where(inside, depth(inside), -depth(~inside))


def _carried(layer: Pixels, target: PreparedTarget, size: tuple[int, int]) -> Floats:
    """(S, S) 0..1: a brush's layer in the target's crop. `size`: of the picture; a smaller copy was painted on, perhaps."""
    scale = np.array(size, np.float64) / layer.shape[::-1]
    matrix: Matrix = target.matrix.copy()
    matrix[:, 2] += matrix[:, :2] @ ((scale - 1) / 2)  # centres of pixels: x_picture = (x_paint + ½) · scale − ½
    matrix[:, :2] = matrix[:, :2] * scale
    step = scale_of(matrix)
    if step < 0.8:  # or a thin stroke would fall between the crop's pixels
        layer = _thick(layer, int(np.ceil(1 / step)) // 2)
    warped = cv2.warpAffine(layer, matrix, (target.size, target.size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    return np.asarray(warped, np.float32) / np.float32(255)


def _reaching(keep: Floats, matrix: Matrix) -> Floats:
    """What is kept, wide enough that laying the crop back doesn't blend into it: bilinear reaches a pixel of either grid further."""
    return _thick(keep, int(np.ceil(max(1.0, scale_of(matrix)))) + 1)


def _thick(layer: Layer, radius: int) -> Layer:
    return np.asarray(cv2.dilate(layer, np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)), layer.dtype)


def _nothing(target: PreparedTarget) -> Occlusion:
    nothing = np.zeros((target.size, target.size), np.float32)
    return Occlusion(nothing, target.pixels, nothing)


def _opened(target: PreparedTarget, asked: Floats) -> Occlusion:
    """What lies over the face, less what a brush paints over."""
    over, left = target.occlusion, 1 - asked
    clean = over.clean + asked[..., None] * (target.pixels.astype(np.float32) - over.clean)
    return replace(over, alpha=over.alpha * left, solid=over.solid * left, clean=np.rint(clean).astype(np.uint8))


def _shut(shown: Floats, target: PreparedTarget, ring: NDArray[np.integer]) -> bool:
    part = polygon(target.points[ring], target.size, target.size) > 0.99
    return not bool((shown[part] > _SHUT).any())
