"""The examples of the docs, run: against a server on loopback, and against a tiny seeded model."""

import base64
import http.server
import json
import runpy
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


class Endpoint(http.server.BaseHTTPRequestHandler):
    """Answers like an endpoint of chat completions, and remembers what it was asked."""

    asked: ClassVar[list[tuple[str, str, dict[str, Any]]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, self.headers.get("Authorization", ""), body))
        answer = {"choices": [{"message": {"role": "assistant", "content": "Soft."}}], "usage": {"prompt_tokens": 81}}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Not on stderr."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_crop_is_asked_about_at_any_endpoint(
    endpoint: str, officer_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FUSION_STUDIO_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "k-1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    arguments = ["ask_endpoint.py", str(officer_path), "How is the light?", "--url", endpoint, "--model", "m"]
    monkeypatch.setattr(sys, "argv", arguments)
    runpy.run_path(str(EXAMPLES / "ask_endpoint.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == ["Soft.", "{'prompt_tokens': 81}"]
    ((path, key, body),) = Endpoint.asked
    assert (path, key, body["model"]) == ("/v1/chat/completions", "Bearer k-1", "m")
    picture, words = body["messages"][0]["content"]
    assert words["text"] == "How is the light?"
    from engines.vision import io

    frame = io.decode(base64.b64decode(picture["image_url"]["url"].removeprefix("data:image/png;base64,")), "crop.png", 10)
    assert frame.pixels.shape == (256, 256, 3)


def test_several_questions_look_at_the_picture_once(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    transformers = pytest.importorskip("transformers", reason="needs the extra portrait")
    from PIL import Image

    from engines.visual_cache.store import FeatureStore

    answers = runpy.run_path(str(EXAMPLES / "persona_before_model.py"))["answers"]
    torch.manual_seed(2)
    eyes = transformers.CLIPVisionConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=28, patch_size=14
    )
    words = transformers.LlamaConfig(vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
                                     bos_token_id=1, eos_token_id=2, pad_token_id=0)  # fmt: skip
    model = transformers.LlavaForConditionalGeneration(
        transformers.LlavaConfig(vision_config=eyes, text_config=words, image_token_id=99)
    ).eval()

    class Processor:
        """What the example needs of a processor: four places for the picture, then the question's letters."""

        class image_processor:  # noqa: N801  # an attribute of transformers' processors
            @staticmethod
            def to_dict() -> dict[str, int]:
                return {"size": 28}

        def apply_chat_template(self, messages: Any, add_generation_prompt: bool) -> str:
            return str(messages[0]["content"][1]["text"])

        def __call__(self, text: str, images: Any, return_tensors: str) -> dict[str, Any]:
            ids = [1, *[99] * 4, *(ord(letter) % 90 + 3 for letter in text)]
            return {"input_ids": torch.tensor([ids]), "pixel_values": torch.ones(1, 3, 28, 28)}

        def batch_decode(self, ids: Any, skip_special_tokens: bool) -> list[str]:
            return [" ".join(map(str, ids[0].tolist()))]

    store = FeatureStore()
    found = answers(model, Processor(), Image.new("RGB", (28, 28), "red"), ["light?", "smiling?"], store, most=3)
    assert len(found) == 2
    assert all(found)
    assert (store.counters.misses, store.counters.memory) == (1, 1)
