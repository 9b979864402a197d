"""A learned swapper: inswapper_128 and its kind, `INSwapper` of the InsightFace package.

Two inputs: `target`, a crop of 128 px on the ArcFace template, RGB 0..1, and `source`, (1, 512), the source's unit embedding times a matrix
that the graph carries as its last initialiser, made a unit vector again. One output, the crop with the source's face, RGB 0..1.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engines.errors import SessionContract
from engines.faces.arcface import unit
from engines.faces.feeds import expect, feed, input_of
from engines.faces.norm_crop import norm_crop
from engines.faces.pixel_boost import FACTORS, explode, implode
from engines.model_entry import ModelEntry
from engines.runtime.session import Session
from engines.timing import Run
from engines.types import AlignedFace, Identity, Pixels

SIDE = 128


class Inswapper:
    """One swapping network.

    Args:
        entry: of models.toml, contract "inswapper".
        emap: (512, 512) float32, `engines.onnx_file.last_initialiser` of the same file.

    Raises:
        SessionContract: not a picture and a vector in and a picture out, or a matrix of another size than the vector.
    """

    def __init__(self, session: Session, entry: ModelEntry, emap: NDArray[np.float32]) -> None:
        expect(entry, session, 2, (1,))
        shapes = [spec.shape for spec in session.inputs]
        if [len(shape) for shape in shapes] != [4, 2] or emap.shape != (shapes[1][1], shapes[1][1]):
            raise SessionContract(graph=entry.file, detail=f"a picture, a vector and its matrix are needed, not {shapes} and {emap.shape}")
        self._session, self._input, self._emap = session, input_of(entry), emap
        fixed = shapes[0][2]
        self.side = fixed if isinstance(fixed, int) else SIDE

    def latent(self, identity: Identity) -> NDArray[np.float32]:
        """(1, 512) float32 of length 1: what the graph takes for the source.

        Raises:
            SessionContract: an embedding of another length.
        """
        if identity.embedding.shape != (len(self._emap),):
            raise SessionContract(graph=identity.model, detail=f"{identity.embedding.shape} numbers, not {len(self._emap)}")
        latent = np.dot(unit(identity)[None], self._emap)
        return np.asarray(latent / np.linalg.norm(latent), np.float32)

    def swap(self, pixels: Pixels, points5: ArrayLike, identity: Identity, boost: int = 1, run: Run | None = None) -> AlignedFace:
        """The target's face with the source's identity, in its own crop of `boost` times 128 px.

        Args:
            pixels: (H, W, 3) uint8 RGB, the target's whole picture.
            points5: (5, 2) of the target's face, as `norm_crop` takes them.
            identity: of the source, of the network that the entry names as its `identity`.
            boost: one of `FACTORS`; the graph runs `boost`² times.
            run: asked before each of them whether the job was stopped.

        Raises:
            ValueError: a boost that isn't one of them. Cancelled, SessionContract, RunFailed.
        """
        if boost not in FACTORS:
            raise ValueError(f"boost can't be {boost}")
        run, latent = run or Run(), self.latent(identity)
        cut = norm_crop(pixels, points5, boost * self.side)
        grids = implode(cut.pixels, self.side)
        swapped = []
        for done, grid in enumerate(grids):
            with run.stage("fuse", done, len(grids)):
                swapped.append(self.swap_crop(grid, latent, run))
        return AlignedFace(explode(np.stack(swapped)), cut.matrix, cut.inverse, cut.size, cut.template)

    def swap_crop(self, crop: Pixels, latent: NDArray[np.float32], run: Run | None = None) -> Pixels:
        """(128, 128, 3) uint8 RGB → the same face as somebody else. Levels are cut off, not rounded, as in the original."""
        target, source = (spec.name for spec in self._session.inputs)
        answer = self._session.run({target: feed(crop[None], self._input), source: latent}, run)
        drawn = answer[self._session.outputs[0].name][0].transpose(1, 2, 0)
        return np.asarray(np.clip(255 * drawn, 0, 255), np.uint8)
