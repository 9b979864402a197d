"""Hostile files for `verify`: what it may never do is break off, or say "made here" of what wasn't.

    python -m bench.fuzz_verify [--count 10000] [--seed 1] [--only avif …]

Files of this studio, of another one, and of nobody are changed byte by byte, cut, glued to each other and given each other's metadata:
all formats that are written, videos, and HEIC, which is read alone. PyAV and pillow-heif of the extra `dev` make the last two.
A false "made here" is one of a file whose picture isn't ours, or a signature that holds over other pixels than those that were signed.
"""

import argparse
import struct
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import av
import numpy as np
import pillow_heif
from PIL import Image

from bench.report import show
from engines.errors import ImageTooLarge, UnreadableImage
from engines.provenance.boxes import boxes, is_movie
from engines.provenance.certificates import FILE, own_identity
from engines.provenance.containers import jpeg_segments, png_chunks, webp_chunks
from engines.provenance.keys import MarkKey
from engines.provenance.mark import MarkedImage, mark
from engines.provenance.movie import labelled
from engines.provenance.save import encode
from engines.provenance.signer import Signer
from engines.provenance.verify import verify
from engines.provenance.video import FrameMarker
from engines.types import Pixels
from engines.vision import io

WRITTEN = ("png", "jpg", "webp", "avif", "tiff")
FORMATS = (*WRITTEN, "mp4", "mp4 in fragments", "heic")
KEY, OTHER = MarkKey(bytes(range(32))), MarkKey(bytes(range(1, 33)))
SIDE = 256  # of the pictures, in pixels


@dataclass(frozen=True, slots=True)
class Seed:
    """A file to start from. `whose`: "ours", "other" (another studio's, whole) or "nobody"."""

    name: str
    whose: str
    format: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """What a run found. `crashes` and `false`: names of the changes and what happened; both must be empty."""

    verdicts: Counter[str]
    crashes: tuple[str, ...]
    false: tuple[str, ...]


def picture(number: int) -> Pixels:
    """Clouds: textured enough to carry a mark, and different for each number."""
    chance = np.random.default_rng(number)
    coarse = chance.integers(40, 216, (9, 9, 3)).astype(np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((SIDE, SIDE), Image.Resampling.BICUBIC), float)
    return np.clip(smooth + chance.normal(0, 9, (SIDE, SIDE, 3)), 0, 255).astype(np.uint8)


def movie(number: int, image: MarkedImage | None, key: MarkKey, signer: Signer, flags: str = "") -> bytes:
    """Eight frames of a picture that drifts; marked, labelled and signed where `image` is what its manifest tells."""
    whole, marker, buffer = picture(number), FrameMarker(key, 96, 64), BytesIO()
    with av.open(buffer, "w", format="mp4", options={"movflags": flags} if flags else {}) as file:
        stream = file.add_stream("libx264", rate=8)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        for at in range(8):
            frame = np.ascontiguousarray(whole[at : at + 64, at : at + 96])
            file.mux(stream.encode(av.VideoFrame.from_ndarray(marker.mark(frame) if image else frame, format="rgb24")))
        file.mux(stream.encode(None))
    if image is None:
        return buffer.getvalue()
    return signer.sign(b"".join(labelled(buffer, marker.marked(image.labels))), "video/mp4", image)


def seeds(folder: Path, only: Sequence[str] = FORMATS) -> tuple[list[Seed], Signer]:
    """One of each format by us, by another studio and by nobody, and who signs for us."""
    ours, theirs = (Signer(own_identity(folder / name / FILE, name)) for name in ("ours", "other"))
    made = []
    for number, format in enumerate(FORMATS):
        if format not in only:
            continue
        flags = "frag_keyframe+empty_moov+default_base_moof" if format == "mp4 in fragments" else ""
        for whose, key, signer in (("ours", KEY, ours), ("other", OTHER, theirs)):
            image = mark(io.from_array(picture(2 * number + (whose == "other"))), key)
            if format in WRITTEN:
                made.append(Seed(f"{whose}.{format}", whose, format, encode(image, format, None, key, signer=signer).data))
            elif format.startswith("mp4"):
                made.append(Seed(f"{whose}.{format}", whose, format, movie(number, image, key, signer, flags)))
        out = BytesIO()
        if format.startswith("mp4"):
            out.write(movie(100 + number, None, KEY, ours, flags))
        elif format == "heic":
            exif = Image.Exif()
            exif[0x0131] = "a program"
            said = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
            pillow_heif.from_pillow(Image.fromarray(picture(100 + number))).save(out, exif=exif.tobytes(), xmp=said)
        else:
            Image.fromarray(picture(100 + number)).save(out, {"jpg": "JPEG"}.get(format, format.upper()))
        made.append(Seed(f"nobody.{format}", "nobody", format, out.getvalue()))
    return made, ours


def shown(data: bytes) -> bytes:
    """What a file shows: pixels; of a video all that its signature covers, header and samples."""
    if is_movie(data[:256]):
        return b"".join(data[box.start : box.end] for box in boxes(data) if box.kind in (b"moov", b"moof", b"mdat"))
    return io.decode(data, "", 10).pixels.tobytes()


def flipped(data: bytes, _: bytes, chance: np.random.Generator) -> bytes:
    """Some bytes changed, anywhere or in the first kilobytes, where the structure is."""
    changed = bytearray(data)
    end = len(data) if chance.random() < 0.5 else min(len(data), 6000)
    for at in chance.integers(0, end, int(chance.integers(1, 24))):
        changed[at] = int(chance.integers(0, 256))
    return bytes(changed)


