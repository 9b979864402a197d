"""Which faces are found, from 16 px on, and what the search for small ones costs.

    python -m bench.detection [--rounds 3] [--threads 2] [--quick]

Pictures are composed from the two public-domain portraits of the dev packages on a textured ground, so every face's place is known.
`whole views` is a search without tiles and without a closer look at the detector's hints; `found` and `ratio` compare the full search with
it. The two take turns. The last rows are portraits: one that fills its picture, one before a soft ground, one before a busy one.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import cv2
import numpy as np

from bench.crowd import Pixels, Placed, Scene, crowd, ground, heads, put, tally
from bench.report import interleaved, show
from engines.faces.centerface import CenterFace
from engines.faces.facemesh import FaceMeshNet
from engines.faces.finder import FaceFinder
from engines.faces.search import Search
from engines.runtime.session import open_session
from engines.timing import Run
from engines.types import Face

PACK = Path(__file__).resolve().parents[1] / "assets" / "models"
TWELVE, TWENTY_FOUR = (4000, 3000), (6000, 4000)
SMALL = (16, 20, 24, 32, 36)

SCENES: dict[str, Callable[[], Scene]] = {
    "12 MP, group": lambda: crowd(24, SMALL, *TWELVE),
    "12 MP, crowd of 100": lambda: crowd(100, (20, 24, 32, 48, 64), *TWELVE, seed=6),
    "12 MP, before one of 700 px": lambda: crowd(28, (*SMALL, 48), *TWELVE, seed=7, portrait=700),
    "12 MP, beside one of 300 px": lambda: crowd(28, (*SMALL, 48), *TWELVE, seed=8, portrait=300),
    "12 MP, four ways up": lambda: crowd(24, (20, 24, 32, 48), *TWELVE, seed=9, rolls=(0, 0, 0, 0, 90, 90, 90, 90, 180, 270)),
    "12 MP, all on their side": lambda: crowd(16, (20, 24, 32, 48), *TWELVE, seed=10, rolls=(90,)),
    "2 MP, crowd": lambda: crowd(30, SMALL, 1600, 1200, seed=11),
    "24 MP, group": lambda: crowd(24, SMALL, *TWENTY_FOUR, seed=12),
    "12 MP, nobody": lambda: crowd(0, SMALL, *TWELVE, seed=13),
    "portrait, fills 11 MP": lambda: enlarged(3072, 3600),
    "portrait, soft ground": lambda: before(800, soft=True),
    "portrait, busy ground": lambda: before(800, soft=False),
}
QUICK = ("2 MP, crowd", "12 MP, before one of 700 px", "portrait, soft ground")


def enlarged(width: int, height: int) -> Scene:
    """One of the portraits, as large as a phone's picture, with a camera's noise."""
    head = heads()[1]
    large = cv2.resize(head.pixels, (width, height), interpolation=cv2.INTER_CUBIC)
    scale = width / head.pixels.shape[1]
    return Scene(_noisy(large), (Placed(head.middle[0] * scale, head.middle[1] * scale, head.size * scale),))


def before(size: float, soft: bool) -> Scene:
    """A portrait before a ground in focus or out of it."""
    width, height = TWELVE
    pixels = ground(width, height, 3)
    if soft:
        pixels = _noisy(np.asarray(cv2.GaussianBlur(pixels, (0, 0), 12), np.uint8))
    place = Placed(width / 2, height / 2, size)
    put(pixels, heads()[1], place)
    return Scene(pixels, (place,))


def measured(name: str, scene: Scene, finder: FaceFinder, rounds: int) -> dict[str, Any]:
    """A row of the table."""

    def full() -> tuple[Face, ...]:
        return finder.find(scene.pixels, Run())

    def whole() -> tuple[Face, ...]:
        with patch.object(Search, "_tiles", lambda _: None), patch.object(Search, "_close", lambda *_: None):
            return full()

    times = interleaved({"whole": whole, "full": full}, rounds)
    faces = full()
    now, then = tally(faces, scene), tally(whole(), scene)
    row: dict[str, Any] = {"picture": name, "faces": len(scene.placed), "whole views": len(then.hits), "found": len(now.hits)}
    row |= {"false": now.false, "doubled": now.doubled, "fusible": sum(face.verdict.usable for face in faces)}
    row |= {"ms": times["full"], "ratio": times["full"] / times["whole"]}
    by_size = now.by_size(scene)
    return row | {"found by size": " ".join(f"{size:g}:{found}/{placed}" for size, (found, placed) in by_size.items())}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--quick", action="store_true", help="three of the pictures")
    given = options.parse_args()
    sessions = [open_session(PACK / file, "cpu", given.threads) for file in ("centerface.onnx", "facemesh478.onnx")]
    finder = FaceFinder(CenterFace(sessions[0]), FaceMeshNet(sessions[1]))
    chosen = {name: make for name, make in SCENES.items() if not given.quick or name in QUICK}
    show("detection", [measured(name, make(), finder, given.rounds) for name, make in chosen.items()])
    for session in sessions:
        session.close()


def _noisy(pixels: Pixels) -> Pixels:
    noise = np.random.default_rng(0).normal(0, 3, (*pixels.shape[:2], 1))
    return np.asarray((pixels + noise).clip(0, 255), np.uint8)


if __name__ == "__main__":
    main()
