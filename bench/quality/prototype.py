"""The prototype that the studio grew out of, for the table's first column: a folder with centerface.py, facemesh.py, meshswap.py."""

import importlib
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from bench.quality.fusing import Fused, Refused
from engines.types import Box, Pixels


class Prototype:
    """Imported from its folder when it is asked for; its modules are plain files, not a package."""

    def __init__(self, folder: Path) -> None:
        keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        sys.path.insert(0, str(folder))
        try:
            detector, mesh, self._swap = (importlib.import_module(name) for name in ("centerface", "facemesh", "meshswap"))
        finally:
            sys.path.remove(str(folder))
            sys.dont_write_bytecode = keep
        self._detector = detector.CenterFace(str(folder / "models" / "centerface.onnx"))
        self._mesh = mesh.FaceMesh(str(folder / "models" / "facemesh478.onnx"))

    def fuse(self, source: Pixels, target: Pixels, source_box: Box, target_box: Box) -> Fused | Refused:
        """Its own detection and mesh, one refinement, as its demo runs them; of several faces those nearest to the boxes."""
        ours, theirs = self._face(source, source_box), self._face(target, target_box)
        if ours is None or theirs is None:
            return Refused("no_face", target_box)
        if self._swap.verdict(ours, theirs) == "refuse":
            return Refused("refused", target_box)
        told: dict[str, Any] = {}
        result = self._swap.swap(source, ours, target, theirs, debug=told)
        return Fused(source, target, result, _mask(told["mask"], theirs, target), source_box, target_box, 0.0)

    def _face(self, pixels: Pixels, near: Box) -> Any:
        boxes, _, points, *_ = self._detector.detect(pixels, side=960)
        if not len(boxes):
            boxes, _, points, *_ = self._detector.detect(pixels, side=640, border=0.3, rotations=(0, 90, 180, 270))
        if not len(boxes):
            return None
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2
        best = int(np.linalg.norm(middles - np.array(near.centre), axis=1).argmin())
        mesh, _ = self._mesh(pixels, boxes[best], points[best])
        return mesh


def _mask(mask: Any, mesh: Any, target: Pixels) -> Pixels:
    """Its mask is of a crop (the mesh's box and a quarter of its longer side, 1024 px at most), laid back into the picture."""
    low, high = mesh[:468, :2].min(0), mesh[:468, :2].max(0)
    pad = 0.25 * (high - low).max()
    left, top = np.maximum(0, np.floor(low - pad)).astype(int)
    right, bottom = np.minimum([target.shape[1], target.shape[0]], np.ceil(high + pad)).astype(int)
    out = np.zeros(target.shape[:2], np.uint8)
    sized = cv2.resize(np.asarray(mask, np.float32), (int(right - left), int(bottom - top)), interpolation=cv2.INTER_LINEAR)
    out[top:bottom, left:right] = np.clip(sized * 255 + 0.5, 0, 255).astype(np.uint8)
    return out
