"""What is measured on a fused face, each as a pure function of a `Scene`: target, result, mask and both meshes.

Lengths are shares of the face's width. A measure for which the picture has nothing to measure on is None.
"""

import itertools

import cv2
import numpy as np
from numpy.typing import NDArray

from bench.quality import scene as parts
from bench.quality.difference import ciede2000
from bench.quality.scene import EYES, Scene
from bench.quality.witness import rigid
from engines.faces.geometry_transfer import eye_opening
from engines.faces.pose import pose_of
from engines.faces.topology import LIPS_OUTER, RIGID
from engines.types import Floats, Pixels
from engines.vision.color import LUMA, to_lab

SECTORS = 36  # of the outline, 10° each
STEP_LIMIT = 12.0  # ΔE between the target's own bands above which the outer one is no skin (hair, collar, wall)
LEAST_EDGE = 2.0  # levels per pixel
QUANTUM = 0.2  # rms of a band that rounding to bytes alone can make: added to both sides of a ratio
LIPS_BROWS_EYES = (*LIPS_OUTER, *EYES[0], *EYES[1], *parts.BROWS[0], *parts.BROWS[1])


def luma(pixels: Pixels) -> Floats:
    """(h, w) float32, ITU-R BT.601."""
    return np.asarray(cv2.transform(pixels.astype(np.float32), LUMA[None]), np.float32)


def expression(scene: Scene) -> tuple[float, float, float]:
    """How far eyes, brows and lips moved against the rest of the face: (px, % of the face's width), and the head (degrees).

    The result's mesh is laid rigidly onto the target's first, so that a turned head counts as pose alone. A carried-over shape of the
    features counts as well: 0 would be the target's own face.
    """
    moved = rigid(scene.fused, scene.points, RIGID)
    chosen = list(LIPS_BROWS_EYES)
    px = float(np.linalg.norm((moved - scene.points)[chosen, :2], axis=1).mean())
    before, after = pose_of(scene.points), pose_of(scene.fused)
    turned = max(abs(before.yaw - after.yaw), abs(before.pitch - after.pitch), abs(before.roll - after.roll))
    return px, 100 * px / scene.width, float(turned)


def seam(scene: Scene) -> float | None:
    """Light's change across the painted outline, result over target: 1 is no seam, more an edge that wasn't there.

    The gradient along the outline's normal at .006 of the width, its absolute mean over the outline.
    """
    inside = parts.painted(scene).astype(np.float32)
    soft = cv2.GaussianBlur(inside, (0, 0), 0.02 * scene.width)
    normal = np.dstack(_gradient(soft, 0.0))
    length = np.linalg.norm(normal, axis=2)
    rim = (np.abs(soft - 0.5) < 0.25) & _within(scene, 3)
    if rim.sum() < 20:
        return None
    change = []
    for pixels in (scene.result, scene.target):
        across = (np.dstack(_gradient(luma(pixels), 0.006 * scene.width)) * normal).sum(2) / np.maximum(length, 1e-9)
        change.append(float(np.abs(across[rim]).mean()))
    return (change[0] + 0.05) / (change[1] + 0.05)


def band_step(scene: Scene) -> float | None:
    """ΔE2000 between wide bands inside and outside the outline, less the target's own: 90th percentile over sectors of 10°.

    The bands lie .015 to .075 of the width from the outline, so a soft step counts as much as a hard one. A sector counts where the
    target's own step shows that skin goes on outside. None without three such sectors.
    """
    inside = parts.painted(scene)
    if not inside.any():
        return None
    within, without = (cv2.distanceTransform(np.ascontiguousarray(x), cv2.DIST_L2, 5) / scene.width for x in (inside, 1 - inside))
    inner, outer = ((x > 0.015) & (x < 0.075) for x in (within, without))
    y, x = np.mgrid[0 : scene.shape[0], 0 : scene.shape[1]]
    middle = scene.points[:468, :2].mean(0)
    sector = ((np.arctan2(y - middle[1], x - middle[0]) / (2 * np.pi) + 0.5) * SECTORS).astype(int) % SECTORS
    labs = [to_lab(pixels.astype(np.float32)) for pixels in (scene.target, scene.result)]
    steps = []
    for number in range(SECTORS):
        here = [(sector == number) & band for band in (inner, outer)]
        if min(int(band.sum()) for band in here) < 12:
            continue
        own, new = (float(ciede2000(*(np.median(lab[band], axis=0) for band in here))) for lab in labs)
        if own < STEP_LIMIT:
            steps.append(new - own)
    return max(0.0, float(np.percentile(steps, 90))) if len(steps) >= 3 else None


