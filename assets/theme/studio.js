/* The page's own script. Loaded before Gradio's; no library, nothing from elsewhere.
   Server side: studio/widgets.py builds the elements, studio/pictures.py and studio/panels.py make their values. */
(() => {
  "use strict";

  const language = window.fusionLanguage || "en";
  const words = window.fusionTexts || {};
  const say = (key, facts = {}) => (words[key] || key).replace(/\{(\w+)\}/g, (_, name) => facts[name]);
  const spoken = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value[language] ?? value.en : value);
  const ACCEPT = "image/*,.jpg,.jpeg,.jfif,.png,.webp,.avif,.heic,.heif,.tif,.tiff,.bmp,.gif";
  const MEDIA = /\/media\/[\w-]+/;

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "class") node.className = value;
      else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  };
  const button = (label, act, kind = "") => make("button", { type: "button", class: `fs-button ${kind}`, onclick: act }, label);

  /* What a tab of the browser has on its page outlives a reload, and nothing but that: sessionStorage is the tab's own. */
  const keep = {
    save(name, value) {
      try { value ? sessionStorage.setItem(`fusion:${name}`, JSON.stringify(value)) : sessionStorage.removeItem(`fusion:${name}`); } catch { /* full or closed */ }
    },
    async load(name) {
      try {
        const value = JSON.parse(sessionStorage.getItem(`fusion:${name}`));
        const address = MEDIA.exec(JSON.stringify(value ?? ""))?.[0];
        if (address && (await fetch(address, { method: "HEAD" })).ok) return value;
      } catch { /* not ours */ }
      this.save(name, null);
      return null;
    },
  };

  /* ---------- a picture that somebody gives: drop, choose, paste, camera ---------- */

  const boxes = new Set();

  function picture(element, props, trigger, watch) {
    const { slot, title, hint, mode } = props; // mode: faces, layers or file
    const id = `fs-${slot}`;
    const input = make("input", { type: "file", class: "fs-file", id: `${id}-file`, accept: mode === "file" ? null : ACCEPT, tabindex: "-1", "aria-label": title });
    const photo = make("div", { class: "fs-photo" });
    const blank = make("div", { class: "fs-blank" });
    const busy = make("div", { class: "fs-busy", role: "status", hidden: true });
    const drop = make("div", { class: "fs-drop" }, blank, photo, busy);
    const faces = make("div", { class: "fs-faces" });
    const note = make("div", { class: "fs-note", "aria-live": "polite" });
    const tools = make("div", { class: "fs-tools" });
    const head = make("header", {}, make("h2", { id: `${id}-title` }, title), make("span", { class: "fs-hint" }, hint), tools);
    const root = make("section", { class: "fs-box", "data-slot": slot, "data-mode": mode, "aria-labelledby": `${id}-title` }, head, input, drop, faces, note);
    element.replaceChildren(root);

    let looked = false; // for what was kept; until then nothing is written over it
    let local = null; // object URL of what was just chosen, until the server's preview is there
    const value = () => props.value || {};
    const set = (next) => { props.value = next; render(); };

    const choose = () => input.click();
    const box = { element, drop, take, isEmpty: () => !value().token, visible: () => element.offsetParent !== null };
    boxes.add(box);
    const hasCamera = Boolean(navigator.mediaDevices?.getUserMedia) && mode !== "file";
    blank.append(
      make("p", { class: "fs-drop-words" }, say(mode === "file" ? "drop_file" : "drop")),
      make("div", { class: "fs-ways" }, button(say("choose"), choose, "fs-choose"), mode === "file" ? null : button(say("paste"), paste), hasCamera ? button(say("camera"), shoot) : null));

    input.addEventListener("change", () => { if (input.files[0]) take(input.files[0]); input.value = ""; });
    for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("fs-over"); });
    for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("fs-over"));
    drop.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]); });

    async function paste() {
      try {
        for (const item of await navigator.clipboard.read()) {
          const kind = item.types.find((type) => type.startsWith("image/"));
          if (kind) return take(new File([await item.getType(kind)], `clipboard.${kind.split("/")[1]}`, { type: kind }));
        }
      } catch { /* not allowed, or nothing there */ }
      tell([say("no_paste"), ""]);
    }

    async function shoot() {
      let stream;
      try { stream = await navigator.mediaDevices.getUserMedia({ video: { width: { ideal: 1280 }, height: { ideal: 960 } } }); } catch { return tell([say("no_camera"), ""]); }
      const video = make("video", { autoplay: true, playsinline: true, muted: true });
      video.srcObject = stream;
      const close = () => { stream.getTracks().forEach((track) => track.stop()); dialog.remove(); };
      const dialog = make("dialog", { class: "fs-dialog", "aria-label": say("camera"), onclose: close }, video, make("div", { class: "fs-line" },
        button(say("capture"), () => {
          const canvas = make("canvas");
          [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
          canvas.getContext("2d").drawImage(video, 0, 0);
          canvas.toBlob((blob) => { dialog.close(); if (blob) take(new File([blob], "camera.png", { type: "image/png" })); }, "image/png");
        }, "fs-primary"), button(say("cancel"), () => dialog.close())));
      document.body.append(dialog);
      dialog.showModal();
    }

    function take(file) {
      if (local) URL.revokeObjectURL(local);
      local = mode === "file" ? null : URL.createObjectURL(file);
      set({ token: "", name: file.name, faces: [], chosen: null, pending: true });
      wait(say("uploading", { percent: 0 }));
      const request = new XMLHttpRequest();
      request.open("POST", `/media?name=${encodeURIComponent(file.name)}`);
      request.upload.onprogress = (event) => wait(say("uploading", { percent: Math.floor((100 * event.loaded) / Math.max(1, event.total)) }));
      request.onerror = () => { wait(""); fail([say("upload_failed"), say("upload_hint")]); };
      request.onload = () => {
        let answer = {};
        try { answer = JSON.parse(request.responseText); } catch { /* a proxy's page */ }
        if (!answer.token) { wait(""); return fail(answer.error ? spoken(answer.error) : [say("upload_failed"), say("upload_hint")]); }
        set({ token: answer.token, name: file.name, faces: [], chosen: null, pending: true });
        wait(say(mode === "file" ? "verifying" : "reading"));
        trigger("upload");
      };
      request.send(file);
    }

    const fail = (lines) => set({ ...value(), pending: false, error: { [language]: lines, en: lines } });
    const tell = ([what, todo]) => note.replaceChildren(make("p", { class: "fs-what" }, what), make("p", { class: "fs-hint" }, todo));
    const wait = (sentence) => { busy.hidden = !sentence; busy.replaceChildren(make("span", { class: "fs-bar" }), make("span", {}, sentence)); };
    const pick = (index) => { if (value().chosen !== index) { set({ ...value(), chosen: index }); trigger("select"); } };
    const remove = () => { if (local) URL.revokeObjectURL(local); local = null; wait(""); set({ token: "", faces: [], chosen: null }); trigger("clear"); };

    function render() {
      const now = value();
      const filled = Boolean(now.token || now.pending || now.error);
      root.classList.toggle("fs-filled", filled);
      tools.replaceChildren(...(filled ? [button(say("replace"), choose, "fs-small"), button(say("remove"), remove, "fs-small")] : []));
      renderPhoto(now);
      renderFaces(now);
      note.replaceChildren();
      if (now.error) tell(spoken(now.error));
      else for (const line of spoken(now.notes) || []) note.append(make("p", { class: "fs-hint" }, line));
      if (now.pending) return;
      wait("");
      if (looked) keep.save(slot, now.token ? now : null);
    }

    function renderPhoto(now) {
      const address = now.preview || (now.pending || now.error ? local : null);
      photo.style.setProperty("--w", now.width || 1);
      photo.style.setProperty("--h", now.height || 1);
      photo.classList.toggle("fs-known", Boolean(now.width));
      let image = photo.querySelector("img");
      if (!address) { photo.replaceChildren(); if (filledName(now)) photo.append(make("p", { class: "fs-filename" }, now.name)); return; }
      if (!image) { image = make("img", { alt: "", draggable: "false" }); photo.replaceChildren(image); }
      image.alt = now.name || title;
      if (image.getAttribute("src") !== address) {
        image.onerror = () => { if (image.getAttribute("src") === local) image.hidden = true; }; // a format that this browser can't show
        image.onload = () => { image.hidden = false; };
        image.src = address;
      }
      photo.querySelector(".fs-overlay")?.remove();
      if (now.layers) photo.insertAdjacentHTML("beforeend", now.layers);
      else if (now.faces?.length > 1) photo.insertAdjacentHTML("beforeend", frames(now));
    }
    const frames = (now) => {
      const rects = now.faces.map(({ box: [x, y, w, h], index }) => `<rect class="${index === now.chosen ? "chosen" : "other"}" data-face="${Number(index)}" `
        + `x="${x * now.width}" y="${y * now.height}" width="${w * now.width}" height="${h * now.height}"/>`);
      return `<svg class="fs-overlay fs-frames" viewBox="0 0 ${Number(now.width)} ${Number(now.height)}" aria-hidden="true"><g class="ov-box">${rects.join("")}</g></svg>`;
    };
    const filledName = (now) => mode === "file" && now.name;

    function renderFaces(now) {
      if (mode === "file") return;
      const list = now.faces || [];
      const focused = faces.contains(document.activeElement);
      faces.replaceChildren();
      if (now.count) faces.append(make("p", { class: `fs-count${list.length ? "" : " fs-none"}` }, spoken(now.count)));
      if (!list.length) return;
      const group = make("div", { class: "fs-thumbs", role: "radiogroup", "aria-label": say("choose_face") });
      const across = Math.min(list.length, now.across), down = Math.ceil(list.length / now.across);
      list.forEach((face, number) => {
        const chosen = face.index === now.chosen;
        const thumb = make("span", { class: "fs-thumb", "aria-hidden": "true" });
        Object.assign(thumb.style, { backgroundImage: `url("${now.tiles}")`, backgroundSize: `${across * 100}% ${down * 100}%`,
          backgroundPosition: `${across > 1 ? ((number % now.across) / (across - 1)) * 100 : 0}% ${down > 1 ? (Math.floor(number / now.across) / (down - 1)) * 100 : 0}%` });
        group.append(make("button", { type: "button", class: "fs-pick", role: "radio", "aria-checked": String(chosen), tabindex: chosen ? "0" : "-1", "data-face": face.index,
          title: spoken(face.why), onclick: () => pick(face.index) },
          thumb, make("span", { class: "fs-caption" }, make("i", { class: `fs-dot fs-${face.colour}`, "aria-hidden": "true" }), make("span", {}, `${face.index} · ${spoken(face.caption)}`))));
      });
      group.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const at = list.findIndex((face) => face.index === now.chosen);
        pick(list[(at + step + list.length) % list.length].index);
      });
      faces.append(group);
      const checked = group.querySelector("[aria-checked=true]");
      if (focused) checked?.focus();
      if (checked) group.scrollLeft = Math.max(0, checked.offsetLeft - group.clientWidth / 2);
    }

    photo.addEventListener("click", (event) => {
      const face = event.target.closest("[data-face]");
      if (face) pick(Number(face.dataset.face));
    });
    watch("value", render);
    render();
    keep.load(slot).then((kept) => { looked = true; if (kept && !value().token && !value().pending) set(kept); });
  }

  document.addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files || [])].find((each) => each.type.startsWith("image/"));
    if (!file) return;
    const seen = [...boxes].filter((box) => box.visible());
    const wanted = seen.find((box) => box.element.contains(document.activeElement)) || seen.find((box) => box.element.matches(":hover")) || seen.find((box) => box.isEmpty()) || seen[0];
    if (wanted) { event.preventDefault(); wanted.take(file); }
  });
  for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault()); // a picture dropped beside a box doesn't replace the page

  /* ---------- results, errors, progress: HTML from the server in both languages ---------- */

  let divider = null; // where the visitor left the divider; until then it stands on the fused face

  function panel(element, props, watch) {
    const { slot } = props;
    const live = slot === "swap-progress";
    let turn = 0, looked = live;
    async function render() {
      const mine = ++turn;
      const html = spoken(props.value) ?? "";
      const fresh = make("div", { class: `fs-panel fs-panel-${slot}` });
      fresh.innerHTML = html;
      for (const fold of fresh.querySelectorAll("details[data-keep]")) fold.open = localStorage.getItem(`fusion:open:${fold.dataset.keep}`) === "yes";
      const images = [...fresh.querySelectorAll("img")];
      if (images.length) await Promise.allSettled(images.map((image) => image.decode())); // nothing blinks
      if (mine !== turn) return;
      const slide = fresh.querySelector(".fs-slide");
      if (slide) { slide.value = divider ?? slide.value; slide.parentElement.style.setProperty("--at", `${slide.value}%`); }
      element.replaceChildren(fresh);
      if (live) running(Boolean(html));
      else if (looked) keep.save(`panel-${slot}`, MEDIA.test(html) ? props.value : null);
      if (slot !== "swap-result") return;
      renew(Boolean(props.value?.live));
      if (asked && html) { asked = false; bring(element); }
    }
    watch("value", render);
    render();
    if (!live) keep.load(`panel-${slot}`).then((kept) => { looked = true; if (kept && !MEDIA.test(spoken(props.value) ?? "")) { props.value = kept; render(); } });
  }

  document.addEventListener("toggle", (event) => {
    const name = event.target.dataset?.keep;
    if (name) localStorage.setItem(`fusion:open:${name}`, event.target.open ? "yes" : "no");
  }, true);
  document.addEventListener("input", (event) => {
    if (event.target.matches?.(".fs-slide")) { divider = event.target.value; event.target.parentElement.style.setProperty("--at", `${divider}%`); }
  });

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

  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("[data-zoom], [data-copy], a[data-download]");
    if (!target) return;
    if (target.matches("[data-zoom]")) {
      const stage = target.closest(".fs-stage");
      stage.style.setProperty("--zoom", target.dataset.zoom);
      const scroll = stage.querySelector(".fs-scroll");
      const [x, y] = [(scroll.scrollLeft + scroll.clientWidth / 2) / scroll.scrollWidth, (scroll.scrollTop + scroll.clientHeight / 2) / scroll.scrollHeight];
      stage.querySelectorAll("[data-zoom]").forEach((each) => each.setAttribute("aria-pressed", String(each === target)));
      requestAnimationFrame(() => scroll.scrollTo(x * scroll.scrollWidth - scroll.clientWidth / 2, y * scroll.scrollHeight - scroll.clientHeight / 2));
    } else if (target.matches("[data-copy]")) copy(target);
    else { event.preventDefault(); if (!target.hasAttribute("aria-busy")) download(target); }
  });

  /* ---------- Fuse: Ctrl+Enter, Stop, fusing again by itself ---------- */

  let isLive = false, again = false, asked = false;
  const press = (id) => document.querySelector(`#${id}`)?.closest("button, div")?.click();

  function running(now) {
    document.body.toggleAttribute("data-running", now);
    const stop = document.querySelector("#stop");
    if (stop) stop.disabled = !now;
    if (!now && again) { again = false; press("fuse"); }
  }
  function renew(live) {
    isLive = live;
    const fuse = document.querySelector("#fuse");
    if (fuse) fuse.dataset.live = live ? say("live") : "";
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
  for (const kind of ["input", "change"]) document.addEventListener(kind, (event) => { if (event.target.closest?.("#strength, #enhance")) changed(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && document.querySelector("#fuse")?.offsetParent) {
      event.preventDefault();
      press("fuse");
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("#fuse")) return;
    const progress = document.querySelector(".fs-panel-swap-progress");
    progress?.replaceChildren(make("div", { class: "fs-progress", role: "status" }, make("span", { class: "fs-bar" }), make("span", {}, say("waiting"))));
    running(true);
    asked = true;
  });

  /* On a phone the result lies below the fold: what was asked for comes into view. */
  function bring(element) {
    if (element.getBoundingClientRect().top < innerHeight * .6) return;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    element.closest(".fs-area-result").scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  }

  /* Gradio tells a full queue and a lost connection in English only, in a corner: they stand where the result would. */
  const plain = window.fetch.bind(window);
  window.fetch = async (...given) => {
    const address = String(given[0]?.url ?? given[0]);
    const joins = address.includes("/queue/join");
    let lines = null;
    try {
      const answer = await plain(...given);
      if (joins && answer.status === 503) lines = [say("busy"), say("busy_hint")];
      return answer;
    } catch (fault) {
      if (joins) lines = [say("lost"), ""];
      throw fault;
    } finally {
      if (lines) {
        document.querySelector(".fs-panel-swap-progress")?.replaceChildren();
        running(false);
        const panels = [...document.querySelectorAll(".fs-panel-swap-result, .fs-panel-align-face, .fs-panel-verify-result")];
        panels.find((each) => each.offsetParent)?.replaceChildren(make("div", { class: "fs-stage fs-notice fs-error", role: "alert" }, make("p", { class: "fs-what" }, lines[0]), make("p", { class: "fs-hint" }, lines[1])));
      }
    }
  };

  /* ---------- examples, overlays ---------- */

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

  window.fusionStudio = { picture, panel, examples, layers, header, tab, labels, live: renew };
})();
