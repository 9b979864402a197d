"""A model from its preprocessor_config.json."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import ProcessorUnusable
from engines.tokens.processor import MOST_BYTES, READERS, of_file
from engines.tokens.visual import VisualModel, load

MODELS = load()
SIZES = ((512, 512), (1920, 1080), (4000, 3000), (112, 112), (37, 900))

# As the repositories have them, without what the count does not need; what stands in another file of theirs comes after the |.
PUBLISHED: dict[str, dict[str, Any]] = {
    "clip_l14": {
        "feature_extractor_type": "CLIPFeatureExtractor", "crop_size": 224, "do_center_crop": True, "size": 224,
    } | {"patch_size": 14},
    "siglip_384": {"image_processor_type": "SiglipImageProcessor", "size": {"height": 384, "width": 384}} | {"patch_size": 14},
    "llava_1_5": {
        "image_processor_type": "CLIPImageProcessor", "crop_size": {"height": 336, "width": 336}, "size": {"shortest_edge": 336},
    } | {"patch_size": 14},
    "llava_next": {
        "image_processor_type": "LlavaNextImageProcessor", "crop_size": {"height": 336, "width": 336}, "size": {"shortest_edge": 336},
        "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]],
    } | {"patch_size": 14},
    "qwen2_5_vl": {
        "image_processor_type": "Qwen2VLImageProcessor", "min_pixels": 3136, "max_pixels": 12845056, "patch_size": 14, "merge_size": 2,
    },
    "qwen3_vl": {
        "image_processor_type": "Qwen2VLImageProcessorFast", "size": {"longest_edge": 16777216, "shortest_edge": 65536},
        "patch_size": 16, "merge_size": 2,
    },
    "internvl": {
        "image_processor_type": "GotOcr2ImageProcessorFast", "size": {"height": 448, "width": 448}, "min_patches": 1, "max_patches": 12,
    } | {"image_seq_length": 256},
    "pixtral": {
        "image_processor_type": "PixtralImageProcessor", "size": {"longest_edge": 1024}, "patch_size": {"height": 16, "width": 16},
    },
    "llama_3_2_vision": {
        "image_processor_type": "MllamaImageProcessor", "size": {"height": 560, "width": 560}, "max_image_tiles": 4,
    } | {"patch_size": 14},
    "gemma3": {"image_processor_type": "Gemma3ImageProcessor", "size": {"height": 896, "width": 896}, "image_seq_length": 256},
    "gemma4": {"image_processor_type": "Gemma4ImageProcessor", "patch_size": 16, "pooling_kernel_size": 3, "max_soft_tokens": 280},
    "smolvlm_256m": {
        "image_processor_type": "Idefics3ImageProcessor", "size": {"longest_edge": 2048}, "max_image_size": {"longest_edge": 512},
    } | {"image_seq_len": 64},
}  # fmt: skip


def read(config: object) -> VisualModel:
    return of_file(json.dumps(config).encode(), "own", "preprocessor_config.json", "2026-12-02")


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_file_gives_the_models_own_row(name: str) -> None:
    model = read(PUBLISHED[name])
    assert model.family == MODELS[name].family
    assert [model.count(*size) for size in SIZES] == [MODELS[name].count(*size) for size in SIZES]
    assert model.checked == "own"


def test_each_reader_is_tested() -> None:
    kinds = {str(config.get("image_processor_type", config.get("feature_extractor_type"))) for config in PUBLISHED.values()}
    tested = {base for base in READERS for kind in kinds if kind.startswith((base + "Image", base + "Feature"))}
    assert set(READERS) - tested == {"ViT", "Qwen3VL", "SmolVLM"}  # the same readers under other names


@pytest.mark.parametrize("key", ["patch_size", "merge_size", "min_pixels", "max_pixels"])
def test_what_is_missing_is_named(key: str) -> None:
    with pytest.raises(ProcessorUnusable) as fault:
        read({name: value for name, value in PUBLISHED["qwen2_5_vl"].items() if name != key})
    assert (fault.value.reason, fault.value.facts["field"]) == ("missing", key)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (b"[]", "damaged"),
        (b"\xff\xfe{}", "damaged"),
        (b"[" * 100_000, "damaged"),
        (b" " * (MOST_BYTES + 1), "damaged"),
        (b"{}", "unknown"),
        (b'{"image_processor_type": "DonutImageProcessor"}', "unknown"),
        (b'{"image_processor_type": "PixtralImageProcessor", "size": {}, "patch_size": 16}', "wrong"),
        (b'{"image_processor_type": "PixtralImageProcessor", "size": {"longest_edge": 0}, "patch_size": 16}', "wrong"),
        (b'{"image_processor_type": "PixtralImageProcessor", "size": {"longest_edge": 9}, "patch_size": "x"}', "wrong"),
        (
            b'{"image_processor_type": "PixtralImageProcessor", "size": {"longest_edge": 9}, "patch_size": {"height": 1, "width": 2}}',
            "wrong",
        ),
    ],
)
def test_what_cannot_be_used_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(ProcessorUnusable) as fault:
        of_file(data, "own", "a.json", "2026-12-02")
    assert fault.value.reason == reason


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5000) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["height", "width", "shortest_edge", "longest_edge"]), inner)
    ),
    max_leaves=6,
)
KEYS = sorted({key for config in PUBLISHED.values() for key in config if not key.endswith("_type")})


@given(st.sampled_from(sorted(READERS)), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=9))
def test_any_file_is_used_or_refused(kind: str, values: dict[str, Any]) -> None:
    try:
        model = read({**values, "image_processor_type": f"{kind}ImageProcessor"})
    except ProcessorUnusable:
        return
    count = model.count_or_none(640, 480)
    assert count is None or count > 0
