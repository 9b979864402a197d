"""The main job: two 12-megapixel photographs in, one marked JPEG out; and the fusion alone at 1080p.

    python -m bench.first_fusion [--provider cpu] [--rounds 5]

The photographs are the two public-domain portraits of the dev packages, enlarged on a textured ground to the size of a phone's
picture. Compared with: decoding both photographs and encoding one, which no program can avoid.
"""

import argparse
import io
import tempfile
from pathlib import Path

import cv2
import numpy as np
from matplotlib.cbook import get_sample_data
from numpy.typing import NDArray
from PIL import Image
from skimage.data import astronaut

from bench.report import interleaved, show
from engines import FuseOptions, Settings, Studio
from engines.fusing import lay
from engines.timing import Run
from engines.vision import blend

Pixels = NDArray[np.uint8]


def photograph(portrait: Pixels, width: int, height: int, scale: float, seed: int) -> Pixels:
    """A portrait enlarged by `scale`, in the middle of a (height, width) picture of blurred noise."""
    noise = np.random.default_rng(seed).integers(60, 200, (height // 8, width // 8, 3), np.uint8)
    ground = cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC)
    large = cv2.resize(portrait, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)[:height, :width]
    top, left = (height - large.shape[0]) // 2, (width - large.shape[1]) // 2
    ground[top : top + large.shape[0], left : left + large.shape[1]] = large
    return ground


def write_jpeg(pixels: Pixels, path: Path) -> Path:
    """An input for the bench: an unmarked photograph, as a camera would write it."""
    Image.fromarray(pixels).save(path, quality=92)
    return path


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--provider", default="cpu")
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    with Image.open(get_sample_data("grace_hopper.jpg", asfileobj=False)) as picture:
        officer = np.asarray(picture.convert("RGB"))
    portrait = np.asarray(astronaut())

    with tempfile.TemporaryDirectory() as folder, Studio.open(Settings(data_dir=Path(folder) / "data", provider=given.provider)) as studio:
        root = Path(folder)
        studio.models.warm()
        pairs = [
            (
                write_jpeg(photograph(officer, 4000, 3000, 4.5, 2 * i), root / f"source{i}.jpg"),
                write_jpeg(photograph(portrait, 4000, 3000, 5.0, 2 * i + 1), root / f"target{i}.jpg"),
            )
            for i in range(given.rounds + 1)
        ]
        studio.fuse(*pairs.pop()).encode("jpg")
        turn, spans = iter(pairs), []

        def whole() -> None:
            run = Run()
            source, target = next(turn)
            studio.fuse(source, target, run=run).save(root / "out.jpg", overwrite=True, run=run)
            spans.append(run.timings())

        def unavoidable() -> None:
            source, target = pairs[0]
            studio.read(source)
            pixels = studio.read(target).pixels
            Image.fromarray(pixels).save(io.BytesIO(), "JPEG", quality=92)

        both = interleaved({"fuse, mark, verify, save": whole, "decode two, encode one": unavoidable}, given.rounds)
        least = both["decode two, encode one"]
        rows = [
            {"job": f"12 MP pair: {name}", "ms": ms, "ratio": ms / least, "goal_ms": 2500 if "fuse" in name else None}
            for name, ms in both.items()
        ]

        target = studio.read(photograph(portrait, 1920, 1080, 2.0, 99))
        source = studio.read(pairs[0][0])
        faces, fused = studio.faces(source).faces, studio.faces(target).faces
        half = studio.known.source(source, faces[0])
        warm = lambda: blend.apply(target.pixels, lay(studio.known, half, target, fused[0], FuseOptions(), Run()))  # noqa: E731
        warm()
        alone = interleaved({"1080p, warm identity: fuse + blend": warm, "1080p: copy of the frame": target.pixels.copy}, given.rounds * 2)
        copy = alone["1080p: copy of the frame"]
        rows += [{"job": name, "ms": ms, "ratio": ms / copy, "goal_ms": 150 if "warm" in name else None} for name, ms in alone.items()]
        slowest = spans[len(spans) // 2]
        rows += [{"job": f"  of the 12 MP pair: {stage}", "ms": ms, "ratio": ms / least} for stage, ms in slowest.stages]
    show("first_fusion", rows)


if __name__ == "__main__":
    main()
