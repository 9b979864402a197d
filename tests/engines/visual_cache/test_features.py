"""A tiny seeded vision and language model of each shape: the same logits from kept features as from the picture."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")
transformers = pytest.importorskip("transformers", reason="needs the extra portrait")

from engines.errors import InvalidOption  # noqa: E402
from engines.visual_cache.features import VisualCache, weights_digest  # noqa: E402
from engines.visual_cache.inputs import image_features, with_features  # noqa: E402
from engines.visual_cache.store import FeatureStore  # noqa: E402

IMAGE = 999
TEXT = {
    "vocab_size": 1000, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
PICTURE = np.arange(28 * 28 * 3, dtype=np.uint8).reshape(28, 28, 3)


@pytest.fixture(scope="module")
def llava() -> Any:
    torch.manual_seed(1)
    eyes = transformers.CLIPVisionConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=28, patch_size=14
    )
    config = transformers.LlavaConfig(vision_config=eyes, text_config=transformers.LlamaConfig(**TEXT), image_token_id=IMAGE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.LlavaForConditionalGeneration(config).eval()


@pytest.fixture(scope="module")
def qwen() -> Any:
    torch.manual_seed(1)
    eyes = {"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 4, "mlp_ratio": 2, "patch_size": 14, "spatial_merge_size": 2}
    words = {**TEXT, "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2]}, "max_position_embeddings": 512}
    special = {"image_token_id": IMAGE, "vision_start_token_id": 997, "vision_end_token_id": 998, "video_token_id": 996}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return transformers.Qwen2VLForConditionalGeneration(
            transformers.Qwen2VLConfig(vision_config=eyes, text_config=words, **special)
        ).eval()


def inputs(kind: str) -> tuple[dict[str, Any], Any]:
    """The processor's part: what stands for the picture, and the ids of a question about it."""
    generator = torch.Generator().manual_seed(4)
    question = torch.cat([torch.tensor([[1, 997]]), torch.full((1, 4), IMAGE), torch.tensor([[998, 5, 6, 7, 8]])], 1)
    if kind == "llava":
        return {"pixel_values": torch.randn(1, 3, 28, 28, generator=generator)}, question
    return {"pixel_values": torch.randn(16, 3 * 2 * 14 * 14, generator=generator), "image_grid_thw": torch.tensor([[1, 4, 4]])}, question


@pytest.mark.parametrize("kind", ["llava", "qwen"])
def test_kept_features_give_the_very_same_logits(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    model = request.getfixturevalue(kind)
    given, ids = inputs(kind)
    types = {"mm_token_type_ids": (ids == IMAGE).int()} if kind == "qwen" else {}
    calls: list[int] = []

    def look(_: Any) -> Any:
        calls.append(1)
        return image_features(model, **given)

    with torch.no_grad():
        expected = model(input_ids=ids, **given, **types).logits
        for store in (FeatureStore(tmp_path), FeatureStore(tmp_path)):  # the second finds them on disk
            cache = VisualCache(store, kind, "seeded", {"size": 28})
            for _ in range(2):
                found = model(**with_features(model, ids, cache.features(PICTURE, look), given.get("image_grid_thw"))).logits
                assert torch.equal(found, expected)
    assert len(calls) == 1


def test_a_question_with_another_number_of_places_is_refused(llava: Any) -> None:
    given, ids = inputs("llava")
    with pytest.raises(InvalidOption):
        with_features(llava, ids[:, 3:], image_features(llava, **given))


@pytest.mark.parametrize("change", ["model", "weights", "processor", "pixels", "shape"])
def test_whatever_the_features_depend_on_is_in_the_key(change: str) -> None:
    plain = {"model": "m", "weights": "w", "processor": {"size": 28}}
    other = {**plain, **{"model": {"model": "n"}, "weights": {"weights": "v"}, "processor": {"processor": {"size": 56}}}.get(change, {})}
    picture = PICTURE.copy()
    if change == "pixels":
        picture[0, 0, 0] ^= 1
    if change == "shape":
        picture = picture.reshape(14, 56, 3)
    store = FeatureStore()
    assert VisualCache(store, **plain).key(PICTURE) != VisualCache(store, **other).key(picture)
    assert VisualCache(store, **plain).key(PICTURE) == VisualCache(store, **plain).key(PICTURE.copy())


def test_a_changed_weight_changes_the_digest() -> None:
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2).to(torch.bfloat16)
    before = weights_digest(model)
    assert before == weights_digest(model)
    with torch.no_grad():
        model.weight[0, 0] += 1
    assert weights_digest(model) != before
