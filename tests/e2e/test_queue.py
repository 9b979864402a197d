"""What the page hears of its jobs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Hands the news on message by message, each when `holds` lets it: a busy machine's pauses, where a test wants them.
NEWS = """
  const plain = window.fetch.bind(window);
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  window.fetch = async (...given) => {
    const answer = await plain(...given);
    const address = String(given[0]?.url ?? given[0]);
    if (address.includes("/queue/join")) joined();
    if (!address.includes("/queue/data")) return answer;
    let text = "";
    const late = new TransformStream({ async transform(chunk, on) {
      text += chunk;
      for (let end; (end = text.indexOf("\\n\\n") + 2) > 1; text = text.slice(end)) {
        await holds(text.slice(0, end));
        on.enqueue(text.slice(0, end));
      }
    } });
    const news = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(late).pipeThrough(new TextEncoderStream());
    return new Response(news, { status: answer.status, headers: answer.headers });
  };
"""

# Holds back the message with which the server ends the stream of news until the page has asked for another job, and was answered. The
# answer is a good deal earlier, so that the page has seen to it before the end comes. Once `free`, nothing is held any more: an end that
# comes after the last job's answer would wait for another that nobody asks for.
LATE_END = (
    NEWS
    + """
  const joined = () => setTimeout(() => { window.held = false; }, 300);
  const holds = async (message) => {
    if (!message.includes("close_stream")) return;
    window.held = true;
    while (window.held && !window.free) await pause(20);
  };
"""
)

# Holds back, while `held` is set, the message that a job is over: on a busy machine it comes well after the last result.
LATE_OVER = (
    NEWS
    + """
  const joined = () => {};
  const holds = async (message) => { if (message.includes('"process_completed"')) while (window.held) await pause(20); };
"""
)
# Holds back the answer to the next job that is asked for, while `waits` is set: a busy server's, or a slow line's.
LATE_ANSWER = """
  const plain = window.fetch.bind(window);
  window.fetch = async (...given) => {
    const answer = await plain(...given);
    if (String(given[0]?.url ?? given[0]).includes("/queue/join")) while (window.waits) await new Promise((done) => setTimeout(done, 20));
    return answer;
  };
"""
MARK = "() => document.querySelector('.fs-mark code')?.innerText ?? ''"


def test_a_job_asked_for_while_the_news_end_is_heard_of(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    seen = visit(init=LATE_END)
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    seen.page.wait_for_function("() => window.held")
    with seen.page.expect_response("**/queue/join*"):
        seen.page.click("#fuse")
    seen.page.evaluate("setTimeout(() => { window.free = true; }, 300)")
    seen.page.wait_for_selector("#panel-swap-result .fs-compare")
    seen.page.wait_for_function("() => !document.body.hasAttribute('data-running')")


def test_a_press_between_the_result_and_its_jobs_end_is_not_lost(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    seen = visit(init=LATE_OVER)
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    seen.page.evaluate("window.held = true")
    seen.fuse()
    first = seen.page.wait_for_function(MARK).json_value()
    seen.page.click("#fuse")
    seen.page.evaluate("window.held = false")
    seen.page.wait_for_function(f"first => ({MARK})() !== first && !document.body.hasAttribute('data-running')", arg=first)


@pytest.mark.parametrize(("button", "place"), [("fuse", "swap-result"), ("models", "models")])
def test_a_stop_before_the_queue_has_answered_stops(
    visit: Callable[..., Any], server: Any, portraits: tuple[Path, Path], button: str, place: str
) -> None:
    seen = visit(init=LATE_ANSWER)
    page = seen.page
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-compare")
    page.click('#enhance >> text="Full"')  # takes a minute, if it isn't stopped
    page.evaluate("fusionStudio.hush()")
    page.evaluate("window.waits = true")
    with page.expect_response("**/queue/join*"):
        page.click(f"#{button}")
    page.click("#stop")
    assert page.locator("#stop").is_disabled()
    page.evaluate("window.waits = false")
    page.wait_for_selector(f"#panel-{place} .fs-notice[role=status]")
    page.wait_for_function("() => !document.body.hasAttribute('data-running')")
    assert server.idle(10)
    assert page.locator("#panel-swap-result .fs-compare").count() == (button == "models")  # what was fused stays while models are compared
    assert page.locator("#panel-models .fs-card").count() == 0
