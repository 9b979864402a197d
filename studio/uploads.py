"""What visitors send: files that are kept, and pictures of which only the size is wanted."""

import json
import secrets
from pathlib import Path
from typing import Any

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
# Pictures and bytes of a request that asks for sizes. One picture a request took 13 ms each, of which reading its header takes 0.01.
BATCH_PICTURES, BATCH_BYTES = 32, 4 << 20
_MOST_OF_A_BATCH = BATCH_BYTES + (64 << 10)  # with the line that names them
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


async def sizes(request: Request) -> Response:
    """Widths and heights of pictures that aren't kept, from their first bytes.

    The body is a line of JSON, `[[name, bytes, whole], …]`, and then those bytes, one picture behind the other; `whole`: they are all
    of the file. The answer has, for each: `{"size": [width, height]}`, `{"error": …}`, or `{"again": true}` where only the whole file
    can tell.
    """
    data = bytearray()
    try:
        async for chunk in request.stream():
            data += chunk
            if len(data) > _MOST_OF_A_BATCH:
                return _too_big(len(data), _MOST_OF_A_BATCH)
    except ClientDisconnect:
        return _GONE
    try:
        found = await run_in_threadpool(lambda: [_size_of_head(*each) for each in _batch(bytes(data))])
    except (ValueError, TypeError, RecursionError):  # not what the page sends
        return Response(status_code=400)
    return JSONResponse({"sizes": found})


def _batch(data: bytes) -> list[tuple[str, bytes, bool]]:
    """Name, bytes and whether they are all of it, of each picture. Raises ValueError, TypeError or RecursionError for another body."""
    line, _, rest = data.partition(b"\n")
    found, at = list[tuple[str, bytes, bool]](), 0
    for name, length, whole in json.loads(line):
        if type(length) is not int or not 0 <= length <= HEAD_BYTES or len(found) == BATCH_PICTURES:
            raise ValueError(f"{length} bytes of picture {len(found)}")
        found.append((str(name), rest[at : at + length], whole is True))
        at += length
    if at != len(rest):
        raise ValueError(f"{len(rest)} bytes, and {at} told")
    return found


def _size_of_head(name: str, data: bytes, whole: bool) -> dict[str, Any]:
    try:
        return {"size": io.size_in(data, name)}
    except FusionError as fault:
        return {"error": told(fault)} if whole else {"again": True}


async def size(ctx: Context, request: Request, name: str) -> Response:
    """Width and height of one picture that isn't kept, from the whole of its file."""
    limit = ctx.settings.upload_mb * _MEGABYTE
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
