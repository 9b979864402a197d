"""Likeness of two sentences, by any model of sentence embeddings that a setting names: a hint to a person, and no judge.

Such a likeness can't tell a loss from a rewrite: a direction of light that was turned round is at 0.95, "glasses" and "no glasses" at
0.70, a rewrite that loses nothing at 0.76 (MiniLM). So nothing is decided by it.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engines.pretrained import device_or_best, frameworks, opening, place_of

if TYPE_CHECKING:
    import torch

SETTING = "sentence_model"
WARN_BELOW = 0.7  # of the cosine: under what rewrites that lose nothing come to
LONGEST = 512  # tokens; what follows isn't read


@dataclass(frozen=True, slots=True)
class Sentences:
    """May be used by several threads at once.

    Attributes:
        model, tokenizer: of transformers. name: of the folder or on the hub.
    """

    model: Any
    tokenizer: Any
    name: str
    _lock: threading.Lock = field(default_factory=threading.Lock)  # the tokenizer's padding is a setting of its own

    def embed(self, texts: Sequence[str]) -> "torch.Tensor":
        """(texts, width): the mean of each text's last states, padding left out, of length 1 (Reimers and Gurevych 2019)."""
        import torch

        device = next(self.model.parameters()).device
        with self._lock:
            given = self.tokenizer(list(texts), padding=True, truncation=True, max_length=LONGEST, return_tensors="pt").to(device)
        with torch.no_grad():
            states = self.model(**given).last_hidden_state
        mask = given["attention_mask"][..., None].to(states)
        embedded: torch.Tensor = torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1).clamp(min=1), dim=-1)
        return embedded

    def similarity(self, first: str, second: str) -> float:
        """The cosine, -1..1."""
        one, other = self.embed([first, second])
        return float((one * other).sum())


def opened(where: str, device: str = "") -> Sentences:
    """A model, ready.

    Args:
        where: a folder of transformers (`config.json`, `model.safetensors`, a tokenizer) or a name on the hub. device: "" = CUDA, else
            the CPU.

    Raises:
        ExtraMissing: torch or transformers isn't installed. WeightsUnusable: nothing there, or no safetensors.
    """
    _, transformers = frameworks()
    place, name = place_of(where)
    with opening(where, SETTING):
        tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        model = transformers.AutoModel.from_pretrained(place, use_safetensors=True)
    return Sentences(model.eval().to(device_or_best(device)), tokenizer, name)
