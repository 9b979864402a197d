"""What the page hears of its jobs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

# Holds back the message with which the server ends the stream of news until the page has asked for another job, and was answered: what
# a busy machine does now and then. The answer is a good deal earlier, so that the page has seen to it before the end comes.
LATE_END = """
  const plain = window.fetch.bind(window);
  window.fetch = async (...given) => {
    const answer = await plain(...given);
    const address = String(given[0]?.url ?? given[0]);
    if (address.includes("/queue/join")) setTimeout(() => { window.held = false; }, 300);
    if (!address.includes("/queue/data")) return answer;
    const decoder = new TextDecoder();
    const late = new TransformStream({ async transform(chunk, on) {
      if (decoder.decode(chunk).includes("close_stream")) {
        window.held = window.ending = true;
        while (window.held) await new Promise((done) => setTimeout(done, 20));
      }
      on.enqueue(chunk);
    } });
    return new Response(answer.body.pipeThrough(late), { status: answer.status, headers: answer.headers });
  };
"""

# Holds back, while `held` is set, the message that a job is over: on a busy machine it comes well after the last result.
LATE_OVER = """
  const plain = window.fetch.bind(window);
  window.fetch = async (...given) => {
    const answer = await plain(...given);
    if (!String(given[0]?.url ?? given[0]).includes("/queue/data")) return answer;
    let text = "";
    const late = new TransformStream({ async transform(chunk, on) {
      text += chunk;
      for (let end; (end = text.indexOf("\\n\\n") + 2) > 1; text = text.slice(end)) {
        if (text.slice(0, end).includes('"process_completed"')) while (window.held) await new Promise((done) => setTimeout(done, 20));
        on.enqueue(text.slice(0, end));
      }
    } });
    const news = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(late).pipeThrough(new TextEncoderStream());
    return new Response(news, { status: answer.status, headers: answer.headers });
  };
"""
MARK = "() => document.querySelector('.fs-mark code')?.innerText ?? ''"


def test_a_job_asked_for_while_the_news_end_is_heard_of(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    seen = visit(init=LATE_END)
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    seen.page.wait_for_function("() => window.ending")
    seen.page.evaluate("window.ending = false")
    seen.fuse()
    seen.page.wait_for_selector("#panel-swap-result .fs-compare")
    seen.page.wait_for_function("() => window.ending")


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
