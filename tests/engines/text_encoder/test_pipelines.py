"""Whole diffusers pipelines from tiny configurations: the same picture from cached embeddings as from the words."""

import lzma
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")
pytest.importorskip("transformers", reason="needs the extra portrait")
diffusers = pytest.importorskip("diffusers", reason="needs the extra portrait")

from engines.errors import InvalidOption  # noqa: E402
from engines.text_encoder.pipelines import encoders_of, prompt_embeds  # noqa: E402
from engines.tokens.text import FOLDER  # noqa: E402

PROMPT, NEGATIVE = "portrait of a woman, front view, studio light, laughing", "blurry"
WARM = "portrait of a woman, front view, studio light, serious"
pytestmark = pytest.mark.filterwarnings("ignore")  # of diffusers and of what it imports


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer.from_str(lzma.decompress((FOLDER / "clip.json.xz").read_bytes()).decode())
    special = {"bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>", "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>"}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=77, **special)


def parts(width: int, **more: Any) -> dict[str, Any]:
    torch.manual_seed(5)
    blocks = {"down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"), "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D")}
    unet = diffusers.UNet2DConditionModel(
        sample_size=8, in_channels=4, out_channels=4, layers_per_block=1, block_out_channels=(16, 32), cross_attention_dim=width,
        attention_head_dim=8, norm_num_groups=8, **blocks, **more,
    )  # fmt: skip
    ends = {"down_block_types": ["DownEncoderBlock2D"] * 2, "up_block_types": ["UpDecoderBlock2D"] * 2}
    vae = diffusers.AutoencoderKL(block_out_channels=[8, 8], norm_num_groups=8, latent_channels=4, **ends)
    return {"unet": unet.eval(), "vae": vae.eval(), "scheduler": diffusers.DDIMScheduler()}


@pytest.fixture(scope="module")
def pipelines(text_model: Callable[[str], Any], tokenizer: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = diffusers.StableDiffusionPipeline(
            **parts(32), text_encoder=text_model("l14"), tokenizer=tokenizer, safety_checker=None, feature_extractor=None,
            requires_safety_checker=False,
        )  # fmt: skip
        projected = {"addition_embed_type": "text_time", "addition_time_embed_dim": 8, "projection_class_embeddings_input_dim": 24 + 6 * 8}
        larger = diffusers.StableDiffusionXLPipeline(
            **parts(64, **projected), text_encoder=text_model("l14"), text_encoder_2=text_model("bigg"), tokenizer=tokenizer,
            tokenizer_2=tokenizer, add_watermarker=False,
        )  # fmt: skip
    for pipeline in (first, larger):
        pipeline.set_progress_bar_config(disable=True)
    return {"sd": first, "sdxl": larger}


def picture(pipeline: Any, **given: Any) -> np.ndarray:
    drawn = {"num_inference_steps": 2, "height": 16, "width": 16, "guidance_scale": 5.0, "output_type": "np"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(pipeline(**given, **drawn, generator=torch.Generator().manual_seed(7)).images[0])


@pytest.mark.parametrize("negative", [NEGATIVE, None], ids=["negative", "none"])
@pytest.mark.parametrize("kind", ["sd", "sdxl"])
def test_the_picture_is_that_of_the_words(pipelines: dict[str, Any], kind: str, negative: str | None) -> None:
    pipeline = pipelines[kind]
    encoders = encoders_of(pipeline)
    prompt_embeds(pipeline, encoders, WARM)
    cached = picture(pipeline, **prompt_embeds(pipeline, encoders, PROMPT, negative))
    assert all(encoder.counters.partial >= 1 for encoder in encoders)
    given = {} if negative is None else {"negative_prompt": negative}
    assert float(np.abs(cached - picture(pipeline, prompt=PROMPT, **given)).max()) <= 1e-5


@pytest.mark.parametrize("kind", ["sd", "sdxl"])
def test_several_prompts_are_one_batch(pipelines: dict[str, Any], kind: str) -> None:
    pipeline = pipelines[kind]
    encoders = encoders_of(pipeline)
    both = prompt_embeds(pipeline, encoders, [PROMPT, WARM], NEGATIVE)
    for i, prompt in enumerate((PROMPT, WARM)):
        alone = prompt_embeds(pipeline, encoders_of(pipeline), prompt, NEGATIVE)
        assert all(torch.allclose(both[name][i], alone[name][0], atol=1e-5) for name in alone)


def test_a_clip_skip_changes_the_picture_and_must_be_asked_for_at_first(pipelines: dict[str, Any]) -> None:
    pipeline = pipelines["sd"]
    encoders = encoders_of(pipeline, clip_skips=(1,))
    whole, skipped = (prompt_embeds(pipeline, encoders, PROMPT, clip_skip=skip)["prompt_embeds"] for skip in (0, 1))
    with torch.no_grad():
        states = pipeline.text_encoder(
            torch.tensor(pipeline.tokenizer([PROMPT], padding="max_length", max_length=77)["input_ids"]), output_hidden_states=True
        ).hidden_states
        assert torch.allclose(skipped, encoders[0].text.final_norm(states[-2]), atol=1e-5)
    assert not torch.allclose(whole, skipped, atol=1e-3)
    with pytest.raises(InvalidOption):
        prompt_embeds(pipeline, encoders, PROMPT, clip_skip=2)
