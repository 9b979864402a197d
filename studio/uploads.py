"""What visitors send: files that are kept, and pictures of which only the size is wanted."""

import secrets
from pathlib import Path

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from engines.errors import FusionError
from engines.vision import io
from studio.context import Context, visitor_of
from studio.i18n import both
from studio.presenters import notice_lines, told

HEAD_BYTES = 256 << 10  # of a file, where its size stands in most formats; folder.js sends as many
_MEGABYTE = 1 << 20
_GONE = Response(status_code=400)  # nobody hears it


async def upload(ctx: Context, request: Request, name: str) -> Response:
    """Streams the body to disk as it is: nothing here looks into a picture."""
    limit = ctx.settings.upload_mb * _MEGABYTE
    size = int(request.headers.get("content-length") or 0)
    if size > limit:
        return _too_big(size, limit)
    visitor = visitor_of(request.cookies)
    item = ctx.shelf.reserve(visitor, Path(name.replace("\\", "/")).name or "picture")
    try:
        written = await _received(request, item.path, limit)
    except ClientDisconnect:  # a page that was closed meanwhile
        item.path.unlink()
        return _GONE
    if written > limit:
        item.path.unlink()
        return _too_big(written, limit)
    return JSONResponse({"token": item.token})


async def size(ctx: Context, request: Request, name: str, whole: bool) -> Response:
    """Width and height of a picture that isn't kept, from its first bytes where they tell.

    Args:
        whole: the body is all of the file; else its beginning, and where that doesn't do the answer asks for more: `{"again": true}`.
    """
    limit = ctx.settings.upload_mb * _MEGABYTE if whole else HEAD_BYTES
    if not whole or int(request.headers.get("content-length") or limit) <= HEAD_BYTES:
        return await _size_in_memory(request, name, whole)
    visitor, group = visitor_of(request.cookies), f"size:{secrets.token_hex(8)}"
    item = ctx.shelf.reserve(visitor, name, group=group)
    try:
        written = await _received(request, item.path, limit)
        if written > limit:
            return _too_big(written, limit)
        return JSONResponse({"size": await run_in_threadpool(io.size_of, item.path)})
    except ClientDisconnect:
        return _GONE
    except FusionError as fault:
        named = type(fault)(fault.reason, **(fault.facts | {"name": io.printable(name)}))  # the file on disk has a name of ours
        return JSONResponse({"error": told(named)})
    finally:
        ctx.shelf.clear(visitor, group)


async def _size_in_memory(request: Request, name: str, whole: bool) -> Response:
    """The same of a beginning, or of a small file: of a thousand pictures most are asked for so."""
    data = bytearray()
    try:
        async for chunk in request.stream():
            data += chunk
            if len(data) > HEAD_BYTES:
                return _too_big(len(data), HEAD_BYTES)
        return JSONResponse({"size": await run_in_threadpool(io.size_in, bytes(data), name)})
    except ClientDisconnect:
        return _GONE
    except FusionError as fault:
        return JSONResponse({"error": told(fault)} if whole else {"again": True})


async def _received(request: Request, path: Path, limit: int) -> int:
    """Writes the body to a file, and tells its bytes; more than `limit` where it has more, and then no further."""
    written = 0
    with path.open("wb") as file:
        async for chunk in request.stream():
            written += len(chunk)
            if written > limit:
                break
            await run_in_threadpool(file.write, chunk)
    return written


def _too_big(size: int, limit: int) -> JSONResponse:
    facts = {"size": size / _MEGABYTE, "limit": limit / _MEGABYTE, "needed": -(-size // _MEGABYTE)}
    return JSONResponse({"error": both(lambda language: notice_lines("too_big", language, **facts))}, 413)


async def api_upload(ctx: Context, request: Request) -> Response:
    """What `gradio_client` uploads with; the answer is a path that only its own visitor can name again."""
    from gradio.route_utils import upload_fn
    from starlette.formparsers import MultiPartException

    visitor = visitor_of(request.cookies)
    folder = ctx.shelf.folder(visitor)
    try:
        paths, _, _ = await upload_fn(request, str(folder), ctx.settings.upload_mb * _MEGABYTE, None, force_move=True)
    except MultiPartException as fault:
        return JSONResponse({"error": str(fault.message)}, 413 if "maximum allowed size" in fault.message else 400)
    for path in paths:
        ctx.shelf.register(visitor, Path(path), Path(path).name)
    return JSONResponse([str(path) for path in paths])
