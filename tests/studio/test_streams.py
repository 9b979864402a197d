"""Open event streams end when the studio does; nothing else is cut off."""

import asyncio
from typing import Any

import pytest

from studio.streams import Streams

STREAM, PICTURE = b"text/event-stream; charset=utf-8", b"image/png"


def asked(kind: bytes, seconds: float = 60.0, polite: bool = False) -> tuple[Streams, list[dict[str, Any]], list[str]]:
    """An application whose answer takes that long, what it sent, and how it ended. `polite`: it sends its last piece when cancelled."""
    sent: list[dict[str, Any]] = []
    told: list[str] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", kind)]})
        await send({"type": "http.response.body", "body": b"1", "more_body": True})
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            told.append("cancelled")
            if polite:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            raise
        await send({"type": "http.response.body", "body": b"2", "more_body": False})
        told.append("done")

    return Streams(app), sent, told


async def call(streams: Streams, sent: list[dict[str, Any]], kind: str = "http") -> None:
    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    await streams({"type": kind}, receive, send)


@pytest.mark.parametrize("polite", [False, True])
def test_a_stream_is_ended_with_one_last_piece(polite: bool) -> None:
    streams, sent, told = asked(STREAM, polite=polite)

    async def both() -> int:
        task = asyncio.create_task(call(streams, sent))
        while len(sent) < 2:
            await asyncio.sleep(0)
        streams.end()
        await task
        return task.cancelling()

    assert asyncio.run(both()) == 0
    assert told == ["cancelled"]
    assert [message.get("body") for message in sent] == [None, b"1", b""]
    assert [message.get("more_body") for message in sent] == [None, True, False]


def test_a_download_under_way_is_not_cut_off() -> None:
    streams, sent, told = asked(PICTURE, 0.01)

    async def both() -> None:
        task = asyncio.create_task(call(streams, sent))
        while len(sent) < 2:
            await asyncio.sleep(0)
        streams.end()
        await task

    asyncio.run(both())
    assert told == ["done"]
    assert sent[-1]["body"] == b"2"


def test_a_cancellation_of_somebody_elses_stays_one() -> None:
    streams, sent, told = asked(STREAM)

    async def both() -> None:
        task = asyncio.create_task(call(streams, sent))
        while len(sent) < 2:
            await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(both())
    assert told == ["cancelled"]
    assert len(sent) == 2


def test_a_stream_that_ended_is_forgotten() -> None:
    streams, sent, told = asked(STREAM, 0.0)

    async def both() -> None:
        await call(streams, sent)
        streams.end()
        await asyncio.sleep(0)

    asyncio.run(both())
    assert told == ["done"]
