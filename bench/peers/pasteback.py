"""Laying a face back into its frame: ours against a careful float32 blend of the region, and against insightface.

    python -m bench.peers.pasteback [--peers FOLDER] [--threads 1 2] [--rounds 15]

    FOLDER: where a peer was installed, outside of this tree: pip install --no-deps --target FOLDER insightface==2.1
            Without it insightface's column is left empty.

Fair rules: one process, methods in turns, the same number of OpenCV threads for all, one crop and one mask for all; insightface gets a
network that answers at once. Each takes the frame and leaves the face in it; the float blend copies the frame first, as its users do.
`difference` is ours against a float64 blend, in levels of 255; `outside` counts bytes that ours changed where the mask in the frame is 0.
"""

import argparse
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from bench.report import interleaved, show
from engines.faces.crop import LEAST, MOST, STEP
from engines.types import FusedCrop, Matrix, Pixels
from engines.vision import blend, geometry

PLACES = [((1920, 1080), face) for face in (160, 300, 600)] + [((3840, 2160), 700)]
LEARNED = 128  # side of the crop that insightface's network gives


def own_side(face: float) -> int:
    """Side of the crop that our fusion makes for a square of `face` px."""
    return int(np.clip(np.ceil(0.97 * face / STEP) * STEP, LEAST, MOST))


def noise(width: int, height: int, grain: int, seed: int) -> Pixels:
    """Smooth random colours: (height, width, 3)."""
    rough = np.random.default_rng(seed).integers(0, 255, (height // grain, width // grain, 3), np.uint8)
    return np.asarray(cv2.resize(rough, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def feathered(size: int) -> Pixels:
    """A square mask with a soft edge and nothing on its border."""
    mask, rim = np.zeros((size, size), np.float32), int(size * 0.12)
    mask[rim:-rim, rim:-rim] = 255
    mask = np.rint(cv2.GaussianBlur(mask, (0, 0), rim / 3))
    mask[[0, -1]], mask[:, [0, -1]] = 0, 0
    return mask.astype(np.uint8)


def square_at(face: float, size: int, width: int, height: int) -> Matrix:
    """Picture → crop of a square of `face` px, turned by 8°, near the middle of the frame."""
    turn, scale = np.deg2rad(8), face / size
    rotation = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    centre = np.array([width * 0.45, height * 0.5])
    return geometry.invert(np.column_stack([rotation, centre - rotation @ [size / 2, size / 2]]))


def float_region(frame: Pixels, crop: FusedCrop) -> Pixels:
    """What careful peers do: the region of interest, a float32 mask, NumPy's arithmetic, a copy of the frame."""
    frame, side, inverse = frame.copy(), crop.pixels.shape[0], geometry.invert(crop.matrix)
    corners = geometry.apply(inverse, np.array([(0, 0), (side, 0), (0, side), (side, side)], np.float64))
    low = np.maximum(np.floor(corners.min(0)).astype(int) - 1, 0)
    high = np.minimum(np.ceil(corners.max(0)).astype(int) + 1, [frame.shape[1], frame.shape[0]])
    inverse[:, 2] -= low
    size = (int(high[0] - low[0]), int(high[1] - low[1]))
    share = cv2.warpAffine(crop.mask.astype(np.float32) / 255, inverse, size)[..., None]
    face = cv2.warpAffine(crop.pixels, inverse, size, borderMode=cv2.BORDER_REPLICATE)
    region = frame[low[1] : high[1], low[0] : high[0]]
    region[:] = (region * (1 - share) + face * share).astype(np.uint8)
    return frame


def exact(frame: Pixels, crop: FusedCrop) -> Pixels:
    """The blend in float64, rounded."""
    inverse, size = geometry.invert(crop.matrix), (frame.shape[1], frame.shape[0])
    share = cv2.warpAffine(crop.mask, inverse, size).astype(np.float64)[..., None] / 255
    face = cv2.warpAffine(crop.pixels, inverse, size, borderMode=cv2.BORDER_REPLICATE)
    return np.rint(frame + (face - frame.astype(np.float64)) * share).astype(np.uint8)


def outside_of(frame: Pixels, crop: FusedCrop) -> NDArray[np.bool_]:
    """Where the mask that is laid into the frame is 0."""
    patch = blend.paste(frame, crop)
    out = np.ones(frame.shape[:2], bool)
    out[patch.top : patch.top + patch.mask.shape[0], patch.left : patch.left + patch.mask.shape[1]] = patch.mask == 0
    return out


def insightface(crop: FusedCrop) -> Callable[[Pixels], Any]:
    """The library's own `INSwapper.get` with a session that answers with the crop. Raises `ImportError`."""
    from insightface.model_zoo.inswapper import INSwapper

    swapper, size = INSwapper.__new__(INSwapper), crop.pixels.shape[0]
    swapper.input_size, swapper.input_std, swapper.input_mean, swapper.emap = (size, size), 255.0, 0.0, np.eye(4, dtype=np.float32)
    swapper.output_names, swapper.input_names = ["output"], ["target", "source"]
    answer = [crop.pixels[None, :, :, ::-1].transpose(0, 3, 1, 2).astype(np.float32) / 255]
    swapper.session = SimpleNamespace(run=lambda *_: answer)
    template = np.array([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]])
    points = geometry.apply(geometry.invert(crop.matrix), template * (size / 128) + [8 * size / 128, 0])
    target, person = SimpleNamespace(kps=points.astype(np.float32)), SimpleNamespace(normed_embedding=np.ones(4, np.float32))
    return lambda frame: swapper.get(frame, target, person, paste_back=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--peers")
    options.add_argument("--threads", type=int, nargs="+", default=[2])
    options.add_argument("--rounds", type=int, default=15)
    given = options.parse_args()
    if given.peers:
        sys.path.append(given.peers)

    rows = []
    for threads in given.threads:
        cv2.setNumThreads(threads)
        for ((width, height), face), size in ((place, size) for place in PLACES for size in (LEARNED, own_side(place[1]))):
            frame = noise(width, height, 20, 1)
            crop = FusedCrop(noise(size, size, 16, 2), feathered(size), square_at(face, size, width, height))
            copies = [frame.copy() for _ in range(3)]
            jobs: dict[str, Callable[[], object]] = {
                "ours": lambda to=copies[0], what=crop: blend.lay(to, [what]),  # type: ignore[misc]
                "float": lambda to=copies[1], what=crop: float_region(to, what),  # type: ignore[misc]
            }
            # its template fits a crop of 128 px; for a larger one it would lay the face elsewhere
            if given.peers and size == LEARNED:
                paste = insightface(crop)
                jobs["insightface"] = lambda to=copies[2], paste=paste: paste(to)  # type: ignore[misc]
            took = interleaved(jobs, given.rounds)
            made = frame.copy()
            blend.lay(made, [crop])
            wanted, outside = exact(frame, crop), outside_of(frame, crop)
            rows.append(
                {
                    "threads": threads,
                    "frame": f"{width}×{height}",
                    "face": face,
                    "crop": size,
                    "ours ms": took["ours"],
                    "float ms": took["float"],
                    "insightface ms": took.get("insightface"),
                    "float/ours": took["float"] / took["ours"],
                    "insightface/ours": took["insightface"] / took["ours"] if "insightface" in took else None,
                    "difference": int(np.abs(made.astype(int) - wanted).max()),
                    "outside": int((made != frame)[outside].sum()),
                }
            )
    show("pasteback", rows)


if __name__ == "__main__":
    main()
