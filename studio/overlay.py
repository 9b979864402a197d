"""What is drawn over a photo: boxes, points, mesh and pose axes, as SVG.

SVG and not pixels: the layers are switched on and off at once in the browser, stay sharp at any zoom, and the photo below them
is the marked preview as it is. All coordinates are the full picture's; the `viewBox` scales them.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engines.faces.topology import NOSE_TIP, topology
from engines.types import Box, Face, Pose
from engines.vision.geometry import ARCFACE_TEMPLATE

LAYERS = ("box", "points", "mesh", "axes")
AXIS_LENGTH = 0.6  # of the face's size
POINT_RADIUS = 0.018  # of the face's size; at least POINT_LEAST of the picture's longer side
POINT_LEAST = 0.0022


def photo_layers(faces: Sequence[Face], chosen: int | None, width: int, height: int, refused: Sequence[Box] = ()) -> str:
    """All faces' boxes and points, and the chosen one's mesh and axes, each in a group of class `ov-<layer>`.

    Args:
        chosen: `Face.index`, or None.
        width, height: of the picture in pixels.
        refused: places that looked like faces; in the layer of the boxes, and nothing to choose.
    """
    parts = [f'<svg class="fs-overlay" viewBox="0 0 {width} {height}" aria-hidden="true" focusable="false">']
    picked = next((face for face in faces if face.index == chosen), None)
    if picked is not None:
        parts += [_group("mesh", [f'<path d="{mesh_path(picked.mesh.points)}"/>']), _group("axes", _axes(picked))]
    parts += [
        _group("points", [_points(face.detection.points, _radius(face, width, height)) for face in faces]),
        _group("box", [*map(_refused, refused), *(_box(face, face.index == chosen) for face in faces)]),
        "</svg>",
    ]
    return "".join(parts)


def template_layers(matrix: NDArray[np.float64] | None, points: ArrayLike, size: int) -> str:
    """The template's five points as rings and, with a matrix (picture → crop), the face's own five as dots, on a `size` square."""
    scale = size / 112
    rings = "".join(_circle(x * scale, y * scale, 3.2 * scale, "template") for x, y in ARCFACE_TEMPLATE)
    dots = ""
    if matrix is not None:
        moved = np.asarray(points, np.float64) @ matrix[:, :2].T + matrix[:, 2]
        dots = "".join(_circle(x, y, 1.5 * scale, "found") for x, y in moved)
    return f'<svg class="fs-overlay" viewBox="0 0 {size} {size}" aria-hidden="true" focusable="false">{rings}{dots}</svg>'


def mesh_path(points: NDArray[np.float32]) -> str:
    """The edges of the tessellation as one SVG path, to a tenth of a pixel. `points`: (478, ≥ 2)."""
    flat = [(f"{x:.1f} {y:.1f}") for x, y in points[:, :2].tolist()]
    return "".join(f"M{flat[a]}L{flat[b]}" for a, b in _edges())


def pose_axes(pose: Pose) -> NDArray[np.float64]:
    """(3, 2): where the face's own right-hand side of the picture, its top, and its gaze point to on the picture, each of length ≤ 1.

    The head turns by pitch, then yaw, then roll, with the signs of `engines.types.Pose`.
    """
    yaw, pitch, roll = np.radians((pose.yaw, pose.pitch, pose.roll))
    # x to the right, y down, z towards the viewer.
    nod = np.array([(1, 0, 0), (0, np.cos(pitch), np.sin(pitch)), (0, -np.sin(pitch), np.cos(pitch))])
    turn = np.array([(np.cos(yaw), 0, np.sin(yaw)), (0, 1, 0), (-np.sin(yaw), 0, np.cos(yaw))])
    tilt = np.array([(np.cos(roll), -np.sin(roll), 0), (np.sin(roll), np.cos(roll), 0), (0, 0, 1)])
    head = tilt @ turn @ nod
    return np.stack([head[:2, 0], -head[:2, 1], head[:2, 2]])


@cache
def _edges() -> tuple[tuple[int, int], ...]:
    triangles = topology().triangles
    pairs = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    return tuple((int(a), int(b)) for a, b in np.unique(pairs, axis=0))


def _group(layer: str, shapes: Sequence[str]) -> str:
    return f'<g class="ov-{layer}">{"".join(shapes)}</g>'


def _box(face: Face, chosen: bool) -> str:
    box = face.box
    kind = "chosen" if chosen else "other"
    return (
        f'<rect class="{kind}" data-face="{face.index}" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"/>'
    )


def _refused(box: Box) -> str:
    return f'<rect class="refused" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"/>'


def _points(points: NDArray[np.float32], radius: float) -> str:
    return "".join(_circle(float(x), float(y), radius, f"point-{number}") for number, (x, y) in enumerate(points))


def _circle(x: float, y: float, radius: float, kind: str) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'


def _radius(face: Face, width: int, height: int) -> float:
    return max(POINT_RADIUS * face.mesh.size, POINT_LEAST * max(width, height))


def _axes(face: Face) -> list[str]:
    x, y = (float(value) for value in face.mesh.points[NOSE_TIP, :2])
    length = AXIS_LENGTH * face.mesh.size
    lines = []
    for kind, (dx, dy) in zip(("side", "top", "gaze"), pose_axes(face.mesh.pose) * length, strict=True):
        lines.append(f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{x + dx:.1f}" y2="{y + dy:.1f}"/>')
    return lines
