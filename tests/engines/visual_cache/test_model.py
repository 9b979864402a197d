"""A vision model from a folder, or seeded: a picture looked at through the cache and without it."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engines.errors import Cancelled, ExtraMissing, WeightsUnusable
from engines.timing import Run
from engines.visual_cache.store import FeatureStore

PIXELS = np.random.default_rng(2).integers(0, 256, (112, 112, 3), np.uint8)


def test_without_torch_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from engines.visual_cache.model import opened

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ExtraMissing):
        opened()


@pytest.fixture(scope="module")
def seeded() -> Any:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    pytest.importorskip("transformers", reason="needs the extra portrait")
    torch.set_num_threads(1)
    from engines.visual_cache.model import opened

    return opened("", "cpu")


def test_the_second_look_is_a_hit_and_equal(seeded: Any) -> None:
    from engines.visual_cache.model import look

    store = FeatureStore()
    first, second, third = (look(seeded, store, pixels) for pixels in (PIXELS, PIXELS, PIXELS[::-1]))
    assert [each.hit for each in (first, second, third)] == [False, True, False]
    assert [each.difference for each in (first, second, third)] == [0.0] * 3
    assert first.shape == (256, 32)
    assert (third.counters.memory, third.counters.misses) == (1, 2)
    assert third.nbytes == 2 * 256 * 32 * 4
    assert second.counters.saved > 0


def test_a_folder_has_its_own_key_and_the_same_weights(seeded: Any, tmp_path: Path) -> None:
    import torch

    from engines.visual_cache.model import look, opened

    seeded.model.save_pretrained(tmp_path)
    seeded.processor.save_pretrained(tmp_path)
    found = opened(str(tmp_path), "cpu")
    assert (found.name, found.seeded, found.weights) == (tmp_path.name, False, seeded.weights)
    assert torch.equal(found.features(PIXELS), seeded.features(PIXELS))
    store = FeatureStore()
    look(seeded, store, PIXELS)
    assert not look(found, store, PIXELS).hit


@pytest.mark.parametrize("config", [None, '{"model_type": "bert"}'])
def test_what_is_no_vision_model_is_told(config: str | None, tmp_path: Path, seeded: Any) -> None:
    from engines.visual_cache.model import opened

    if config:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(WeightsUnusable) as told:
        opened(str(tmp_path), "cpu")
    assert "vision_model" in told.value.hint()


def test_a_stopped_look_looks_at_nothing(seeded: Any) -> None:
    from engines.visual_cache.model import look

    run, store = Run(), FeatureStore()
    run.cancel()
    with pytest.raises(Cancelled):
        look(seeded, store, PIXELS, run)
    assert store.counters.misses == 0
