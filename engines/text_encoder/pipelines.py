"""What diffusers' pipelines take instead of a prompt: `StableDiffusionPipeline` and `StableDiffusionXLPipeline`.

    encoders = encoders_of(pipeline)
    picture = pipeline(**prompt_embeds(pipeline, encoders, "a portrait …", "blurry")).images[0]

Equal to what the pipeline computes from the same words, and `clip_skip` works: the pipeline's own fails with transformers 5 and
diffusers 0.42, whose text model no longer answers with all its hidden states.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engines.text_encoder.encoder import CACHE_BYTES, ClipEncoder, Encoded

if TYPE_CHECKING:
    import torch


def encoders_of(pipeline: Any, cache_bytes: int = CACHE_BYTES, clip_skips: Sequence[int] = ()) -> tuple[ClipEncoder, ...]:
    """One cached encoder for each of the pipeline's text models.

    Args:
        cache_bytes: for all of them together. clip_skips: those that will be asked for, beside none.
    """
    models = [model for model in (pipeline.text_encoder, getattr(pipeline, "text_encoder_2", None)) if model is not None]
    shift = _shift(pipeline)
    skips = [skip + shift for skip in (0, *clip_skips)]
    return tuple(ClipEncoder(model, cache_bytes // len(models), skips) for model in models)


def prompt_embeds(
    pipeline: Any,
    encoders: Sequence[ClipEncoder],
    prompt: str | Sequence[str],
    negative: str | Sequence[str] | None = None,
    clip_skip: int = 0,
    namespace: str = "",
) -> "dict[str, torch.Tensor]":
    """The pipeline's arguments for a prompt or several.

    Args:
        negative: as many as prompts, or one for all; None for none, which SDXL may stand for by zeros.
        clip_skip: of the last layers, as diffusers counts them.

    Raises:
        InvalidOption: a `clip_skip` that `encoders_of` wasn't told of.
    """
    import torch

    prompts = [prompt] if isinstance(prompt, str) else list(prompt)
    given = _encoded(pipeline, encoders, prompts, clip_skip, namespace)
    others = [negative or ""] * len(prompts) if negative is None or isinstance(negative, str) else list(negative)
    without = _encoded(pipeline, encoders, others, clip_skip, namespace)
    if negative is None and _shift(pipeline) and pipeline.config.force_zeros_for_empty_prompt:
        without = {name: torch.zeros_like(value) for name, value in given.items()}
    return given | {f"negative_{name}": value for name, value in without.items()}


def _encoded(
    pipeline: Any, encoders: Sequence[ClipEncoder], prompts: Sequence[str], clip_skip: int, namespace: str
) -> "dict[str, torch.Tensor]":
    import torch

    shift = _shift(pipeline)
    answers: list[list[Encoded]] = []
    for encoder, tokenizer in zip(encoders, (pipeline.tokenizer, getattr(pipeline, "tokenizer_2", None)), strict=False):
        rows = tokenizer(list(prompts), padding="max_length", max_length=encoder.text.window, truncation=True)["input_ids"]
        answers.append(encoder.encode(rows, namespace, clip_skip + shift, norm=not shift))
    hidden = torch.cat([torch.stack([each.hidden for each in rows]) for rows in answers], -1)
    if not shift:
        return {"prompt_embeds": hidden}
    return {"prompt_embeds": hidden, "pooled_prompt_embeds": torch.stack([each.pooled for each in answers[-1]])}


def _shift(pipeline: Any) -> int:
    """SDXL reads the last layer but one where Stable Diffusion reads the last, and leaves the final norm out."""
    return int(hasattr(pipeline, "text_encoder_2"))
