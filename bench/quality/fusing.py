"""Fuses one pair with the product and brings out what the measures need: the picture before the mark, and the mask."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from engines import Studio
from engines.choosing import choose, require
from engines.errors import FaceNotUsable, FusionError, InvalidOption
from engines.faces.occlusion.as_source import judge, judge_glasses
from engines.fusing import lay
from engines.options import FuseOptions, check
from engines.timing import Run
from engines.types import Box, Pixels
from engines.vision import blend


@dataclass(frozen=True, slots=True)
class Fused:
    """One fusion.

    Attributes:
        source, target, result: (H, W, 3) uint8 RGB; the result has no mark yet, whose noise would count as grain.
        mask: (H, W) uint8, what was painted.
        source_box, target_box: where the faces lie, for the bench's own look.
        seconds: of the fusion alone, faces found.
    """

    source: Pixels
    target: Pixels
    result: Pixels
    mask: Pixels
    source_box: Box
    target_box: Box
    seconds: float


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a pair wasn't fused: a verdict's reason, or an error's code. The box is the target's face, where one was found."""

    reason: str
    target_box: Box | None = None


def options_from(text: str, mode: str) -> FuseOptions:
    """ "shape=.5,keep_eyes=true" → options. Raises `InvalidOption`."""
    given: dict[str, Any] = {"mode": mode}
    defaults = {field.name: getattr(FuseOptions(), field.name) for field in fields(FuseOptions)}
    for item in filter(None, text.split(",")):
        name, _, value = item.partition("=")
        if name not in defaults:
            raise InvalidOption(name=name, value=value, allowed=", ".join(defaults))
        kind = type(defaults[name])
        if kind is bool:
            given[name] = value.lower() in ("1", "true", "yes", "on")
        elif kind is float:
            given[name] = float(value)
        else:
            given[name] = value if kind is str else int(value)
    options = replace(FuseOptions(), **given)
    check(options)
    return options


def fuse(studio: Studio, source: Pixels, target: Pixels, face: int | None, options: FuseOptions) -> Fused | Refused:
    """The product's own path, up to the blended picture."""
    run = Run()
    box = None
    try:
        frames = studio.read(source), studio.read(target)
        faces = studio.faces(frames[1]).faces
        if faces:
            box = (faces[face] if face is not None and face < len(faces) else max(faces, key=lambda one: one.mesh.size)).box
        source_face, _ = choose(studio.known, frames[0], "source", options.source_face, run)
        target_face, _ = choose(studio.known, frames[1], "target", face, run)
        options = replace(options, face=target_face.index)
        before = run.timings().total
        half = studio.known.source(frames[0], source_face, options.enhance, run)
        spot = studio.known.target(frames[1], target_face, options.mode, run)
        glasses, _ = judge_glasses(half.found, spot.occlusion.found, options.glasses, half.spectacles is not None)
        for verdict in (judge(half.found)[0], glasses):  # as the studio does before it fuses
            require(verdict, "source", source_face.index)
        patch = lay(studio.known, half, frames[1], target_face, options, run)
        seconds = (run.timings().total - before) / 1e3
    except FaceNotUsable as refusal:
        return Refused(str(refusal.facts["verdict"]), box)
    except FusionError as fault:
        return Refused(fault.code, box)
    mask = np.zeros(target.shape[:2], np.uint8)
    height, width = patch.mask.shape
    mask[patch.top : patch.top + height, patch.left : patch.left + width] = patch.mask
    return Fused(source, target, blend.apply(frames[1].pixels, patch), mask, source_face.box, target_face.box, seconds)
