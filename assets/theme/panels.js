/* Results, errors and progress: HTML from studio/panels.py, in both languages. */
(() => {
  "use strict";

  const { say, spoken, make, keep, MEDIA, running, live, arrived, compared, noted } = window.fusionStudio;

  function panel(element, props, watch) {
    const { slot } = props;
    const passing = slot === "swap-progress";
    const empty = props.value;
    let turn = 0, looked = passing;
    async function render() {
      const mine = ++turn;
      const html = spoken(props.value) ?? "";
      const fresh = make("div", { class: `fs-panel fs-panel-${slot}` });
      fresh.innerHTML = html;
      for (const fold of fresh.querySelectorAll("details[data-keep]")) fold.open = localStorage.getItem(`fusion:open:${fold.dataset.keep}`) === "yes";
      const images = [...fresh.querySelectorAll("img")];
      if (images.length) await Promise.allSettled(images.map((image) => image.decode())); // nothing blinks
      if (mine !== turn) return;
      element.replaceChildren(fresh);
      if (slot === "verify-many") window.fusionStudio.verifying(Boolean(fresh.querySelector(".fs-progress")));
      if (passing) running(Boolean(html));
      else if (looked) keep.save(`panel-${slot}`, MEDIA.test(html) ? props.value : null);
      if (slot !== "swap-result") return;
      live(Boolean(props.value?.live));
      const show = (value) => { props.value = value; render(); };
      compared(fresh, props.value ?? {}, show);
      noted(props.value, show, empty);
      if (html) arrived(element);
    }
    watch("value", render);
    render();
    if (!passing) keep.load(`panel-${slot}`).then((kept) => { looked = true; if (kept && !MEDIA.test(spoken(props.value) ?? "")) { props.value = kept; render(); } });
  }

  document.addEventListener("toggle", (event) => {
    const name = event.target.dataset?.keep;
    if (name) localStorage.setItem(`fusion:open:${name}`, event.target.open ? "yes" : "no");
  }, true);

  async function download(link) {
    const label = link.textContent;
    link.setAttribute("aria-busy", "true");
    link.textContent = say("preparing");
    try {
      const answer = await fetch(link.href);
      if (!answer.ok) {
        const told = await answer.json().catch(() => ({}));
        throw new Error((told.error ? spoken(told.error) : [say("failed")]).join(" "));
      }
      const address = URL.createObjectURL(await answer.blob());
      make("a", { href: address, download: link.download }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
      link.closest(".fs-panel")?.querySelector(".fs-late")?.remove();
    } catch (fault) {
      const line = link.closest(".fs-line") || link.parentElement;
      line.parentElement.querySelector(".fs-late")?.remove();
      line.after(make("p", { class: "fs-late", role: "alert" }, fault.message));
    } finally {
      link.removeAttribute("aria-busy");
      link.textContent = label;
    }
  }

  async function copy(from) {
    const text = from.closest(".fs-matrix").querySelector("pre").textContent;
    try { await navigator.clipboard.writeText(text); } catch { getSelection().selectAllChildren(from.closest(".fs-matrix").querySelector("pre")); document.execCommand("copy"); }
    from.textContent = say("copied");
    setTimeout(() => { from.textContent = say("copy"); }, 1500);
  }

  /* The chart as it stands, on white, at twice its size: drawn by the browser, so that no font of the server's is needed. */
  async function chart(from) {
    const drawn = from.closest(".fs-panel").querySelector("svg.fs-bars").cloneNode(true);
    const [, , width, height] = drawn.getAttribute("viewBox").split(" ").map(Number);
    for (const [name, value] of Object.entries({ width, height, color: "#1a1d23" })) drawn.setAttribute(name, value);
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(drawn))}`;
    await image.decode();
    const canvas = make("canvas", { width: 2 * width, height: 2 * height });
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      const address = URL.createObjectURL(blob);
      make("a", { href: address, download: "tokens.png" }).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    }, "image/png");
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("[data-copy], [data-chart-png], a[data-download]");
    if (!target) return;
    if (target.matches("[data-copy]")) copy(target);
    else if (target.matches("[data-chart-png]")) chart(target);
    else { event.preventDefault(); if (!target.hasAttribute("aria-busy")) download(target); }
  });

  Object.assign(window.fusionStudio, { panel });
})();
