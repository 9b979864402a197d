"""Writes `tests/engines/tokens/visual_counts.csv`: visual tokens as the models' own processors make them, out of real pixels.

    pip install transformers==5.24.0          # torch is not needed
    python -m tools.visual_counts             # some minutes

One row a size, one column a model; empty where the processor refuses the size. The formulas of `engines.tokens` are tested against it.
"""

import argparse
import csv
import importlib
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

TABLE = Path(__file__).resolve().parent.parent / "tests" / "engines" / "tokens" / "visual_counts.csv"
Counter = Callable[[int, int], int]

# The arguments as published; beside each processor how its output becomes a number of tokens.
LLAVA_GRIDS = [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}


def sizes() -> list[tuple[int, int]]:
    """Width and height: everyday ones, the smallest, the longest, each side of rounding edges, and seeded ones in between."""
    found = [(1, 1), (1, 2), (2, 1), (3, 5), (7, 7), (13, 13), (14, 14), (27, 28), (31, 33), (56, 56), (111, 113)]
    found += [(side, side) for side in (112, 128, 168, 224, 256, 336, 384, 448, 512, 560, 640, 672, 768, 896, 1008, 1024, 1280, 1536, 2048)]
    found += [(640, 480), (1280, 720), (1920, 1080), (1080, 1920), (2048, 1536), (2560, 1440), (3000, 2000), (4000, 3000), (3024, 4032)]
    found += [(1, 90), (90, 1), (2, 399), (399, 2), (3, 600), (600, 3), (1, 200), (200, 1), (1, 201), (201, 1), (4000, 19), (19, 4000)]
    found += [(5000, 40), (40, 5000), (8000, 100), (100, 8000), (4097, 1), (1, 1025), (1025, 1), (2049, 2), (1500, 7), (7, 1500)]
    for unit in (28, 32, 48, 336, 364, 384, 448, 512, 560):  # one pixel round the places where a patch or a tile begins
        for times in (1, 2, 3):
            side = unit * times
            found += [(side - 1, side), (side, side + 1), (side + 1, side // 2 + 1), (side // 2, side - 1)]
    for unit in (28, 32):  # half a patch, where rounding turns
        found += [(unit * n + unit // 2 + d, unit * n + unit // 2) for n in (1, 2, 4, 7, 12) for d in (-1, 0, 1)]
    # Shapes on the edge between two grids of tiles, and of 1 : 1 and 2 : 1, where several grids are equally near.
    found += [(a * 3, b * 3) for a, b in ((149, 100), (151, 100), (125, 100), (175, 100), (224, 224), (448, 224), (224, 448), (300, 100))]
    found += [(450, 450), (634, 634), (633, 633), (635, 635), (900, 450), (896, 448), (1792, 896), (1000, 500), (999, 500), (1001, 500)]
    random = Random(7)
    while len(set(found)) < 330:
        longest = int(2 ** random.uniform(4, 11.3))
        other = max(1, int(longest / 2 ** random.uniform(0, 3)))
        found.append((longest, other) if random.random() < 0.5 else (other, longest))
    return sorted(set(found))


def picture(width: int, height: int) -> np.ndarray:
    return np.full((height, width, 3), 127, np.uint8)


def _processor(model: str, name: str, **arguments: Any) -> Any:
    return getattr(importlib.import_module(f"transformers.models.{model}.image_processing_pil_{model}"), f"{name}ImageProcessorPil")(
        **arguments
    )


def _pixels(processor: Any, width: int, height: int, nested: bool = False) -> Any:
    one = picture(width, height)
    return processor(images=[[one]] if nested else one, return_tensors="np", input_data_format="channels_last")


def _square(processor: Any, patch: int) -> Counter:
    def count(width: int, height: int) -> int:
        shape = _pixels(processor, width, height)["pixel_values"].shape
        return (shape[-2] // patch) * (shape[-1] // patch)

    return count


def _qwen(processor: Any) -> Counter:
    return lambda w, h: int(np.prod(_pixels(processor, w, h)["image_grid_thw"][0])) // processor.merge_size**2


def _tiles(processor: Any, tokens: int, nested: bool) -> Counter:
    """Tiles, the thumbnail among them, times the tokens of one."""
    axis = 1 if nested else 0
    return lambda w, h: _pixels(processor, w, h, nested)["pixel_values"].shape[axis] * tokens


def _llava_next() -> Counter:
    from transformers.models.llava_next.processing_llava_next import LlavaNextProcessor as Whole

    processor = _processor(
        "llava_next", "LlavaNext", size={"shortest_edge": 336}, crop_size={"height": 336, "width": 336}, image_grid_pinpoints=LLAVA_GRIDS
    )
    stand_in = SimpleNamespace(image_processor=processor, patch_size=14, num_additional_image_tokens=0)
    stand_in._get_unpadded_features = lambda *sizes: Whole._get_unpadded_features(stand_in, *sizes)

    def count(width: int, height: int) -> int:
        _pixels(processor, width, height)  # it must take the picture
        return int(Whole._get_number_of_features(stand_in, height, width, 336, 336))

    return count


def _pixtral() -> Counter:
    processor = _processor("pixtral", "Pixtral", size={"longest_edge": 1024}, patch_size={"height": 16, "width": 16})

    def count(width: int, height: int) -> int:
        h, w = (int(side) // 16 for side in _pixels(processor, width, height)["image_sizes"][0])
        return (w + 1) * h

    return count


def _gemma3() -> Counter:
    processor = _processor("gemma3", "Gemma3", size={"height": 896, "width": 896})

    def count(width: int, height: int) -> int:
        return 256 * _pixels(processor, width, height, nested=True)["pixel_values"].shape[0]

    return count


def _gemma4() -> Counter:
    processor = _processor("gemma4", "Gemma4", patch_size=16, max_soft_tokens=280, pooling_kernel_size=3)
    return lambda w, h: int(np.ravel(_pixels(processor, w, h)["num_soft_tokens_per_image"])[0])


def _mllama() -> Counter:
    processor = _processor("mllama", "Mllama", size={"height": 560, "width": 560}, max_image_tiles=4)
    return lambda w, h: int(_pixels(processor, w, h, nested=True)["num_tiles"][0][0]) * 1601


def counters() -> dict[str, Counter]:
    """By the names of `assets/tokenizers/visual.toml`, all whose `checked` is "processor"."""
    os.environ["HF_HUB_OFFLINE"], os.environ["TRANSFORMERS_VERBOSITY"] = "1", "error"

    def clip(side: int, patch: int) -> Counter:
        return _square(_processor("clip", "CLIP", size={"shortest_edge": side}, crop_size={"height": side, "width": side}), patch)

    def idefics(model: str, name: str, longest: int, side: int, tokens: int) -> Counter:
        arguments = {"size": {"longest_edge": longest}, "max_image_size": {"longest_edge": side}}
        return _tiles(_processor(model, name, **arguments), tokens, nested=True)

    published = _qwen(_processor("qwen2_vl", "Qwen2VL", min_pixels=3136, max_pixels=12845056, patch_size=14, merge_size=2))
    qwen3 = {"size": {"shortest_edge": 65536, "longest_edge": 16777216}, "patch_size": 16, "merge_size": 2}
    internvl = {"size": {"height": 448, "width": 448}, "crop_to_patches": True, "min_patches": 1, "max_patches": 12, **IMAGENET}
    return {
        "clip_b32": clip(224, 32),
        "clip_l14": clip(224, 14),
        "siglip_384": _square(_processor("siglip", "Siglip", size={"height": 384, "width": 384}), 14),
        "llava_1_5": clip(336, 14),
        "llava_next": _llava_next(),
        "qwen2_vl": published,
        "qwen2_5_vl": published,
        "qwen2_5_vl_1280": _qwen(_processor("qwen2_vl", "Qwen2VL")),
        "qwen3_vl": _qwen(_processor("qwen2_vl", "Qwen2VL", **qwen3)),
        "internvl": _tiles(_processor("got_ocr2", "GotOcr2", **internvl), 256, nested=False),
        "pixtral": _pixtral(),
        "llama_3_2_vision": _mllama(),
        "gemma3": _gemma3(),
        "gemma4": _gemma4(),
        "idefics3": idefics("idefics3", "Idefics3", 1456, 364, 169),
        "smolvlm_2b": idefics("smolvlm", "SmolVLM", 1536, 384, 81),
        "smolvlm_256m": idefics("smolvlm", "SmolVLM", 2048, 512, 64),
    }  # fmt: skip


def measured(counter: Counter, width: int, height: int) -> int | None:
    """What a processor makes of a picture; None where it breaks off."""
    try:
        return counter(width, height)
    except Exception:  # the boundary: processors refuse with whatever their arithmetic happens to throw
        return None


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, default=TABLE)
    table = parser.parse_args(arguments).table
    warnings.simplefilter("ignore")
    found = counters()
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["width", "height", *found])
        for width, height in sizes():
            counts = [measured(counter, width, height) for counter in found.values()]
            writer.writerow([width, height, *("" if count is None else count for count in counts)])
            file.flush()


if __name__ == "__main__":
    main()
