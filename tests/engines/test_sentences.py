"""A tiny seeded sentence model: mean pooling without padding, and what can't be one."""

import sys
from pathlib import Path

import pytest

from engines.errors import ExtraMissing, WeightsUnusable
from engines.sentences import Sentences, opened


def test_without_torch_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ExtraMissing):
        opened("anywhere")


@pytest.fixture
def model(sentence_folder: Path) -> Sentences:
    return opened(str(sentence_folder), "cpu")


def test_the_mean_is_of_the_words_alone(model: Sentences) -> None:
    import torch

    together = model.embed(["a man", "a man with glasses and a hat"])
    alone = model.embed(["a man"])
    assert torch.allclose(together[0], alone[0], atol=1e-6)
    assert torch.allclose(together.norm(dim=-1), torch.ones(2), atol=1e-6)
    with torch.no_grad():
        states = model.model(**model.tokenizer(["a man"], return_tensors="pt")).last_hidden_state[0]
    assert torch.allclose(alone[0], torch.nn.functional.normalize(states.mean(0), dim=-1), atol=1e-6)


def test_likeness_is_one_of_the_same_and_less_of_others(model: Sentences) -> None:
    assert model.similarity("a man", "a man") == pytest.approx(1, abs=1e-6)
    assert model.similarity("a man", "a hat") == pytest.approx(model.similarity("a hat", "a man"), abs=1e-6)
    assert model.similarity("a man", "glasses") < 0.999
    assert -1 <= model.similarity("", "a " * 2000) <= 1


def test_an_empty_folder_is_told(sentence_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(WeightsUnusable) as told:
        opened(str(tmp_path))
    assert "sentence_model" in told.value.hint()
