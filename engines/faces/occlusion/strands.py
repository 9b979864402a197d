"""Strands of hair: long smooth thin lines that leave the face, and that the other half of the face doesn't have."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.faces.occlusion.ridges import TURNS, Ridges, along, inside
from engines.faces.occlusion.scene import FACE, SIDE, Bools, Points, Scene
from engines.types import Floats

_STEP, _STEPS = 1.6, 130  # px of a step, and how many each way
_GAP = 10  # steps without a line after which it has ended: a strand goes on behind a brow and over a lip
_TURNS = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])  # radians a step may bend, with what a bend costs
_BEND = np.array([0.1, 0.03, 0.0, 0.03, 0.1])
_MOST = 150  # seeds of a polarity


@dataclass(frozen=True, slots=True)
class _Seeds:
    """Where lines are begun: columns, rows, polarity (-1 darker, 1 brighter), thresholds for going on and for beginning."""

    x: NDArray[np.intp]
    y: NDArray[np.intp]
    polarity: NDArray[np.intp]
    low: Floats
    high: Floats


def strands(scene: Scene, ridges: Ridges, mass: Bools) -> tuple[Points, ...]:
    """Paths (n, 2) in pixels of the scene.

    Args:
        mass: solid things; where a lock of hair is, finer hairs are looked for too.
    """
    signed = np.stack([np.maximum(-ridges.thin, 0), np.maximum(ridges.thin, 0)])
    loose = 0.6 if (mass & scene.covered).sum() > 0.1 * scene.covered.sum() else 1.0
    seeds = _seeds(scene, signed, mass, loose)
    if not len(seeds.x):
        return ()
    paths, strengths = _follow(signed, seeds)
    return _chosen(scene, signed, mass, seeds, paths, strengths)


def _seeds(scene: Scene, signed: Floats, mass: Bools, loose: float) -> _Seeds:
    parts = []
    open_skin = scene.covered & (scene.depth > 8)
    for sign in (0, 1):
        best = signed[sign].max(0)
        angle = signed[sign].argmax(0).astype(np.float32) * np.float32(np.pi / TURNS)
        rows, columns = np.mgrid[:SIDE, :SIDE].astype(np.float32)
        dx, dy = -np.sin(angle) * np.float32(1.3), np.cos(angle) * np.float32(1.3)
        noise = float(np.median(best[open_skin])) if open_skin.any() else 0.0
        low, high = loose * max(0.02, 2 * noise), loose * max(0.05, 5 * noise)
        able = (best > high) & (scene.depth > 10) & (scene.features < 0.5) & ~mass
        for turn in (1, -1):  # on the crest of the line
            able &= best >= cv2.remap(best, columns + turn * dx, rows + turn * dy, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE)
        y, x = np.nonzero(able)
        order = np.argsort(-best[y, x], kind="stable")
        _, first = np.unique((y[order] // 6) * SIDE + x[order] // 6, return_index=True)  # one in 6 px
        order = order[np.sort(first)][:_MOST]
        parts.append((x[order], y[order], np.full(len(order), sign), np.full(len(order), low), np.full(len(order), high)))
    x, y, polarity, low_, high_ = (np.concatenate(p) for p in zip(*parts, strict=True))
    return _Seeds(x, y, polarity.astype(np.intp), low_.astype(np.float32), high_.astype(np.float32))


def _follow(signed: Floats, seeds: _Seeds) -> tuple[Points, Floats]:
    """All lines at once, both ways: paths (n, 2 * steps + 1, 2) with NaN beyond their ends, strengths (n, 2 * steps + 1)."""
    count = len(seeds.x)
    sign, low = np.tile(seeds.polarity, 2), np.tile(seeds.low, 2)
    turn = signed[seeds.polarity, :, seeds.y, seeds.x].argmax(1) * np.pi / TURNS
    angle = np.concatenate([turn, turn + np.pi])
    at = np.tile(np.stack([seeds.x, seeds.y], 1).astype(float), (2, 1))
    alive, missed, last = np.ones(2 * count, bool), np.zeros(2 * count), np.full(2 * count, -1)
    path, strength = np.full((_STEPS, 2 * count, 2), np.nan), np.zeros((_STEPS, 2 * count), np.float32)
    rows = np.arange(2 * count)
    for k in range(_STEPS):
        tried = angle[:, None] + _TURNS
        to = at[:, None] + _STEP * np.stack([np.cos(tried), np.sin(tried)], -1)
        x, y = inside(to)
        value = signed[sign[:, None], np.round(tried / np.pi * TURNS).astype(int) % TURNS, y, x] - _BEND * low[:, None]
        best = value.argmax(1)
        found = value[rows, best]
        angle = np.where(found > low * 0.3, tried[rows, best], angle)
        step = _STEP * np.stack([np.cos(angle), np.sin(angle)], 1)
        at = np.where(alive[:, None], at + step, at)
        missed = np.where(found < low, missed + 1, np.maximum(0, missed - 1))
        alive &= (missed < _GAP) & (at.min(1) > 1) & (at.max(1) < SIDE - 2)
        path[k, alive], strength[k, alive] = at[alive], found[alive]
        last[alive & (found >= low)] = k
        if not alive.any():
            break
    path[np.arange(_STEPS)[:, None] > last] = np.nan
    seed = np.stack([seeds.x, seeds.y], 1)[None].astype(float)
    own = signed[seeds.polarity, :, seeds.y, seeds.x].max(1)[None]
    whole = np.concatenate([path[::-1, count:], seed, path[:, :count]]).transpose(1, 0, 2)
    return whole, np.asarray(np.concatenate([strength[::-1, count:], own, strength[:, :count]]).T, np.float32)


def _chosen(scene: Scene, signed: Floats, mass: Bools, seeds: _Seeds, paths: Points, strengths: Floats) -> tuple[Points, ...]:
    up = scene.points[10, :2] - scene.points[152, :2]
    up = up / max(float(np.linalg.norm(up)), 1e-9)
    candidates = []
    for i in range(len(paths)):
        there = ~np.isnan(paths[i, :, 0])
        path, strength = paths[i, there], strengths[i, there]
        x, y = inside(path)
        on_face = scene.depth[y, x] > 9
        length = _STEP * float((strength[on_face] > seeds.low[i]).sum())
        if on_face.sum() > 20 and length >= 0.2 * FACE:
            candidates.append((length, i, path, strength, on_face))
    out: list[Points] = []
    used = np.zeros((2, SIDE, SIDE), np.uint8)
    for length, i, path, strength, on_face in sorted(candidates, key=lambda c: -c[0]):
        inner, value, low, sign = path[on_face], strength[on_face], seeds.low[i], seeds.polarity[i]
        x, y = inside(inner)
        if (used[sign, y, x] > 0).mean() > 0.5:
            continue
        cv2.polylines(used[sign], [np.round(path).astype(np.int32)], False, 255, 3)
        if (value > low).mean() <= 0.7 or np.median(value) <= seeds.high[i] * 0.6 or scene.features[y, x].mean() >= 0.6:
            continue
        if np.linalg.norm(path[-1] - path[0]) <= 0.7 * _STEP * len(path):
            continue
        ends = inside(path[[0, -1]])
        leaves = bool(((scene.depth[ends[1], ends[0]] < 10) | mass[ends[1], ends[0]]).any())
        if not (leaves or length > 0.5 * FACE):
            continue
        lying = abs(float((inner[-1] - inner[0]) @ up)) / max(1e-6, float(np.linalg.norm(inner[-1] - inner[0]))) < 0.4
        if _likeness(scene, signed[sign], inner, value, low) < (0.5 if lying else 0.75):  # a furrow lies, hair hangs
            out.append(path)
    return tuple(out)


def _likeness(scene: Scene, field: Floats, path: Points, value: Floats, low: float) -> float:
    """How strong a line the mirrored place has, over this one's strength: wrinkles and folds come in pairs."""
    x, y = inside(path)
    mirrored = scene.mirror[y, x].astype(np.float64)
    change = np.gradient(mirrored, axis=0)
    angle = np.arctan2(change[:, 1], change[:, 0])
    shift = np.stack(np.meshgrid([-4, -2, 0, 2, 4], [-4, -2, 0, 2, 4]), -1).reshape(25, 1, 2)
    best = along(field, mirrored + shift, np.broadcast_to(angle, (25, len(path)))).max(0)
    return float(np.median(best / np.maximum(value, low)))
