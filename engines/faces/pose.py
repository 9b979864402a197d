"""Head angles from the mesh, corrected for its under-reading."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engines.faces.topology import RIGID, topology
from engines.types import Pose

# What the mesh reads when a head is turned by TRUE degrees: medians over eight photographs, turned in 3-D with a perspective camera.
# The network learned mostly from frontal faces and flattens the others.
TRUE = (0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0)
YAW_READ = (0.0, 9.8, 19.7, 27.8, 36.8, 43.8, 50.6)
UP_READ = (0.0, 7.5, 16.8, 25.9, 35.2, 42.8, 47.0)
DOWN_READ = (0.0, 9.2, 18.3, 26.9, 34.3, 41.5, 46.4)

# Past 60° of yaw the reading falls back to 30–50°. There the detector's points tell: the distance of the eyes over the height from
# the mouth to the eyes is cos(yaw), with a standard deviation of .05 over people, so it is believed from 45° on only.
FOLD = 45.0


def pose_of(points: ArrayLike, points5: ArrayLike | None = None) -> Pose:
    """Angles of a face.

    The mesh is laid on the mean face by its rigid vertices (Kabsch 1976); the rotation is read as roll · yaw · pitch, so that turning
    the picture changes the roll alone.

    Args:
        points: (478, 3), x right, y down, z smaller is nearer, all in one unit.
        points5: (5, 2), the *detector's* five points. With them a profile that the mesh takes for a half profile is seen.

    Returns:
        yaw > 0: turned to the picture's right; pitch > 0: looking down; roll > 0: clockwise, -180..180.
    """
    mesh = np.asarray(points, dtype=np.float64)[list(RIGID)]
    mean = topology().mean[list(RIGID)].astype(np.float64)
    u, _, vt = np.linalg.svd((mesh - mesh.mean(axis=0)).T @ (mean - mean.mean(axis=0)))
    rotation = (u * [1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    yaw = float(np.degrees(np.arctan2(rotation[2, 0], np.hypot(rotation[0, 0], rotation[1, 0]))))
    pitch = float(np.degrees(np.arctan2(rotation[2, 1], rotation[2, 2])))
    roll = float(np.degrees(np.arctan2(rotation[1, 0], rotation[0, 0])))
    yaw, pitch = lifted(yaw, YAW_READ), lifted(pitch, UP_READ if pitch < 0 else DOWN_READ)
    if points5 is not None:
        folded = yaw_by_points(np.asarray(points5, dtype=np.float64))
        if folded > max(FOLD, abs(yaw)):
            yaw = float(np.copysign(folded, yaw))
    return Pose(yaw, pitch, roll)


def lifted(reading: float, nodes: tuple[float, ...]) -> float:
    """A reading in degrees → the true angle, by the table; past its end on along the last slope. Odd and increasing."""
    size = abs(reading)
    if size <= nodes[-1]:
        true = float(np.interp(size, nodes, TRUE))
    else:
        true = TRUE[-1] + (size - nodes[-1]) * (TRUE[-1] - TRUE[-2]) / (nodes[-1] - nodes[-2])
    return float(np.copysign(true, reading))


def yaw_by_points(points5: NDArray[np.float64]) -> float:
    """|yaw| in degrees, 0..90, from (5, 2) eyes, nose, mouth corners; whatever the roll."""
    across = points5[1] - points5[0]
    apart = float(np.hypot(*across))
    if apart < 1e-6:
        return 90.0
    down = np.array([-across[1], across[0]]) / apart
    height = float(((points5[3] + points5[4]) / 2 - (points5[0] + points5[1]) / 2) @ down)
    return float(np.degrees(np.arccos(np.clip(apart / max(height, 1e-6), 0.0, 1.0))))
