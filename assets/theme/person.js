/* The source as a person: photos gathered for one, and a persona in their place. Its values come from studio/people.py. */
(() => {
  "use strict";

  const { say, spoken, make, button, language, upload } = window.fusionStudio;

  const MOST = 20; // engines/personas.py
  const HEAD = '<svg viewBox="0 0 48 48" width="56" height="56" aria-hidden="true"><circle cx="24" cy="18" r="9"/><path d="M7 43c1-11 8-16 17-16s16 5 17 16"/></svg>';
  const isPersona = (file) => file.name.toLowerCase().endsWith(".persona");

  /** `box`: value() and set(value) of the picture box, send(event), wait(sentence), choose() more files. */
  function person({ value, set, send, wait, choose }) {
    let turn = 0;
    const name = make("input", { type: "text", maxlength: 80, class: "fs-name", autocomplete: "off", "aria-label": say("person_name"), placeholder: say("person_name") });
    const more = button(say("person_add"), choose, "fs-small");
    const done = button(say("person_make"), submit, "fs-small fs-primary");
    name.addEventListener("input", ready);
    name.addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !done.disabled) submit(); });

    function ready() {
      const { gathered = [], pending } = value();
      done.disabled = Boolean(pending) || gathered.length < 2 || !name.value.trim();
      more.disabled = Boolean(pending) || gathered.length >= MOST;
    }
    const photos = (gathered, rest = {}) => ({ token: "", faces: [], chosen: null, gathered, person: name.value, ...rest });

    /** Photos of one person, added to those that are gathered. `first`: a single photo that stands there is one of them. */
    async function add(files, first) {
      const mine = ++turn, now = value();
      let gathered = now.gathered || (first && now.token && !now.persona && !now.error ? [{ token: now.token, name: now.name }] : []);
      if (!now.gathered) name.value = "";
      set(photos(gathered, { pending: true }));
      const wanted = files.slice(0, MOST - gathered.length);
      for (const [number, file] of wanted.entries()) {
        wait(say("person_uploading", { number: number + 1, count: wanted.length }));
        let token;
        try { token = await upload(file, () => {}); } catch (lines) {
          if (mine === turn) set(photos(gathered, { error: { [language]: lines, en: lines } }));
          return;
        }
        if (mine !== turn) return; // removed or replaced meanwhile
        gathered = [...gathered, { token, name: file.name }];
      }
      set(photos(gathered, { pending: true }));
      wait(say("reading"));
      send("edit");
    }
    function submit() {
      set(photos(value().gathered, { pending: true }));
      wait(say("person_making"));
      send("submit");
    }
    function drop(number) {
      const left = value().gathered.filter((_, each) => each !== number);
      if (!left.length) name.value = "";
      set(left.length ? photos(left) : { token: "", faces: [], chosen: null });
      if (left.length) more.focus();
    }

    const tile = (photo) => {
      const thumb = make("span", { class: "fs-thumb", "aria-hidden": "true" });
      if (photo.tile) thumb.style.backgroundImage = `url("${photo.tile}")`;
      return thumb;
    };
    const row = (photo, number, pending) => make("li", {}, tile(photo),
      make("span", { class: "fs-photo-name" }, make("span", {}, `${number + 1} · ${photo.name}`),
        make("span", { class: "fs-caption fs-hint" }, make("i", { class: `fs-dot fs-${photo.colour || ""}`, "aria-hidden": "true" }), make("span", {}, spoken(photo.caption) || "…"))),
      pending ? null : make("button", { type: "button", class: "fs-button fs-small", "aria-label": say("person_remove", { number: number + 1 }), onclick: () => drop(number) }, "×"));

    return {
      add,
      over() { turn += 1; },
      /** What stands where the picture would. */
      shown(now) {
        if (now.gathered) return make("ol", { class: "fs-gathered" }, ...now.gathered.map((photo, number) => row(photo, number, now.pending)));
        const card = make("div", { class: "fs-persona" });
        card.innerHTML = HEAD;
        card.append(make("strong", {}, now.persona.name), make("span", { class: "fs-hint" }, spoken(now.persona.about)));
        return card;
      },
      /** What stands below it. */
      below(now) {
        if (now.gathered) {
          if (document.activeElement !== name && now.person) name.value = now.person;
          ready();
          return make("div", { class: "fs-person" }, make("p", { class: "fs-hint" }, say("person_hint")), name, make("div", { class: "fs-ways" }, more, done));
        }
        const links = (now.downloads || []).map(({ key, address, name: file }) => make("a", { class: "fs-button fs-small", href: address, download: file, "data-download": true, title: say(key === "kept" ? "person_kept_tip" : "person_exported_tip") },
          say(key === "kept" ? "person_kept" : "person_exported")));
        return make("div", { class: "fs-person" }, ...(links.length ? [make("div", { class: "fs-ways" }, ...links), make("p", { class: "fs-hint" }, say("person_files"))] : []));
      },
    };
  }

  Object.assign(window.fusionStudio, { person, isPersona });
})();
