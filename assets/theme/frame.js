/* The frame: examples, layers, header, light and dark, the tab in the address, names for Gradio's own fields. */
(() => {
  "use strict";

  const { say, spoken, make, language } = window.fusionStudio;

  function examples(element, props, trigger) {
    element.addEventListener("click", (event) => {
      const chosen = event.target.closest("[data-example]");
      if (chosen) { props.value = { ...props.value, example: chosen.dataset.example, turn: Date.now() }; trigger("select"); }
    });
  }

  function layers(element) {
    const apply = () => element.querySelectorAll("input").forEach((box) => {
      document.documentElement.toggleAttribute(`data-hide-${box.value}`, !box.checked);
      localStorage.setItem(`fusion:layer:${box.value}`, box.checked ? "yes" : "no");
    });
    element.querySelectorAll("input").forEach((box) => { const kept = localStorage.getItem(`fusion:layer:${box.value}`); if (kept) box.checked = kept === "yes"; });
    element.addEventListener("change", apply);
    apply();
  }

  /* ---------- header: status, language, light and dark; the tab in the address ---------- */

  function header(element) {
    const chip = element.querySelector(".fs-chip");
    chip.addEventListener("click", async () => {
      const dialog = make("dialog", { class: "fs-dialog fs-doctor", "aria-labelledby": "fs-doctor-title" });
      dialog.addEventListener("close", () => dialog.remove());
      dialog.addEventListener("click", (event) => { if (event.target === dialog || event.target.closest("[data-close]")) dialog.close(); });
      document.body.append(dialog);
      dialog.append(make("p", { role: "status" }, say("working")));
      dialog.showModal();
      try { dialog.innerHTML = await (await fetch("/page/doctor")).text(); } catch { dialog.replaceChildren(make("p", {}, say("lost"))); }
    });
    const ask = async () => {
      let state = {};
      try { state = await (await fetch("/page/status")).json(); } catch { /* asked again below */ }
      if (state.chip) { chip.querySelector("span").textContent = spoken(state.chip); chip.dataset.state = state.state; }
      if (!state.chip || state.state === "waiting") setTimeout(ask, 700);
    };
    ask();
    for (const each of element.querySelectorAll("[data-language]")) {
      each.setAttribute("aria-pressed", String(each.dataset.language === language));
      each.addEventListener("click", () => { document.cookie = `fusion_language=${each.dataset.language}; path=/; max-age=31536000; samesite=lax`; location.reload(); });
    }
    element.querySelector(".fs-theme").addEventListener("click", () => {
      localStorage.setItem("fusion:theme", document.body.classList.contains("dark") ? "light" : "dark");
      shade();
    });
    shade();
  }

  const system = matchMedia("(prefers-color-scheme: dark)");
  const wanted = () => { try { return localStorage.getItem("fusion:theme"); } catch { return null; } };
  const isDark = () => (wanted() ? wanted() === "dark" : system.matches);
  function shade() {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    document.body?.classList.toggle("dark", isDark());
    const toggle = document.querySelector(".fs-theme");
    if (toggle) { const dark = isDark(); toggle.querySelector("span").textContent = say(dark ? "light" : "dark"); toggle.setAttribute("aria-pressed", String(isDark())); }
  }
  system.addEventListener("change", shade);
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  document.addEventListener("DOMContentLoaded", () => {
    shade();
    // Gradio sets the class from the system's wish when it starts; the visitor's own choice stands above it.
    new MutationObserver(() => { if (document.body.classList.contains("dark") !== isDark()) shade(); }).observe(document.body, { attributeFilter: ["class"] });
  });

  function tab(name) {
    const address = new URL(location.href);
    if (name === "swap") address.searchParams.delete("tab");
    else address.searchParams.set("tab", name);
    history.replaceState(history.state, "", address);
  }

  /* Gradio names a slider's two fields in English; its own translations follow the browser, so that is told the visitor's choice. */
  try { Object.defineProperty(navigator, "language", { get: () => language }); Object.defineProperty(navigator, "languages", { get: () => [language] }); } catch { /* then the browser's */ }
  function labels(element) {
    const block = document.querySelector("#strength");
    if (!block) return requestAnimationFrame(() => labels(element));
    const label = block.querySelector("[data-testid=block-info]")?.textContent.trim() || "";
    const name = (find, words) => block.querySelector(find)?.setAttribute("aria-label", words);
    name("input[type=range]", say("slider", { label }));
    name("input[type=number]", say("number", { label }));
    name("button", say("reset", { label }));
    document.querySelectorAll("#tabs .overflow-menu > button").forEach((each) => each.setAttribute("aria-label", say("more_tabs")));
  }

  Object.assign(window.fusionStudio, { examples, layers, header, tab, labels });
})();
