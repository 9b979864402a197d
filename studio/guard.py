"""`Guard`: everything that comes in passes here first, and the page goes out through it.

It gives each visitor a name, refuses other machines' and other pages' requests, closes those of Gradio's addresses that would show
or run more than the studio offers, and fills the page's words in.
"""

import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from engines.errors import InvalidOption
from engines.settings import Settings
from studio import i18n
from studio.context import VISITOR, new_visitor, visitor_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

TABS = ("swap", "align", "tokens", "prompt", "verify")
HOSTS = ("127.0.0.1", "localhost", "::1")
_PAGE, _CONFIG = "/", "/config"
_WORDS = (_PAGE, _CONFIG, "/gradio_api/info", "/info")
# Gradio's addresses that nothing here uses: fetching for others, the folder of all uploads, its own pages, live streams, recordings.
_CLOSED = re.compile(
    r"^(/gradio_api)?/(proxy=|file/|component_server|custom_component/|stream/|process_recording|runs|run-history|dev/|monitoring|token"
    r"|deep_link|vibe|undo-vibe|login|logout)"
)
_HEADERS = {
    # The browser itself refuses whatever isn't from here. Gradio's front end compiles templates, so it needs unsafe-eval.
    "content-security-policy": (
        "default-src 'self' data: blob:; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "connect-src 'self' blob: data:; frame-ancestors 'none'; form-action 'self'; base-uri 'self'; object-src 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
_META = re.compile(r'<meta\s+(?:property="og:|name="twitter:)[^>]*/>\s*')
_HTML_LANG = re.compile(r'<html\s+lang="[^"]*"')


def check_host(host: str) -> None:
    """Raises `InvalidOption` for an address that other machines could reach: there are no links and quotas yet to guard it."""
    if host not in HOSTS:
        raise InvalidOption(name="host", value=host, allowed=", ".join(HOSTS))


class Guard:
    """ASGI middleware around the whole application.

    Args:
        head: HTML for the end of `<head>`; its marks are filled like the page's.
    """

    def __init__(self, app: Asgi, settings: Settings, head: str = "") -> None:
        self._app, self._settings, self._head = app, settings, head

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        path = scope["path"]
        refused = self._refusal(scope, headers, path)
        if refused:
            await _answer(send, refused)
            return
        cookies = {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
        fresh = "" if visitor_of(cookies) or path not in (_PAGE, _CONFIG) else new_visitor()
        language = i18n.preferred(cookies, headers.get("accept-language", ""), self._settings.language)
        if path in _WORDS and scope.get("method") == "GET":
            await self._spoken(scope, receive, send, language, fresh)
        else:
            await self._app(scope, receive, _with_headers(send, fresh))

    def _refusal(self, scope: Scope, headers: dict[str, str], path: str) -> int:
        """The status to refuse with, or 0."""
        host = urlsplit(f"//{headers.get('host', '')}")
        if (host.hostname or "") not in HOSTS:
            return 421  # a name that merely points here (DNS rebinding)
        origin = headers.get("origin")
        foreign = origin is not None and urlsplit(origin).netloc != headers.get("host")
        if foreign and (scope["type"] == "websocket" or scope.get("method") not in ("GET", "HEAD")):
            return 403  # another page in the same browser
        return 404 if _CLOSED.match(path) else 0

    async def _spoken(self, scope: Scope, receive: Receive, send: Send, language: str, fresh: str) -> None:
        """Collects the whole answer, fills its words in, and sends it."""
        plain = [(name, value) for name, value in scope["headers"] if name not in (b"accept-encoding", b"if-none-match")]
        start: Message = {}
        body = bytearray()

        async def collect(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            elif message["type"] == "http.response.body":
                body.extend(message.get("body", b""))

        await self._app({**scope, "headers": plain}, receive, collect)
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        tab = query.get("tab", [TABS[0]])[0]
        words = i18n.fill(body.decode("utf-8"), language, {"tab": tab if tab in TABS else TABS[0]})
        if scope["path"] == _PAGE:
            words = self._page(words, language)
        data = words.encode("utf-8")
        headers = [(name, value) for name, value in start["headers"] if name not in (b"content-length", b"cache-control", b"etag")]
        headers += [(b"content-length", str(len(data)).encode()), (b"cache-control", b"no-store"), (b"vary", b"cookie, accept-language")]
        out = _with_headers(send, fresh)
        await out({**start, "headers": headers})
        await out({"type": "http.response.body", "body": data})

    def _page(self, page: str, language: str) -> str:
        page = _HTML_LANG.sub(f'<html class="fs-root" lang="{language}"', _META.sub("", page), count=1)
        facts = f"<script>window.fusionLanguage = {json.dumps(language)}; window.fusionTexts = {i18n.script_texts(language)};</script>"
        return page.replace("<head>", f"<head>{facts}{i18n.fill(self._head, language)}", 1)


def _with_headers(send: Send, fresh: str) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*message["headers"], *((name.encode(), value.encode()) for name, value in _HEADERS.items())]
            if fresh:
                headers.append((b"set-cookie", f"{VISITOR}={fresh}; Path=/; HttpOnly; SameSite=Lax".encode()))
            message = {**message, "headers": headers}
        await send(message)

    return wrapped


async def _answer(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain"), (b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})
