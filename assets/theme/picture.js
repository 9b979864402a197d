/* A picture that somebody gives: drop, choose, paste, camera. Its values come from studio/pictures.py. */
(() => {
  "use strict";

  const { say, spoken, make, button, keep, language, handles, middle, changed, upload, camera, person, isPersona, targets } = window.fusionStudio;

  const ACCEPT = "image/*,.jpg,.jpeg,.jfif,.png,.webp,.avif,.heic,.heif,.tif,.tiff,.bmp,.gif";
  const boxes = new Set();

  function picture(element, props, trigger, watch) {
    const { slot, title, hint, mode, template, people, many } = props; // as studio/widgets.py, picture_box, has them
    const id = `fs-${slot}`;
    const input = make("input", { type: "file", class: "fs-file", id: `${id}-file`, accept: mode === "file" ? null : people ? `${ACCEPT},.persona` : ACCEPT, multiple: people || Boolean(many), tabindex: "-1", "aria-label": title });
    const photo = make("div", { class: "fs-photo" });
    const blank = make("div", { class: "fs-blank" });
    const busy = make("div", { class: "fs-busy", role: "status", hidden: true });
    const drop = make("div", { class: "fs-drop" }, blank, photo, busy);
    const faces = make("div", { class: "fs-faces" });
    const note = make("div", { class: "fs-note", "aria-live": "polite" });
    const where = make("p", { class: "fs-hint fs-where", role: "status" });
    const hand = handles(photo, { moved: (points) => setHand(points.map((point) => point.map((each) => Math.round(each * 100) / 100))), told: (words) => { where.textContent = words; }, left: () => edit(false) });
    const verdict = make("span", { class: "fs-caption" });
    const caption = ({ faces: all, chosen, hand_error: wrong }) => {
      const face = all?.find((each) => each.index === chosen);
      if (wrong || !face) return [make("i", { class: "fs-dot fs-bad", "aria-hidden": "true" }), make("span", {}, wrong ? spoken(wrong)[0] : say("no_verdict"))];
      return [make("i", { class: `fs-dot fs-${face.colour}`, "aria-hidden": "true" }), make("span", { title: spoken(face.why) }, spoken(face.caption))];
    };
    let unfolded = false; // the list of what was refused
    let editing = false, edited = ""; // the picture whose points are moved
    const tools = make("div", { class: "fs-tools" });
    const head = make("header", {}, make("h2", { id: `${id}-title` }, title), make("span", { class: "fs-hint" }, hint), tools);
    const root = make("section", { class: "fs-box", "data-slot": slot, "data-mode": mode, "aria-labelledby": `${id}-title` }, head, input, drop, faces, note);
    element.replaceChildren(root);

    let looked = false; // for what was kept; until then nothing is written over it
    let local = null; // object URL of what was just chosen, until the server's preview is there
    const value = () => props.value || {};
    /* Questions are numbered: an answer that was overtaken by what happened here since is dropped. */
    let ask = 0, latest = null;
    const set = (next) => { props.value = latest = next; render(); };
    const send = (event) => { props.value = latest = { ...value(), ask: ++ask }; trigger(event); };
    function heard() {
      const now = value();
      if (Number.isInteger(now.ask) && now.ask !== ask && latest) props.value = latest;
      else latest = now;
      render();
    }

    const choose = () => input.click();
    const wait = (sentence) => { busy.hidden = !sentence; busy.replaceChildren(make("span", { class: "fs-bar" }), make("span", {}, sentence)); };
    let adding = false; // the next files are more photos of the same person
    const crowd = people ? person({ value, set, send, wait, choose: more }) : many ? targets({ value, set, wait, choose: more }, many) : null;
    function more() { adding = true; choose(); }
    function takeAll(files) {
      const together = crowd && files.length && !files.some(isPersona) && (files.length > 1 || adding || value().gathered);
      const first = adding;
      adding = false;
      if (together) { turn += 1; ask += 1; stopEditing(); crowd.add(files, first); } else if (files.length) take(files.find(isPersona) || files[0]);
    }
    /* A value that was here before, with nothing asked of the studio. */
    function restore(was) {
      turn += 1;
      crowd?.over();
      stopEditing();
      wait("");
      set({ ...was, ask: ++ask });
    }
    const box = { slot, value, restore, element, drop, take: (file) => takeAll([file]), isEmpty: () => !value().token && !value().gathered, visible: () => element.offsetParent !== null };
    boxes.add(box);
    const hasCamera = Boolean(navigator.mediaDevices?.getUserMedia) && mode !== "file";
    blank.append(
      make("p", { class: "fs-drop-words" }, say(mode === "file" ? "drop_file" : "drop")),
      make("div", { class: "fs-ways" }, button(say("choose"), choose, "fs-choose"), mode === "file" ? null : button(say("paste"), paste), hasCamera ? button(say("camera"), shoot) : null),
      crowd ? make("p", { class: "fs-hint" }, say(people ? "drop_people" : "drop_many")) : "");

    input.addEventListener("change", () => { takeAll([...input.files]); input.value = ""; });
    input.addEventListener("cancel", () => { adding = false; });
    for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("fs-over"); });
    for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("fs-over"));
    drop.addEventListener("drop", (event) => { event.preventDefault(); takeAll([...event.dataTransfer.files]); });

    async function paste() {
      try {
        for (const item of await navigator.clipboard.read()) {
          const kind = item.types.find((type) => type.startsWith("image/"));
          if (kind) return takeAll([new File([await item.getType(kind)], `clipboard.${kind.split("/")[1]}`, { type: kind })]);
        }
      } catch { /* not allowed, or nothing there */ }
      tell([say("no_paste"), ""]);
    }

    async function shoot() {
      try { await camera((file) => takeAll([file])); } catch { tell([say("no_camera"), ""]); }
    }

    /* The five points by hand: those of the chosen face to begin with, or a face in the middle of the picture. */
    const found = () => value().faces?.find((face) => face.index === value().chosen)?.points;
    let patience;
    function setHand(points) {
      set({ ...value(), hand: points, hand_error: null, ask: ++ask });
      changed();
      clearTimeout(patience);
      patience = setTimeout(() => send(mode === "layers" ? "select" : "release"), 250);
    }
    function edit(on) {
      editing = on;
      const now = value();
      edited = now.token;
      if (on) {
        if (!now.hand && !found()) setHand(middle(template, now.width, now.height));
        hand.show([now.width, now.height], value().hand || found(), Boolean(found() || now.hand));
      } else hand.hide();
      render();
      if (on) hand.focus();
      else tools.querySelector(".fs-hand-toggle")?.focus();
    }
    function reset() {
      const to = found() || middle(template, value().width, value().height);
      setHand(found() ? null : to);
      hand.put(to);
      hand.focus();
    }
    const stopEditing = () => { editing = false; clearTimeout(patience); hand.hide(); };

    let turn = 0; // of what is given: an upload that was overtaken says nothing
    async function take(file) {
      const mine = ++turn;
      ask += 1;
      crowd?.over();
      stopEditing();
      if (local) URL.revokeObjectURL(local);
      local = mode === "file" || isPersona(file) ? null : URL.createObjectURL(file);
      set({ token: "", name: file.name, faces: [], chosen: null, pending: true });
      const told = (percent) => { if (mine === turn) wait(say("uploading", { percent })); };
      told(0);
      try {
        const token = await upload(file, told);
        if (mine !== turn) return;
        set({ token, name: file.name, faces: [], chosen: null, pending: true });
        wait(say(mode === "file" ? "verifying" : "reading"));
        send("upload");
      } catch (lines) {
        if (mine === turn) { wait(""); fail(lines); }
      }
    }

    const fail = (lines) => set({ ...value(), pending: false, error: { [language]: lines, en: lines } });
    const tell = ([what, todo]) => note.replaceChildren(make("p", { class: "fs-what" }, what), make("p", { class: "fs-hint" }, todo));
    const pick = (index) => { if (value().chosen !== index || value().hand) { set({ ...value(), chosen: index, hand: null, hand_error: null, ask: ++ask }); send("select"); } };
    const remove = () => { turn += 1; ask += 1; crowd?.over(); stopEditing(); if (local) URL.revokeObjectURL(local); local = null; wait(""); set({ token: "", faces: [], chosen: null }); send("clear"); };

    function render() {
      const now = value();
      const filled = Boolean(now.token || now.pending || now.error || now.gathered);
      root.classList.toggle("fs-filled", filled);
      const settable = Boolean(template && now.width && !now.pending && !now.error && (now.hand || found()));
      if (editing && (!settable || edited !== now.token)) stopEditing();
      const toggle = settable ? button(say("points"), () => edit(!editing), "fs-small fs-hand-toggle") : null;
      toggle?.setAttribute("aria-pressed", String(editing));
      const focused = tools.contains(document.activeElement) && document.activeElement.className;
      tools.replaceChildren(...(filled ? [toggle, now.gathered ? null : button(say("replace"), choose, "fs-small"), button(say("remove"), remove, "fs-small fs-remove")].filter(Boolean) : []));
      if (focused) [...tools.children].find((each) => each.className === focused)?.focus();
      renderPhoto(now);
      renderFaces(now);
      note.replaceChildren();
      if (now.error || now.hand_error) tell(spoken(now.error || now.hand_error));
      else for (const line of spoken(now.notes) || []) note.append(make("p", { class: "fs-hint" }, line));
      if (now.pending) return;
      wait("");
      if (looked) keep.save(slot, now.token || now.gathered ? now : null);
      document.dispatchEvent(new Event("fusion:box")); // the face map follows both pictures
    }

    function renderPhoto(now) {
      const address = now.preview || (now.pending || now.error ? local : null);
      photo.style.setProperty("--w", now.width || 1);
      photo.style.setProperty("--h", now.height || 1);
      photo.classList.toggle("fs-known", Boolean(now.width));
      if (now.gathered || now.persona) return photo.replaceChildren(crowd.shown(now));
      let image = photo.querySelector(":scope > img");
      if (!image) photo.replaceChildren();
      if (!address) { photo.replaceChildren(); if (filledName(now)) photo.append(make("p", { class: "fs-filename" }, now.name)); return; }
      if (!image) { image = make("img", { alt: "", draggable: "false" }); photo.replaceChildren(image); }
      image.alt = now.name || title;
      if (image.getAttribute("src") !== address) {
        image.onerror = () => { if (image.getAttribute("src") === local) image.hidden = true; }; // a format that this browser can't show
        image.onload = () => { image.hidden = false; };
        image.src = address;
      }
      photo.querySelector(".fs-overlay")?.remove();
      if (editing && !now.layers) return;
      if (now.layers) photo.insertAdjacentHTML("beforeend", now.layers);
      else if (now.faces?.length > 1 || now.hand) photo.insertAdjacentHTML("beforeend", frames(now));
    }
    const frames = (now) => {
      const rects = now.faces.map(({ box: [x, y, w, h], index }) => `<rect class="${index === now.chosen ? "chosen" : "other"}" data-face="${Number(index)}" `
        + `x="${x * now.width}" y="${y * now.height}" width="${w * now.width}" height="${h * now.height}"/>`);
      const size = .007 * Math.max(now.width, now.height);
      const dots = (now.hand || []).map(([x, y]) => `<circle cx="${Number(x) + .5}" cy="${Number(y) + .5}" r="${size}"/>`);
      return `<svg class="fs-overlay fs-frames" viewBox="0 0 ${Number(now.width)} ${Number(now.height)}" aria-hidden="true"><g class="ov-box">${rects.join("")}</g><g class="ov-points">${dots.join("")}</g></svg>`;
    };
    const filledName = (now) => (mode === "file" || now.error) && now.name; // what the browser has no picture of

    function renderFaces(now) {
      if (mode === "file") return;
      if (now.gathered || now.persona) {
        const below = crowd.below(now);
        const typed = faces.contains(document.activeElement) ? document.activeElement : null;
        faces.replaceChildren(below);
        return void typed?.focus();
      }
      const list = now.faces || [];
      if (editing) {
        if (faces.querySelector(".fs-hand")) {
          faces.querySelector(".fs-hand-reset").disabled = !now.hand;
          return verdict.replaceChildren(...caption(now));
        }
        verdict.replaceChildren(...caption(now));
        const zoom = button(say("closer"), () => { hand.zoom(!hand.near); zoom.setAttribute("aria-pressed", String(hand.near)); }, "fs-small");
        zoom.setAttribute("aria-pressed", String(hand.near));
        const back = button(say("points_reset"), reset, "fs-small fs-hand-reset");
        back.disabled = !now.hand;
        faces.replaceChildren(make("div", { class: "fs-hand" }, make("p", { class: "fs-hint" }, say("points_hint")), make("div", { class: "fs-line" }, where, verdict),
          make("div", { class: "fs-ways" }, zoom, back, button(say("done"), () => edit(false), "fs-small"))));
        return;
      }
      const focused = faces.contains(document.activeElement);
      faces.replaceChildren();
      if (now.count) {
        const said = [list.length || !now.hand ? spoken(now.count) : "", now.hand ? say("by_hand") : ""].filter(Boolean).join(" · ");
        const words = make("p", { class: `fs-count${list.length || now.hand ? "" : " fs-none"}` }, said);
        faces.append(crowd && list.length ? make("div", { class: "fs-line" }, words, button(crowd.more, more, "fs-small")) : words);
      }
      if (now.refused) {
        const [told, ...rows] = spoken(now.refused);
        faces.append(make("details", { class: "fs-refused", open: unfolded, ontoggle: (event) => { unfolded = event.target.open; } },
          make("summary", {}, told), make("ul", {}, ...rows.map((row) => make("li", {}, row)))));
      }
      if (!list.length) {
        if (template && now.count && !now.hand) faces.append(button(say("set_points"), () => edit(true), "fs-small fs-set-points"));
        return;
      }
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
    watch("value", heard);
    render();
    keep.load(slot).then((kept) => { looked = true; if (kept && !value().token && !value().pending && !value().gathered) set({ ...kept, ask: ++ask }); });
  }

  document.addEventListener("paste", (event) => {
    const file = [...(event.clipboardData?.files || [])].find((each) => each.type.startsWith("image/"));
    if (!file) return;
    const seen = [...boxes].filter((box) => box.visible());
    const wanted = seen.find((box) => box.element.contains(document.activeElement)) || seen.find((box) => box.element.matches(":hover")) || seen.find((box) => box.isEmpty()) || seen[0];
    if (wanted) { event.preventDefault(); wanted.take(file); }
  });
  for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault()); // a picture dropped beside a box doesn't replace the page

  Object.assign(window.fusionStudio, { picture, box: (slot) => [...boxes].find((each) => each.slot === slot) });
})();