def cut(data: bytes, _: bytes, chance: np.random.Generator) -> bytes:
    """Without its end."""
    return data[: int(chance.integers(0, len(data)))]


def hollowed(data: bytes, _: bytes, chance: np.random.Generator) -> bytes:
    """A piece left out, doubled or filled with one byte."""
    start = int(chance.integers(0, len(data)))
    piece = data[start : start + int(chance.integers(1, 3000))]
    put = (b"", piece * 2, bytes([int(chance.integers(0, 256))]) * len(piece))[int(chance.integers(0, 3))]
    return data[:start] + put + data[start + len(piece) :]


def lied(data: bytes, _: bytes, chance: np.random.Generator) -> bytes:
    """A length or a count that isn't true."""
    at = int(chance.integers(0, max(1, min(len(data), 8000) - 4)))
    value = (0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, int(chance.integers(0, 1 << 32)))[int(chance.integers(0, 6))]
    return data[:at] + struct.pack(">I" if chance.random() < 0.5 else "<I", value) + data[at + 4 :]


def glued(data: bytes, other: bytes, chance: np.random.Generator) -> bytes:
    """The beginning of one, the end of another."""
    return data[: int(chance.integers(0, len(data)))] + other[int(chance.integers(0, len(other))) :]


def dressed(data: bytes, other: bytes, _: np.random.Generator) -> bytes:
    """The picture of one with all that the other says about itself: labels and signature."""
    if data.startswith(b"\x89PNG") and other.startswith(b"\x89PNG"):
        said = [(name, bytes(body)) for name, body in png_chunks(other) if name in (b"iTXt", b"caBX", b"eXIf")]
        made = [struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in said]
        return data[:33] + b"".join(made) + data[33:]
    if data.startswith(b"\xff\xd8") and other.startswith(b"\xff\xd8"):
        told = [(marker, bytes(body)) for marker, body in jpeg_segments(other) if marker in (0xE1, 0xEB)]
        return data[:2] + b"".join(struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body for marker, body in told) + data[2:]
    if data[:4] == other[:4] == b"RIFF":
        held = b"".join(
            struct.pack("<4sI", name, len(body)) + bytes(body) + b"\0" * (len(body) % 2)
            for name, body in webp_chunks(other)
            if name in (b"XMP ", b"C2PA", b"EXIF")
        )
        return data[:4] + struct.pack("<I", len(data) - 8 + len(held)) + data[8:] + held
    if data[4:8] == other[4:8] == b"ftyp":
        return data + b"".join(other[box.start : box.end] for box in boxes(other) if box.uuid)
    return glued(data, other, np.random.default_rng(len(data)))


CHANGES: tuple[Callable[[bytes, bytes, np.random.Generator], bytes], ...] = (flipped, flipped, cut, hollowed, lied, glued, dressed)


def hostile(made: list[Seed], count: int, seed: int) -> Iterator[tuple[str, Seed, Seed, bytes]]:
    """(what was done, to which file, with which other, the bytes)."""
    chance = np.random.default_rng(seed)
    for _ in range(count):
        base, other = (made[int(at)] for at in chance.integers(0, len(made), 2))
        change = CHANGES[int(chance.integers(0, len(CHANGES)))]
        data = change(base.data, other.data, chance)
        if chance.random() < 0.2:
            data = flipped(data, b"", chance) if data else data
        yield f"{change.__name__} {base.name} {other.name}", base, other, data


def run(count: int, seed: int, folder: Path, only: Sequence[str] = FORMATS) -> Found:
    """Verifies that many changed files, made of files of the formats `only`."""
    made, signer = seeds(folder, only)
    signed = {shown(each.data) for each in made if each.whose == "ours"}
    verdicts: Counter[str] = Counter()
    crashes, false = [], []
    for what, base, other, data in hostile(made, count, seed):
        try:
            found = verify(data, "hostile", KEY, 10, deep=False, trust=lambda: signer.identity.trust)
        except (UnreadableImage, ImageTooLarge) as refused:
            verdicts[refused.code] += 1
            continue
        except Exception as fault:  # whatever else it is, it is what this looks for
            crashes.append(f"{what}: {fault!r}")
            continue
        verdicts[found.verdict] += 1
        held = found.credentials is not None and found.credentials.state == "ours"
        if held and shown(data) not in signed:
            false.append(f"{what}: a signature over other pixels")
        pieces_of_ours = base.whose == "ours" or (what.startswith("glued") and other.whose == "ours")
        if found.verdict == "made_here" and not pieces_of_ours:
            false.append(f"{what}: {found.id}")
    return Found(verdicts, tuple(crashes), tuple(false))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=FORMATS, default=FORMATS)
    given = parser.parse_args()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = run(given.count, given.seed, Path(folder), given.only)
    for line in (*found.crashes, *found.false):
        print(line)
    rows = [{"answer": name, "files": number} for name, number in found.verdicts.most_common()]
    rows += [{"answer": "crashed", "files": len(found.crashes)}, {"answer": "false made_here", "files": len(found.false)}]
    rows.append({"answer": "ms a file", "files": (time.perf_counter() - begun) * 1e3 / given.count})
    show("fuzz_verify", rows)
    raise SystemExit(bool(found.crashes or found.false))


if __name__ == "__main__":
    main()
