"""What image generators write of their own accord: known by keywords of PNG text and by words in EXIF."""

from collections.abc import Iterator

from engines.provenance.containers import Parts
from engines.provenance.labels import tidy

# PNG keywords of image generators, and words that stand in the EXIF of others.
_GENERATOR_TEXTS = {"parameters": "parameters", "prompt": "comfyui", "workflow": "comfyui", "invokeai_metadata": "invokeai"}
_GENERATOR_TEXTS |= {"sd-metadata": "invokeai", "Dream": "invokeai", "generation_data": "parameters"}
_GENERATOR_TEXTS |= {"fooocus_scheme": "fooocus"}
# Keywords that others use as well, with a word that only that generator writes: NovelAI; Midjourney; SwarmUI, in Automatic1111's place.
_GENERATOR_WORDS = (
    ("Software", "NovelAI", "novelai"),
    ("Description", "Job ID: ", "midjourney"),
    ("parameters", "sui_image_params", "swarmui"),
)
_EXCERPT, _TEXTS = 400, 4  # characters of a generator's text that are shown, and of how many
_EXIF_WORDS = (
    *((word, "parameters") for word in (b"Negative prompt:", b"Sampler:")),
    *((word, "comfyui") for word in (b"workflow:{", b"prompt:{")),  # of its WebP
    (b"sui_image_params", "swarmui"),
)


def marks_of(parts: Parts) -> Iterator[str]:
    """Names of the generators that left something, keys under `provenance.label.`; some more than once."""
    yield from (name for keyword, _ in parts.texts for name in (_GENERATOR_TEXTS.get(keyword),) if name)
    yield from (name for keyword, value in parts.texts for name in _by_word(keyword, value))
    yield from (name for word, name in _EXIF_WORDS if word in parts.exif or word.decode().encode("utf-16-be") in parts.exif)


def texts_of(parts: Parts) -> tuple[tuple[str, str], ...]:
    """Keyword and beginning of what generators wrote into a PNG, on one line."""
    said = ((keyword, value) for keyword, value in parts.texts if keyword in _GENERATOR_TEXTS or _by_word(keyword, value))
    return tuple((keyword, tidy(" ".join(value[:_EXCERPT].split()))) for keyword, value in said)[:_TEXTS]


def _by_word(keyword: str, value: str) -> list[str]:
    """Generators by a word of a text whose keyword says nothing."""
    return [name for known, word, name in _GENERATOR_WORDS if known == keyword and word in value]
