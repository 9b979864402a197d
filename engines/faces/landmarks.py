"""The 68-point view of the mesh, for tools that expect the iBUG 300-W annotation."""

import numpy as np
from numpy.typing import NDArray

from engines.types import FaceMesh, Floats

# Vertices of the 478-point mesh that lie where the iBUG 300-W annotators put their points (Sagonas et al., 2013): jaw 0–16, brows
# 17–26, nose 27–35, eyes 36–47, outer lips 48–59, inner lips 60–67, each from the picture's left to its right. The jaw points
# follow the mesh's outline, which runs a little above the annotators' where hair covers the temple.
MESH_TO_68: NDArray[np.intp] = np.array(
    [
        *(162, 234, 93, 58, 172, 136, 149, 148, 152, 377, 378, 365, 397, 288, 323, 454, 389),
        *(71, 63, 105, 66, 107, 336, 296, 334, 293, 301),
        *(168, 197, 5, 4, 75, 97, 2, 326, 305),
        *(33, 160, 158, 133, 153, 144, 362, 385, 387, 263, 373, 380),
        *(61, 39, 37, 0, 267, 269, 291, 405, 314, 17, 84, 181),
        *(78, 82, 13, 312, 308, 317, 14, 87),
    ],
    dtype=np.intp,
)


def to_68(mesh: FaceMesh) -> Floats:
    """(68, 2) float32, picture pixels, in the order of iBUG 300-W."""
    return np.ascontiguousarray(mesh.points[MESH_TO_68, :2])
