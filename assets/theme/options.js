/* The panel of what else may be turned (studio/widgets.py, options_panel): its fold, its summary, its way back. */
(() => {
  "use strict";

  const { say } = window.fusionStudio;
  const KEPT = "fusion:options";

  function options(element, props) {
    const fields = [...element.querySelectorAll("[data-option]")];
    const [open, reset] = [element.querySelector(".fs-disclose"), element.querySelector("[data-reset]")];
    const body = element.querySelector("#fs-more-body");
    const value = () => ({ ...props.defaults, ...props.value });

    const read = (field) => (field.type === "checkbox" ? field.checked : field.type === "range" ? Number(field.value) : field.value);
    const differs = (name) => value()[name] !== props.defaults[name];
    function words(name) {
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
      const changed = Object.keys(props.defaults).filter(differs);
      element.querySelector(".fs-differs").textContent = changed.length ? changed.map(words).join(" · ") : say("options_standard");
      reset.hidden = !changed.length;
    }
    function set(next) {
      props.value = next;
      try { sessionStorage.setItem(KEPT, JSON.stringify(next)); } catch { /* full or closed */ }
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
      if (field) set({ ...value(), [field.dataset.option]: read(field) });
    });
    reset.addEventListener("click", () => {
      open.focus(); // the button is about to go
      set({ ...props.defaults });
      element.dispatchEvent(new Event("change", { bubbles: true })); // fuses again, as a field would
    });

    try { // a switch of language loads the page anew; what was turned stays
      const kept = JSON.parse(sessionStorage.getItem(KEPT)) || {};
      props.value = Object.fromEntries(Object.entries(props.defaults).map(([name, mine]) => [name, typeof kept[name] === typeof mine ? kept[name] : mine]));
    } catch { /* not ours */ }
    show();
    window.fusionStudio.presets(element.querySelector(".fs-presets"), props, { value, set });
    window.fusionStudio.turned = value; // for the face map
  }

  Object.assign(window.fusionStudio, { options });
})();
