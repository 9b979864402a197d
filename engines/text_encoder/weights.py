"""A CLIP text model, opened: from a folder or by its name on the hub, or seeded in the size of L/14 to show what the cache does.

Time depends on a model's size and not on what its weights say, so a seeded one serves to show times; its embeddings mean nothing.
"""

from typing import Any

from engines.errors import WeightsUnusable
from engines.pretrained import Opened, device_or_best, frameworks, opening, place_of

SETTING = "text_model"
WINDOW, WORDS, START, END = 77, 49_408, 49_406, 49_407  # of CLIP's tokenizer, which all its text models share (Radford et al. 2021)
L14 = {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12}


class TextModel(Opened):
    """Its `model` is what `ClipEncoder` takes."""

    __slots__ = ()


def opened(where: str = "", device: str = "") -> TextModel:
    """A text model in fp32, ready.

    Args:
        where: a folder (`config.json`, `model.safetensors`; of a diffusers pipeline its `text_encoder`) or a name on the hub, which
            transformers downloads once and keeps; "" = seeded, 0.5 GB of memory.
        device: "" = CUDA where there is any, else the CPU.

    Raises:
        ExtraMissing: torch or transformers isn't installed.
        WeightsUnusable: nothing there, no safetensors, or not CLIP's text model.
    """
    torch, transformers = frameworks()
    device = device_or_best(device)
    if not where:
        return TextModel(seeded().to(device), "")
    place, name = place_of(where, "text_encoder")
    with opening(where, SETTING):
        config = transformers.AutoConfig.from_pretrained(place)
        kind = str(config.model_type)
        if kind not in ("clip", "clip_text_model"):
            raise WeightsUnusable("kind", name=where, setting=SETTING, detail=kind)
        projects = kind == "clip" or any("Projection" in each for each in config.architectures or ())
        wanted = transformers.CLIPTextModelWithProjection if projects else transformers.CLIPTextModel
        model = wanted.from_pretrained(place, use_safetensors=True, dtype=torch.float32)
    if int(model.config.max_position_embeddings) != WINDOW or int(model.config.vocab_size) != WORDS:
        size = f"{model.config.max_position_embeddings} × {model.config.vocab_size:,}"
        raise WeightsUnusable("kind", name=where, setting=SETTING, detail=size)
    return TextModel(model.eval().to(device), name)


def seeded(shape: "dict[str, int] | None" = None) -> Any:
    """A `CLIPTextModel` of that shape, L/14's by default, with the same normal weights each time.

    Filled here in a second; its own initialisation takes 14.
    """
    import torch
    from transformers import CLIPTextConfig, CLIPTextModel

    config = CLIPTextConfig(
        vocab_size=WORDS, max_position_embeddings=WINDOW, hidden_act="quick_gelu", bos_token_id=START, eos_token_id=END, pad_token_id=END,
        **(shape or L14),
    )  # fmt: skip
    with torch.device("meta"):
        model = CLIPTextModel(config)
    model = model.to_empty(device="cpu").eval()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                weight.normal_(0, 0.02, generator=generator)
            else:  # a norm's scale, or a bias
                weight.fill_(float(name.endswith("weight")))
        for name, buffer in model.named_buffers():
            assert name.endswith("position_ids")
            buffer.copy_(torch.arange(WINDOW)[None])
    return model
