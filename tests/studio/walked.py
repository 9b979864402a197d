"""Walks the real application and tells as JSON what it found: run in a process of its own, since Gradio leaves an event loop open.

python -m tests.studio.walked DATA_DIR
"""

import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engines.settings import Settings
from studio.app import build_page, create_app
from studio.context import VISITOR, Context, new_visitor
from studio.guard import Guard
from tests.ways_out import ROUTES

PICTURE = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"GIF8", b"II*\0", b"MM\0*", b"BM")
HELD_OPEN = ("heartbeat", "queue/data", "startup-events", "upload_progress")  # streams that never end, or wait


def routes(app: Any) -> Iterator[str]:
    """Every method and path, Gradio's included. A kind of route that isn't known here is a fault and not passed over."""
    for route in app.routes:
        if inner := getattr(route, "original_router", None):  # FastAPI's: a router inside
            yield from routes(inner)
        elif hasattr(route, "methods"):
            yield from (f"{method} {route.path}" for method in route.methods)
        else:
            assert type(route).__name__ == "Mount", route
            assert route.path == "", route  # else its paths would begin with it
            yield from routes(route.app)


def answers(guarded: Guard, kind: str) -> Iterator[tuple[str, int, bytes]]:
    """What the declared routes of a kind answer, each asked as it stands, with "x" in the place of names."""
    from starlette.testclient import TestClient

    client = TestClient(guarded, base_url="http://127.0.0.1", cookies={VISITOR: new_visitor()}, raise_server_exceptions=False)
    for way in (name for name, entry in ROUTES.items() if entry.kind == kind):
        method, path = way.split(" ")
        if kind == "closed" or (method == "GET" and not any(part in path for part in HELD_OPEN)):
            answer = client.request(method, re.sub(r"\{[^}]+\}", "x", path))
            yield way, answer.status_code, answer.content


def main(data_dir: Path) -> dict[str, Any]:
    ctx = Context(Settings(data_dir=data_dir))
    guarded = create_app(ctx.settings, ctx)
    assert isinstance(guarded, Guard)
    page = build_page(ctx)
    return {
        "routes": sorted(set(routes(guarded._app))),
        "events": sorted({f"{inspect.getmodule(each.fn).__name__}:{each.fn.__qualname__}" for each in page.fns.values() if each.fn}),  # type: ignore[union-attr]
        "outputs of scripts": sum(len(each.outputs) for each in page.fns.values() if not each.fn),
        "components": sorted({type(block).__name__ for block in page.blocks.values()}),
        "closed": {way: [status, len(body)] for way, status, body in answers(guarded, "closed")},
        "pictures": [
            way for way, _, body in answers(guarded, "none") if body.startswith(PICTURE) or re.search(rb"data:image/(?!svg)", body)
        ],
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
