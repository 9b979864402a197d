/* Settings with a name: those that come along, and a person's own, which stay in this browser or go into a file (engines/presets.py). */
(() => {
  "use strict";

  const { say, make, button, wholeMask } = window.fusionStudio;

  const KEPT = "fusion:presets", FORMAT = "fusion-studio-preset", VERSION = 1, MOST = 100, LONGEST = 80;
  const FRAME = ["strength", "enhance"]; // beside the panel, Gradio's own

  const strength = () => document.querySelector("#strength input[type=number]");
  const enhance = () => document.querySelector("#enhance input:checked")?.value ?? "none";
  function turn({ strength: wanted, enhance: way }) {
    const field = strength();
    if (field && Number(field.value) !== wanted) {
      field.value = wanted;
      for (const kind of ["input", "change", "blur"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
    }
    const radio = document.querySelector(`#enhance input[value="${CSS.escape(way)}"]`);
    if (radio && !radio.checked) radio.click();
  }

  /** `place`: where it stands. `props`: defaults of the panel, shares (names counted in percent here), presets that come along.
      `panel`: value() and set(value) of the panel. */
  function presets(place, props, panel) {
    const standard = { ...props.defaults, strength: 100, enhance: "none" };
    const mine = () => { try { return JSON.parse(localStorage.getItem(KEPT)) || []; } catch { return []; } };
    const keep = (list) => { try { localStorage.setItem(KEPT, JSON.stringify(list)); } catch { /* full or closed */ } };
    const now = () => ({ ...panel.value(), strength: Number(strength()?.value ?? 100), enhance: enhance() });
    const differing = (value) => Object.fromEntries(Object.keys(standard).filter((name) => JSON.stringify(value[name]) !== JSON.stringify(standard[name])).map((name) => [name, value[name]]));

    const choice = make("select", { class: "fs-preset", "aria-label": say("preset") });
    const name = make("input", { type: "text", class: "fs-name", maxlength: LONGEST, placeholder: say("preset_name"), "aria-label": say("preset_name") });
    const said = make("span", { class: "fs-hint", role: "status" });
    const input = make("input", { type: "file", class: "fs-file", accept: ".json,application/json", tabindex: "-1", "aria-label": say("preset_take") });
    const save = button(say("preset_save"), store, "fs-small fs-preset-save");
    const drop = button(say("preset_delete"), forget, "fs-small fs-preset-delete");
    const out = button(say("preset_export"), give, "fs-small fs-preset-export");
    place.replaceChildren(make("label", {}, say("preset"), choice), make("div", { class: "fs-ways" }, name, save, drop, out, button(say("preset_take"), () => input.click(), "fs-small fs-preset-take"), input), said);

    const all = () => [...props.presets.map((one, number) => [`built:${number}`, one]), ...mine().map((one, number) => [`own:${number}`, one])];
    const chosen = () => all().find(([key]) => key === choice.value)?.[1];
    function list(wanted) {
      choice.replaceChildren(...all().map(([key, { name: called }]) => make("option", { value: key }, called)));
      choice.value = wanted ?? "built:0";
      drop.hidden = !choice.value.startsWith("own:");
    }
    function apply() {
      const value = { ...standard, ...chosen().options };
      turn(value);
      panel.set(Object.fromEntries(Object.keys(props.defaults).map((each) => [each, value[each]])));
      drop.hidden = !choice.value.startsWith("own:");
      said.textContent = "";
      place.dispatchEvent(new Event("change", { bubbles: true })); // fuses again, as a field would
    }
    function add(preset) {
      const own = mine().filter((one) => one.name !== preset.name).slice(-MOST + 1);
      keep([...own, preset]);
      list(`own:${own.length}`);
    }
    function store() {
      const called = name.value.trim();
      if (!called) return void name.focus();
      add({ name: called, options: differing(now()) });
      name.value = "";
      said.textContent = say("preset_kept", { name: called });
    }
    function forget() {
      keep(mine().filter((_, number) => `own:${number}` !== choice.value));
      list();
      choice.focus();
    }
    const scaled = (options, factor) => Object.fromEntries(Object.entries(options).map(([key, value]) => [key, props.shares.includes(key) ? Math.round(value * factor * 1e4) / 1e4 : props.numbers.includes(key) ? (factor < 1 ? Number(value) : String(value)) : value]));
    function give() {
      const called = name.value.trim() || chosen()?.name || say("preset");
      const text = JSON.stringify({ format: FORMAT, version: VERSION, name: called, options: scaled(differing(now()), .01) }, null, 1);
      const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
      make("a", { href: address, download: `${called.replace(/[^\p{L}\p{N} ._-]/gu, "_")}.json` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 1e4);
    }
    const fits = (key, value) => (props.shares.includes(key) ? typeof value === "number" && value >= 0 && value <= 1
      : props.numbers.includes(key) ? Number.isInteger(value) : key === "mask" ? Boolean(wholeMask(value, standard.mask, props.mask)?.areas.length) : key in standard && typeof value === typeof standard[key]);
    input.addEventListener("change", async () => {
      const [file] = input.files;
      input.value = "";
      if (!file) return;
      let value = null;
      try { value = file.size < 65536 ? JSON.parse(await file.text()) : null; } catch { /* no JSON */ }
      const { format, version, name: called, options } = value ?? {};
      const sound = format === FORMAT && Number.isInteger(version) && version <= VERSION && typeof called === "string" && called.trim()
        && options && typeof options === "object" && Object.entries(options).every(([key, one]) => (FRAME.includes(key) || key in standard) && fits(key, one));
      if (!sound) return void (said.textContent = say("preset_bad", { name: file.name }));
      const taken = options.mask ? { ...options, mask: wholeMask(options.mask, standard.mask, props.mask) } : options;
      add({ name: called.trim().slice(0, LONGEST), options: scaled(taken, 100) });
      apply();
    });
    choice.addEventListener("change", (event) => { event.stopPropagation(); apply(); });
    name.addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) store(); });
    list();
  }

  Object.assign(window.fusionStudio, { presets, turnFrame: turn }); // for the history
})();
