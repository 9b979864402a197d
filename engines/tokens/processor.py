"""A model from its `preprocessor_config.json`, as Hugging Face's processors write it: `of_file(data, …)`.

What the file lacks and the count needs (a patch's side, the tokens of a tile) stands in the model's other files; it is asked for, never
guessed.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from engines.errors import ProcessorUnusable
from engines.tokens.visual import VisualModel, check_arguments

MOST_BYTES = 1 << 20  # such a file has one or two KB
Config = Mapping[str, Any]


class _MissingError(LookupError):
    """Names the key that is missing."""


def of_file(data: bytes, name: str, file: str, date: str) -> VisualModel:
    """The model that a configuration describes.

    Args:
        name: for the table. file: the file's name, for its title and its source. date: on which it was given.

    Raises:
        ProcessorUnusable: damaged (no JSON object), unknown (type), missing (field), wrong (detail).
    """
    try:
        config = json.loads(data) if len(data) <= MOST_BYTES else None
    except (ValueError, RecursionError) as fault:
        raise ProcessorUnusable("damaged", name=file) from fault
    if not isinstance(config, dict):
        raise ProcessorUnusable("damaged", name=file)
    kind = str(config.get("image_processor_type") or config.get("feature_extractor_type") or "")
    base = kind.removesuffix("Fast").removesuffix("Pil").removesuffix("ImageProcessor").removesuffix("FeatureExtractor")
    if base not in READERS:
        raise ProcessorUnusable("unknown", name=file, kind=kind[:80] or "–", known=", ".join(READERS))
    family, read = READERS[base]
    try:
        arguments = check_arguments(family, read(config))
    except _MissingError as fault:
        raise ProcessorUnusable("missing", name=file, field=fault.args[0]) from fault
    except (ValueError, TypeError, AttributeError, KeyError, IndexError) as fault:
        raise ProcessorUnusable("wrong", name=file, detail=fault) from fault
    if not all(value for value in arguments.values() if not isinstance(value, bool | tuple)):
        raise ProcessorUnusable("wrong", name=file, detail=", ".join(f"{key}={value}" for key, value in arguments.items()))
    context = config.get("context")
    window = context if isinstance(context, int) and not isinstance(context, bool) and context > 0 else 0
    return VisualModel(name, f"{base} ({file})", family, arguments, window, "own", file, date)


def _clip(config: Config) -> dict[str, Any]:
    crop = config.get("do_center_crop", True)
    side = _side(config, "crop_size" if crop and "crop_size" in config else "size")
    return {"side": side, "patch": _side(config, "patch_size"), "crop": bool(crop)}


def _squeezed(config: Config) -> dict[str, Any]:
    return {"side": _side(config, "size"), "patch": _side(config, "patch_size")}


def _gemma3(config: Config) -> dict[str, Any]:
    return {"side": _side(config, "size"), "patch": 14, "tokens": _of(config, "image_seq_length")}


def _llava_next(config: Config) -> dict[str, Any]:
    grids = _of(config, "image_grid_pinpoints")  # height, width
    side = _side(config, "crop_size" if "crop_size" in config else "size")
    return {"side": side, "patch": _side(config, "patch_size"), "grids": [[width, height] for height, width in grids]}


def _qwen(config: Config) -> dict[str, Any]:
    size = config.get("size") or {}
    least = config.get("min_pixels") or size.get("shortest_edge") or size.get("min_pixels")
    most = config.get("max_pixels") or size.get("longest_edge") or size.get("max_pixels")
    for key, value in (("min_pixels", least), ("max_pixels", most)):
        if value is None:
            raise _MissingError(key)
    return {"patch": _side(config, "patch_size"), "merge": _of(config, "merge_size"), "min_pixels": least, "max_pixels": most}


def _got_ocr2(config: Config) -> dict[str, Any]:
    return {
        "side": _side(config, "size"),
        "tokens": _of(config, "image_seq_length"),
        "min_tiles": _of(config, "min_patches"),
        "max_tiles": _of(config, "max_patches"),
    }


def _idefics3(config: Config) -> dict[str, Any]:
    return {
        "longest": _of(config, "size")["longest_edge"],
        "side": _of(config, "max_image_size")["longest_edge"],
        "tokens": _of(config, "image_seq_len"),
    }


def _pixtral(config: Config) -> dict[str, Any]:
    return {"longest": _of(config, "size")["longest_edge"], "patch": _side(config, "patch_size")}


def _mllama(config: Config) -> dict[str, Any]:
    return {"side": _side(config, "size"), "patch": _side(config, "patch_size"), "max_tiles": _of(config, "max_image_tiles")}


def _gemma4(config: Config) -> dict[str, Any]:
    return {
        "patch": _side(config, "patch_size"), "pool": _of(config, "pooling_kernel_size"), "tokens": _of(config, "max_soft_tokens"),
    }  # fmt: skip


# By the name of the processor's class, without what says how it is implemented.
READERS: dict[str, tuple[str, Callable[[Config], dict[str, Any]]]] = {
    "CLIP": ("fixed", _clip),
    "Siglip": ("fixed", _squeezed),
    "ViT": ("fixed", _squeezed),
    "Gemma3": ("fixed", _gemma3),
    "LlavaNext": ("llava_next", _llava_next),
    "Qwen2VL": ("qwen", _qwen),
    "Qwen3VL": ("qwen", _qwen),
    "GotOcr2": ("internvl", _got_ocr2),
    "Idefics3": ("idefics3", _idefics3),
    "SmolVLM": ("idefics3", _idefics3),
    "Pixtral": ("pixtral", _pixtral),
    "Mllama": ("mllama", _mllama),
    "Gemma4": ("gemma4", _gemma4),
}


def _of(config: Config, key: str) -> Any:
    if config.get(key) is None:
        raise _MissingError(key)
    return config[key]


def _side(config: Config, key: str) -> Any:
    """A square's side: a number, or a table with `shortest_edge`, or with `height` and `width` that are equal."""
    value = _of(config, key)
    if not isinstance(value, dict):
        return value
    if "shortest_edge" in value:
        return value["shortest_edge"]
    if value["height"] != value["width"]:
        raise ValueError(f"{key}: {value['height']} × {value['width']} is no square")
    return value["height"]
