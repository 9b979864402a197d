"""The application: Gradio's page inside FastAPI, behind the guard; and the server that runs it."""

import contextlib
import signal
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any

from engines import __version__
from engines.errors import DesktopMissing
from engines.settings import Settings
from engines.text import shell_language, text
from studio import startup
from studio.context import Context
from studio.guard import TABS, Asgi, Guard, check_host
from studio.streams import Streams

if TYPE_CHECKING:
    import gradio as gr

SAY = Callable[[str], None]


def create_app(settings: Settings, ctx: Context | None = None) -> Asgi:
    """The whole studio as an ASGI application; its lifespan opens the models in the background and deletes the visitors' files.

    Args:
        ctx: made here unless given.

    Raises:
        InvalidOption: `settings.host` is an address that other machines could reach.
    """
    check_host(settings.host)
    ctx = ctx or Context(settings)
    startup.prepare(ctx.shelf.root)
    import gradio as gr
    from fastapi import FastAPI

    from studio.routes import add_routes
    from studio.theme import head, theme

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        ctx.start()
        try:
            yield
        finally:
            ctx.close()

    app = FastAPI(title="Fusion Studio", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    add_routes(app, ctx)
    page = build_page(ctx)
    gr.mount_gradio_app(
        app, page, path="/", server_name=settings.host, server_port=settings.port, footer_links=[], run_history=False, allowed_paths=[],
        show_error=True, max_file_size=settings.upload_mb << 20, ssr_mode=False, mcp_server=False, pwa=True, theme=theme(),
    )  # fmt: skip
    return Guard(app, settings, head(__version__))


def build_page(ctx: Context) -> "gr.Blocks":
    """The page with its tabs, its header and its queue."""
    import gradio as gr

    from studio import api
    from studio.i18n import mark
    from studio.tabs import align, prompt, swap, tokens, verify
    from studio.widgets import static

    with gr.Blocks(title=mark("title"), analytics_enabled=False, delete_cache=(600, ctx.settings.keep_seconds), fill_width=True) as page:
        api.build(ctx)  # first: the page's own events of the same name then stand aside, not these
        static(_header(mark), "fusionStudio.header(element)", elem_id="header")
        with gr.Tabs(selected="⟦tab⟧", elem_id="tabs") as tabs:
            with gr.Tab(mark("tab.swap"), id="swap", elem_id="tab-swap") as first:
                source = swap.build(ctx)
            with gr.Tab(mark("tab.align"), id="align", elem_id="tab-align") as second:
                aligned = align.build(ctx, source, tabs)
            with gr.Tab(mark("tab.tokens"), id="tokens", elem_id="tab-tokens") as third:
                tokens.build(ctx, page, *aligned, tabs)
            with gr.Tab(mark("tab.prompt"), id="prompt", elem_id="tab-prompt") as fourth:
                prompt.build(ctx, page)
            with gr.Tab(mark("tab.verify"), id="verify", elem_id="tab-verify") as fifth:
                verify.build(ctx)
        for name, tab in zip(TABS, (first, second, third, fourth, fifth), strict=True):
            tab.select(None, None, None, js=f"() => fusionStudio.tab('{name}')", api_visibility="private")

        def leave(request: gr.Request) -> None:
            ctx.desk.cancel(str(request.session_hash))

        page.unload(leave)
    page.queue(max_size=ctx.settings.queue_size, default_concurrency_limit=1, api_open=False)
    # Gradio's queue looks for work a thousand times a second, which costs an idle laptop 8 % of a core.
    if hasattr(page._queue, "sleep_when_free"):  # not a documented name: where it is gone, the laptop only runs warmer
        page._queue.sleep_when_free = 0.02
    return page


def _header(mark: Callable[[str], str]) -> str:
    languages = "".join(
        f'<button type="button" data-language="{code}" lang="{code}" aria-pressed="false">{name}</button>'
        for code, name in (("en", "EN"), ("zh-CN", "中文"))
    )
    logo = '<img src="/theme/icon.svg" alt="" width="24" height="24">'
    dot = '<i class="fs-dot" aria-hidden="true"></i>'
    return (
        f'<header class="fs-header"><a class="fs-brand" href="/" aria-label="{mark("header.home")}">{logo}<span>{mark("title")}</span></a>'
        f'<button type="button" class="fs-chip" data-state="waiting" title="{mark("header.chip_hint")}">{dot}'
        f"<span>{mark('header.chip_waiting')}</span></button>"
        f'<div class="fs-languages" role="group" aria-label="{mark("header.language")}">{languages}</div>'
        f'<button type="button" class="fs-theme fs-button fs-small" aria-label="{mark("header.theme")}"><span></span></button></header>'
    )


def serve(settings: Settings, open_browser: bool = True, window: bool = False, say: SAY = print) -> None:
    """Runs the studio until it is told to stop (Ctrl+C, SIGTERM, or its window closed), then deletes the session's pictures.

    Args:
        open_browser: opens the page, where there is a screen.
        window: shows it in a window of its own instead; needs the extra `desktop`.
        say: takes the lines that a person should see: the address, and the port when it isn't the wanted one.

    Raises:
        InvalidOption: a host that isn't this machine. DesktopMissing: `window` without its extra. OSError: no port is free.
    """
    check_host(settings.host)
    desktop = _desktop() if window else None
    bound = startup.listen(settings.host, settings.port)
    port = int(bound.getsockname()[1])
    language = settings.language or shell_language()
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{port}/"

    import uvicorn

    streams = Streams(create_app(settings.with_(port=port)))

    class Server(uvicorn.Server):
        """Ends `run` at a signal, and doesn't raise the signal again after it as uvicorn does: stopping is no failure."""

        async def shutdown(self, sockets: Any = None) -> None:
            streams.end()
            await super().shutdown(sockets)

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            if threading.current_thread() is not threading.main_thread():
                yield
                return
            previous = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for number, handler in previous.items():
                    signal.signal(number, handler)

    config = uvicorn.Config(
        streams,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,  # for downloads that are under way
        ws="none",
        server_header=False,
    )
    server = Server(config)
    if port != settings.port:
        say(text("page.serve.port_taken", language, wanted=settings.port, port=port))
    say(text("page.serve.address", language, address=address))
    say(text("page.serve.stop", language))
    if desktop is not None:
        _in_window(desktop, server, bound, address, text("page.title", language))
    else:
        if open_browser and startup.has_screen():
            threading.Timer(0.5, webbrowser.open, (address,)).start()
        server.run(sockets=[bound])
    say(text("page.serve.bye", language))


def _desktop() -> Any:
    try:
        import webview
    except ImportError as missing:
        raise DesktopMissing() from missing
    return webview


def _in_window(webview: Any, server: Any, bound: Any, address: str, title: str) -> None:
    """The server on a thread, the window on this one: toolkits insist on the main thread."""
    running = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, name="server")
    running.start()
    previous = signal.signal(signal.SIGTERM, lambda *_: webview.windows[0].destroy())
    try:
        webview.create_window(title, address, width=1440, height=960, min_size=(390, 600))
        webview.start()
    finally:
        signal.signal(signal.SIGTERM, previous)
        server.should_exit = True
        running.join()
