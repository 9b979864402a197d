/* The Prompt tab's answer: HTML from studio/prompt_panels.py, in both languages; a click on a word puts it back, or takes it out again. */
(() => {
  "use strict";

  const { spoken, make } = window.fusionStudio;

  function prompt(element, props, trigger, watch) {
    function render() {
      const focused = element.contains(document.activeElement) ? document.activeElement.dataset.span : null;
      const fresh = make("div", { class: "fs-panel" });
      fresh.innerHTML = spoken(props.value) ?? "";
      for (const fold of fresh.querySelectorAll("details[data-keep]")) fold.open = localStorage.getItem(`fusion:open:${fold.dataset.keep}`) === "yes";
      element.replaceChildren(fresh);
      if (focused) element.querySelector(`[data-span="${focused}"]`)?.focus(); // what was pressed is another element now
    }
    element.addEventListener("click", (event) => {
      const word = event.target.closest("[data-span]");
      if (!word) return;
      const span = word.dataset.span.split("-").map(Number), kept = props.value.kept || [];
      const same = ([start, end]) => start === span[0] && end === span[1];
      props.value = { ...props.value, kept: kept.some(same) ? kept.filter((each) => !same(each)) : [...kept, span] };
      trigger("submit");
    });
    watch("value", render);
    render();
  }

  Object.assign(window.fusionStudio, { prompt });
})();
