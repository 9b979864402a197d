"""face_topology.npz: the triangles of the face mesh, its mirror permutation and its mean shape.

    tri     (902, 3) int32     corners of each triangle, seen from the front all turning the same way
    mirror  (478,) int32       the point on the other side of the face; its own number on the midline
    mean    (478, 3) float32   a frontal mean face, symmetric, centred, one face width wide; x right, y down, z away

The surface triangles are MediaPipe's tessellation, read from its own source; eyes and mouth, which it leaves open, are filled here.
The mean shape is a measurement, kept beside this file as numbers: the median of the meshes of several photographed faces, laid over
each other, then made symmetric. `mean_mesh.csv` has one side of it: point, its mirror, x, y, z of the point.
"""

import csv
import io
import re
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np

from tools.modelpack.graph import Array

TABLE = Path(__file__).with_name("mean_mesh.csv")
POINTS = 478
# Each iris centre and the ring of lid points around it, from the outer corner over the upper lid.
EYES = {
    468: (33, 246, 161, 160, 159, 158, 157, 173, 133, 155, 154, 153, 145, 144, 163, 7),
    473: (263, 466, 388, 387, 386, 385, 384, 398, 362, 382, 381, 380, 374, 373, 390, 249),
}
# The inner edges of the lips, corner to corner.
UPPER_LIP = (78, 191, 80, 81, 82, 13, 312, 311, 310, 415, 308)
LOWER_LIP = (78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308)


def surface(connections: str) -> list[list[int]]:
    """Triangles from MediaPipe's list of edges, which has the three edges of each triangle one after the other.

    Raises:
        ValueError: three edges that are no triangle.
    """
    edges = [(int(a), int(b)) for a, b in re.findall(r"\((\d+),\s*(\d+)\)", connections[connections.index("FACEMESH_TESSELATION") :])]
    triangles = []
    for first, second, third in zip(edges[0::3], edges[1::3], edges[2::3], strict=True):
        if len({*first, *second, *third}) != 3:
            raise ValueError(f"edges {first}, {second}, {third} are no triangle")
        triangles.append([*first, second[1] if second[1] not in first else second[0]])
    return triangles


def fillings() -> list[list[int]]:
    """Triangles over the open eyes (fans around the iris) and the open mouth (a strip between the lips)."""
    eyes = [[iris, here, there] for iris, ring in EYES.items() for here, there in pairwise((*ring, ring[0]))]
    mouth = []
    for (up, next_up), (low, next_low) in zip(pairwise(UPPER_LIP), pairwise(LOWER_LIP), strict=True):
        mouth += [[up, next_up, low], [next_up, next_low, low]]
    return eyes + [triangle for triangle in mouth if len(set(triangle)) == 3]  # at the corners the lips are one point


def mean_shape() -> tuple[Array, Array]:
    """The mean face (478, 3) float32 and the mirror permutation (478,) int32."""
    mean, mirror = np.zeros((POINTS, 3), np.float32), np.arange(POINTS, dtype=np.int32)
    with TABLE.open(encoding="ascii", newline="") as lines:
        for row in csv.DictReader(lines):
            here, there = int(row["point"]), int(row["mirror"])
            x, y, z = (np.float32(row[axis]) for axis in "xyz")
            mirror[[here, there]] = there, here
            mean[there], mean[here] = (-x, y, z), (x, y, z)
    return mean, mirror


def same_turn(triangles: Array, mean: Array) -> Array:
    """Swaps two corners of every triangle that turns the other way in the frontal view."""
    a, b, c = (mean[triangles[:, i], :2].astype(np.float64) for i in range(3))
    (x1, y1), (x2, y2) = (b - a).T, (c - a).T
    wrong = x1 * y2 - y1 * x2 < 0
    return np.where(wrong[:, None], triangles[:, [0, 2, 1]], triangles)


def convert(connections: bytes) -> bytes:
    """MediaPipe's `face_mesh_connections.py` → the bytes of the npz."""
    mean, mirror = mean_shape()
    triangles = np.array(surface(connections.decode()) + fillings(), np.int32)
    return npz({"tri": same_turn(triangles, mean), "mirror": mirror, "mean": mean})


def npz(arrays: dict[str, Array]) -> bytes:
    """An npz whose bytes depend on the arrays alone: not compressed (zlib's output differs between builds), no date, no system."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            member.create_system = 3
            content = io.BytesIO()
            np.lib.format.write_array(content, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            archive.writestr(member, content.getvalue())
    return whole.getvalue()
