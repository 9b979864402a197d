"""CLIP's text transformer, layer by layer, over tokens whose prefix has been computed before.

transformers' `CLIPTextModel` takes `past_key_values` and doesn't use them, without a word (version 5.24), so its layers are run here: the
same modules, the same order, attention by PyTorch's `scaled_dot_product_attention` with the causal mask shifted by the prefix's length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Computed:
    """What the layers made of T consecutive tokens.

    Attributes:
        keys, values: (layers, 1, heads, T, head size) tensors of the model's dtype.
        hidden: (outputs, 1, T, width), after those layers that the encoder was asked to keep, before the final norm.
    """

    keys: "torch.Tensor"
    values: "torch.Tensor"
    hidden: "torch.Tensor"

    @property
    def nbytes(self) -> int:
        return int(self.keys.nbytes + self.values.nbytes + self.hidden.nbytes)

    def cut(self, start: int, end: int) -> "Computed":
        """The part for the tokens start..end, as a copy."""
        keys, values = (each[:, :, :, start:end].clone() for each in (self.keys, self.values))
        return Computed(keys, values, self.hidden[:, :, start:end].clone())


class ClipText:
    """The parts of a CLIP text model of transformers that are needed, with or without a projection.

    Args:
        model: `CLIPTextModel` or `CLIPTextModelWithProjection` (L/14, B/32, OpenCLIP's bigG); it is put into evaluation mode.
        skips: which last layers' outputs are kept: 0 is the last layer's, 1 the last but one's (`clip_skip=1`, and what SDXL reads).
    """

    def __init__(self, model: Any, skips: Sequence[int] = (0,)) -> None:
        body = getattr(model.eval(), "text_model", model)  # transformers 4 and the projected classes have one more floor
        self.layers, self.embeddings, self.final_norm = list(body.encoder.layers), body.embeddings, body.final_layer_norm
        self.projection = getattr(model, "text_projection", None)
        self.config = body.config
        self.window = int(self.config.max_position_embeddings)
        self._heads = int(self.config.num_attention_heads)
        self._kept = {len(self.layers) - 1 - skip: i for i, skip in enumerate(skips)}

    @property
    def device(self) -> "torch.device":
        device: torch.device = self.final_norm.weight.device
        return device

    @property
    def dtype(self) -> "torch.dtype":
        dtype: torch.dtype = self.final_norm.weight.dtype
        return dtype

    def run(self, ids: "torch.Tensor", past: Computed | None = None, keep: int | None = None) -> Computed:
        """Computes B rows of T tokens that follow a prefix of P tokens.

        Args:
            ids: (B, T) int64 on the model's device.
            past: of the P tokens before them, (layers, B or 1, heads, P, size); None for none.
            keep: of how many of the first of the T tokens keys and values are wanted, all by default; padding's are not.

        Returns:
            Of the T tokens, with B in the place of the 1.
        """
        import torch
        from torch.nn import functional

        rows, count = ids.shape
        before = 0 if past is None else past.keys.shape[3]
        places = torch.arange(before, before + count, device=ids.device)[None]
        # A row of the mask per new token, a column per token that it may look at. Without a past PyTorch makes its own.
        mask = (
            torch.ones(count, before + count, dtype=torch.bool, device=ids.device).tril(before) if past is not None and count > 1 else None
        )
        hidden = self.embeddings(input_ids=ids, position_ids=places)
        keys, values, kept = [], [], [hidden] * len(self._kept)
        for i, layer in enumerate(self.layers):
            attention, normed = layer.self_attn, layer.layer_norm1(hidden)
            query, key, value = (
                project(normed).view(rows, count, self._heads, -1).transpose(1, 2)
                for project in (attention.q_proj, attention.k_proj, attention.v_proj)
            )
            keys.append(key[:, :, :keep])
            values.append(value[:, :, :keep])
            if past is not None:
                key = torch.cat([past.keys[i].expand(rows, -1, -1, -1), key], 2)
                value = torch.cat([past.values[i].expand(rows, -1, -1, -1), value], 2)
            seen = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=past is None, scale=attention.scale)
            hidden = hidden + attention.out_proj(seen.transpose(1, 2).reshape(rows, count, -1))
            hidden = hidden + layer.mlp(layer.layer_norm2(hidden))
            if i in self._kept:
                kept[self._kept[i]] = hidden
        return Computed(torch.stack(keys), torch.stack(values), torch.stack(kept))


def joined(parts: Sequence[Computed]) -> Computed | None:
    """Consecutive parts as one; None for none."""
    import torch

    if len(parts) <= 1:
        return parts[0] if parts else None
    keys, values = (torch.cat([getattr(part, name) for part in parts], 3) for name in ("keys", "values"))
    return Computed(keys, values, torch.cat([part.hidden for part in parts], 2))


def stacked(rows: Sequence[Computed]) -> Computed:
    """Several rows of equal length, as one with B in the place of the 1."""
    import torch

    return Computed(*(torch.cat([getattr(row, name) for row in rows], 1) for name in ("keys", "values", "hidden")))


def row(computed: Computed, i: int) -> Computed:
    """One row of several, as a copy of its own."""
    return Computed(*(getattr(computed, name)[:, i : i + 1].clone() for name in ("keys", "values", "hidden")))
