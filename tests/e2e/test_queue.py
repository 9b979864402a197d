"""What the page hears of its jobs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

# Holds back, by this many ms, the message with which the server ends the stream of news: what a busy machine does now and then.
LATE_END = """
  const plain = window.fetch.bind(window);
  window.fetch = async (...given) => {
    const answer = await plain(...given);
    if (!String(given[0]?.url ?? given[0]).includes("/queue/data")) return answer;
    const decoder = new TextDecoder();
    const late = new TransformStream({ async transform(chunk, on) {
      if (decoder.decode(chunk).includes("close_stream")) {
        window.ending = true;
        await new Promise((done) => setTimeout(done, 1500));
      }
      on.enqueue(chunk);
    } });
    return new Response(answer.body.pipeThrough(late), { status: answer.status, headers: answer.headers });
  };
"""


def test_a_job_asked_for_while_the_news_end_is_heard_of(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    seen = visit(init=LATE_END)
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    seen.page.wait_for_function("() => window.ending")
    seen.page.evaluate("window.ending = false")
    seen.fuse()
    seen.page.wait_for_selector("#panel-swap-result .fs-compare")
    assert seen.page.evaluate("window.ending")
