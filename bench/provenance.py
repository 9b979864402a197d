"""The watermark against everything that happens to pictures, and against pictures that carry none.

    python -m bench.provenance                   table of attacks: exact ids, PSNR, SSIM; ten pictures of the dev packages
        --photos DIR     the pictures of a folder instead
        --only WORD      attacks whose name has the word
        --psnr 44        of the mark
        --hard           flat, black, white and small pictures instead
        --peers rivaGan  methods of the package instead of its dwtDct and dwtDctSvd; rivaGan takes 2 to 10 s for each attack
        --long 384       pictures reduced to that long side
    python -m bench.provenance --false 20000     crops that carry no mark, and other keys' marks
        --deep 600       of them are searched deeply; a tenth where nothing is said
    python -m bench.provenance --speed           times beside invisible-watermark's dwtDctSvd, taking turns

Where the package of the extra `marks` is installed, its `dwtDct` and `dwtDctSvd` (32 bits) go through the same attacks.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import cv2
import numpy as np
from skimage.metrics import structural_similarity

from bench.attacks import ATTACKS, at_most
from bench.report import interleaved, show
from bench.varied import hard, of_folder, sky, varied
from engines.provenance import canvas, watermark
from engines.provenance.detection import LOOKED_AT, search
from engines.provenance.keys import MarkKey
from engines.provenance.mark import mark
from engines.types import Pixels
from engines.vision import io

KEY, OTHER = MarkKey(bytes(range(32))), MarkKey(bytes(range(1, 33)))
ID = "7F3-A91-C04"
PEER_BITS = "10110010011101001011001101010011"
Reader = Callable[[Pixels], bool]


def psnr(one: Pixels, other: Pixels) -> float:
    return float(10 * np.log10(255**2 / max(np.mean((one.astype(np.float64) - other) ** 2), 1e-9)))


def ssim(one: Pixels, other: Pixels) -> float:
    """Of the brightness, Gaussian windows as Wang et al. 2004."""
    grey = [np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)) for pixels in (one, other)]
    return float(structural_similarity(*grey, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255))


def ours(pixels: Pixels, limit: float) -> tuple[Pixels, Reader]:
    made = mark(io.from_array(pixels), KEY, psnr=limit)
    return made.pixels, lambda attacked: watermark.detect(attacked, KEY, deep=True).id == made.mark.id


def peer(method: str, pixels: Pixels) -> tuple[Pixels, Reader]:
    from imwatermark import WatermarkDecoder, WatermarkEncoder

    if method == "rivaGan":
        WatermarkEncoder.loadModel()  # once; the package keeps it
    encoder = WatermarkEncoder()
    encoder.set_watermark("bits", [int(bit) for bit in PEER_BITS])
    made = encoder.encode(pixels[..., ::-1].copy(), method)[..., ::-1]

    def read(attacked: Pixels) -> bool:
        try:
            bits = WatermarkDecoder("bits", len(PEER_BITS)).decode(attacked[..., ::-1].copy(), method)
        except RuntimeError:  # it refuses pictures of less than 256 × 256
            return False
        return "".join(str(int(bit)) for bit in bits) == PEER_BITS

    return np.ascontiguousarray(made), read


def peers() -> tuple[str, ...]:
    try:
        import imwatermark  # noqa: F401
    except ImportError:
        return ()
    return "dwtDct", "dwtDctSvd"


def attacked(pictures: list[tuple[str, Pixels]], only: str, limit: float, others: tuple[str, ...]) -> None:
    makers: dict[str, Callable[[Pixels], tuple[Pixels, Reader]]] = {"ours": partial(ours, limit=limit)}
    makers |= {name: partial(peer, name) for name in others}
    attacks = {name: attack for name, attack in ATTACKS.items() if only in name}
    read: dict[tuple[str, str], list[str]] = {(attack, name): [] for attack in attacks for name in makers}
    looks, rows = [], []
    for picture, pixels in pictures:
        for name, make in makers.items():
            made, reader = make(pixels)
            looks.append({"picture": picture, "method": name, "PSNR": psnr(pixels, made), "SSIM": ssim(pixels, made)})
            for attack, change in attacks.items():
                if reader(change(made)):
                    read[attack, name].append(picture)
    for attack in attacks:
        row: dict[str, Any] = {"attack": attack} | {name: len(read[attack, name]) for name in makers} | {"of": len(pictures)}
        rows.append(row | {"ours lost": ", ".join(name for name, _ in pictures if name not in read[attack, "ours"])})
    for name in makers:
        rows.append({"attack": "all", name: sum(len(read[attack, name]) for attack in attacks), "of": len(pictures) * len(attacks)})
    show("provenance_looks", [look | {"SSIM": f"{look['SSIM']:.4f}", "PSNR": f"{look['PSNR']:.1f}"} for look in looks])
    show("provenance_attacks", rows)


def unmarked(pictures: list[tuple[str, Pixels]], count: int) -> Iterator[Pixels]:
    """Seeded crops of any place and size, some turned, resized, sent as JPEG, or nothing but noise."""
    random = np.random.default_rng(17)
    for index in range(count):
        whole = pictures[index % len(pictures)][1]
        height, width = (int(random.integers(min(128, side), min(side, 640) + 1)) for side in whole.shape[:2])
        top, left = random.integers(0, whole.shape[0] - height + 1), random.integers(0, whole.shape[1] - width + 1)
        part = np.ascontiguousarray(np.rot90(whole[top : top + height, left : left + width], int(random.integers(4))))
        if index % 5 == 4:
            part = np.clip(part + random.normal(0, random.uniform(1, 30), part.shape), 0, 255).astype(np.uint8)
        if index % 3 == 2:
            part = ATTACKS["JPEG 75"](part)
        yield part


def falsely(pictures: list[tuple[str, Pixels]], count: int, deep: int) -> None:
    """The first `deep` crops are searched deeply; the pictures under another key as well."""
    rows = []
    for name, found in (
        ("unmarked crops, quick", [watermark.detect(one, KEY) for one in unmarked(pictures, count)]),
        ("unmarked crops, deep", [watermark.detect(one, KEY, deep=True) for one in unmarked(pictures, deep)]),
        (
            "another key's marks, deep",
            [watermark.detect(mark(io.from_array(pixels), OTHER).pixels, KEY, deep=True) for _, pixels in pictures],
        ),
    ):
        scores = np.array([one.score for one in found])
        row = {"looked at": name, "pictures": len(found), "ids": sum(one.id is not None for one in found)}
        rows.append(
            row | {"score, median": float(np.median(scores)), "99.9 %": float(np.quantile(scores, 0.999)), "most": float(scores.max())}
        )
    show("provenance_false", rows)


def speed(rounds: int) -> None:
    """Each size by itself: its jobs take turns."""
    rows, stages = [], []
    for name, size in (("512", (512, 512)), ("720p", (720, 1280)), ("1080p", (1080, 1920)), ("4K", (2160, 3840))):
        pixels = sky(*size)
        marked = watermark.embed(pixels, ID, KEY)
        jobs: dict[str, Callable[[], object]] = {
            "embed": partial(watermark.embed, pixels, ID, KEY),
            "quick": partial(watermark.detect, marked, KEY),
            "quick, unmarked": partial(watermark.detect, pixels, KEY),
            "deep, a crop": partial(watermark.detect, ATTACKS["crop 25 %"](marked), KEY, True),
            "deep, turned": partial(watermark.detect, ATTACKS["turned +10°"](marked), KEY, True),
            "deep, unmarked": partial(watermark.detect, pixels, KEY, True),
        }
        for method in peers()[1:]:
            made, reader = peer(method, pixels)
            jobs |= {f"{method} embed": partial(peer, method, pixels), f"{method} read": partial(reader, made)}
        times = interleaved(jobs, rounds)
        rows.append({"size": name} | {job: f"{milliseconds:.1f} ms" for job, milliseconds in times.items()})
        if "dwtDctSvd embed" in times:
            rows[-1]["times quicker"] = f"{times['dwtDctSvd embed'] / times['embed']:.0f}, {times['dwtDctSvd read'] / times['quick']:.0f}"
        stages.append({"size": name} | interleaved(staged(pixels), rounds))
    show("provenance_speed", rows)
    show("provenance_stages", stages)


def staged(pixels: Pixels) -> dict[str, Callable[[], object]]:
    """The steps of writing and of looking once, each with what the one before it made."""
    small = canvas.reduce(pixels, canvas.canvas_of(*pixels.shape[:2]))
    pattern, levels = watermark.pattern(ID, KEY, small), watermark.strength(small, watermark.DOSES[4])
    base = canvas.looked_at(pixels, LOOKED_AT)
    return {
        "embed: reduce": partial(canvas.reduce, pixels, max(small.shape[:2])),
        "pattern": partial(watermark.pattern, ID, KEY, small),
        "mask": partial(watermark.strength, small, watermark.DOSES[4]),
        "write": partial(watermark.written, pixels, small, pattern * levels, 44.0),
        "quick: brightness, reduce": partial(canvas.looked_at, pixels, LOOKED_AT),
        "search and read": partial(search, base, KEY),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--psnr", type=float, default=44.0)
    parser.add_argument("--hard", action="store_true")
    parser.add_argument("--false", type=int, default=0, metavar="COUNT")
    parser.add_argument("--deep", type=int, metavar="COUNT")
    parser.add_argument("--peers", default=",".join(peers()))
    parser.add_argument("--long", type=int, default=0)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    wish = parser.parse_args()
    begun = perf_counter()
    if wish.speed:
        speed(wish.rounds)
    else:
        pictures = list(of_folder(wish.photos) if wish.photos else hard() if wish.hard else varied())
        if wish.long:
            pictures = [(name, at_most(wish.long)(pixels)) for name, pixels in pictures]
        if wish.false:
            falsely(pictures, wish.false, wish.false // 10 if wish.deep is None else wish.deep)
        else:
            attacked(pictures, wish.only, wish.psnr, tuple(filter(None, wish.peers.split(","))))
    print(f"{perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
