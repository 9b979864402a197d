"""Addresses of the studio itself, beside Gradio's: health, uploads, the visitors' files, the look."""

import os
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from engines import __version__
from engines.errors import FusionError
from engines.text import ASSETS, text
from studio import history, uploads
from studio.context import Context, visitor_of
from studio.i18n import both, preferred, say
from studio.media import Gone, Item
from studio.panels import facts_table, use_key
from studio.presenters import error_lines, model_name, provider_name, told

EXAMPLES, LOOK = ASSETS / "examples", ASSETS / "theme"
_TYPES = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".jpg": "image/jpeg",
}
_LASTING = {"cache-control": "public, max-age=86400"}
_PRIVATE = {"cache-control": "private, no-store"}


def add_routes(app: FastAPI, ctx: Context) -> None:
    """Adds them all. They stand before Gradio's, which is mounted at the root."""

    @app.get("/api/v1/health")
    def health() -> dict[str, Any]:
        fault = ctx.fault
        return {
            "status": "ok" if fault is None else "degraded",
            "version": __version__,
            "ready": ctx.ready,
            "jobs": ctx.desk.busy,
            "provider": ctx.provider or None,
        } | ({"error": fault.as_dict()} if fault else {})

    @app.post("/media")
    async def upload(request: Request, name: str = "picture") -> Response:
        return await uploads.upload(ctx, request, name)

    @app.post("/media/size")
    async def size(request: Request, name: str = "picture") -> Response:
        return await uploads.size(ctx, request, name)

    @app.post("/media/sizes")
    async def sizes(request: Request) -> Response:
        return await uploads.sizes(request)

    @app.get("/media/{token}")
    @app.head("/media/{token}")
    async def media(request: Request, token: str) -> Response:
        try:
            item = await run_in_threadpool(ctx.shelf.open, visitor_of(request.cookies), token)
            return await run_in_threadpool(_file, item)
        except (Gone, FileNotFoundError):
            return Response(status_code=404, headers=_PRIVATE)
        except FusionError as fault:
            return JSONResponse({"error": told(fault)}, 422, headers=_PRIVATE)

    @app.get("/media/{token}/there")
    def there(request: Request, token: str) -> JSONResponse:
        """Whether a file is still there. A 404 would be an error in the browser's console, and it is none that a file's time is over."""
        try:
            ctx.shelf.get(visitor_of(request.cookies), token)
        except Gone:
            return JSONResponse({"there": False}, headers=_PRIVATE)
        return JSONResponse({"there": True}, headers=_PRIVATE)

    @app.delete("/media/{token}")
    def forget(request: Request, token: str) -> Response:
        try:
            history.forget(ctx.shelf, visitor_of(request.cookies), token)
        except Gone:
            return Response(status_code=404, headers=_PRIVATE)
        return Response(status_code=204, headers=_PRIVATE)

    @app.post("/media/{token}/hold")
    def hold(request: Request, token: str) -> Response:
        try:
            ctx.shelf.hold(visitor_of(request.cookies), token)
        except Gone:
            return Response(status_code=404, headers=_PRIVATE)
        return Response(status_code=204, headers=_PRIVATE)

    @app.delete("/media/{token}/hold")
    def release(request: Request, token: str) -> Response:
        ctx.shelf.release(visitor_of(request.cookies), token)
        return Response(status_code=204, headers=_PRIVATE)

    @app.post("/gradio_api/upload")
    async def api_upload(request: Request) -> Response:
        return await uploads.api_upload(ctx, request)

    @app.get("/gradio_api/file={path:path}")
    @app.head("/gradio_api/file={path:path}")
    def api_file(request: Request, path: str) -> Response:
        try:
            return _file(ctx.shelf.find(visitor_of(request.cookies), Path(path)))
        except Gone:
            return Response(status_code=404, headers=_PRIVATE)

    @app.get("/page/status")
    def status() -> dict[str, Any]:
        return _status(ctx)

    @app.get("/page/doctor")
    def doctor(request: Request) -> HTMLResponse:
        return HTMLResponse(_doctor(ctx, preferred(request.cookies, request.headers.get("accept-language", ""), ctx.settings.language)))

    @app.get("/manifest.json")
    def manifest(request: Request) -> JSONResponse:
        return JSONResponse(_manifest(preferred(request.cookies, request.headers.get("accept-language", ""), ctx.settings.language)))

    @app.get("/favicon.ico")
    def favicon() -> FileResponse:
        return FileResponse(LOOK / "favicon.ico", media_type="image/x-icon", headers=_LASTING)

    @app.get("/theme/{name}")
    def look(name: str) -> FileResponse:
        return _shipped(LOOK, name)

    @app.get("/examples/{name}")
    def example(name: str) -> FileResponse:
        return _shipped(EXAMPLES, name)


