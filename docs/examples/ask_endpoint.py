"""Sends the aligned face of a picture, and a question, to any endpoint that speaks OpenAI's chat completions.

    python docs/examples/ask_endpoint.py photo.jpg "How is the light?" --url http://127.0.0.1:8000/v1 --model qwen2.5-vl [--size 256]

The key, where one is needed, comes from OPENAI_API_KEY. Prints the answer, and the tokens that the endpoint counted.
"""

import argparse
import base64
import os
from pathlib import Path
from typing import Any

import httpx

from engines.errors import NoFace
from engines.pipeline import Studio
from engines.vision.geometry import CROP_SIZES


def aligned(picture: Path, size: int) -> bytes:
    """The picture's largest face, upright and alone, as PNG: what a model needs to see of a portrait. Raises `NoFace`."""
    with Studio.open() as studio:
        found = studio.faces(picture)
        if not found.faces:
            raise NoFace(role="target")
        face = max(found.faces, key=lambda each: each.box.width)
        crop = studio.crop(found.frame, face, size)
        return studio.encode(studio.mark(crop.pixels, "crop")).data


def ask(url: str, model: str, question: str, png: bytes, key: str = "") -> dict[str, Any]:
    """The endpoint's whole answer. Raises `httpx.HTTPStatusError`."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(png).decode()}}
    # The picture first: what stays the same comes before what changes, so that the endpoint's own prefix cache can keep it.
    message = {"role": "user", "content": [image, {"type": "text", "text": question}]}
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    answer = httpx.post(f"{url.rstrip('/')}/chat/completions", json={"model": model, "messages": [message]}, headers=headers, timeout=120)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path)
    parser.add_argument("question")
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--size", type=int, default=256, choices=CROP_SIZES)
    given = parser.parse_args()
    answer = ask(given.url, given.model, given.question, aligned(given.picture, given.size), os.environ.get("OPENAI_API_KEY", ""))
    print(answer["choices"][0]["message"]["content"])
    print(answer.get("usage", {}))


if __name__ == "__main__":
    main()
