/* Several files in one box, one under the other: photos of one person, or targets. Both hold them as `gathered` in the box's value. */
(() => {
  "use strict";

  const { spoken, make, language, upload } = window.fusionStudio;

  /** `box`: value() and set(value) of the picture box, wait(sentence). `words`: uploading(facts), remove(facts). `rest()`: what else the value has.
      `made(token, file)`: an entry. `all(gathered)`: hears when all are there.
      `failed(file, lines)`: an entry in place of one that didn't get there; without it the first of these ends the rest.
      `tile(entry)`: address of its thumbnail. */
  function gather({ value, set, wait }, { most, words, rest = () => ({}), made, failed, all, tile = (entry) => entry.tile }) {
    let turn = 0;
    const shape = (gathered, more = {}) => ({ token: "", faces: [], chosen: null, gathered, ...rest(), ...more });

    /** Files, added to those that are gathered. `first`: a single file that stands there is one of them. */
    async function add(files, first) {
      const mine = ++turn, now = value();
      let gathered = now.gathered || (first && now.token && !now.persona && !now.error ? [{ token: now.token, name: now.name, tile: now.preview }] : []);
      set(shape(gathered, { pending: true }));
      const wanted = files.slice(0, most - gathered.length);
      for (const [number, file] of wanted.entries()) {
        wait(words.uploading({ number: number + 1, count: wanted.length }));
        let entry, wrong = null;
        try { entry = made(await upload(file, () => {}), file); } catch (lines) { wrong = lines; }
        if (mine !== turn) return; // removed or replaced meanwhile
        if (wrong && !failed) return void set(shape(gathered, { error: { [language]: wrong, en: wrong } }));
        gathered = [...gathered, wrong ? failed(file, wrong) : entry];
      }
      all(gathered);
    }
    const thumb = (entry) => {
      const node = make("span", { class: "fs-thumb", "aria-hidden": "true" });
      const address = tile(entry);
      if (address) node.style.backgroundImage = `url("${address}")`;
      return node;
    };
    const row = (entry, number, pending, drop) => make("li", {}, thumb(entry),
      make("span", { class: "fs-photo-name" }, make("span", {}, `${number + 1} · ${entry.name}`),
        entry.caption === undefined && !pending ? null : make("span", { class: "fs-caption fs-hint" }, make("i", { class: `fs-dot fs-${entry.colour || ""}`, "aria-hidden": "true" }), make("span", {}, spoken(entry.caption) || "…"))),
      pending ? null : make("button", { type: "button", class: "fs-button fs-small", "aria-label": words.remove({ number: number + 1 }), onclick: () => drop(number) }, "×"));

    return {
      add,
      shape,
      over() { turn += 1; },
      /** What is left without one of them: nothing at all where it was the last. */
      without(number) {
        const left = value().gathered.filter((_, each) => each !== number);
        set(left.length ? shape(left) : { token: "", faces: [], chosen: null });
        return left;
      },
      list: ({ gathered, pending }, drop) => make("ol", { class: "fs-gathered" }, ...gathered.map((entry, number) => row(entry, number, pending, drop))),
    };
  }

  Object.assign(window.fusionStudio, { gather });
})();
