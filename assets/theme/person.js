/* The source as a person: photos gathered for one, and a persona in their place. Its values come from studio/people.py. */
(() => {
  "use strict";

  const { say, spoken, make, button, gather } = window.fusionStudio;

  const MOST = 20; // engines/personas.py
  const HEAD = '<svg viewBox="0 0 48 48" width="56" height="56" aria-hidden="true"><circle cx="24" cy="18" r="9"/><path d="M7 43c1-11 8-16 17-16s16 5 17 16"/></svg>';
  const isPersona = (file) => file.name.toLowerCase().endsWith(".persona");

  /** `box`: value() and set(value) of the picture box, send(event), wait(sentence), choose() more files. */
  function person({ value, set, send, wait, choose }) {
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
    const photos = gather({ value, set, wait }, {
      most: MOST, words: { uploading: (facts) => say("person_uploading", facts), remove: (facts) => say("person_remove", facts) },
      rest: () => ({ person: name.value }),
      made: (token, file) => ({ token, name: file.name }),
      all(gathered) {
        set(photos.shape(gathered, { pending: true }));
        wait(say("reading"));
        send("edit");
      },
    });
    function add(files, first) {
      if (!value().gathered) name.value = "";
      photos.add(files, first);
    }
    function submit() {
      set(photos.shape(value().gathered, { pending: true }));
      wait(say("person_making"));
      send("submit");
    }
    function drop(number) {
      if (photos.without(number).length) more.focus();
      else name.value = "";
    }

    return {
      more: say("person_more"),
      add,
      over: photos.over,
      /** What stands where the picture would. */
      shown(now) {
        if (now.gathered) return photos.list(now, drop);
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
