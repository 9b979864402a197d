/* The panel of what else may be turned (studio/widgets.py, options_panel): its fold, its summary, its way back. */
(() => {
  "use strict";

  const { say, mask, wholeMask } = window.fusionStudio;
  const KEPT = "fusion:options";

  function options(element, props, trigger, watch) {
    const fields = [...element.querySelectorAll("[data-option]:not(.fs-mask)")];
    const [open, reset] = [element.querySelector(".fs-disclose"), element.querySelector("[data-reset]")];
    const body = element.querySelector("#fs-more-body");
    let turned = null; // what stands here: Gradio puts its own first value back once it has drawn the page
    const value = () => ({ ...props.defaults, ...(turned ?? props.value) });

    const read = (field) => (field.type === "checkbox" ? field.checked : field.type === "range" ? Number(field.value) : field.value);
    const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
    const differs = (name) => !same(value()[name], props.defaults[name]) || (name === "mask" && masks.painted());
    function words(name) {
      if (name === "mask") return masks.words();
      const field = fields.find((each) => each.dataset.option === name && (each.type !== "radio" || each.checked));
      const { label } = field.dataset;
      if (field.type === "range") return `${label} ${value()[name]}`;
      if (field.type === "checkbox") return value()[name] ? label : say("option_off", { label });
      if (field.tagName === "SELECT") return say("option_choice", { label, choice: field.selectedOptions[0]?.textContent ?? value()[name] });
      return say("option_choice", { label, choice: field.nextElementSibling.textContent });
    }
    function show() {
      const now = value();
      for (const field of fields) {
        const mine = now[field.dataset.option];
        if (field.type === "checkbox") field.checked = mine;
        else if (field.type === "radio") field.checked = mine === field.value;
        else if (field.tagName === "SELECT") field.value = mine;
        else {
          field.value = mine;
          field.style.setProperty("--share", `${mine}%`);
          field.parentElement.querySelector("output").value = mine;
        }
      }
      masks.show();
      said();
      const changed = Object.keys(props.defaults).filter(differs);
      element.querySelector(".fs-differs").textContent = changed.length ? changed.map(words).join(" · ") : say("options_standard");
      reset.hidden = !changed.length;
    }
    function set(next) {
      props.value = turned = { paint: value().paint ?? null, ...next }; // what was painted is no preset's
      try { sessionStorage.setItem(KEPT, JSON.stringify(turned)); } catch { /* full or closed */ }
      show();
    }

    function unfold(wide) {
      open.setAttribute("aria-expanded", String(wide));
      body.hidden = !wide;
    }
    open.addEventListener("click", () => {
      unfold(body.hidden);
      localStorage.setItem("fusion:open:options", body.hidden ? "no" : "yes");
    });
    unfold(localStorage.getItem("fusion:open:options") === "yes");
    element.addEventListener("input", (event) => {
      const field = event.target.closest("[data-option]");
      if (fields.includes(field)) set({ ...value(), [field.dataset.option]: read(field) });
    });
    reset.addEventListener("click", () => {
      open.focus(); // the button is about to go
      masks.clear();
      set({ ...props.defaults, paint: null });
      element.dispatchEvent(new Event("change", { bubbles: true })); // fuses again, as a field would
    });

    /* The mask's field stands below the target, in a fold that says what it is set to. */
    const field = element.querySelector(".fs-mask");
    const said = () => { const line = field.closest("details")?.querySelector(".fs-said"); if (line) line.textContent = differs("mask") ? masks.words(false) : ""; };
    function place() {
      const fold = document.querySelector("#mask-place details");
      if (!fold) return void requestAnimationFrame(place); // not there yet
      const group = field.closest("fieldset");
      fold.append(field);
      group.hidden = true;
      fold.open = localStorage.getItem("fusion:open:mask") === "yes";
      said();
    }

    const masks = mask(element, props, { value, set }, () => trigger("select"));
    document.addEventListener("fusion:box", show); // what was painted belongs to one target
    try { // a switch of language loads the page anew; what was turned stays
      const kept = JSON.parse(sessionStorage.getItem(KEPT)) || {};
      const known = Object.fromEntries(Object.entries(props.defaults).map(([name, mine]) => [name, typeof kept[name] === typeof mine ? kept[name] : mine]));
      props.value = turned = { ...known, mask: wholeMask(kept.mask, props.defaults.mask, props.mask) ?? props.defaults.mask, paint: kept.paint ?? null };
    } catch { /* not ours */ }
    watch("value", () => { if (turned && !same(props.value, turned)) props.value = turned; });
    show();
    place();
    window.fusionStudio.presets(element.querySelector(".fs-presets"), props, { value, set });
    Object.assign(window.fusionStudio, { turned: value, turnTo: set }); // for the face map and the history
  }

  Object.assign(window.fusionStudio, { options });
})();
