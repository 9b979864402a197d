"""Asks a vision and language model of transformers several questions about one crop, and looks at the crop once.

    pip install ".[portrait]"
    python docs/examples/persona_before_model.py FOLDER_OF_THE_MODEL crop.png "How is the light?" "Is he smiling?" [--keep FOLDER]

For LLaVA's and Qwen-VL's shapes. With --keep the features are found again by the next start.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from engines.visual_cache.features import VisualCache, weights_digest
from engines.visual_cache.inputs import image_features, with_features
from engines.visual_cache.store import FeatureStore


def answers(model: Any, processor: Any, picture: Any, questions: list[str], store: FeatureStore, most: int = 64) -> list[str]:
    """One answer a question. `picture`: a PIL image in RGB."""
    cache = VisualCache(store, model.config.model_type, weights_digest(model), processor.image_processor.to_dict())
    found = []
    for question in questions:
        content = [{"type": "image"}, {"type": "text", "text": question}]
        text = processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
        given = processor(text=text, images=picture, return_tensors="pt")
        seen = {name: given[name] for name in ("pixel_values", "image_grid_thw") if name in given}
        features = cache.features(np.asarray(picture), lambda _, seen=seen: image_features(model, **seen))
        inputs = with_features(model, given["input_ids"], features, given.get("image_grid_thw"))
        ids = model.generate(**inputs, max_new_tokens=most, do_sample=False)
        found.append(processor.batch_decode(ids, skip_special_tokens=True)[0])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("questions", nargs="+")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    from PIL import Image
    from transformers import AutoModelForImageTextToText, AutoProcessor

    store = FeatureStore(given.keep)
    model = AutoModelForImageTextToText.from_pretrained(given.model, local_files_only=True).eval()
    processor = AutoProcessor.from_pretrained(given.model, local_files_only=True)
    for answer in answers(model, processor, Image.open(given.picture).convert("RGB"), given.questions, store):
        print(answer)
    print(store.counters)


if __name__ == "__main__":
    main()
