"""Fixtures that every room shares."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

settings.register_profile("unhurried", deadline=None)  # a loaded machine is no fault
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The page comes last: the small tests tell sooner, and Playwright's event loop runs in this thread from its first test on."""
    items.sort(key=lambda item: "e2e" in item.path.parts)


@pytest.fixture(scope="session")
def astronaut() -> NDArray[np.uint8]:
    """A public-domain portrait: (512, 512, 3) RGB, one face of 99 px, smiling."""
    from skimage.data import astronaut as picture

    return np.ascontiguousarray(picture())


@pytest.fixture(scope="session")
def officer_path() -> Path:
    """A public-domain portrait on disk: 512 × 600 JPEG, one face of 183 px, glasses and a cap."""
    from matplotlib.cbook import get_sample_data

    return Path(str(get_sample_data("grace_hopper.jpg", asfileobj=False)))


@pytest.fixture(scope="session")
def officer(officer_path: Path) -> NDArray[np.uint8]:
    """The pixels of `officer_path`: (600, 512, 3) RGB."""
    from PIL import Image

    with Image.open(officer_path) as picture:
        return np.asarray(picture.convert("RGB")).copy()


@pytest.fixture(scope="session")
def sentence_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny seeded model of sentence embeddings with its tokenizer, as transformers keeps them."""
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    transformers = pytest.importorskip("transformers", reason="needs the extra portrait")
    from tokenizers import Tokenizer, models, pre_tokenizers

    path = tmp_path_factory.mktemp("sentences")
    words = ["[PAD]", "[UNK]", "a", "man", "with", "glasses", "and", "hat", "no", ",", "8k", "4k"]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(path)
    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4
    )
    transformers.BertModel(config).eval().save_pretrained(path)
    return path
