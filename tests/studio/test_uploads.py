"""The sizes of pictures that aren't kept, from their first bytes where they tell."""

import asyncio
import io
import json
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
from studio.uploads import BATCH_BYTES, BATCH_PICTURES, HEAD_BYTES, size, sizes, upload


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


def picture_of(sides: tuple[int, int]) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", sides).save(stream, "PNG")
    return stream.getvalue()


def asked(client: TestClient, data: bytes, name: str = "a.jpg") -> dict[str, Any]:
    answer: dict[str, Any] = client.post("/media/size", params={"name": name}, content=data).json()
    return answer


def batch(*pictures: tuple[Any, Any, bytes]) -> bytes:
    """A request's body. Args: of each its name, whether it is whole, its bytes."""
    line = json.dumps([[name, len(data), whole] for name, whole, data in pictures]).encode()
    return line + b"\n" + b"".join(data for *_, data in pictures)


def asked_together(client: TestClient, *pictures: tuple[Any, Any, bytes]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.post("/media/sizes", content=batch(*pictures)).json()["sizes"]
    return found


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return picture("JPEG", exif=exif)


@pytest.mark.parametrize(
    ("data", "sides"), [(picture("PNG"), [40, 20]), (picture("JPEG"), [40, 20]), (turned(), [20, 40]), (picture("WEBP"), [40, 20])]
)
def test_the_size_is_that_of_the_upright_picture(client: TestClient, data: bytes, sides: list[int]) -> None:
    assert asked(client, data) == {"size": sides}
    assert asked_together(client, ("a.jpg", True, data), ("b.jpg", False, data)) == [{"size": sides}] * 2


def test_a_beginning_that_does_not_tell_is_asked_for_as_a_whole(client: TestClient) -> None:
    data = turned()
    frame = data.index(b"\xff\xc0")  # where a JPEG's size stands
    found = asked_together(client, ("a.jpg", False, data[:frame]), ("b.jpg", True, data[:frame]), ("c.jpg", True, data))
    assert (found[0], "b.jpg" in found[1]["error"]["en"][0], found[2]) == ({"again": True}, True, {"size": [20, 40]})
    assert asked(client, data) == {"size": [20, 40]}


def test_each_is_told_in_its_place_and_a_bad_one_takes_none_along(client: TestClient) -> None:
    sides = [(number + 1, 2 * number + 1) for number in range(BATCH_PICTURES - 3)]
    pictures = [(f"照片 {number}\n.png", True, picture_of(side)) for number, side in enumerate(sides)]
    bad = [("../<b>.png", True, b"no picture at all"), ("", True, b""), ("\ud800.png", False, b"\xff\xd8\xff")]
    found = asked_together(client, *pictures[:9], *bad, *pictures[9:])
    assert [each["size"] for each in (*found[:9], *found[12:])] == [list(side) for side in sides]
    assert "<b>.png" in found[9]["error"]["en"][0]
    assert found[9]["error"]["zh-CN"][0]
    assert found[10]["error"]["en"][0]
    assert found[11] == {"again": True}
    assert asked_together(client) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]x\n",
        b"3\n",
        b"[3]\n",
        b'[["a", "1", true]]\nx',
        b'[["a", -1, true]]\n',
        b'[["a", true, true]]\nx',
        b'[["a", 2, true]]\nx',
        b'[["a", 1, true]]\nxy',
        b"[" * 60_000,
        b"\xff\n",
        batch(("a", True, b"x" * (HEAD_BYTES + 1))),
        batch(*[("a", True, b"x")] * (BATCH_PICTURES + 1)),
    ],
)
def test_what_the_page_does_not_send_is_refused(client: TestClient, body: bytes) -> None:
    assert client.post("/media/sizes", content=body).status_code == 400


def test_a_large_file_goes_over_the_disk_and_is_not_kept(client: TestClient) -> None:
    data = turned() + b"x" * HEAD_BYTES
    assert asked(client, data) == {"size": [20, 40]}
    assert "b.png" in asked(client, b"x" * (HEAD_BYTES + 1), "b.png")["error"]["en"][0]


def test_what_is_no_picture_is_told_by_the_name_it_came_with(client: TestClient) -> None:
    told = asked(client, b"no picture at all", "../<b>.png")["error"]
    assert "<b>.png" in told["en"][0]
    assert told["zh-CN"][0]


@pytest.mark.parametrize(
    "work",
    [
        lambda ctx, request: upload(ctx, request, "a.png"),
        lambda ctx, request: size(ctx, request, "a.png"),
        lambda ctx, request: sizes(request),
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


@pytest.mark.parametrize(("address", "bytes_"), [("/media/sizes", BATCH_BYTES + (64 << 10) + 1), ("/media/size", (1 << 20) + 1)])
def test_no_more_is_taken_than_was_agreed(client: TestClient, address: str, bytes_: int) -> None:
    assert client.post(address, content=b"x" * bytes_).status_code == 413