class _Kept(FileResponse):
    """A visitor's file, which may go at any moment: it is opened before anything is said of it, and gone is gone, not a fault."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head: list[Message] = []

        async def once_open(message: Message) -> None:
            if message["type"] == "http.response.start":
                return head.append(message)
            while head:
                await send(head.pop())
            await send(message)

        try:
            await super().__call__(scope, receive, once_open)
        except FileNotFoundError:
            await Response(status_code=404, headers=_PRIVATE)(scope, receive, send)


def _file(item: Item) -> FileResponse:
    """Raises FileNotFoundError."""
    shown = item.media_type.startswith("image/")
    return _Kept(
        item.path,
        stat_result=item.path.stat(),
        media_type=item.media_type if shown else "application/octet-stream",
        filename=item.name,
        content_disposition_type="inline" if shown else "attachment",
        headers=_PRIVATE,
    )


def _shipped(folder: Path, name: str) -> FileResponse:
    path = folder / name
    if path.parent != folder or path.suffix not in _TYPES or not path.is_file() or os.sep in name:
        raise HTTPException(404)
    return FileResponse(path, media_type=_TYPES[path.suffix], headers=_LASTING)


def _status(ctx: Context) -> dict[str, Any]:
    """What the chip in the header says."""
    if ctx.fault is not None:
        return {"state": "fault", "chip": both(lambda language: text("page.header.chip_fault", language))}
    if not ctx.ready:
        return {"state": "waiting", "chip": both(lambda language: text("page.header.chip_waiting", language))}

    model = ctx.studio.models.fusion_model()

    def chip(language: str) -> str:
        use = text(f"page.header.{use_key(model.commercial)}", language)
        facts = {"provider": provider_name(ctx.provider), "model": model_name(model.name, language), "use": use}
        return text("page.header.chip", language, **facts)

    return {"state": "ready", "chip": both(chip)}


def _doctor(ctx: Context, language: str) -> str:
    from studio.doctor import examine

    close = f'<button type="button" class="fs-button" data-close autofocus>{say("doctor.close", language)}</button>'
    head = f'<div class="fs-line"><h2 id="fs-doctor-title">{say("doctor.title", language)}</h2>{close}</div>'
    try:
        report = examine(ctx.settings)
    except FusionError as fault:
        return head + facts_table([error_lines(fault, language)])
    lines = "".join(f"<li>{escape(line)}</li>" for line in report.lines(language))
    return f'{head}<ul class="fs-report">{lines}</ul>'


def _manifest(language: str) -> dict[str, Any]:
    """Lets the browser install the page as an application of its own."""
    icons = [
        {"src": f"/theme/icon-{side}.png", "sizes": f"{side}x{side}", "type": "image/png", "purpose": "any maskable"} for side in (192, 512)
    ]
    return {
        "id": "/",
        "name": text("page.title", language),
        "short_name": text("page.desktop.short_name", language),
        "description": text("page.desktop.description", language),
        "lang": language,
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f7f7f8",
        "theme_color": "#f7f7f8",
        "icons": icons,
    }
