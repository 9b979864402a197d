"""What each stage of a fusion costs: one face of a 1080p picture, in both modes, with its source known.

    python -m bench.fusion [--rounds 9] [--face 360] [--threads 2]

    --face: width of the target's face in px.

`first` is a target seen for the first time, `again` one of which only an option changed, `next picture` the same face a moment later
in a stream. The rows below the totals are parts of `again`,
timed where the fusion calls them; the modes take turns. Source and target are the two public-domain portraits of the dev packages;
the target wears glasses, so that something is found over the face.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from types import ModuleType
from typing import Any
from unittest.mock import patch

import cv2
import numpy as np
from matplotlib.cbook import get_sample_data
from PIL import Image
from skimage.data import astronaut

from bench.first_fusion import photograph
from bench.report import show
from engines import FuseOptions, Settings, Studio
from engines.faces import coverage, eyes, light, mesh_swapper, mouth, outline, placement, source, texture
from engines.options import Mode
from engines.timing import Run
from engines.types import Face, FaceMesh, Pixels
from engines.vision import blend

PARTS: tuple[tuple[str, Any, str], ...] = (
    ("place", mesh_swapper, "place"),
    ("sample the source", source.PreparedSource, "sample"),
    ("mask", coverage, "cover"),
    ("light", light, "tone"),
    ("relight", light.Tone, "apply"),
    ("texture", texture, "match"),
    ("target, moved", placement.Placement, "own"),
    ("eyes", eyes, "finish"),
    ("mouth", mouth, "finish"),
    ("outline", outline, "drawn_along"),
)


class Clock:
    """Adds up what calls of a name take, while it is entered."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._stack = ExitStack()

    def __enter__(self) -> "Clock":
        for name, owner, attribute in PARTS:
            self._stack.enter_context(patch.object(owner, attribute, self._timed(name, getattr(owner, attribute), owner)))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _timed(self, name: str, call: Callable[..., Any], owner: Any) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            try:
                return call(*arguments, **named)
            finally:
                self.spent[name] += (time.perf_counter() - begun) * 1e3

        assert isinstance(owner, ModuleType | type)
        return timed


def the_face(studio: Studio, pixels: Pixels) -> Face:
    return max(studio.faces(pixels).faces, key=lambda face: face.mesh.size)


def scaled_to(mesh: FaceMesh, width: float) -> float:
    return width / float(np.ptp(mesh.points[:468, 0]))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--face", type=float, default=360.0)
    options.add_argument("--threads", type=int, default=2)
    given = options.parse_args()
    cv2.setNumThreads(given.threads)
    with Image.open(get_sample_data("grace_hopper.jpg", asfileobj=False)) as picture:
        officer = np.asarray(picture.convert("RGB"))
    portrait = np.asarray(astronaut())

    with Studio.open(Settings.load(provider="cpu", threads=given.threads)) as studio:
        studio.models.warm()
        source_face = the_face(studio, portrait)
        rows: list[dict[str, Any]] = []
        begun, took = 0.0, []
        for _ in range(3):
            begun = time.perf_counter()
            prepared = mesh_swapper.prepare(portrait, source_face.mesh, studio.models.hands)
            took.append((time.perf_counter() - begun) * 1e3)
        rows.append({"what": "source's half, once", "best": statistics.median(took), "live": None})

        target = photograph(officer, 1920, 1080, scaled_to(the_face(studio, officer).mesh, given.face), 1)
        face = the_face(studio, target)
        frame = target.copy()
        modes: tuple[Mode, ...] = ("best", "live")
        times: dict[tuple[str, str], list[float]] = defaultdict(list)
        for _ in range(given.rounds + 1):
            for mode in modes:
                wanted = FuseOptions(mode=mode)
                begun = time.perf_counter()
                spot = mesh_swapper.prepare_target(target, face.mesh, mode, studio.models.hands)
                half = time.perf_counter()
                blend.paste(target, mesh_swapper.fuse(spot, prepared, wanted, Run()))
                done = time.perf_counter()
                crop = mesh_swapper.fuse(spot, prepared, wanted, Run())
                fused = time.perf_counter()
                blend.paste(target, crop)
                again = time.perf_counter()
                following = 0.0
                if mode == "live":
                    following = time.perf_counter()
                    next_one = mesh_swapper.follow(spot, target, face.mesh)
                    blend.lay(frame, [mesh_swapper.fuse(next_one, prepared, wanted, Run())])
                    following = time.perf_counter() - following
                for name, value in (
                    ("next picture of a stream: in all", following),
                    ("first: in all", done - begun),
                    ("first: target's half", half - begun),
                    ("again: in all", again - done),
                    ("again: lay into the picture", again - fused),
                ):
                    times[name, mode].append(value * 1e3)
                with Clock() as clock:
                    mesh_swapper.fuse(spot, prepared, wanted, Run())
                for name, spent in clock.spent.items():
                    times[f"again: {name}", mode].append(spent)
        names = dict.fromkeys(name for name, _ in times)
        # the first round warms up
        rows += [{"what": name} | {mode: statistics.median(times[name, mode][1:] or [0.0]) for mode in modes} for name in names]
        show("fusion", rows)


if __name__ == "__main__":
    main()
