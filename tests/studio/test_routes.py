"""The studio's own addresses, without Gradio behind them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from engines.errors import MarkNotRead
from engines.settings import Settings
from studio.context import VISITOR, Context, new_visitor
from studio.media import Item
from studio.routes import add_routes

ANNA, BERTA = new_visitor(), new_visitor()


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    context = Context(Settings(data_dir=tmp_path, upload_mb=1))
    yield context
    context.close()


@pytest.fixture
def client(context: Context) -> Iterator[TestClient]:
    app = FastAPI()
    add_routes(app, context)
    with TestClient(app, cookies={VISITOR: ANNA}) as client:
        yield client


def test_health_before_the_models_are_there(client: TestClient) -> None:
    answer = client.get("/api/v1/health").json()
    assert answer["status"] == "ok"
    assert answer["ready"] is False
    assert answer["jobs"] == 0
    assert client.get("/page/status").json()["state"] == "waiting"


def test_an_upload_is_kept_as_it_is(client: TestClient, context: Context) -> None:
    data = bytes(range(256)) * 100
    token = client.post("/media", params={"name": "照片 [1] & '%.heic"}, content=data).json()["token"]
    item = context.shelf.get(ANNA, token)
    assert item.path.read_bytes() == data
    assert item.name == "照片 [1] & '%.heic"


@pytest.mark.parametrize("name", ["../../etc/passwd", "..\\..\\windows\\system.ini", "/absolute/x.png", ""])
def test_a_name_is_never_a_path(client: TestClient, context: Context, name: str) -> None:
    item = context.shelf.get(ANNA, client.post("/media", params={"name": name}, content=b"x").json()["token"])
    assert "/" not in item.name
    assert "\\" not in item.name
    assert context.shelf.root in item.path.parents


def test_too_much_is_refused_by_its_announced_size(client: TestClient, context: Context) -> None:
    answer = client.post("/media", content=b"x", headers={"content-length": str(3 << 20)})
    assert answer.status_code == 413
    message, hint = answer.json()["error"]["en"]
    assert "3 MB" in message
    assert "1 MB" in message
    assert "FUSION_STUDIO_UPLOAD_MB=3" in hint
    assert answer.json()["error"].keys() == {"en", "zh-CN"}


def test_too_much_is_refused_while_it_comes(client: TestClient, context: Context) -> None:
    """A sender may say nothing of the size, or lie."""

    def endless() -> Iterator[bytes]:
        for _ in range(64):
            yield b"x" * (64 << 10)

    answer = client.post("/media", content=endless())
    assert answer.status_code == 413
    assert [path for path in context.shelf.root.rglob("*") if path.is_file()] == []


def test_an_address_works_for_its_visitor_only(client: TestClient, context: Context) -> None:
    item = context.shelf.add(BERTA, b"hers", "x.png", "image/png")
    assert client.get(item.address).status_code == 404
    assert client.get(f"/gradio_api/file={item.path}").status_code == 404
    client.cookies.set(VISITOR, BERTA)
    assert client.get(item.address).content == b"hers"
    assert client.head(item.address).status_code == 200
    assert client.get(f"/gradio_api/file={item.path}").content == b"hers"


def test_without_a_cookie_nothing_of_anybodys_is_reached(client: TestClient, context: Context) -> None:
    item = context.shelf.add(ANNA, b"hers", "x.png", "image/png")
    client.cookies.clear()
    assert client.get(item.address).status_code == 404


def test_a_promise_that_fails_says_why_in_both_languages(client: TestClient, context: Context) -> None:
    def made() -> bytes:
        raise MarkNotRead(what="watermark")

    item = context.shelf.promise(ANNA, "x.jpg", "image/jpeg", "g", made, 1)
    answer = client.get(item.address)
    assert answer.status_code == 422
    assert answer.json()["error"].keys() == {"en", "zh-CN"}
    assert all(len(lines) == 2 for lines in answer.json()["error"].values())


def test_private_files_are_not_kept_by_caches(client: TestClient, context: Context) -> None:
    item = context.shelf.add(ANNA, b"x", "x.png", "image/png")
    assert client.get(item.address).headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize("moment", ["before it is looked at", "before it is opened"])
def test_a_file_that_goes_while_it_is_asked_for_is_gone_and_no_fault(
    client: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Its group was replaced, or its visitor gave it up: the client would raise what the server breaks off with."""
    item = context.shelf.add(ANNA, b"x" * 100, "x.png", "image/png", "g")
    opened, kept = anyio.open_file, context.shelf.open

    async def open_file(*given: Any, **more: Any) -> Any:
        context.shelf.clear(ANNA, "g")
        return await opened(*given, **more)

    def look(visitor: str, token: str) -> Item:
        found = kept(visitor, token)
        context.shelf.clear(ANNA, "g")
        return found

    if moment == "before it is opened":
        monkeypatch.setattr(anyio, "open_file", open_file)
    else:
        monkeypatch.setattr(context.shelf, "open", look)
    assert client.get(item.address).status_code == 404


def test_a_part_of_a_file_can_be_asked_for(client: TestClient, context: Context) -> None:
    item = context.shelf.add(ANNA, bytes(range(100)), "x.png", "image/png")
    answer = client.get(item.address, headers={"range": "bytes=10-19"})
    assert (answer.status_code, answer.content) == (206, bytes(range(10, 20)))
    whole = client.get(item.address)
    assert (whole.status_code, whole.content, whole.headers["content-length"]) == (200, bytes(range(100)), "100")
    assert client.head(item.address).headers["content-length"] == "100"


def test_two_files_of_one_upload_of_gradios_client(client: TestClient, context: Context) -> None:
    pytest.importorskip("gradio")
    files = [("files", ("a.png", b"1")), ("files", ("b.png", b"2"))]
    paths = client.post("/gradio_api/upload", files=files).json()
    assert [context.shelf.find(ANNA, Path(path)).path.read_bytes() for path in paths] == [b"1", b"2"]


def test_too_large_an_upload_of_gradios_client(client: TestClient) -> None:
    pytest.importorskip("gradio")
    assert client.post("/gradio_api/upload", files={"files": ("a.png", b"x" * (2 << 20))}).status_code == 413


def test_whether_a_file_is_there_is_told_to_its_visitor_alone(client: TestClient, context: Context) -> None:
    token = context.shelf.add(ANNA, b"x", "x.png", "image/png").token
    assert client.get(f"/media/{token}/there").json() == {"there": True}
    answer = client.get(f"/media/{token}/there", headers={"cookie": f"{VISITOR}={BERTA}"})
    assert (answer.status_code, answer.json()) == (200, {"there": False})
    assert client.get("/media/never/there").json() == {"there": False}
