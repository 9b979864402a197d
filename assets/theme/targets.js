/* Several targets, fused one after the other. Their files are what studio/batches.py works off. */
(() => {
  "use strict";

  const { say, make, button, gather, language } = window.fusionStudio;

  const tiles = new Map(); // the files themselves, by token: no picture goes to the studio and back for its thumbnail

  /** As `person`, for the target's box. `most`: pictures at once. */
  function targets({ value, set, wait, choose }, most) {
    const more = button(say("many_add"), choose, "fs-small");
    const gathered = gather({ value, set, wait }, {
      most, words: { uploading: (facts) => say("many_uploading", facts), remove: (facts) => say("many_remove", facts) },
      made(token, file) {
        tiles.set(token, URL.createObjectURL(file));
        return { token, name: file.name, kept: `/media/${token}` }; // by the address a reload tells whether the file is there still
      },
      failed: (file, [what]) => ({ token: "", name: file.name, colour: "bad", caption: { [language]: what, en: what } }),
      tile: ({ token, tile }) => tiles.get(token) ?? tile,
      all: (files) => set(gathered.shape(files)),
    });
    const drop = (number) => { if (gathered.without(number).length) more.focus(); };
    return {
      more: say("many_add"),
      add: gathered.add,
      over: gathered.over,
      shown: (now) => gathered.list(now, drop),
      below(now) {
        more.disabled = Boolean(now.pending) || now.gathered.length >= most;
        const there = now.gathered.filter(({ token }) => token);
        return make("div", { class: "fs-person" }, make("p", { class: "fs-hint" }, say("many_hint", { count: there.length })), make("div", { class: "fs-ways" }, more));
      },
    };
  }

  Object.assign(window.fusionStudio, { targets });
})();
