"""The guard, around an application that tells what reached it."""

import asyncio
from typing import Any

import pytest

from engines.errors import InvalidOption
from engines.settings import Settings
from studio.context import VISITOR, new_visitor, visitor_of
from studio.guard import Guard, check_host

HOME = "127.0.0.1:7860"
META = '<meta property="og:image"\n content="https://elsewhere.example/x.jpg" />'
PAGE = f'<!doctype html>\n<html\n\tlang="en"\n style=""><head>{META}</head><script>"⟦swap.fuse⟧ ⟦tab⟧"</script></html>'


class Inner:
    """Answers with the page, and remembers what it was asked."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append(dict(scope))
        body = PAGE.encode()
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode()), (b"etag", b"1")]}
        )
        await send({"type": "http.response.body", "body": body[:20], "more_body": True})
        await send({"type": "http.response.body", "body": body[20:]})


def ask(
    path: str, method: str = "GET", host: str = HOME, query: str = "", kind: str = "http", **headers: str
) -> tuple[int, list[tuple[str, str]], str, Inner]:
    inner, sent = Inner(), []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    pairs = [(b"host", host.encode())] + [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": method, "path": path, "query_string": query.encode(), "headers": pairs}
    asyncio.run(Guard(inner, Settings(), "<link>")(scope, receive, send))
    start = sent[0]
    body = b"".join(message.get("body", b"") for message in sent[1:]).decode()
    return start["status"], [(name.decode(), value.decode()) for name, value in start["headers"]], body, inner


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_it_listens_here(host: str) -> None:
    check_host(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "studio.example", ""])
def test_it_listens_nowhere_else(host: str) -> None:
    with pytest.raises(InvalidOption):
        check_host(host)


@pytest.mark.parametrize("host", ["127.0.0.1:7860", "localhost:7860", "localhost", "[::1]:7860"])
def test_our_names_are_let_in(host: str) -> None:
    assert ask("/api/v1/health", host=host)[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:7860", ""])
def test_a_name_that_merely_points_here_is_not(host: str) -> None:
    status, _, _, inner = ask("/api/v1/health", host=host)
    assert (status, inner.seen) == (421, [])


@pytest.mark.parametrize(
    ("method", "origin", "status"),
    [
        ("POST", "http://127.0.0.1:7860", 200),
        ("POST", "http://evil.example", 403),
        ("POST", "http://127.0.0.1:9999", 403),  # another program's page on this machine
        ("POST", "null", 403),
        ("DELETE", "http://evil.example", 403),
        ("GET", "http://evil.example", 200),  # reading is the browser's own matter: no CORS header lets the page see it
    ],
)
def test_other_pages_cannot_act_here(method: str, origin: str, status: int) -> None:
    assert ask("/media", method=method, origin=origin)[0] == status


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/proxy=https://elsewhere.example/x", "/proxy=http://127.0.0.1:22", "/gradio_api/file/etc/passwd",
        "/gradio_api/component_server",
        "/gradio_api/stream/x", "/gradio_api/runs", "/monitoring", "/gradio_api/dev/reload", "/login",
    ],
)  # fmt: skip
def test_what_nothing_here_uses_is_closed(path: str) -> None:
    status, _, _, inner = ask(path)
    assert (status, inner.seen) == (404, [])


@pytest.mark.parametrize("path", ["/gradio_api/queue/join", "/gradio_api/heartbeat/x", "/assets/x.js", "/media/x", "/gradio_api/call/fuse"])
def test_what_is_used_is_open(path: str) -> None:
    assert ask(path)[0] == 200


def test_the_page_is_filled_in_the_visitors_language_and_tab() -> None:
    _, headers, body, inner = ask("/", query="tab=align", accept_language="zh-CN", accept_encoding="br", if_none_match="1")
    assert '"融合 align"' in body
    assert '<html class="fs-root" lang="zh-CN"' in body
    assert "<link>" in body
    assert "elsewhere.example" not in body
    asked = [name for name, _ in inner.seen[0]["headers"]]
    assert b"accept-encoding" not in asked  # what is packed can't be filled
    assert dict(headers)["content-length"] == str(len(body.encode()))
    assert dict(headers)["cache-control"] == "no-store"
    assert "etag" not in dict(headers)


def test_an_unknown_tab_is_the_first() -> None:
    assert '"Fuse swap"' in ask("/", query="tab=<script>")[2]


def test_each_visitor_is_named_once() -> None:
    cookies = [value for name, value in ask("/")[1] if name == "set-cookie"]
    assert len(cookies) == 1
    assert cookies[0].startswith(f"{VISITOR}=")
    assert "HttpOnly" in cookies[0]
    assert "SameSite=Lax" in cookies[0]
    name = cookies[0].split("=", 1)[1].split(";")[0]
    assert visitor_of({VISITOR: name}) == name
    again = ask("/", cookie=f"{VISITOR}={name}")[1]
    assert not [value for key, value in again if key == "set-cookie"]
    assert [value for key, value in ask("/", cookie=f"{VISITOR}=made up")[1] if key == "set-cookie"]


def test_no_page_from_elsewhere_and_no_file_to_elsewhere() -> None:
    for path in ("/", "/media/x"):
        headers = dict(ask(path)[1])
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "http" not in policy  # no other host is allowed anything
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("name", ["", "short", "x" * 24 + "y", "x" * 23 + "/", "x" * 23 + "é", "../" * 8])
def test_a_made_up_visitor_is_nobody(name: str) -> None:
    assert visitor_of({VISITOR: name}) == ""


def test_visitors_are_not_guessable() -> None:
    names = {new_visitor() for _ in range(100)}
    assert len(names) == 100
    assert {len(name) for name in names} == {24}
