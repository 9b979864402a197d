"""The watermark of a video through x264: exact ids after what happens to videos, and what it costs.

    python -m bench.video                        four scenes × four ways in which a camera moves, 720p, 30 frames a second
        --scenes N       only the first ones

The scenes are photographs of the dev packages seen through a window that moves, with a camera's grain; PyAV (extra `dev`) encodes.
"""

import argparse
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import islice
from time import perf_counter
from typing import Any

import av
import cv2
import numpy as np

from bench.provenance import KEY, OTHER, psnr
from bench.report import show
from bench.varied import varied
from engines.provenance.video import FrameMarker, FrameReader
from engines.types import Pixels

ID = "7F3-A91-C04"
SIZE, SMALL, RATE = (1280, 720), (854, 480), 30
SCENES = ("astronaut", "coffee", "rocket", "sky")
# Shift across and down in pixels, enlargement, turn in degrees, by seconds.
MOTIONS: dict[str, Callable[[float], tuple[float, float, float, float]]] = {
    "on a tripod": lambda t: (0, 0, 1, 0),
    "held by hand": lambda t: (
        3 * np.sin(3.7 * t) + 1.5 * np.sin(9.1 * t),
        2 * np.cos(4.3 * t) + np.sin(7.7 * t),
        1 + 0.004 * np.sin(2.1 * t),
        0.3 * np.sin(2.9 * t),
    ),
    "zoom": lambda t: (0, 20 * (t - 0.5), 1 + 0.12 * t, 0),
    "pan": lambda t: (90 * (t - 0.5), 0, 1, 0),
}
# Frames taken in, of how many seconds, frames a second, x264's CRF, size.
SENT: dict[str, tuple[int, int, int, tuple[int, int]]] = {
    "CRF 23, 24 frames": (24, 30, 23, SIZE),
    "CRF 28, 24 frames": (24, 30, 28, SIZE),
    "CRF 28, 15 a second, 24 frames": (24, 15, 28, SIZE),
    "CRF 28, 2 s": (60, 30, 28, SIZE),
    "480p, CRF 23, 24 frames": (24, 30, 23, SMALL),
    "480p, CRF 28, 24 frames": (24, 30, 28, SMALL),
    "480p, 15 a second, CRF 28, 2 s": (30, 15, 28, SMALL),
}


def film(photo: Pixels, motion: str, grain: float = 1.5) -> Iterator[Pixels]:
    """(720, 1280, 3) uint8 RGB, without an end."""
    random = np.random.default_rng(0)
    height, width = photo.shape[:2]
    fill = max(SIZE[0] / width, SIZE[1] / height) * 1.25
    for index in range(1 << 30):
        across, down, larger, angle = MOTIONS[motion](index / RATE)
        moved = cv2.getRotationMatrix2D((width / 2, height / 2), angle, fill * larger)
        moved[:, 2] += (SIZE[0] - width) / 2 + across, (SIZE[1] - height) / 2 + down
        seen = cv2.warpAffine(photo, moved, SIZE, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)
        yield np.clip(np.rint(seen + random.normal(0, grain, (SIZE[1], SIZE[0], 1))), 0, 255).astype(np.uint8)


def sent(frames: list[Pixels], rate: int, quality: int, size: tuple[int, int]) -> list[Pixels]:
    """Through x264 in an MP4, as it comes but for its CRF."""
    buffer = BytesIO()
    with av.open(buffer, "w", format="mp4") as file:
        stream = file.add_stream("libx264", rate=rate, options={"crf": str(quality)})
        (stream.width, stream.height), stream.pix_fmt = size, "yuv420p"
        for frame in frames:
            picture = frame if size == SIZE else np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        file.mux(stream.encode(None))
    buffer.seek(0)
    with av.open(buffer) as file:
        return [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]


def heard(frames: list[Pixels], other: bool = False) -> tuple[str | None, float]:
    reader = FrameReader(OTHER if other else KEY)
    for frame in frames:
        reader.add(frame)
    return reader.reading.id, reader.reading.score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=len(SCENES))
    wish = parser.parse_args()
    begun, spent, count = perf_counter(), 0.0, 0
    photos = dict(varied())
    rows: list[dict[str, Any]] = [{"sent": name} for name in SENT]
    looks: list[float] = []
    others: list[float] = []
    for motion in MOTIONS:
        right = dict.fromkeys(SENT, 0)
        for scene in SCENES[: wish.scenes]:
            frames = list(islice(film(photos[scene], motion), 60))
            marker = FrameMarker(KEY, *SIZE, ID)
            started = perf_counter()
            marked = [marker.mark(frame) for frame in frames]
            spent, count = spent + perf_counter() - started, count + len(frames)
            looks.append(min(psnr(*pair) for pair in zip(frames[::20], marked[::20], strict=True)))
            for name, (many, rate, quality, size) in SENT.items():
                got = sent(marked[:: RATE // rate][:many], rate, quality, size)
                right[name] += heard(got)[0] == ID
                others.append(heard(got, other=True)[1])
        for row in rows:
            row[f"{motion}, of {wish.scenes}"] = right[row["sent"]]
    show("video", rows)
    print(f"{min(looks):.1f} to {max(looks):.1f} dB a frame; {spent / count * 1e3:.0f} ms to mark one; another key hears {max(others):.1f}")
    print(f"{perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