def cast(scene: Scene) -> tuple[float | None, float | None]:
    """ΔE2000 between result and target where only light and tone are left: (95th percentile over the skin, mean over it).

    Low frequencies at .05 of the width, the size of a nostril's wing, over skin alone: a light from two sides shows, which a mean
    over the face hides. A skin that keeps its own tone under the target's light is part of it, so 0 isn't the aim.
    """
    weight = parts.skin(scene)
    if weight.sum() < 50:
        return None, None
    low = []
    for pixels in (scene.target, scene.result):
        stack = np.dstack([pixels.astype(np.float32) * weight[..., None], weight])
        blurred = cv2.GaussianBlur(stack, (0, 0), 0.05 * scene.width)
        low.append(to_lab(blurred[..., :3] / np.maximum(blurred[..., 3:], 1e-3)))
    difference = ciede2000(low[0][weight > 0], low[1][weight > 0])
    return float(np.percentile(difference, 95)), float(difference.mean())


def neck(scene: Scene) -> float | None:
    """How much further the face's tone is from the neck's than in the target, in ΔE2000. None where no bare neck shows."""
    jaw = scene.points[[172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379, 365, 397], :2]
    down = scene.points[152, :2] - scene.points[10, :2]
    down = down / max(float(np.linalg.norm(down)), 1e-9) * scene.width
    area = parts.polygon(np.vstack([jaw + 0.06 * down, (jaw + 0.22 * down)[::-1]]), *scene.shape) > 0.5
    area &= (scene.mask == 0) & (parts.painted(scene) == 0)
    face = parts.skin(scene) > 0
    if area.sum() < 50 or face.sum() < 50:
        return None
    labs = [to_lab(cv2.GaussianBlur(pixels, (0, 0), 0.01 * scene.width).astype(np.float32)) for pixels in (scene.target, scene.result)]
    tone = np.median(labs[0][face], axis=0)
    bare = area & (ciede2000(labs[0], np.broadcast_to(tone, labs[0].shape)) < 18)
    if bare.sum() < 0.3 * area.sum():
        return None
    own, new = (float(ciede2000(np.median(lab[face], axis=0), np.median(lab[bare], axis=0))) for lab in labs)
    return new - own


def texture(scene: Scene) -> dict[str, float | None]:
    """Strength of the skin's fine structure, result over target: `grain` under 2 px, `sharpness` 2 to 8 px, `features` on eyes and lips.

    Differences of Gaussians of the luma at .8, 1.6, 3.2 px …; on skin the rms within .03 of the width, the median over places of
    their ratio; on the features the rms over all. Bands wider than .04 of the face (where form begins) are left out.
    """
    weight = parts.skin(scene)
    ratios: dict[str, float | None] = {"grain": None, "sharpness": None, "features": None}
    bands = [_bands(luma(pixels), scene.width) for pixels in (scene.target, scene.result)]
    on = np.zeros(scene.shape, np.float32)
    for points in (scene.points, scene.fused):
        on = np.maximum(on, parts.features(points, scene.width, scene.shape, 0.015))
    if (on > 0.5).sum() > 50:
        own, new = (float(np.sqrt(np.mean([(band[on > 0.5] ** 2).mean() for band in found[1:]]))) for found in bands)
        ratios["features"] = (new + QUANTUM) / (own + QUANTUM)
    sigma = max(1.5, 0.03 * scene.width)
    covered = cv2.GaussianBlur(weight, (0, 0), sigma)
    places = (covered > 0.5) & (weight > 0)
    if places.sum() < 50:
        return ratios
    found = []
    for own_band, new_band in zip(*bands, strict=True):
        own, new = (
            np.sqrt(np.maximum(cv2.GaussianBlur(band * band * weight, (0, 0), sigma), 0)[places] / covered[places])
            for band in (own_band, new_band)
        )
        found.append(float(np.median((new + QUANTUM) / (own + QUANTUM))))
    ratios["grain"] = found[0]
    ratios["sharpness"] = float(np.exp(np.mean(np.log(found[1:]))))
    return ratios


