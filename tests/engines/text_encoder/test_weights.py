"""Text models from a folder, what can't be one, and a prompt through the cache and without it in one run."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engines.errors import Cancelled, ExtraMissing, WeightsUnusable
from engines.text_encoder.weights import END, START, opened
from engines.timing import Run

PREFIX = list(range(1000, 1020))
SMALL = {"model_type": "clip_text_model", "vocab_size": 1000, "hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 2}


def test_without_torch_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ExtraMissing) as told:
        opened()
    assert "torch" in told.value.message()
    assert "fusion-studio[portrait]" in told.value.hint("zh-CN")


@pytest.fixture(scope="module")
def folder(text_model: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "tiny"
    text_model("l14").save_pretrained(path)
    return path


def test_a_folder_is_opened_with_its_own_weights(folder: Path, text_model: Callable[[str], Any]) -> None:
    import torch

    found, whole = opened(str(folder), "cpu"), text_model("l14")
    assert (found.name, found.seeded) == ("tiny", False)
    ids = torch.tensor([[START, 320, END]])
    with torch.no_grad():
        assert torch.equal(found.model(ids).last_hidden_state, whole(ids).last_hidden_state)


def test_the_text_encoder_of_a_pipelines_folder_is_found_and_a_projection_kept(text_model: Callable[[str], Any], tmp_path: Path) -> None:
    text_model("bigg").save_pretrained(tmp_path / "text_encoder")
    assert opened(str(tmp_path), "cpu").model.text_projection.out_features == 24


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (None, "unreadable"),
        ({"model_type": "clip_text_model"}, "unreadable"),  # no weights beside it
        ({"model_type": "bert"}, "kind"),
        (SMALL, "kind"),
    ],
)
def test_what_is_no_text_model_is_told(
    config: dict[str, Any] | None, reason: str, tmp_path: Path, text_model: Callable[[str], Any]
) -> None:
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
    if config and "vocab_size" in config:
        import transformers

        transformers.CLIPTextModel(transformers.CLIPTextConfig(**config)).save_pretrained(tmp_path)
    with pytest.raises(WeightsUnusable) as told:
        opened(str(tmp_path), "cpu")
    assert told.value.reason == reason
    assert "text_model" in told.value.hint()


def test_seeded_weights_are_the_same_each_time_and_cached_equals_plain() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    pytest.importorskip("transformers", reason="needs the extra portrait")
    from engines.text_encoder.compared import compare, row_of, warm
    from engines.text_encoder.encoder import ClipEncoder
    from engines.text_encoder.weights import TextModel, seeded

    shape = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    first, second = seeded(shape), seeded(shape)
    assert all(torch.equal(a, b) for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True))
    text = TextModel(first, "")
    assert text.parameters == sum(each.numel() for each in first.parameters())
    warm(text)
    encoder = ClipEncoder(first)
    rows = [[row_of([*PREFIX, end])] for end in (7, 8, 8)]
    found = [compare(encoder, text, each) for each in rows]
    assert [each.reused for each in found] == [(0,), (1 + len(PREFIX),), (77,)]
    assert [each.difference for each in found] == [0.0] * 3
    assert found[-1].counters.hit_rate == pytest.approx((21 + 77) / (3 * 77))
    assert found[-1].nbytes == encoder.nbytes > 0
    assert all(each.cached > 0 and each.speedup == each.plain / each.cached for each in found)


def test_a_primed_encoder_knows_what_was_known_and_no_more(text_model: Callable[[str], Any]) -> None:
    from engines.text_encoder.compared import row_of
    from engines.text_encoder.encoder import ClipEncoder

    encoder = ClipEncoder(text_model("l14"))
    first, second = row_of([*PREFIX, 7]), row_of([*PREFIX, 8])
    assert encoder.known([first, second]) == [0, 0]
    encoder.encode([first])
    assert encoder.known([first, second]) == [77, 21]
    again = encoder.primed([first, second], [77, 21])
    assert again.known([first, second]) == [77, 21]
    assert again.counters.misses == 0
    assert encoder.counters.misses == 1
    assert [each.reused for each in again.encode([first, second])] == [77, 21]
    assert encoder.known([second]) == [21]


def test_a_stopped_run_compares_nothing(text_model: Callable[[str], Any]) -> None:
    from engines.text_encoder.compared import compare, row_of
    from engines.text_encoder.encoder import ClipEncoder
    from engines.text_encoder.weights import TextModel

    model, run = text_model("l14"), Run()
    run.cancel()
    with pytest.raises(Cancelled):
        compare(ClipEncoder(model), TextModel(model, ""), [row_of([])], run)
