/* What the page's scripts share: words, elements, and what a tab of the browser keeps. Loaded first, before Gradio's own script;
   no library, nothing from elsewhere. */
(() => {
  "use strict";

  const language = window.fusionLanguage || "en";
  const words = window.fusionTexts || {};
  const say = (key, facts = {}) => (words[key] || key).replace(/\{(\w+)\}/g, (_, name) => facts[name]);
  const spoken = (value) => (value && typeof value === "object" && !Array.isArray(value) ? value[language] ?? value.en : value);
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

  /* What a tab of the browser has on its page outlives a reload, and nothing but that: sessionStorage is the tab's own. A visitor can
     switch it off, and so can the owner, for everybody; then a reload finds nothing. */
  const keep = {
    off: false, // the owner's
    get on() { try { return !this.off && localStorage.getItem("fusion:remember") !== "no"; } catch { return !this.off; } },
    turn(on) {
      try {
        localStorage.setItem("fusion:remember", on ? "yes" : "no");
        if (!on) for (const name of Object.keys(sessionStorage)) if (name.startsWith("fusion")) sessionStorage.removeItem(name);
      } catch { /* closed: nothing is kept there anyway */ }
    },
    save(name, value) {
      try { value && this.on ? sessionStorage.setItem(`fusion:${name}`, JSON.stringify(value)) : sessionStorage.removeItem(`fusion:${name}`); } catch { /* full or closed */ }
    },
    async load(name) {
      try {
        const value = JSON.parse(sessionStorage.getItem(`fusion:${name}`));
        const address = MEDIA.exec(JSON.stringify(value ?? ""))?.[0];
        if (address && (await (await fetch(`${address}/there`)).json()).there) return value;
      } catch { /* not ours */ }
      this.save(name, null);
      return null;
    },
  };

  window.fusionStudio = { language, say, spoken, make, button, keep, MEDIA };
})();
