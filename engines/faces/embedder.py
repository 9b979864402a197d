"""Who a face is: dlib's ResNet-29, 128 numbers.

King, "High Quality Face Recognition with Deep Metric Learning", dlib 2017. The graph takes `input` (B, 3, 150, 150) RGB 0..255 (its
own mean is inside) and answers `embedding` (B, 128).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engines.faces.batches import run_stack
from engines.runtime.session import Session
from engines.types import FaceMesh, Identity, Matrix, Pixels
from engines.vision.geometry import similarity_transform, warp

INPUT, EMBEDDING = "input", "embedding"
CHIP, PADDING = 150, 0.25  # dlib's get_face_chip_details defaults for this network

# dlib's five-landmark mean face in a unit square (image_transforms/interpolation.h): outer and inner corner of the eye at the picture's
# right, of the one at its left, base of the nose; and the mesh vertices that lie there.
MEAN_FACE: NDArray[np.float64] = np.array(
    [
        (0.8595674595992, 0.2134981538014),
        (0.6460604764104, 0.2289674387677),
        (0.1205750620789, 0.2137274526848),
        (0.3340850613712, 0.2290642403242),
        (0.4901123135679, 0.6277975316475),
    ],
    dtype=np.float64,
)
MEAN_FACE.setflags(write=False)
CHIP_VERTICES = (263, 362, 33, 133, 2)

# Distances, measured: the same person .02–.41 (median .35), others .44–1.05 (median .82, 580 pairs). At .5 one pair of strangers in 580
# passes for one person, and no pair of one person is missed.
SAME = 0.5
SPREAD = 0.06


class Embedder:
    """The identity network.

    Args:
        name: its entry in models.toml, which goes into every `Identity`.
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session, self._name = session, name

    def embed(self, pixels: Pixels, mesh: FaceMesh) -> Identity:
        """The identity of one face of a picture, (H, W, 3) uint8 RGB."""
        return self.embed_all(pixels, [mesh])[0]

    def embed_all(self, pixels: Pixels, meshes: Sequence[FaceMesh]) -> tuple[Identity, ...]:
        """The identities of several faces of one picture, in one batch."""
        if not meshes:
            return ()
        chips = np.stack([warp(pixels, chip_matrix(mesh), (CHIP, CHIP)) for mesh in meshes])
        feed = np.ascontiguousarray(chips.transpose(0, 3, 1, 2), dtype=np.float32)
        found = run_stack(self._session, INPUT, feed)[EMBEDDING]
        return tuple(Identity(np.array(one, dtype=np.float32), self._name) for one in found)


def chip_matrix(mesh: FaceMesh) -> Matrix:
    """(2, 3) picture → dlib's 150 px chip."""
    template = (MEAN_FACE + PADDING) / (1 + 2 * PADDING) * CHIP
    return similarity_transform(mesh.points[list(CHIP_VERTICES), :2], template)


def distance(a: Identity, b: Identity) -> float:
    """Euclidean distance, 0 … about 1.2; under .5 the same person. (Cosine is compressed for this network: strangers reach .84.)

    Raises:
        ValueError: the identities are of different models, which don't compare.
    """
    if a.model != b.model:
        raise ValueError(f"identities of {a.model} and {b.model} don't compare")
    return float(np.linalg.norm(a.embedding.astype(np.float64) - b.embedding.astype(np.float64)))


def similarity(distance: float) -> float:
    """A distance as 0..100, falling: 100 / (1 + exp((distance − .5) / .06)).

    50 lies at the threshold of `SAME`. The width is chosen so that what was measured reads as people expect: the median of one person
    (.35) is 92, of strangers (.82) 0.5, and the strangers who are nearest (.44) don't exceed 73. It is a reading of the distance, not a
    probability, and errs for dark-skinned and East Asian faces, which this network separates badly.
    """
    return float(100.0 / (1.0 + np.exp((distance - SAME) / SPREAD)))
