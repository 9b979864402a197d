/* The face map: which source each face of the target gets, with the settings of the moment. Its value is read by studio/face_maps.py. */
(() => {
  "use strict";

  const { say, make, button, box, changed } = window.fusionStudio;

  function faceMap(element, props) {
    const list = make("ol", { class: "fs-mapped" });
    const words = make("p", { class: "fs-hint" });
    const give = button("", () => put([box("target").value().chosen]), "fs-small fs-give");
    const all = button(say("map_all"), () => put(usable().map(({ index }) => index)), "fs-small fs-give-all");
    const root = make("section", { class: "fs-map", "aria-label": say("map") }, list, words, make("div", { class: "fs-ways" }, give, all));
    element.replaceChildren(root);

    const entries = () => props.value?.entries || [];
    const usable = () => (box("target").value().faces || []).filter(({ usable: fit }) => fit);
    const set = (next) => { props.value = { entries: next }; render(); changed(); };

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

    function put(indices) {
      const source = box("source").value(), target = box("target").value();
      const one = { token: source.token, gathered: (source.gathered || []).map(({ token }) => token), name: source.persona?.name || source.name || source.person || "", chosen: source.chosen, hand: source.hand || null, tile: tile(source, source.chosen) };
      const fresh = indices.map((face) => ({ face, target: target.token, tile: tile(target, face), source: one, ...settings() }));
      const kept = entries().filter(({ face }) => !indices.includes(face));
      set([...kept, ...fresh].sort((a, b) => a.face - b.face));
      list.querySelector(`[data-face="${indices[0]}"] button`)?.focus();
    }
    const row = (entry) => make("li", { "data-face": entry.face }, thumb(entry.source.tile, entry.source.name.slice(0, 1)), make("span", { "aria-hidden": "true" }, "→"), thumb(entry.tile, entry.face),
      make("span", { class: "fs-photo-name" }, make("span", {}, say("map_row", { face: entry.face, name: entry.source.name })), make("span", { class: "fs-hint" }, say("map_strength", { strength: entry.strength }))),
      make("button", { type: "button", class: "fs-button fs-small", "aria-label": say("map_remove", { face: entry.face }), onclick: () => { set(entries().filter((each) => each !== entry)); give.focus(); } }, "×"));

    function render() {
      const source = box("source")?.value() || {}, target = box("target")?.value() || {};
      const stale = entries().some((entry) => entry.target !== target.token);
      if (stale && !target.pending) props.value = { entries: entries().filter((entry) => entry.target === target.token) };
      const several = (target.faces || []).length > 1;
      root.hidden = !several && !entries().length;
      const ready = Boolean(source.token || source.gathered?.length) && !source.pending && !source.error;
      const face = (target.faces || []).find(({ index }) => index === target.chosen);
      give.textContent = say("map_give", { face: target.chosen ?? 0 });
      give.disabled = !ready || !face?.usable || Boolean(target.hand);
      all.disabled = !ready || !usable().length;
      list.replaceChildren(...entries().map(row));
      words.textContent = entries().length ? say("map_rest") : say("map_hint");
    }
    document.addEventListener("fusion:box", render);
    render();
  }

  Object.assign(window.fusionStudio, { faceMap });
})();
