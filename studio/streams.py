"""Answers that never end by themselves: a page's heartbeat, the news of a job. They are ended when the studio stops."""

import asyncio
from typing import Any

from studio.guard import Asgi, Message, Receive, Scope, Send


class Streams:
    """ASGI middleware around the whole application, that knows which event streams are open.

    Gradio ends them only where it owns the server. Uvicorn would wait for them until its patience is over, and then say on the
    console that it had to break them off, to somebody who has only pressed Ctrl+C.
    """

    def __init__(self, app: Asgi) -> None:
        self._app = app
        self._open: set[asyncio.Task[Any]] = set()
        self._ended = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            await self._app(scope, receive, send)
            return

        complete = False

        async def watched(message: Message) -> None:
            nonlocal complete
            if message["type"] == "http.response.start" and _is_stream(message):
                self._open.add(task)
            complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if not (self._ended and task in self._open):
                raise
            task.uncancel()
            if not complete:  # what was cancelled may have said it itself
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._open.discard(task)

    def end(self) -> None:
        """Ends what is open, each with a proper last piece. Call it on the loop's thread, when nothing new is taken any more."""
        self._ended = True
        for task in tuple(self._open):
            task.cancel()


def _is_stream(start: Message) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in start["headers"])
