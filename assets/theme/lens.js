/* Pictures under one lens: whatever zooms or moves one of them does the same to all. Its HTML comes from studio/lens.py.
   Wheel (with Ctrl, or once the lens has the focus or is near), pinch, drag, double click, keys, buttons. */
(() => {
  "use strict";

  const NEAREST = 8; // screen pixels for one of the picture
  const GRAB = 24; // how near to the divider a pointer takes hold of it
  const STEP = 1.25, MOVE = .1, LINE = 16;

  /** What is seen; it may be handed from one lens to the next. `zoom`: screen pixels for one of the picture, 0 as large as fits;
      `x`, `y`: what is in the middle when it is nearer, as a share of the picture; `at`: the divider, in percent of the lens, null until
      it was moved. */
  const sight = (x = .5, y = .5) => ({ zoom: 0, x, y, at: null });

  /** `stage`: .fs-lens. `tapped`: a click that moved nothing, on the picture. Returns what draws it anew. */
  function lens(stage, view, tapped = () => {}) {
    const root = stage.querySelector(".fs-compare, .fs-cards");
    const slide = stage.querySelector(".fs-slide");
    const panes = () => [...root.querySelectorAll(".fs-pane")].filter((pane) => pane.clientWidth);
    const density = () => window.devicePixelRatio || 1;
    const size = (pane) => [Number(pane.dataset.w), Number(pane.dataset.h)];
    const fitting = () => Math.min(...panes().map((pane) => { const [w, h] = size(pane); return Math.min(pane.clientWidth / w, pane.clientHeight / h); }));
    const scale = () => (view.zoom ? view.zoom / density() : fitting());
    const laid = (pane) => { // another picture's pixels are as wide on the screen as the first one's
      const [w, h] = size(pane), s = scale() * size(panes()[0])[0] / w;
      return [w * s, h * s];
    };
    const clamped = (middle, long, room) => (long <= room ? .5 : Math.min(Math.max(middle, room / 2 / long), 1 - room / 2 / long));
    const middle = () => { const [pane] = panes(), [w, h] = laid(pane); return [clamped(view.x, w, pane.clientWidth), clamped(view.y, h, pane.clientHeight)]; };
    const near = () => panes().some((pane) => { const [w, h] = laid(pane); return w > pane.clientWidth + 1 || h > pane.clientHeight + 1; });
    const slider = () => root.dataset.mode === "slider" && slide;

    function draw() {
      const all = panes();
      if (!all.length) return;
      if (view.zoom) [view.x, view.y] = middle(); // else it is where the next step nearer leads
      for (const pane of all) {
        const [wide, high] = laid(pane), image = pane.querySelector("img");
        Object.assign(image.style, { width: `${wide}px`, height: `${high}px`,
          left: `${pane.clientWidth / 2 - clamped(view.x, wide, pane.clientWidth) * wide}px`, top: `${pane.clientHeight / 2 - clamped(view.y, high, pane.clientHeight) * high}px` });
        image.classList.toggle("fs-coarse", scale() * density() >= 3); // then its pixels are what is looked at
      }
      root.classList.toggle("fs-near", near());
      const percent = Math.round(scale() * density() * 100);
      stage.querySelector(".fs-scale").value = `${percent} %`;
      for (const each of stage.querySelectorAll("[data-zoom][aria-pressed]")) each.setAttribute("aria-pressed", String(each.dataset.zoom === "fit" ? !view.zoom : view.zoom === Number(each.dataset.zoom)));
      if (slide) divide(view.at ?? whereFace(all[0]));
    }
    function whereFace(pane) {
      const [wide] = laid(pane);
      const left = pane.clientWidth / 2 - clamped(view.x, wide, pane.clientWidth) * wide + wide * Number(slide.dataset.at) / 100;
      return 100 * Math.min(Math.max(left / pane.clientWidth, .02), .98);
    }
    function divide(at) {
      slide.value = at;
      root.style.setProperty("--at", `${at}%`);
    }

    /* `point`: what stays where it is, in pixels from the middle of a pane; without one, what is or was in the middle. */
    function zoomTo(zoom, point) {
      const [pane] = panes();
      if (!pane) return;
      const least = Math.min(fitting() * density(), 1), most = Math.max(NEAREST, 4 * least);
      const [w, h] = laid(pane);
      const [x, y] = point ? middle() : [view.x, view.y], [dx, dy] = point || [0, 0];
      const under = [x + dx / w, y + dy / h];
      const wanted = Math.min(Math.max(zoom, least), most);
      view.zoom = Math.abs(wanted - fitting() * density()) < 1e-3 * wanted ? 0 : wanted;
      const [wide, high] = laid(pane);
      [view.x, view.y] = [under[0] - dx / wide, under[1] - dy / high];
      draw();
    }
    const zoomBy = (by, point) => zoomTo(scale() * density() * by, point);
    function move(dx, dy) {
      const [w, h] = laid(panes()[0]);
      [view.x, view.y] = [view.x - dx / w, view.y - dy / h];
      draw();
    }
    function set(step) {
      if (step === "in" || step === "out") return zoomBy(step === "in" ? STEP : 1 / STEP);
      if (step !== "fit") return zoomTo(Number(step));
      view.zoom = 0;
      draw();
    }
    const pointIn = (event) => {
      const pane = event.target.closest?.(".fs-pane") || panes()[0], box = pane.getBoundingClientRect();
      return [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
    };

    root.addEventListener("wheel", (event) => {
      const meant = event.ctrlKey || event.metaKey || root.contains(document.activeElement) || root.classList.contains("fs-near");
      const away = event.deltaY > 0;
      if (!meant || (away && !view.zoom && !event.ctrlKey)) return; // the page's own
      event.preventDefault();
      const lines = event.deltaMode ? event.deltaY * LINE : event.deltaY;
      zoomBy(Math.exp(-Math.max(-100, Math.min(100, lines)) * (event.ctrlKey && Math.abs(lines) < 20 ? .01 : .0025)), pointIn(event));
    }, { passive: false });

    const down = new Map(); // pointers, where they are
    let held = null; // what the first one took: "divider" or "picture"
    let moved = 0, spread = 0;
    const spreadOf = () => { const [a, b] = [...down.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
    const atOf = (x) => { const box = root.getBoundingClientRect(); return 100 * Math.min(Math.max((x - box.left) / box.width, 0), 1); };
    root.addEventListener("pointerdown", (event) => {
      if (event.button || !event.target.closest(".fs-pane, .fs-divider")) return;
      down.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (down.size === 2) { spread = spreadOf(); held = "picture"; return; }
      moved = 0;
      const box = root.getBoundingClientRect();
      const line = box.left + box.width * Number(slide?.value ?? 0) / 100;
      held = slider() && (!root.classList.contains("fs-near") || Math.abs(event.clientX - line) < GRAB) ? "divider" : "picture";
      if (held === "divider") { view.at = atOf(event.clientX); divide(view.at); }
    });
    root.addEventListener("pointermove", (event) => {
      const last = down.get(event.pointerId);
      if (!last) return;
      root.setPointerCapture(event.pointerId);
      const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
      moved += Math.hypot(dx, dy);
      down.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (down.size === 2) {
        const now = spreadOf(), [a, b] = [...down.values()], box = panes()[0].getBoundingClientRect();
        zoomBy(now / (spread || now), [(a.x + b.x) / 2 - box.left - box.width / 2, (a.y + b.y) / 2 - box.top - box.height / 2]);
        spread = now;
        move(dx / 2, dy / 2);
      } else if (held === "divider") { view.at = atOf(event.clientX); divide(view.at); }
      else if (root.classList.contains("fs-near")) move(dx, dy);
    });
    for (const kind of ["pointerup", "pointercancel"]) root.addEventListener(kind, (event) => {
      if (!down.delete(event.pointerId)) return;
      if (kind === "pointerup" && !down.size && held === "picture" && moved < 4) tapped();
      held = down.size ? "picture" : null;
    });
    root.addEventListener("dblclick", (event) => {
      if (!event.target.closest(".fs-pane") || root.dataset.mode === "flip") return;
      if (root.classList.contains("fs-near")) set("fit");
      else zoomTo(Math.max(2, 2 * scale() * density()), pointIn(event));
    });

    stage.addEventListener("click", (event) => { const step = event.target.closest("[data-zoom]"); if (step) set(step.dataset.zoom); });
    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = { "+": "in", "=": "in", "-": "out", 0: "fit", 1: "1", 2: "2" }[event.key];
      const way = event.target === slide ? null : { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (step) set(step);
      else if (way && root.classList.contains("fs-near")) move(way[0] * MOVE * root.clientWidth, way[1] * MOVE * root.clientHeight);
      else return;
      event.preventDefault();
    });
    slide?.addEventListener("input", () => { view.at = Number(slide.value); root.style.setProperty("--at", `${view.at}%`); });
    new ResizeObserver(draw).observe(root);
    draw();
    return draw;
  }

  Object.assign(window.fusionStudio, { lens, sight });
})();
