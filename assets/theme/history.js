/* Earlier results of this tab, newest first: looked at again, gone back to with their pictures and settings, forgotten. What the studio
   keeps of them is studio/history.py's; a result that is gone there leaves the row. */
(() => {
  "use strict";

  const { say, spoken, make, button, keep, hush, press } = window.fusionStudio;

  const KEPT = "history", MOST = 24; // studio/history.py
  let entries = []; // { thumb, words, value: of the panel, asked: the state of the page that it came of }
  let at = "", asked = null; // the thumb of the one on screen; the state at the last press of Fuse
  let last = ""; // with nothing remembered: the thumb of the newest, which goes when the next one comes
  let show = () => {}, blank = null, draw = () => {};

  const box = (slot) => window.fusionStudio.box(slot);
  const state = () => ({
    source: box("source").value(), target: box("target").value(), map: window.fusionStudio.mapped.value(), options: window.fusionStudio.turned(),
    strength: Number(document.querySelector("#strength input[type=number]").value), enhance: document.querySelector("#enhance input:checked")?.value ?? "none", label: document.querySelector("#label input")?.checked,
  });
  /* The page as it was; the pictures first, since a map is of one target. Nothing is fused by it. */
  function restore(was) {
    for (const slot of ["source", "target"]) box(slot).restore(was[slot]);
    window.fusionStudio.mapped.set(was.map);
    window.fusionStudio.turnTo(was.options);
    window.fusionStudio.turnFrame(was);
    const label = document.querySelector("#label input:not(:disabled)");
    if (label && label.checked !== was.label) label.click();
    hush();
  }

  /** Called with each result that is drawn. `set`: shows another value instead; `empty`: the panel's without a result. */
  function noted(value, set, empty) {
    [show, blank] = [set, empty];
    at = value?.entry?.thumb ?? "";
    if (!keep.on) {
      if (at && last && last !== at) erase(last);
      last = at || last;
    } else if (at && entries.some(({ thumb }) => thumb === at)) {
      entries = entries.map((entry) => (entry.thumb === at ? { ...entry, ...value.entry, value } : entry)); // several targets: one more is done
      save();
    } else if (at && asked) {
      entries = [{ ...value.entry, value, asked }, ...entries].slice(0, MOST);
      save();
    }
    draw();
  }
  const save = () => keep.save(KEPT, entries.length ? entries : null);
  const shown = () => entries.findIndex(({ thumb }) => thumb === at);

  function drop(gone) {
    const number = shown(), mine = gone.some(({ thumb }) => thumb === at);
    entries = entries.filter((entry) => !gone.includes(entry));
    save();
    if (mine) show(entries[Math.min(number, entries.length - 1)]?.value ?? blank);
    draw();
  }
  function forget(gone) {
    for (const { thumb } of gone) erase(thumb);
    drop(gone);
  }
  const erase = (thumb, more = {}) => fetch(thumb, { method: "DELETE", ...more }).catch(() => {}); // what can't be reached goes by its age
  /* Whether earlier results are remembered from now on. The one on screen stays there. */
  function remember(on) {
    keep.turn(on);
    if (on) last = "";
    else {
      for (const { thumb } of entries) if (thumb !== at) erase(thumb);
      [entries, last] = [[], at];
    }
    draw();
  }
  /* One result back or forth, with the page as it was then. */
  function step(way) {
    const entry = entries[shown() + way];
    if (!entry || document.body.hasAttribute("data-running")) return false;
    restore(entry.asked);
    show(entry.value);
    return true;
  }
  /* A face of the result as it was before, the others as they are. */
  function leave(index) {
    const entry = entries[shown()];
    if (entry?.asked) restore(entry.asked);
    const { mapped } = window.fusionStudio, rest = mapped.value().filter(({ face }) => face !== index);
    if (!rest.length || rest.length === mapped.value().length) return;
    mapped.set(rest);
    hush();
    press("fuse");
  }

  function history(element) {
    const list = make("ol", { class: "fs-row" });
    const words = make("p", { class: "fs-hint" }), told = make("p", { class: "fs-hint", role: "status" });
    const reuse = button(say("history_reuse"), () => { restore(entries[shown()].asked); told.textContent = say("history_reused"); }, "fs-small fs-reuse");
    const undo = button(say("history_undo"), () => step(1), "fs-small fs-undo"), redo = button(say("history_redo"), () => step(-1), "fs-small fs-redo");
    undo.title = "Ctrl+Z";
    redo.title = "Ctrl+Shift+Z";
    const one = make("div", { class: "fs-ways" }, reuse, button(say("history_drop"), () => forget([entries[shown()]]), "fs-small fs-drop-result"));
    keep.off = element.querySelector("[data-off]") !== null;
    const box = make("input", { type: "checkbox", checked: keep.on, disabled: keep.off, onchange: () => remember(box.checked) });
    const kept = make("label", { class: "fs-check fs-remember", title: say("history_hint") }, box, make("span", {}, say("history_keep")));
    const ways = make("span", { class: "fs-ways" }, undo, redo, button(say("history_forget"), () => forget([...entries]), "fs-small fs-forget-all"));
    const root = make("section", { class: "fs-history", "aria-label": say("history") }, make("div", { class: "fs-line" }, make("h3", {}, say("history")), kept, ways),
      list, words, one, told);
    element.replaceChildren(root);

    /* A square of it, with the first fused face in the middle as far as that goes. */
    const picture = (entry) => {
      const image = make("img", { src: entry.thumb, alt: "", onerror: () => drop([entry]) });
      image.style.objectPosition = (entry.value.shown?.focus ?? [.5, .5]).map((share) => `${100 * share}%`).join(" ");
      return image;
    };
    const item = (entry) => make("li", {}, make("button", { type: "button", "aria-pressed": String(entry.thumb === at), "aria-label": say("history_show", { words: spoken(entry.words) }), title: spoken(entry.words), onclick: () => show(entry.value) },
      picture(entry)));
    draw = () => {
      const number = shown(), focused = list.contains(document.activeElement);
      list.hidden = ways.hidden = !entries.length;
      list.replaceChildren(...entries.map(item));
      words.textContent = number < 0 ? "" : spoken(entries[number].words);
      one.hidden = number < 0;
      told.textContent = "";
      undo.disabled = !entries[number + 1];
      redo.disabled = number < 1;
      if (focused) list.querySelector("[aria-pressed=true]")?.focus();
    };
    draw();
    keep.load(KEPT).then((kept) => { if (kept) { entries = [...entries, ...kept.filter(({ thumb }) => !entries.some((entry) => entry.thumb === thumb))]; draw(); } });
  }

  document.addEventListener("click", (event) => {
    const face = event.target.closest?.("[data-leave]");
    if (face) leave(Number(face.dataset.leave));
    else if (event.target.closest?.("#fuse")) asked = state();
  }, true);
  addEventListener("pagehide", () => { if (!keep.on && last) erase(last, { keepalive: true }); });
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "z") return;
    if (event.target.closest?.("input:not([type=range], [type=radio], [type=checkbox]), textarea, [contenteditable]") || !document.querySelector("#history")?.offsetParent) return;
    if (step(event.shiftKey ? -1 : 1)) event.preventDefault();
  });

  Object.assign(window.fusionStudio, { history, noted });
})();
