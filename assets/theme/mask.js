/* The mask: the panel's chips and sliders, and the target with the mask tinted (studio/mask_panel.py, studio/tabs/masks.py). */
(() => {
  "use strict";

  const { say, spoken, make, brush } = window.fusionStudio;

  let hear = null; // of the mask that the server drew

  /** A mask with all that it doesn't name, or null for what is none: as engines/face_mask.py reads one. */
  function wholeMask(given, standard, { areas, regions, grow, padding: [low, high] }) {
    if (!given || typeof given !== "object" || Array.isArray(given) || Object.keys(given).some((name) => !(name in standard))) return null;
    const whole = { ...standard, ...given };
    const list = (value, known) => Array.isArray(value) && value.every((each) => known.includes(each));
    const within = (value, from, to) => typeof value === "number" && value >= from && value <= to;
    const { padding: sides } = whole;
    const sound = list(whole.areas, areas) && list(whole.leave_out, regions) && within(whole.grow, -grow, grow) && typeof whole.occlusion === "boolean"
      && Array.isArray(sides) && sides.length === 4 && sides.every((side) => within(side, low, high)) && sides[0] + sides[2] <= high && sides[1] + sides[3] <= high;
    return sound ? whole : null;
  }

  /** `panel`: value() and set(value) of all options; `ask()` has the mask drawn by the server. Gives show() and words(). */
  function mask(element, props, panel, ask) {
    const root = element.querySelector(".fs-mask");
    const [shower, painter, told, sides] = ["[data-mask-show]", "[data-mask-brush]", ".fs-mask-told", ".fs-sides"].map((each) => root.querySelector(each));
    const layer = make("img", { class: "fs-masked", alt: say("mask_alt"), draggable: "false" });
    const target = () => window.fusionStudio.box?.("target");
    const seen = () => target()?.value() ?? {};
    const chosen = () => seen().faces?.find(({ index }) => index === seen().chosen);
    const value = () => panel.value().mask;
    const paint = () => { // of several targets, on one of them
      const { token, gathered } = seen(), { paint: kept } = panel.value();
      return kept && (gathered?.some((each) => each.token === kept.of) || kept.of === token) ? kept : null;
    };
    const changed = () => root.dispatchEvent(new Event("change", { bubbles: true })); // fuses again, as a field would
    const put = (next) => { panel.set({ ...panel.value(), mask: { ...value(), ...next } }); changed(); };

    const hand = brush({
      target,
      chosen,
      painted: (next) => { panel.set({ ...panel.value(), paint: next }); changed(); },
      closed: () => { painter.setAttribute("aria-pressed", "false"); painter.focus(); },
      failed: (lines) => { told.textContent = lines.join(" "); },
    });

    /* The whole face is all there is: another area stands for itself, and the whole face comes back where nothing else is left. */
    function area(name) {
      const { areas } = value(), has = areas.includes(name);
      if (name === "outline") return put({ areas: has ? (paint() ? [] : areas) : ["outline"] });
      const next = props.mask.areas.filter((each) => each !== "outline" && (each === name ? !has : areas.includes(each)));
      put({ areas: next.length || paint() ? next : ["outline"] });
    }
    const region = (name) => put({ leave_out: props.mask.regions.filter((each) => (each === name) !== value().leave_out.includes(each)) });

    root.addEventListener("click", (event) => {
      const { areas, leaveOut } = event.target.closest("button")?.dataset ?? {};
      if (areas) area(areas);
      if (leaveOut) region(leaveOut);
    });
    root.addEventListener("input", ({ target: { dataset: { mask: name, side }, value: typed, checked, validity } }) => {
      if (name === "grow") put({ grow: Number(typed) });
      if (name === "occlusion") put({ occlusion: checked });
      if (!side || !typed || !validity.valid) return;
      const padding = value().padding.map((each, number) => (number === Number(side) ? Number(typed) : each));
      if (wholeMask({ padding }, props.defaults.mask, props.mask)) put({ padding });
      else told.textContent = say("mask_padding");
    });
    shower.addEventListener("click", () => { shower.setAttribute("aria-pressed", String(!on())); look(); if (on()) inView(); });
    painter.addEventListener("click", () => {
      if (hand.active) return hand.close();
      if (!chosen()) return void (told.textContent = say("mask_no_target"));
      painter.setAttribute("aria-pressed", "true");
      if (!on()) shower.click();
      hand.open();
      inView();
    });
    const on = () => shower.getAttribute("aria-pressed") === "true";
    const inView = () => { if (target()?.drop.getBoundingClientRect().top < 0 || target()?.drop.getBoundingClientRect().bottom > innerHeight) target().drop.scrollIntoView({ block: "center" }); };

    /* The target with the mask tinted follows whatever changes it. */
    let asked = "", of = "", patience;
    function look() {
      const { token, chosen: face, hand: points } = seen();
      if (of !== token || !on()) { layer.remove(); told.textContent = ""; asked = ""; }
      of = token;
      if (!on()) return;
      if (!chosen()) return void (told.textContent = say("mask_no_target"));
      const { feather, mode, model } = panel.value();
      const now = JSON.stringify([token, face, points, value(), paint(), feather, mode, model]);
      if (now === asked) return;
      asked = now;
      clearTimeout(patience);
      patience = setTimeout(ask, 120);
    }
    hear = async ({ token, address, error }) => {
      if (token !== seen().token || !on()) return;
      told.textContent = error ? spoken(error).join(" ") : say("mask_shown");
      const fresh = error ? null : make("img", { src: address });
      await fresh?.decode().catch(() => {});
      const base = target().element.querySelector(".fs-photo > img");
      if (!fresh || !base || !on()) return layer.remove();
      layer.src = address;
      base.after(layer);
    };
    document.addEventListener("fusion:box", look);

    function show() {
      const now = value();
      for (const chip of root.querySelectorAll("[data-areas]")) chip.setAttribute("aria-pressed", String(now.areas.includes(chip.dataset.areas)));
      for (const chip of root.querySelectorAll("[data-leave-out]")) chip.setAttribute("aria-pressed", String(now.leave_out.includes(chip.dataset.leaveOut)));
      const grow = root.querySelector("[data-mask=grow]");
      grow.value = now.grow;
      grow.style.setProperty("--share", `${50 + (50 * now.grow) / props.mask.grow}%`);
      root.querySelector("output").value = `${now.grow > 0 ? "+" : ""}${now.grow} %`;
      root.querySelector("[data-mask=occlusion]").checked = now.occlusion;
      sides.hidden = !now.areas.some((each) => each === "box" || each === "oval");
      for (const side of sides.querySelectorAll("input")) if (side !== document.activeElement) side.value = now.padding[side.dataset.side];
      look();
    }

    const named = (list, kind) => list.map((each) => root.querySelector(`[data-${kind}=${each}]`).textContent).join(" + ");
    function words(labelled = true) {
      const { areas, leave_out: out, grow, occlusion, padding } = value();
      const parts = [areas.length ? named(areas, "areas") : "", out.length ? say("mask_without", { regions: named(out, "leave-out") }) : "",
        !sides.hidden && padding.some(Boolean) ? say("mask_padded", { padding: padding.join(" ") }) : "", grow ? `${grow > 0 ? "+" : ""}${grow} %` : "",
        occlusion ? "" : say("mask_over"), paint() ? say("mask_painted") : ""];
      const choice = parts.filter(Boolean).join(say("mask_then"));
      return labelled ? say("option_choice", { label: root.dataset.label, choice }) : choice;
    }
    return { show, words, painted: () => Boolean(paint()), clear: () => hand.clear() };
  }

  /** Takes the server's answers (studio/tabs/masks.py). */
  function masked(element, props, watch) {
    watch("value", () => { if (props.value?.token) hear?.(props.value); });
  }

  Object.assign(window.fusionStudio, { mask, masked, wholeMask });
})();
