/* The brush: a person paints on the target where to fuse too and where to keep it. Strokes are kept as lines, and sent as a picture
   that engines/face_mask.py reads: white fuses, black keeps, transparent says nothing. */
(() => {
  "use strict";

  const { say, make, button, upload, closer } = window.fusionStudio;

  const COLOURS = { fuse: ["#3f7cff", "#fff"], keep: ["#ff4d4d", "#000"] }; // as it is seen, as it is sent
  const KINDS = { fuse: say("brush_fuse"), keep: say("brush_keep"), erase: say("brush_erase") };
  const LONGEST = 2048; // of the sides of what is sent
  const KEPT = "fusion:brush";
  const WIDE = { least: 4, most: 120, first: 28 }; // of a stroke, in pixels of the screen

  function draw(canvas, strokes, which) {
    const pen = canvas.getContext("2d");
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.lineCap = pen.lineJoin = "round";
    for (const { kind, width, points } of strokes) {
      pen.globalCompositeOperation = kind === "erase" ? "destination-out" : "source-over";
      pen.strokeStyle = COLOURS[kind]?.[which] ?? "#000";
      pen.lineWidth = width;
      pen.beginPath();
      points.forEach(([x, y], number) => (number ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      if (points.length === 1) pen.lineTo(points[0][0] + .01, points[0][1]); // a dot
      pen.stroke();
    }
  }

  /** `target()`: the picture's box; `chosen()`: its face. `painted({token, of} or null)` hears of each finished stroke, `closed()` of the
      end, `failed(lines)` of an upload that didn't arrive. */
  function brush({ target, chosen, painted, closed, failed }) {
    const canvas = make("canvas", { class: "fs-canvas", tabindex: "0", role: "img", "aria-label": say("brush_label") });
    let strokes = [], of = "", active = false, kind = "fuse", wide = WIDE.first, near = false, turn = 0;
    const photo = () => target().element.querySelector(".fs-photo");

    const size = make("input", { type: "range", min: WIDE.least, max: WIDE.most, value: wide, "aria-label": say("brush_size"), oninput: () => { wide = Number(size.value); } });
    const kinds = make("div", { class: "fs-segments", role: "radiogroup", "aria-label": say("brush") }, ...Object.keys(KINDS).map((each) =>
      make("label", { class: `fs-brush-${each}` }, make("input", { type: "radio", name: "fs-brush", value: each, checked: each === kind, onchange: () => { kind = each; } }), make("span", {}, KINDS[each]))));
    const undo = button(say("brush_undo"), () => { strokes.pop(); finished(); }, "fs-small fs-brush-undo");
    const empty = button(say("brush_clear"), () => { strokes = []; finished(); }, "fs-small fs-brush-clear");
    const zoom = button(say("closer"), () => { near = !near; view(); }, "fs-small");
    const bar = make("div", { class: "fs-brush" }, make("div", { class: "fs-ways" }, kinds, make("label", { class: "fs-brush-size" }, say("brush_size"), size)),
      make("div", { class: "fs-ways" }, undo, empty, zoom, button(say("done"), close, "fs-small fs-brush-done")), make("p", { class: "fs-hint" }, say("brush_hint")));

    function view() {
      zoom.setAttribute("aria-pressed", String(near));
      const { width, height } = target().value(), [x, y, w, h] = chosen()?.box ?? [0, 0, 1, 1];
      closer(photo(), [width, height], { left: x * width, right: (x + w) * width, top: y * height, bottom: (y + h) * height }, near);
    }
    const watching = new ResizeObserver(() => { if (active) view(); });

    function show() {
      draw(canvas, strokes, 0);
      undo.disabled = empty.disabled = !strokes.length;
    }
    async function finished() {
      const mine = ++turn;
      show();
      if (window.fusionStudio.keep.on) try { sessionStorage.setItem(KEPT, JSON.stringify({ of, strokes })); } catch { /* full or closed */ }
      if (!strokes.length) return painted(null);
      const sheet = make("canvas");
      [sheet.width, sheet.height] = [canvas.width, canvas.height];
      draw(sheet, strokes, 1);
      const token = of;
      try {
        const blob = await new Promise((done) => sheet.toBlob(done, "image/png"));
        const sent = await upload(new File([blob], "brush.png", { type: "image/png" }), () => {});
        if (mine === turn && token === of) painted({ token: sent, of });
      } catch (lines) {
        if (mine === turn) failed(Array.isArray(lines) ? lines : [say("upload_failed")]);
      }
    }

    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(event.pointerId);
      const frame = canvas.getBoundingClientRect(), scale = canvas.width / frame.width;
      const at = ({ clientX, clientY }) => [Math.round((clientX - frame.left) * scale), Math.round((clientY - frame.top) * scale)];
      const stroke = { kind, width: Math.max(1, Math.round(wide * scale)), points: [at(event)] };
      strokes.push(stroke);
      show();
      const move = (now) => { stroke.points.push(...(now.getCoalescedEvents?.().map(at) ?? []), at(now)); show(); };
      const end = () => {
        canvas.removeEventListener("pointermove", move);
        for (const ending of ["pointerup", "pointercancel"]) canvas.removeEventListener(ending, end);
        finished();
      };
      canvas.addEventListener("pointermove", move);
      for (const ending of ["pointerup", "pointercancel"]) canvas.addEventListener(ending, end);
    });
    for (const element of [canvas, bar]) {
      element.addEventListener("keydown", (event) => {
        if (event.key === "Escape") { event.stopPropagation(); close(); }
        if (event.key === "z" && (event.ctrlKey || event.metaKey) && strokes.length) { event.preventDefault(); undo.click(); }
      });
    }

    /* What was painted belongs to one picture; its own strokes come back after a reload. */
    function follow() {
      const { token = "", pending, width, height } = target()?.value() ?? {};
      if (pending || (token && !width)) return;
      if (token === of) { if (active && !canvas.isConnected) open(); return; }
      if (active) close();
      of = token;
      strokes = [];
      turn += 1;
      try { const kept = JSON.parse(sessionStorage.getItem(KEPT)); if (token && kept?.of === token && Array.isArray(kept.strokes)) strokes = kept.strokes; } catch { /* not ours */ }
      const share = Math.min(1, LONGEST / Math.max(width, height));
      [canvas.width, canvas.height] = [Math.max(1, Math.round(width * share)), Math.max(1, Math.round(height * share))];
    }
    document.addEventListener("fusion:box", follow);

    function open() {
      follow();
      active = true;
      photo().append(canvas);
      target().drop.after(bar);
      watching.observe(photo());
      show();
      view();
    }
    function close() {
      if (!active) return;
      near = false;
      view();
      active = false;
      watching.disconnect();
      canvas.remove();
      bar.remove();
      closed();
    }
    return { open, close, get active() { return active; }, clear() { if (strokes.length) { strokes = []; finished(); } } };
  }

  Object.assign(window.fusionStudio, { brush });
})();
