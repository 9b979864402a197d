/* The face map: which source each face of the target gets, with the settings of the moment. Its value is read by studio/face_maps.py. */
(() => {
  "use strict";

  const { say, spoken, make, button, box, changed, upload, language } = window.fusionStudio;

  function faceMap(element, props, trigger, watch) {
    const list = make("ol", { class: "fs-mapped" });
    const words = make("p", { class: "fs-hint" });
    const give = button("", () => put([box("target").value().chosen]), "fs-small fs-give");
    const all = button(say("map_all"), () => put(usable().map(({ index }) => index)), "fs-small fs-give-all");
    const each = make("div", { class: "fs-ways fs-each" }, make("span", { class: "fs-hint" }, say("map_each")),
      button(say("map_left_right"), () => deal((a, b) => a.index - b.index), "fs-small"), button(say("map_large_small"), () => deal((a, b) => b.size - a.size || a.index - b.index), "fs-small"));
    const like = likeness();
    const root = make("section", { class: "fs-map", "aria-label": say("map") }, list, words, make("div", { class: "fs-ways" }, give, all, like.choose), each, like.shown);
    element.replaceChildren(root);

    const entries = () => props.value?.entries || [];
    const usable = () => (box("target").value().faces || []).filter(({ usable: fit }) => fit);
    const set = (next) => { props.value = { ...props.value, entries: next }; render(); changed(); };

    /* The settings as they stand: each face keeps those that it was given its source with. */
    const settings = () => ({
      strength: Number(document.querySelector("#strength input[type=number], #strength input[type=range]").value),
      enhance: document.querySelector("#enhance input:checked")?.value ?? "none",
      options: document.querySelector("#options .fs-more") ? window.fusionStudio.turned() : {},
    });
    const tile = (value, index) => {
      const number = (value.faces || []).findIndex((face) => face.index === index);
      if (number < 0 || !value.tiles) return null;
      const across = Math.min(value.faces.length, value.across), down = Math.ceil(value.faces.length / value.across);
      const part = (at, of) => (of > 1 ? (at / (of - 1)) * 100 : 0);
      return { image: value.tiles, size: `${across * 100}% ${down * 100}%`, position: `${part(number % value.across, across)}% ${part(Math.floor(number / value.across), down)}%` };
    };
    const thumb = (at, letter) => {
      const node = make("span", { class: "fs-thumb", "aria-hidden": "true" }, at ? "" : letter);
      if (at) Object.assign(node.style, { backgroundImage: `url("${at.image}")`, backgroundSize: at.size, backgroundPosition: at.position });
      return node;
    };

    /* The source as it stands: one picture, a persona, or several photos of one person. */
    const whole = () => {
      const { token, gathered = [], name, person, persona, chosen, hand = null } = box("source").value();
      return { token, gathered: gathered.map((photo) => ({ token: photo.token })), name: persona?.name || name || person || "", chosen, hand, tile: tile(box("source").value(), chosen) };
    };
    const alone = ({ token, name, tile: image }) => ({ token, gathered: [], name, chosen: null, hand: null, tile: image ? { image, size: "100% 100%", position: "0 0" } : null });

    function put(indices, sourceOf = whole) {
      const target = box("target").value();
      const fresh = indices.map((face, number) => ({ face, target: target.token, tile: tile(target, face), source: sourceOf(number), ...settings() }));
      const kept = entries().filter(({ face }) => !indices.includes(face));
      set([...kept, ...fresh].sort((a, b) => a.face - b.face));
      list.querySelector(`[data-face="${indices[0]}"] button`)?.focus();
    }
    /* Gathered photos are of one person; here each is somebody, and gets a face of its own. */
    function deal(by) {
      const photos = box("source").value().gathered, faces = [...usable()].sort(by);
      if (photos.length > faces.length) words.textContent = say("map_photos", { photos: photos.length, faces: faces.length });
      else put(faces.slice(0, photos.length).map(({ index }) => index), (number) => alone(photos[number]));
    }

    /* Faces like that of a reference picture: the studio tells how far each is from it, the slider how near is near enough. */
    function likeness() {
      const input = make("input", { type: "file", class: "fs-file", accept: "image/*", tabindex: "-1", "aria-label": say("map_reference"), onchange: () => { if (input.files[0]) take(input.files[0]); input.value = ""; } });
      const near = make("input", { type: "range", min: .2, max: .9, step: .01, value: props.threshold, "aria-label": say("map_near"), oninput: draw });
      const told = make("p", { class: "fs-hint", role: "status" }), takeUp = button("", () => put(alike()), "fs-small fs-give-like");
      const shown = make("div", { class: "fs-like", hidden: true }, told, make("label", { class: "fs-line fs-hint" }, say("map_near"), near, make("output")), make("div", { class: "fs-ways" }, takeUp), input);
      const reference = () => props.value?.reference;
      const alike = () => Object.entries(reference()?.away || {}).filter(([, far]) => far <= Number(near.value)).map(([index]) => Number(index));

      async function take(file) {
        const now = { name: file.name, target: box("target").value().token };
        const hear = (more) => { props.value = { entries: entries(), reference: { ...now, ...more } }; render(); };
        hear({ pending: true });
        try {
          const token = await upload(file, () => {});
          hear({ token, pending: true });
          trigger("submit");
        } catch (lines) { hear({ error: { [language]: lines, en: lines } }); }
      }
      function draw() {
        const now = reference();
        shown.hidden = !now;
        if (!now) return;
        const faces = alike();
        near.closest("label").hidden = takeUp.hidden = !now.away;
        near.nextElementSibling.textContent = Number(near.value).toFixed(2);
        takeUp.textContent = faces.length ? say("map_give_like", { faces: faces.join(", ") }) : say("map_give_none");
        takeUp.disabled = !faces.length || all.disabled;
        const [what, todo] = now.error ? spoken(now.error) : [now.name, now.away ? Object.entries(now.away).map(([face, away]) => say("map_away", { face, away: away.toFixed(2) })).join(" · ") : say("map_looking")];
        told.replaceChildren(make("span", { class: now.error ? "fs-what" : "" }, what), make("br"), todo);
      }
      return { choose: button(say("map_like"), () => input.click(), "fs-small fs-like-choose"), shown, draw };
    }
    const row = (entry) => make("li", { "data-face": entry.face }, thumb(entry.source.tile, entry.source.name.slice(0, 1)), make("span", { "aria-hidden": "true" }, "→"), thumb(entry.tile, entry.face),
      make("span", { class: "fs-photo-name" }, make("span", {}, say("map_row", { face: entry.face, name: entry.source.name })), make("span", { class: "fs-hint" }, say("map_strength", { strength: entry.strength }))),
      make("button", { type: "button", class: "fs-button fs-small", "aria-label": say("map_remove", { face: entry.face }), onclick: () => { set(entries().filter((each) => each !== entry)); give.focus(); } }, "×"));

    function render() {
      const source = box("source")?.value() || {}, target = box("target")?.value() || {};
      const stale = entries().some((entry) => entry.target !== target.token);
      if (stale && !target.pending) props.value = { ...props.value, entries: entries().filter((entry) => entry.target === target.token) };
      if (props.value?.reference && props.value.reference.target !== target.token) props.value = { entries: entries() };
      const several = (target.faces || []).length > 1;
      root.hidden = !several && !entries().length;
      const ready = Boolean(source.token || source.gathered?.length) && !source.pending && !source.error;
      const face = (target.faces || []).find(({ index }) => index === target.chosen);
      give.textContent = say("map_give", { face: target.chosen ?? 0 });
      give.disabled = !ready || !face?.usable || Boolean(target.hand);
      all.disabled = !ready || !usable().length;
      each.hidden = (source.gathered || []).length < 2 || Boolean(source.pending);
      like.choose.disabled = all.disabled;
      like.draw();
      list.replaceChildren(...entries().map(row));
      words.textContent = entries().length ? say("map_rest") : say("map_hint");
    }
    window.fusionStudio.mapped = { value: entries, set }; // for the history
    watch("value", render);
    document.addEventListener("fusion:box", render);
    render();
  }

  Object.assign(window.fusionStudio, { faceMap });
})();
