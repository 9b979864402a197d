"""Tiny seeded text models of transformers, in the shapes of L/14, B/32 and OpenCLIP's bigG."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest

END = 49407
SHAPES = {
    "l14": {"hidden_act": "quick_gelu", "eos_token_id": END},
    "old": {"hidden_act": "quick_gelu", "eos_token_id": 2},  # as published before 2023: the largest id ends a text
    "bigg": {"hidden_act": "gelu", "eos_token_id": END, "projection_dim": 24},
}


@pytest.fixture(scope="session")
def text_model() -> Callable[[str], Any]:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    transformers = pytest.importorskip("transformers", reason="needs the extra portrait")

    torch.set_num_threads(1)  # of models this small a second thread makes only waiting

    def make(shape: str) -> Any:
        torch.manual_seed(3)
        given = {"projection_dim": 32, **SHAPES[shape]}
        config = transformers.CLIPTextConfig(
            vocab_size=49408, hidden_size=32, intermediate_size=64, num_attention_heads=4, num_hidden_layers=4, max_position_embeddings=77,
            bos_token_id=49406, pad_token_id=END, **given,
        )  # fmt: skip
        kind = transformers.CLIPTextModelWithProjection if shape == "bigg" else transformers.CLIPTextModel
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind(config).eval()

    return make
