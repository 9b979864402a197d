"""Who a face is: networks of the ArcFace contract, 512 numbers (buffalo_l's w600k_r50 and its kind).

Deng et al., "ArcFace: Additive Angular Margin Loss for Deep Face Recognition", CVPR 2019. One input, a 112 px crop on the ArcFace template;
one output, (B, 512), not normalised. Mean and deviation come from the entry: 127.5 and 127.5, or 0 and 1 for graphs that subtract them
themselves, as those from MXNet do.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engines.faces.batches import run_stack
from engines.faces.feeds import expect, feed, input_of
from engines.faces.norm_crop import norm_crop
from engines.faces.topology import five_points
from engines.model_entry import ModelEntry
from engines.runtime.session import Session
from engines.types import FaceMesh, Identity, Pixels

SIDE = 112

# An `Identity` keeps its vector at this length, so that .5 lies between one person and two, as it does for dlib's network, and everything
# that reads distances reads these too: at a cosine of .4, which is where InsightFace's package draws the line by itself.
SAME_COSINE = 0.4
LENGTH = 0.5 / float(np.sqrt(2 - 2 * SAME_COSINE))


class ArcFace:
    """One identity network; does what `engines.faces.embedder.Embedder` does.

    Args:
        entry: of models.toml, contract "arcface". Its name goes into every `Identity`.

    Raises:
        SessionContract: not one input and one output.
    """

    def __init__(self, session: Session, entry: ModelEntry) -> None:
        expect(entry, session, 1, (1,))
        self._session, self._entry, self._input = session, entry, input_of(entry)

    def embed(self, pixels: Pixels, mesh: FaceMesh) -> Identity:
        """The identity of one face of a picture, (H, W, 3) uint8 RGB."""
        return self.embed_all(pixels, [mesh])[0]

    def embed_all(self, pixels: Pixels, meshes: Sequence[FaceMesh]) -> tuple[Identity, ...]:
        """The identities of several faces of one picture, in one batch."""
        if not meshes:
            return ()
        return self._identities([norm_crop(pixels, five_points(mesh.points), SIDE).pixels for mesh in meshes])

    def embed_at(self, pixels: Pixels, points5: ArrayLike) -> Identity:
        """The identity at five points (5, 2) of a detector: `normed_embedding` of the original, times `LENGTH`."""
        return self._identities([norm_crop(pixels, points5, SIDE).pixels])[0]

    def features(self, crops: NDArray[np.uint8]) -> NDArray[np.float32]:
        """(B, 112, 112, 3) uint8 RGB → (B, 512) float32, not normalised."""
        found = run_stack(self._session, self._session.inputs[0].name, feed(crops, self._input))
        return np.asarray(found[self._session.outputs[0].name], np.float32)

    def _identities(self, crops: Sequence[Pixels]) -> tuple[Identity, ...]:
        found = self.features(np.stack(crops))
        lengths = np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        return tuple(Identity(one, self._entry.name) for one in np.asarray(found / lengths * LENGTH, np.float32))


def unit(identity: Identity) -> NDArray[np.float32]:
    """(512,) float32 of length 1. Zeros stay zeros."""
    length = float(np.linalg.norm(identity.embedding))
    return identity.embedding / np.float32(length if length > 0 else 1.0)
