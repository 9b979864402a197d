"""The public endpoints, called with Gradio's own client."""

import json
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from engines.options import FuseOptions, as_dict
from engines.pipeline import Studio
from engines.settings import Settings

gradio_client = pytest.importorskip("gradio_client")


@pytest.fixture
def client(server: Any, tmp_path: Path) -> Any:
    made = gradio_client.Client(server.address, verbose=False, download_files=str(tmp_path / "downloads"))
    yield made
    made.close()


def told(call: Any) -> dict[str, str]:
    """What an endpoint says when it refuses."""
    from gradio_client.exceptions import AppError

    with pytest.raises(AppError) as refused:
        call()
    text = str(refused.value)
    answer: dict[str, str] = json.loads(text[text.index("{") : text.rindex("}") + 1])
    return answer


def test_six_endpoints_are_public(client: Any) -> None:
    named = client.view_api(return_format="dict")
    assert set(named["named_endpoints"]) == {"/fuse", "/faces", "/mask", "/compare", "/tokens", "/verify"}
    assert named["unnamed_endpoints"] == {}
    names = [parameter["parameter_name"] for parameter in named["named_endpoints"]["/fuse"]["parameters"]]
    turned = {field.name for field in fields(FuseOptions)}
    assert names[:2] == ["source", "target"]
    assert names[-2:] == ["format", "quality"]
    assert set(names[2:-2]) == turned | {"paint", "label"}  # and no limit among them


def test_fuse_then_verify(client: Any, portraits: tuple[Path, Path]) -> None:
    file = gradio_client.handle_file
    saved, facts = client.predict(source=file(portraits[0]), target=file(portraits[1]), format="webp", api_name="/fuse")
    assert Path(saved).suffix == ".webp"
    assert Path(saved).stat().st_size == facts["bytes"]
    face = facts["faces"][0]
    assert face["identity_after"] < face["identity_before"]
    found = client.predict(file=file(saved), api_name="/verify")
    assert found["mark"]["id"] == facts["mark"]["id"]


def test_models_are_compared(client: Any, portraits: tuple[Path, Path]) -> None:
    given = {"source": gradio_client.handle_file(portraits[0]), "target": gradio_client.handle_file(portraits[1]), "mode": "live"}
    mesh, other = client.predict(**given, models=["mesh", "inswapper_128"], api_name="/compare")["models"]
    assert (mesh["state"], other["state"], other["output"]) == ("compared", "licence", None)
    assert 0 < mesh["memory_mb"] < mesh["peak_mb"]
    assert other["error"]["hint"]
    found = client.predict(file=gradio_client.handle_file(mesh["output"]), api_name="/verify")
    assert found["verdict"] == "made_here"


def test_tokens_are_counted_as_the_command_counts_them(client: Any, portraits: tuple[Path, Path]) -> None:
    picture = gradio_client.handle_file(portraits[1])
    found = client.predict(image=picture, crop=512, model="claude", api_name="/tokens")
    (row,) = found["rows"]
    assert (found["width"], found["height"], row["photo"], row["crop"]["512"]) == (512, 600, 418, 361)
    assert row["saving_vs_photo"] == round(1 - 361 / 418, 4)
    assert told(lambda: client.predict(image=picture, model="gpt", api_name="/tokens"))["code"] == "invalid_option"


def test_what_was_turned_is_told(client: Any, portraits: tuple[Path, Path]) -> None:
    file = gradio_client.handle_file
    given = {"shape": 0.3, "texture": 0.5, "keep_mouth": True, "marks": False, "mode": "live"}
    _, facts = client.predict(source=file(portraits[0]), target=file(portraits[1]), **given, api_name="/fuse")
    assert facts["options"] == as_dict(FuseOptions(**given))
    found = client.predict(image=file(portraits[1]), api_name="/faces")["faces"][0]
    _, facts = client.predict(source=file(portraits[0]), target=file(portraits[1]), points=found["points5"], **given, api_name="/fuse")
    assert facts["options"]["points"] == found["points5"]


def test_a_mask_and_a_brush_are_taken(client: Any, portraits: tuple[Path, Path], tmp_path: Path) -> None:
    file = gradio_client.handle_file
    brush = tmp_path / "brush.png"
    with Image.open(portraits[1]) as picture:
        Image.new("L", picture.size, 128).save(brush)
    given = {"source": file(portraits[0]), "target": file(portraits[1]), "mode": "live", "api_name": "/fuse"}
    _, facts = client.predict(mask={"areas": ["nose"], "grow": 2}, paint=file(brush), **given)
    assert facts["options"]["mask"] | {"areas": ["nose"], "grow": 2, "paint": True} == facts["options"]["mask"]
    assert told(lambda: client.predict(mask={"areas": ["ears"]}, **given))["code"] == "invalid_option"
    shown, facts = client.predict(target=given["target"], mask={"areas": ["nose"]}, paint=file(brush), api_name="/mask")
    assert facts["mask"]["areas"] == ["nose"]
    assert facts["mask"]["paint"] is True
    with Image.open(shown) as picture, Image.open(portraits[1]) as plain:
        assert picture.size == (facts["width"], facts["height"]) == plain.size
        tint = np.abs(np.asarray(picture.convert("RGB")).astype(int) - np.asarray(plain.convert("RGB")))
    assert tint.max() > 60
    assert np.median(tint) <= 3  # nothing but the nose
    assert told(lambda: client.predict(paint=file(portraits[0]), **given))["code"] == "invalid_option"