def lids(scene: Scene) -> tuple[float, float]:
    """Opening of the eye at the picture's left and right, result over target, by the meshes."""
    left, right = (eye_opening(scene.fused, np.array(ring)) / max(eye_opening(scene.points, np.array(ring)), 0.02) for ring in EYES)
    return float(left), float(right)


def brightness(scene: Scene) -> dict[str, float | None]:
    """Result over target: `teeth`, the 99th percentile of luma within lips and mouth; `whites`, the 95th between the lids."""
    light = luma(scene.target), luma(scene.result)
    meshes = scene.points, scene.fused
    areas = {
        "teeth": [parts.grow(parts.mouth(points, scene.shape), 0.005 * scene.width) > 0.5 for points in meshes],
        "whites": [sum(parts.eye(points, ring, scene.shape) for ring in EYES) > 0.5 for points in meshes],
    }
    ratios: dict[str, float | None] = {}
    for name, share in (("teeth", 99), ("whites", 95)):
        if min(int(area.sum()) for area in areas[name]) < 12:
            ratios[name] = None
            continue
        own, new = (float(np.percentile(image[area], share)) for image, area in zip(light, areas[name], strict=True))
        ratios[name] = (new + 1) / (own + 1)
    return ratios


def occluder_kept(scene: Scene, region: NDArray[np.bool_]) -> tuple[float | None, float | None]:
    """How much of the edges of what lies over the target's face is still there: (share kept, correlation).

    Edge points are the stronger half of the region's within the face's oval. One counts as kept where the result's gradient, projected
    on the target's, has half to twice its strength (smoothed over .008 of the width); both are weighted by the edge's strength. An edge
    that a fusion draws elsewhere, or another way up, is no kept one.

    Args:
        region: (h, w) of the scene, where the edges of something before the face run.
    """
    own, new = (np.dstack(_gradient(luma(pixels), 0.004 * scene.width)) for pixels in (scene.target, scene.result))
    region = region & (parts.oval(scene.points, scene.shape) > 0.5)
    if region.sum() < 50:
        return None, None
    size = np.linalg.norm(own, axis=2)
    strong = region & (size >= max(float(np.median(size[region])), LEAST_EDGE))
    if strong.sum() < 20:
        return None, None
    weight, soft = (size * strong).astype(np.float32), 0.008 * scene.width
    product, energy = (cv2.GaussianBlur((x * strong).astype(np.float32), (0, 0), soft) for x in ((own * new).sum(2), (own * own).sum(2)))
    share = product / np.maximum(energy, 1e-6)
    kept = float((weight * ((share > 0.5) & (share < 2))).sum() / weight.sum())
    a, b = own[strong], new[strong]
    correlation = float((a * b).sum() / max(np.sqrt((a * a).sum() * (b * b).sum()), 1e-6))
    return kept, correlation


def outside_changed(target: Pixels, result: Pixels, mask: Pixels) -> int:
    """How many pixels of the whole picture changed where the mask says that nothing was painted."""
    return int(((target != result).any(axis=2) & (mask == 0)).sum())


def painted_share(scene: Scene) -> float:
    """How much of the face's oval was painted: a fusion that paints little has little to be blamed for."""
    inside = parts.oval(scene.points, scene.shape)
    return float((scene.mask / 255 * inside).sum() / max(float(inside.sum()), 1.0))


def _gradient(image: Floats, sigma: float) -> tuple[Floats, Floats]:
    """Central differences in x and y, in levels per pixel, after a blur."""
    soft = cv2.GaussianBlur(image, (0, 0), sigma) if sigma > 0.3 else image
    return tuple(np.asarray(cv2.Sobel(soft, cv2.CV_32F, *axis, ksize=1, scale=0.5), np.float32) for axis in ((1, 0), (0, 1)))  # type: ignore[return-value]


def _bands(image: Floats, width: float) -> list[Floats]:
    """At least two differences of Gaussians, from the finest up to .04 of the face's width, four at most."""
    count = int(np.clip(np.floor(np.log2(max(0.04 * width, 2.0) / 0.8)), 2, 4))
    levels = [image] + [np.asarray(cv2.GaussianBlur(image, (0, 0), 0.8 * 2**i), np.float32) for i in range(count)]
    return [fine - coarse for fine, coarse in itertools.pairwise(levels)]


def _within(scene: Scene, margin: int) -> NDArray[np.bool_]:
    out = np.zeros(scene.shape, bool)
    out[margin:-margin, margin:-margin] = True
    return out
