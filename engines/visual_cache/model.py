"""A vision and language model, opened, and a picture looked at through the cache and without it, in one run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engines.errors import WeightsUnusable
from engines.pretrained import Opened, device_or_best, frameworks, in_turns, opening, place_of
from engines.timing import Run
from engines.types import Pixels
from engines.visual_cache.features import VisualCache, weights_digest
from engines.visual_cache.inputs import image_features
from engines.visual_cache.store import Counters, FeatureStore

if TYPE_CHECKING:
    import torch

SETTING = "vision_model"
SIDE, PATCH = 224, 14  # of the seeded model's pictures and patches: 256 tokens, as CLIP L/14 has them


@dataclass(frozen=True, slots=True)
class VisionModel(Opened):
    """Attributes:
    processor: of transformers. weights: their digest.
    """

    processor: Any
    weights: str

    def features(self, pixels: Pixels) -> "torch.Tensor":
        """What the model makes of a picture, (tokens, width). pixels: (H, W, 3) RGB uint8."""
        given = self.processor(images=np.ascontiguousarray(pixels), return_tensors="pt")
        seen = {name: given[name].to(self.device) for name in ("pixel_values", "image_grid_thw") if name in given}
        return image_features(self.model, **seen)

    def cache(self, store: FeatureStore) -> VisualCache:
        return VisualCache(store, self.name or "seeded", self.weights, self.processor.to_dict())


@dataclass(frozen=True, slots=True)
class Looked:
    """Attributes:
    hit: whether the features came from the cache. shape: tokens, width.
    cached, plain: milliseconds through the cache (the picture's hash among them) and by the model itself; medians.
    difference: the largest between both. counters, nbytes: of the store, afterwards.
    """

    hit: bool
    shape: tuple[int, int]
    cached: float
    plain: float
    difference: float
    counters: Counters
    nbytes: int


def opened(where: str = "", device: str = "") -> VisionModel:
    """A vision and language model, ready.

    Args:
        where: a folder or a name on the hub; "" = a tiny one of LLaVA's shape with seeded weights. device: "" = CUDA, else the CPU.

    Raises:
        ExtraMissing: torch or transformers isn't installed.
        WeightsUnusable: nothing there, no safetensors, or a model that looks at no pictures.
    """
    _, transformers = frameworks()
    device = device_or_best(device)
    if not where:
        model, processor, name = *_seeded(), ""
    else:
        place, name = place_of(where)
        with opening(where, SETTING):
            model = transformers.AutoModelForImageTextToText.from_pretrained(place, use_safetensors=True, dtype="auto")
            processor = transformers.AutoImageProcessor.from_pretrained(place, backend="pil")
        if not hasattr(model, "get_image_features"):
            raise WeightsUnusable("kind", name=where, setting=SETTING, detail=str(model.config.model_type))
    model = model.eval().to(device)
    return VisionModel(model, name, processor, weights_digest(model))


def warm(vision: VisionModel) -> None:
    """One look that nobody times: the first takes several times as long as any other."""
    vision.features(np.zeros((SIDE, SIDE, 3), np.uint8))


def look(vision: VisionModel, store: FeatureStore, pixels: Pixels, run: Run | None = None) -> Looked:
    """Looks at a picture through `store`, which keeps what it gave, and without it.

    Both are then done over again, in turns, for the clock, with a store that knows of the picture what `store` knew before.

    Raises:
        Cancelled.
    """
    run, misses = run or Run(), store.counters.misses
    with run.stage("encode"):
        run.check()
        cache = vision.cache(store)
        ours = cache.features(pixels, vision.features)
        hit = store.counters.misses == misses
        difference = float((ours.float() - vision.features(pixels).float()).abs().max())

        def ways() -> list[Callable[[], object]]:
            again = vision.cache(FeatureStore())
            if hit:
                again.store.put(again.key(pixels), ours)
            return [lambda: again.features(pixels, vision.features).cpu(), lambda: vision.features(pixels).cpu()]

        cached, plain = in_turns(vision, ways, run)
    shape = (int(ours.shape[0]), int(ours.shape[1]))
    return Looked(hit, shape, cached, plain, difference, store.counters, store.memory_bytes)


def _seeded() -> tuple[Any, Any]:
    torch, transformers = frameworks()
    eyes = transformers.CLIPVisionConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=4, num_attention_heads=4, image_size=SIDE, patch_size=PATCH
    )
    words = transformers.LlamaConfig(
        vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4, bos_token_id=1, eos_token_id=2
    )
    config = transformers.LlavaConfig(vision_config=eyes, text_config=words, image_token_id=99)
    size = {"shortest_edge": SIDE}, {"height": SIDE, "width": SIDE}
    with torch.random.fork_rng(devices=[]):  # nobody else's numbers change
        torch.manual_seed(0)
        model = transformers.LlavaForConditionalGeneration(config)
    return model, transformers.CLIPImageProcessorPil(size=size[0], crop_size=size[1])
