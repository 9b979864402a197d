/* Fuse: Ctrl+Enter, Stop, and fusing again by itself. */
(() => {
  "use strict";

  const { say, make } = window.fusionStudio;

  let isLive = false, again = false, asked = false, joining = false, stopping = false;
  const press = (id) => document.querySelector(`#${id}`)?.closest("button, div")?.click();

  /* `what`: the button that asked; what runs further stays what it is. */
  function running(now, what) {
    if (now) document.body.dataset.running = what ?? document.body.dataset.running ?? "";
    else delete document.body.dataset.running;
    const stop = document.querySelector("#stop");
    if (stop) stop.disabled = !now || stopping;
    if (now) return;
    joining = stopping = false;
    if (again) { again = false; press("fuse"); }
  }
  /* The queue has the job, and Gradio knows its name. */
  function accepted() {
    joining = false;
    if (!stopping) return;
    stopping = false;
    document.querySelector("#stop").disabled = false;
    press("stop");
  }
  /* Whether a changed slider fuses again by itself. */
  function live(fast) {
    isLive = fast;
    const fuse = document.querySelector("#fuse");
    if (fuse) fuse.dataset.live = fast ? say("live") : "";
  }
  let patience;
  function changed() {
    clearTimeout(patience);
    patience = setTimeout(() => {
      if (!isLive) return;
      if (document.body.hasAttribute("data-running")) again = true;
      else press("fuse");
    }, 150);
  }
  /* What was turned just now, not by a person, fuses nothing. */
  function hush() {
    clearTimeout(patience);
    again = false;
  }
  for (const kind of ["input", "change"]) document.addEventListener(kind, (event) => { if (event.target.closest?.("#strength, #enhance, #options, #label, .fs-mask")) changed(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && document.querySelector("#fuse")?.offsetParent) {
      event.preventDefault();
      press("fuse");
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[data-fuse]")) return void press("fuse"); // what a list of targets has left
    if (event.target.closest?.("#stop") && joining) { // Gradio can't cancel what has no name yet: it would run to its end
      event.stopPropagation();
      stopping = true;
      return running(true);
    }
    const models = event.target.closest?.("#models");
    if (!models && !event.target.closest?.("#fuse")) return;
    if (document.body.hasAttribute("data-running")) return void event.stopPropagation(); // Gradio would do it a second time, later
    const progress = document.querySelector(".fs-panel-swap-progress");
    progress?.replaceChildren(make("div", { class: "fs-progress", role: "status" }, make("span", { class: "fs-bar" }), make("span", {}, say("waiting"))));
    joining = true;
    running(true, models ? "models" : "fuse");
    asked = !models; // its cards come where the button is
  }, true); // before Gradio hears of it

  /* On a phone the result lies below the fold: what was asked for comes into view. */
  function arrived(element) {
    if (!asked) return;
    asked = false;
    if (element.getBoundingClientRect().top < innerHeight * .6) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    element.closest(".fs-area-result").scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  }

  Object.assign(window.fusionStudio, { running, accepted, live, arrived, changed, hush, press });
})();
