"""Makes docs/before_after.jpg: source, target and result side by side, from the two public-domain portraits of the dev packages.

    python -m tools.readme_picture

The strip is an output like any other: it is marked, and its mark is read back before the file gets its name.
"""

from pathlib import Path

import cv2
import numpy as np
from matplotlib.cbook import get_sample_data
from numpy.typing import NDArray
from skimage.data import astronaut

from engines import Studio

SIDE, GAP = 480, 8


def square(pixels: NDArray[np.uint8], left: int, top: int, side: int) -> NDArray[np.uint8]:
    """A square of the picture at the strip's height."""
    cut = pixels[top : top + side, left : left + side]
    return cv2.resize(cut, (SIDE, SIDE), interpolation=cv2.INTER_AREA if side > SIDE else cv2.INTER_CUBIC)


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    portrait = np.ascontiguousarray(astronaut())
    with Studio.open() as studio:
        target = studio.read(Path(str(get_sample_data("grace_hopper.jpg", asfileobj=False))))
        result = studio.fuse(portrait, target)
        views = [
            square(portrait, 60, 0, 330),
            square(target.pixels, 76, 60, 360),
            square(result.image.pixels, 76, 60, 360),
        ]
        strip = np.full((SIDE, 3 * SIDE + 2 * GAP, 3), 255, np.uint8)
        for column, view in enumerate(views):
            left = column * (SIDE + GAP)
            strip[:, left : left + SIDE] = view
        saved = studio.encode(studio.mark(strip, "fusion"), "jpg", 90)
        from engines.provenance.save import write_encoded

        write_encoded(saved, root / "docs" / "before_after.jpg", overwrite=True)


if __name__ == "__main__":
    main()
