/* Two pictures and one zoom: before and after of a result, or a result that was kept (A) and the one on screen (B).
   What is known of a result comes from studio/comparing.py. A's files stay on the studio's shelf while it is kept. */
(() => {
  "use strict";

  const { say, spoken, make, button, keep, lens, sight } = window.fusionStudio;

  const KEPT = "compare-a";
  const MODES = [["slider", say("compare_slider")], ["side", say("compare_side")], ["flip", say("compare_flip")]];
  const TAGS = { ab: { before: "A", after: "B" }, before: { before: say("compare_tag_before"), after: say("compare_tag_after") } };
  const seen = { ...sight(), mode: "slider", pair: "before", flipped: false, target: "" }; // outlives a result
  let a = null; // the whole value of the panel that was kept
  let current = null, draw = null, place = null, swapped = ""; // the panel's value, what draws it, where it stands, an earlier A on screen
  let show = () => {};

  const held = (token, method) => fetch(`${token}/hold`, { method }).then((answer) => answer.ok, () => false);
  const isA = () => a && current && a.shown.after === current.shown.after;
  const pair = () => (a && !isA() && seen.pair === "ab" ? "ab" : "before");

  /** Called with each result that is drawn. `panel`: its element, `value`: of the panel, `set`: shows another value instead. */
  function compared(panel, value, set) {
    const stage = panel.querySelector(".fs-lens");
    if (!stage || !value.shown) { current = null; return; }
    const { shown } = value;
    if (swapped && swapped !== shown.after && swapped !== a?.shown.after) { held(swapped, "DELETE"); swapped = ""; }
    if (seen.target !== shown.target) Object.assign(seen, sight(...shown.focus), { target: shown.target });
    [current, show, place] = [value, set, make("div", { class: "fs-pairing" })];
    stage.after(place);
    const root = stage.querySelector(".fs-compare");
    draw = lens(stage, seen, () => { if (root.dataset.mode === "flip") flip(); });
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "a") { event.preventDefault(); keepIt(); }
      else if ((event.key === " " || event.key === "x") && root.dataset.mode === "flip" && event.target === root) { event.preventDefault(); flip(); }
    });
    render();
  }
  const stageNow = () => place.previousElementSibling;

  async function keepIt() {
    if (isA()) return;
    const was = a, value = current;
    if (!(await held(value.shown.after, "POST"))) return void tell(say("compare_gone"));
    if (was && was.shown.after !== current?.shown.after) held(was.shown.after, "DELETE");
    a = value;
    seen.pair = "ab"; // the next result is laid beside it
    keep.save(KEPT, a);
    render();
    place.querySelector(".fs-keep")?.focus();
  }
  function forget() {
    if (!isA()) held(a.shown.after, "DELETE");
    else swapped = a.shown.after; // it is on screen still
    a = null;
    keep.save(KEPT, null);
    render();
    place.querySelector(".fs-keep")?.focus();
  }
  async function exchange() {
    const [was, now] = [a, current];
    if (!(await held(now.shown.after, "POST"))) return void tell(say("compare_gone"));
    a = now;
    swapped = was.shown.after;
    keep.save(KEPT, a);
    show(was);
  }
  function flip() { seen.flipped = !seen.flipped; arrange(); }
  const tell = (words) => place.querySelector(".fs-told")?.replaceChildren(words);

  /* The two pictures, as the mode and the pair want them. */
  function arrange() {
    const stage = stageNow(), root = stage.querySelector(".fs-compare"), ab = pair() === "ab";
    const sides = { before: ab ? a.shown : current.shown, after: current.shown };
    const alike = Math.abs(sides.before.width / sides.before.height - sides.after.width / sides.after.height) < .01;
    const mode = alike ? seen.mode : "side";
    for (const [side, shown] of Object.entries(sides)) {
      const pane = root.querySelector(`[data-side=${side}]`), image = pane.querySelector("img");
      const address = ab || side === "after" ? shown.after : shown.before;
      if (image.getAttribute("src") !== address) image.src = address;
      [pane.dataset.w, pane.dataset.h] = [shown.width, shown.height];
      pane.hidden = mode === "flip" && (side === "after") === seen.flipped;
      const words = TAGS[ab ? "ab" : "before"][side];
      pane.querySelector(".fs-tag").textContent = words;
      image.alt = words;
      image.onerror = ab && side === "before" ? gone : null;
    }
    root.dataset.mode = mode;
    const { width, height } = current.shown, box = root.getBoundingClientRect();
    root.classList.toggle("fs-below", mode === "side" && Math.min(box.width / width, box.height / 2 / height) > Math.min(box.width / 2 / width, box.height / height));
    draw();
    return alike;
  }
  function gone() { // its time on the shelf was over
    if (!a) return;
    a = null;
    keep.save(KEPT, null);
    render();
    tell(say("compare_gone"));
  }

  const segments = (name, label, all, now, set) => make("div", { class: "fs-segments", role: "radiogroup", "aria-label": label }, ...all.map(([value, words, off]) =>
    make("label", {}, make("input", { type: "radio", name, value, checked: value === now, disabled: off, onchange: () => set(value) }), make("span", {}, words))));

  function render() {
    if (!place || !current) return;
    const ab = pair() === "ab", alike = arrange();
    const kept = Boolean(isA());
    const focused = place.contains(document.activeElement) ? document.activeElement.value : null;
    const keeper = button(say(kept ? "compare_kept" : "compare_keep"), keepIt, "fs-small fs-keep");
    keeper.title = say("compare_keep_tip");
    keeper.setAttribute("aria-pressed", String(kept));
    keeper.setAttribute("aria-keyshortcuts", "A");
    place.replaceChildren(make("div", { class: "fs-line" },
      make("div", { class: "fs-ways" },
        a && !kept ? segments("fs-pair", say("compare_pair"), [["before", say("compare_before")], ["ab", say("compare_ab")]], pair(), (value) => { seen.pair = value; render(); }) : null,
        segments("fs-mode", say("compare_mode"), MODES.map(([mode, named]) => [mode, named, mode !== "side" && !alike]), alike ? seen.mode : "side", (mode) => { seen.mode = mode; seen.flipped = false; render(); })),
      make("div", { class: "fs-ways" }, keeper, a && !kept ? button(say("compare_swap"), exchange, "fs-small fs-exchange") : null, a ? button(say("compare_forget"), forget, "fs-small fs-forget") : null)),
    ...words(ab, kept), make("p", { class: "fs-hint fs-told", role: "status" }));
    if (focused) place.querySelector(`input[value="${focused}"]`)?.focus();
  }

  /* What differs, in words; then what came of it. */
  function words(ab, kept) {
    if (kept) return [make("p", { class: "fs-hint" }, say("compare_next"))];
    if (!ab) return [];
    const rows = (name) => {
      const [from, to] = [a, current].map((value) => new Map(spoken(value.shown[name]).map((row) => [row[0], row])));
      return [...new Set([...from.keys(), ...to.keys()])].map((key) => [from.get(key), to.get(key)]);
    };
    const line = ([from, to], label = (to || from)[1]) => {
      const [one, other] = [from?.[2] ?? "–", to?.[2] ?? "–"];
      return make("li", {}, say("option_choice", { label, choice: `${one} → ` }), make("strong", {}, one === other && from[3] !== to[3] ? say("compare_other") : other));
    };
    const differing = rows("settings").filter(([from, to]) => from?.[3] !== to?.[3]);
    const figures = rows("figures").filter(([from, to]) => from && to);
    return [
      make("p", { class: "fs-key" }, say("compare_differs")),
      differing.length ? make("ul", { class: "fs-differing" }, ...differing.map((row) => line(row))) : make("p", { class: "fs-hint" }, say("compare_same")),
      make("ul", { class: "fs-differing fs-figures" }, ...figures.map((row) => line(row))),
    ];
  }

  keep.load(KEPT).then((value) => { if (value?.shown) { a = value; seen.pair = "ab"; render(); } });

  Object.assign(window.fusionStudio, { compared });
})();
