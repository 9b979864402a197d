/* The five points of a face, moved by hand over its photo: by pointer, finger or arrow keys. All coordinates are the full picture's
   pixels, the centre of the top-left one being (0, 0), whatever the preview's scale or the zoom. */
(() => {
  "use strict";

  const { say, make } = window.fusionStudio;

  const ROOM = 2.4; // the photo shows this many times the points' own span
  const CLOSEST = 12;
  const MARGIN = .35; // of the frame round all five, as a share of their span

  /** The default face: a template of the unit square, in the middle of the picture. */
  function middle(template, width, height) {
    const side = .6 * Math.min(width, height);
    return template.map(([x, y]) => [width / 2 + (x - .5) * side, height / 2 + (y - .62) * side]);
  }

  const extent = (points) => {
    const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
    return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
  };

  /** Brings a part of the picture to the middle of its photo, and near enough for it to fill the photo but for `room`, or shows the whole. */
  function closer(photo, [width, height], { left, right, top, bottom }, close, room = 1.3) {
    const [boxWidth, boxHeight] = [photo.clientWidth, photo.clientHeight];
    const fit = Math.min(boxWidth / width, boxHeight / height);
    const span = room * Math.max(right - left, bottom - top, 1) * fit;
    const zoom = close ? Math.min(Math.max(Math.min(boxWidth, boxHeight) / span, 1), CLOSEST) : 1;
    // as far as the picture still covers the box, where it can
    const slide = (middleAt, side, box) => {
      const most = Math.max(0, (side * fit * zoom - box) / 2) / (side * fit);
      return 100 * Math.min(Math.max(-((middleAt + .5) / side - .5) * zoom, -most), most);
    };
    photo.style.setProperty("--z", zoom);
    photo.style.setProperty("--tx", `${slide((left + right) / 2, width, boxWidth)}%`);
    photo.style.setProperty("--ty", `${slide((top + bottom) / 2, height, boxHeight)}%`);
  }

  /** Handles over `photo`. `moved(points)` hears of each finished move, `told(words)` of where the point stands. */
  function handles(photo, { moved, told, left }) {
    const layer = make("div", { class: "fs-points", role: "application", "aria-label": say("points_label") });
    const outline = make("span", { class: "fs-points-frame", "aria-hidden": "true" });
    const all = handle("all");
    const each = [0, 1, 2, 3, 4].map((number) => handle(number));
    layer.append(outline, all, ...each);
    let width = 1, height = 1, points = [], close = false;

    function handle(which) {
      const knob = make("button", { type: "button", class: `fs-point fs-point-${which}`, "data-point": which });
      knob.addEventListener("pointerdown", grab);
      knob.addEventListener("keydown", (event) => press(event, which));
      knob.addEventListener("focus", () => tell(which));
      return knob;
    }

    const names = { 0: say("point_0"), 1: say("point_1"), 2: say("point_2"), 3: say("point_3"), 4: say("point_4"), all: say("point_all") };
    const name = (which) => names[which];
    const centre = () => { const { left: l, right, top, bottom } = extent(points); return [(l + right) / 2, (top + bottom) / 2]; };
    const at = (which) => (which === "all" ? centre() : points[which]);
    const tell = (which) => { const [x, y] = at(which); told(say("point", { name: name(which), x: x.toFixed(0), y: y.toFixed(0) })); };
    const within = (value, most) => Math.min(Math.max(value, 0), most - 1);

    /** Moves one point, or all of them as they are, by (dx, dy); nothing leaves the picture. */
    function shift(from, which, dx, dy) {
      if (which !== "all") return from.map(([x, y], number) => (number === which ? [within(x + dx, width), within(y + dy, height)] : [x, y]));
      const { left: l, right, top, bottom } = extent(from);
      const [mx, my] = [Math.min(Math.max(dx, -l), width - 1 - right), Math.min(Math.max(dy, -top), height - 1 - bottom)];
      return from.map(([x, y]) => [x + mx, y + my]);
    }

    /** The handle that is nearest: on a small picture they lie over one another. */
    function nearest(event) {
      const apart = (knob) => { const { x, y, width: w, height: h } = knob.getBoundingClientRect(); return Math.hypot(event.clientX - x - w / 2, event.clientY - y - h / 2); };
      return [all, ...each].reduce((best, knob) => (apart(knob) < apart(best) ? knob : best));
    }

    function grab(event) {
      if (event.button) return;
      event.preventDefault();
      const knob = nearest(event);
      const which = knob === all ? "all" : each.indexOf(knob);
      knob.focus();
      knob.setPointerCapture(event.pointerId);
      const [from, scale] = [points, width / layer.getBoundingClientRect().width];
      const [x, y] = [event.clientX, event.clientY];
      const move = (now) => { points = shift(from, which, (now.clientX - x) * scale, (now.clientY - y) * scale); draw(); tell(which); };
      const end = () => {
        knob.removeEventListener("pointermove", move);
        for (const kind of ["pointerup", "pointercancel"]) knob.removeEventListener(kind, end);
        if (points !== from) moved(points);
      };
      knob.addEventListener("pointermove", move);
      for (const kind of ["pointerup", "pointercancel"]) knob.addEventListener(kind, end);
    }

    function press(event, which) {
      if (event.key === "Escape") { event.stopPropagation(); return left(); }
      const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] || [0, 0];
      if (!dx && !dy) return;
      event.preventDefault();
      const step = Math.max(1, width / layer.getBoundingClientRect().width) * (event.shiftKey ? 10 : 1); // a pixel that can be seen
      points = shift(points, which, dx * step, dy * step);
      draw();
      tell(which);
      moved(points);
    }

    function draw() {
      const place = (node, [x, y]) => { node.style.left = `${(100 * (x + .5)) / width}%`; node.style.top = `${(100 * (y + .5)) / height}%`; };
      each.forEach((knob, number) => { place(knob, points[number]); knob.setAttribute("aria-label", say("point", { name: name(number), x: points[number][0].toFixed(0), y: points[number][1].toFixed(0) })); });
      const { left: l, right, top, bottom } = extent(points);
      const room = MARGIN * Math.max(right - l, bottom - top);
      place(outline, [l - room, top - room]);
      outline.style.width = `${(100 * (right - l + 2 * room)) / width}%`;
      outline.style.height = `${(100 * (bottom - top + 2 * room)) / height}%`;
      place(all, [(l + right) / 2, bottom + room]);
      all.setAttribute("aria-label", name("all"));
    }

    const view = () => closer(photo, [width, height], extent(points), close, ROOM);
    const watching = new ResizeObserver(() => { if (layer.isConnected) view(); });

    return {
      show(size, given, near) {
        [width, height] = size;
        points = given.map(([x, y]) => [x, y]);
        close = near;
        photo.classList.add("fs-editing");
        photo.append(layer);
        watching.observe(photo);
        draw();
        view();
      },
      put(given) { points = given.map(([x, y]) => [x, y]); draw(); if (close) view(); },
      zoom(near) { close = near; view(); },
      hide() { watching.disconnect(); layer.remove(); photo.classList.remove("fs-editing"); },
      focus() { each[0].focus(); },
      get near() { return close; },
      get shown() { return layer.isConnected; },
    };
  }

  Object.assign(window.fusionStudio, { handles, middle, closer });
})();
