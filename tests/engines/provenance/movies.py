"""Small videos for the tests, written and read back by PyAV."""

from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import av
import numpy as np

from engines.types import Pixels

WIDTH, HEIGHT, FRAMES = 64, 48, 30


def frames() -> list[Pixels]:
    """A square that moves over a gradient."""
    made = []
    for number in range(FRAMES):
        picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        picture[..., 0], picture[..., 1] = np.arange(WIDTH) * 4, np.arange(HEIGHT)[:, None] * 5
        picture[10:20, number : number + 10] = 250
        made.append(picture)
    return made


def movie(
    flags: str = "", format: str = "mp4", sound: bool = True, metadata: dict[str, str] | None = None, timecode: str = "", **options: str
) -> bytes:
    """A video of a second, with a tone."""
    options |= {"movflags": flags} if flags else {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{format}"  # a real one: to put `moov` first, ffmpeg reads it again
        _written(path, sound, metadata or {}, timecode, options)
        return path.read_bytes()


def _written(path: Path, sound: bool, metadata: dict[str, str], timecode: str, options: dict[str, str]) -> None:
    with av.open(str(path), "w", options=options) as file:
        file.metadata.update(metadata)
        pictures: Any = file.add_stream("libx264", rate=FRAMES, options={"g": "10", "bf": "2"})
        pictures.width, pictures.height, pictures.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        if timecode:
            pictures.metadata["timecode"] = timecode
        tone: Any = file.add_stream("aac", rate=44100, layout="mono") if sound else None
        for number, picture in enumerate(frames()):
            file.mux(pictures.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            if tone:
                at = np.arange(1470 * number, 1470 * (number + 1))
                part = av.AudioFrame.from_ndarray(np.sin(at * 0.06).astype(np.float32)[None], format="fltp", layout="mono")
                part.sample_rate, part.pts = 44100, 1470 * number
                file.mux(tone.encode(part))
        file.mux(pictures.encode(None))
        if tone:
            file.mux(tone.encode(None))


def played(data: bytes) -> list[tuple[str, int | None, bytes]]:
    """All frames of all tracks that can be decoded: kind, time, content."""
    found: list[tuple[str, int | None, bytes]] = []
    with av.open(BytesIO(data)) as file:
        for packet in file.demux():
            if packet.stream.type in ("video", "audio"):
                for frame in packet.decode():
                    content = frame.to_ndarray(format="rgb24") if isinstance(frame, av.VideoFrame) else frame.to_ndarray()  # type: ignore[union-attr]
                    found.append((packet.stream.type, frame.pts, content.tobytes()))
    return sorted(found, key=lambda each: (each[0], each[1] or 0))


def told(data: bytes) -> dict[str, str]:
    """What ffmpeg's reader tells of a file."""
    with av.open(BytesIO(data)) as file:
        return dict(file.metadata)
