"""What is the same in every face mesh: its triangles, its mirror image, and which vertices are what."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engines.errors import ModelCorrupt, ModelMissing
from engines.text import ASSETS

FILE = ASSETS / "models" / "face_topology.npz"

VERTICES = 478  # 468 on the surface, then 5 for each iris
SURFACE = 468

# Rings of vertices, in the numbering of MediaPipe's canonical face model. "Left" and "right" are the picture's, of an upright face;
# the eye rings begin at the outer corner and run over the upper lid.
EYE_LEFT = (33, 246, 161, 160, 159, 158, 157, 173, 133, 155, 154, 153, 145, 144, 163, 7)
EYE_RIGHT = (263, 466, 388, 387, 386, 385, 384, 398, 362, 382, 381, 380, 374, 373, 390, 249)
LIPS_INNER = (78, 191, 80, 81, 82, 13, 312, 311, 310, 415, 308, 324, 318, 402, 317, 14, 87, 178, 88, 95)
LIPS_OUTER = (61, 185, 40, 39, 37, 0, 267, 269, 270, 409, 291, 375, 321, 405, 314, 17, 84, 181, 91, 146)
OVAL = (
    *(10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377),
    *(152, 148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109),
)
# From the bridge down the image's right side, round the wing, along the base.
NOSE = (168, 351, 412, 343, 437, 355, 358, 327, 326, 2, 97, 98, 129, 126, 217, 114, 188, 122)
EYE_CORNERS = (33, 263)  # the outer ones: MediaPipe levels a face by them
NOSE_TIP, MOUTH_LEFT, MOUTH_RIGHT = 4, 61, 291
# Vertices that expression hardly moves: eye corners, bridge and base of the nose, temples, forehead, chin.
RIGID = (33, 133, 362, 263, 168, 6, 197, 195, 5, 4, 2, 98, 327, 127, 356, 234, 454, 10, 151, 9, 152)


@dataclass(frozen=True, slots=True)
class Topology:
    """Read-only arrays.

    Attributes:
        triangles: (902, 3) int32 vertex numbers, MediaPipe's tessellation with the eyes and the mouth filled in; all turn the same
            way in a frontal view.
        mirror: (478,) int32; vertex `mirror[i]` is the other side's `i`. Its own inverse.
        mean: (478, 3) float32, an upright frontal face of many people, symmetric, centred at 0, one unit wide; z smaller is nearer.
    """

    triangles: NDArray[np.int32]
    mirror: NDArray[np.int32]
    mean: NDArray[np.float32]


@cache
def topology() -> Topology:
    """The one topology.

    Raises:
        ModelMissing, ModelCorrupt: assets/models/face_topology.npz isn't there, or isn't what it should be.
    """
    facts: dict[str, Any] = {"name": "face_topology", "file": FILE.name, "folder": str(FILE.parent)}
    if not FILE.is_file():
        raise ModelMissing(**facts)
    try:
        with np.load(FILE, allow_pickle=False) as stored:
            found = Topology(stored["tri"].astype(np.int32), stored["mirror"].astype(np.int32), stored["mean"].astype(np.float32))
    except (OSError, ValueError, KeyError, EOFError) as fault:
        raise ModelCorrupt(**facts) from fault
    if found.triangles.shape[1:] != (3,) or found.mirror.shape != (VERTICES,) or found.mean.shape != (VERTICES, 3):
        raise ModelCorrupt(**facts)
    for array in (found.triangles, found.mirror, found.mean):
        array.setflags(write=False)
    return found


def five_points(points: ArrayLike) -> NDArray[np.float64]:
    """(5, 2) float64: image-left and image-right eye, nose tip, mouth corners, from a mesh of (478, 2 or 3).

    The eyes are the centres of their rings, not the irises, so that a glance aside doesn't turn the face.
    """
    xy = np.asarray(points, dtype=np.float64)[:, :2]
    eyes = [xy[list(ring)].mean(axis=0) for ring in (EYE_LEFT, EYE_RIGHT)]
    return np.stack([*eyes, xy[NOSE_TIP], xy[MOUTH_LEFT], xy[MOUTH_RIGHT]])
