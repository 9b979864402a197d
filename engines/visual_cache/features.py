"""`VisualCache`: a picture's features, computed when they aren't known.

A key is made of all that the features depend on: the model's name and weights, the processor's configuration, and the pixels. Not of who is
in the picture: the same person with another expression would be answered with the old one.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from engines.types import Pixels
from engines.visual_cache.store import FeatureStore

if TYPE_CHECKING:
    import torch

DIGEST_BYTES = 20


def weights_digest(model: Any) -> str:
    """Of every weight, name, shape and type; about a second a gigabyte. A published revision serves as well where there is one."""
    import torch

    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for name, value in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(value.shape)} {value.dtype}".encode())
        digest.update(value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


class VisualCache:
    """One model with one processor.

    Args:
        model: its name. weights: `weights_digest`, or its revision. processor: its configuration, as `to_dict` gives it.
    """

    def __init__(self, store: FeatureStore, model: str, weights: str, processor: Mapping[str, Any]) -> None:
        self.store = store
        self._of = json.dumps([model, weights, dict(processor)], sort_keys=True, default=str).encode()

    def key(self, pixels: Pixels) -> str:
        """Of (H, W, 3) RGB uint8. 0.8 ms for a crop of 224 pixels' side and 40 ms for 12 megapixels."""
        digest = hashlib.blake2b(self._of, digest_size=DIGEST_BYTES)
        digest.update(repr(pixels.shape).encode())
        digest.update(pixels.tobytes())
        return digest.hexdigest()

    def features(self, pixels: Pixels, compute: "Callable[[Pixels], torch.Tensor]") -> "torch.Tensor":
        """The picture's features, (tokens, width): from the store, or as `compute` makes them, which then are kept."""
        key = self.key(pixels)
        known = self.store.get(key)
        if known is not None:
            return known
        begun = time.perf_counter()
        made = compute(pixels)
        self.store.put(key, made, time.perf_counter() - begun)
        return made
