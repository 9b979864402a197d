/* Gradio's queue, as the page hears of it: what Gradio would tell in English only, and what it would not hear at all. */
(() => {
  "use strict";

  const { say, make, running, accepted } = window.fusionStudio;
  const plain = window.fetch.bind(window);

  /* One stream tells of all events of a page. The server ends it when it knows of no event any more, the page opens another when
     it has heard of that end. A job that is asked for in between is answered while the page still thinks the stream open: nobody
     would ever tell of it, and "Waiting" would stand there until a reload. So the answer is held back until the stream has told
     of this very event, or has ended. */
  const JOBS = ["fuse", "models"];
  const EVENT = /"event_id":"(\w+)"/g;
  let stream = null;

  function listen() {
    const heard = new Set(), waiting = new Set(), decoder = new TextDecoder();
    let over = false, tail = "";
    const tell = () => { for (const look of [...waiting]) look(); };
    return {
      end() { over = true; tell(); },
      take(chunk) {
        const text = tail + decoder.decode(chunk, { stream: true });
        for (const [, event] of text.matchAll(EVENT)) heard.add(event);
        if (text.includes('"close_stream"')) over = true;
        tail = text.slice(-80); // a message may come in pieces
        setTimeout(tell); // after the page itself has heard of it
      },
      toldOf: (event) => new Promise((done) => {
        const look = () => { if (over || heard.has(event)) { waiting.delete(look); done(); } };
        waiting.add(look);
        look();
      }),
    };
  }
  async function overheard(answering, mine) {
    try {
      const answer = await answering;
      if (!answer.body) { mine.end(); return answer; }
      const { readable, writable } = new TransformStream({ transform(chunk, on) { mine.take(chunk); on.enqueue(chunk); } });
      answer.body.pipeTo(writable).catch(() => {}).finally(mine.end); // ended, left, or broken: Gradio hears of it from `readable`
      return new Response(readable, { status: answer.status, statusText: answer.statusText, headers: answer.headers });
    } catch (fault) {
      mine.end();
      throw fault;
    }
  }

  /* A full queue and a lost connection stand where the result would. */
  function refuse(what, hint) {
    document.querySelector(".fs-panel-swap-progress")?.replaceChildren();
    running(false);
    window.fusionStudio.verifying(false);
    const panels = [...document.querySelectorAll(".fs-panel-swap-result, .fs-panel-align-face, .fs-panel-verify-result")];
    panels.find((each) => each.offsetParent)?.replaceChildren(make("div", { class: "fs-stage fs-notice fs-error", role: "alert" }, make("p", { class: "fs-what" }, what), make("p", { class: "fs-hint" }, hint)));
  }

  /* The button whose job is asked for. */
  const button = (given) => {
    const { trigger_id: id } = JSON.parse(given[1]?.body ?? "{}");
    return window.gradio_config.components.find((each) => each.id === id)?.props.elem_id;
  };

  async function join(given) {
    let answer;
    try {
      answer = await plain(...given);
    } catch (fault) {
      refuse(say("lost"), "");
      throw fault;
    }
    if (answer.status === 503) refuse(say("busy"), say("busy_hint"));
    if (answer.ok && stream) await stream.toldOf((await answer.clone().json()).event_id);
    if (answer.ok && JOBS.includes(button(given))) {
      const read = answer.json.bind(answer);
      answer.json = () => read().then((told) => { setTimeout(accepted); return told; }); // after Gradio has kept the job's name
    }
    return answer;
  }

  window.fetch = (...given) => {
    const address = String(given[0]?.url ?? given[0]);
    if (address.includes("/queue/join")) return join(given);
    if (!address.includes("/queue/data")) return plain(...given);
    stream = listen();
    return overheard(plain(...given), stream);
  };
})();
