"""The size of a picture that isn't kept, from its first bytes where they tell."""

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from PIL import Image
from starlette.testclient import TestClient

from engines.settings import Settings
from studio.context import VISITOR, Context, new_visitor
from studio.routes import add_routes
from studio.uploads import HEAD_BYTES, size, upload


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    context = Context(Settings(data_dir=tmp_path, upload_mb=1))
    app = FastAPI()
    add_routes(app, context)
    with TestClient(app, cookies={VISITOR: new_visitor()}) as client:
        yield client
    assert [path for path in context.shelf.root.rglob("*") if path.is_file()] == []
    context.close()


def picture(format: str, **more: Any) -> bytes:
    stream = io.BytesIO()
    Image.frombytes("RGB", (40, 20), bytes(range(240)) * 10).save(stream, format, **more)
    return stream.getvalue()


def asked(client: TestClient, data: bytes, whole: bool, name: str = "a.jpg") -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/media/size", params={"name": name, "whole": whole}, content=data).json()
    return answer


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return picture("JPEG", exif=exif)


@pytest.mark.parametrize(
    ("data", "sides"), [(picture("PNG"), [40, 20]), (picture("JPEG"), [40, 20]), (turned(), [20, 40]), (picture("WEBP"), [40, 20])]
)
@pytest.mark.parametrize("whole", [False, True])
def test_the_size_is_that_of_the_upright_picture(client: TestClient, data: bytes, sides: list[int], whole: bool) -> None:
    assert asked(client, data, whole) == {"size": sides}


def test_a_beginning_that_does_not_tell_is_asked_for_as_a_whole(client: TestClient) -> None:
    data = turned()
    frame = data.index(b"\xff\xc0")  # where a JPEG's size stands
    assert asked(client, data[:frame], False) == {"again": True}
    assert asked(client, data, True) == {"size": [20, 40]}


def test_a_large_file_goes_over_the_disk_and_is_not_kept(client: TestClient) -> None:
    data = turned() + b"x" * HEAD_BYTES
    assert asked(client, data, True) == {"size": [20, 40]}
    assert "b.png" in asked(client, b"x" * (HEAD_BYTES + 1), True, "b.png")["error"]["en"][0]


def test_what_is_no_picture_is_told_by_the_name_it_came_with(client: TestClient) -> None:
    told = asked(client, b"no picture at all", True, "../<b>.png")["error"]
    assert "<b>.png" in told["en"][0]
    assert told["zh-CN"][0]


@pytest.mark.parametrize(
    "work",
    [
        lambda ctx, request: upload(ctx, request, "a.png"),
        lambda ctx, request: size(ctx, request, "a.png", True),
        lambda ctx, request: size(ctx, request, "a.png", False),
    ],
)
def test_a_page_that_goes_away_leaves_nothing_behind_and_no_trace(work: Any, tmp_path: Path) -> None:
    messages = iter([{"type": "http.request", "body": b"x", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(messages)

    context = Context(Settings(data_dir=tmp_path))
    answer = asyncio.run(work(context, Request({"type": "http", "method": "POST", "headers": []}, receive)))
    assert answer.status_code == 400
    assert [path for path in context.shelf.root.rglob("*") if path.is_file()] == []
    context.close()


@pytest.mark.parametrize(("whole", "bytes_"), [(False, HEAD_BYTES + 1), (True, (1 << 20) + 1)])
def test_no_more_is_taken_than_was_agreed(client: TestClient, whole: bool, bytes_: int) -> None:
    assert client.post("/media/size", params={"whole": whole}, content=b"x" * bytes_).status_code == 413