def test_a_persona_is_a_source(client: Any, server: Any, portraits: tuple[Path, Path], tmp_path: Path) -> None:
    file = gradio_client.handle_file
    photos = [portraits[0], tmp_path / "turned.png"]
    with Image.open(portraits[0]) as picture:
        picture.rotate(5, Image.Resampling.BICUBIC, fillcolor=(127, 127, 127)).save(photos[1])
    with Studio.open(Settings(data_dir=tmp_path / "data", provider="cpu")) as elsewhere:
        persona = elsewhere.persona(photos, "x")
        kept = [persona.save(tmp_path / f"{export}.persona", elsewhere.key, export) for export in (True, False)]
    _, facts = client.predict(source=file(kept[0]), target=file(portraits[1]), api_name="/fuse")
    assert facts["faces"][0]["identity_after"] < facts["faces"][0]["identity_before"]
    answer = told(lambda: client.predict(source=file(kept[1]), target=file(portraits[1]), api_name="/fuse"))
    assert answer["code"] == "persona_unusable"
    assert answer["message"].endswith("False.persona.")


def test_faces(client: Any, portraits: tuple[Path, Path]) -> None:
    found = client.predict(image=gradio_client.handle_file(portraits[1]), api_name="/faces")
    assert (found["width"], found["height"]) == (512, 600)
    assert [(face["index"], face["usable"]) for face in found["faces"]] == [(0, True)]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"face": 5}, "face_index"),
        ({"strength": 1.5}, "invalid_option"),
        ({"format": "gif"}, "output_unwritable"),
        ({"enhance": "x"}, "invalid_option"),
        ({"beard": "x"}, "invalid_option"),
        ({"feather": -0.1}, "invalid_option"),
        ({"points": [[1, 2], [3, 4]]}, "invalid_option"),
    ],
)
def test_errors_say_their_code_and_two_lines(client: Any, portraits: tuple[Path, Path], options: dict[str, Any], code: str) -> None:
    file = gradio_client.handle_file
    answer = told(lambda: client.predict(source=file(portraits[0]), target=file(portraits[1]), **options, api_name="/fuse"))
    assert answer["code"] == code
    assert answer["message"]
    assert answer["hint"]


def test_a_text_is_not_a_picture(client: Any, tmp_path: Path) -> None:
    path = tmp_path / "notes.jpg"
    path.write_text("not a picture")
    assert told(lambda: client.predict(image=gradio_client.handle_file(path), api_name="/faces"))["code"] == "unreadable_image"


def test_anothers_upload_is_no_input(server: Any, client: Any, portraits: tuple[Path, Path]) -> None:
    """Nor a file of the machine, nor an address for the studio to fetch."""
    with httpx.Client(base_url=server.address, trust_env=False, timeout=60) as other:
        other.get("/config")
        path = other.post("/gradio_api/upload", files={"files": ("x.png", portraits[0].read_bytes())}).json()[0]
    for named in (path, str(portraits[0]), str(server.data_dir / "keys" / "mark.key"), "http://127.0.0.1:9/x.png"):
        value = {"path": named, "meta": {"_type": "gradio.FileData"}}
        with httpx.Client(base_url=server.address, trust_env=False, timeout=60) as caller:
            caller.get("/config")
            event = caller.post("/gradio_api/call/faces", json={"data": [value]}).json()["event_id"]
            answer = caller.get(f"/gradio_api/call/faces/{event}").text
        assert "event: error" in answer, named
        assert "sharpness" not in answer


def test_the_pages_own_events_are_closed_to_clients(client: Any) -> None:
    for name in ("/look", "/example", "/stop", "/cut", "/use"):
        with pytest.raises(ValueError, match="Cannot find"):
            client.predict(api_name=name)


def test_cancel_stops_the_work(server: Any, client: Any, portraits: tuple[Path, Path]) -> None:
    """Case U-03, by the API."""
    file = gradio_client.handle_file
    assert server.idle(60)  # a page of another test, closed a moment ago
    job = client.submit(source=file(portraits[0]), target=file(portraits[1]), enhance="full", api_name="/fuse")
    assert any(server.health()["jobs"] or time.sleep(0.05) for _ in range(600))
    before = server.files()
    job.cancel()
    assert server.idle(60)
    assert server.files() <= before  # finished, it would have left its picture
