/* Many pictures of which only the sizes are wanted: of each the first bytes go to the studio, which keeps none of them. */
(() => {
  "use strict";

  const { say, spoken, make, button } = window.fusionStudio;
  const AT_ONCE = 4; // requests; each waits for a thread of the server's and hardly for the wire

  /** `props`: suffixes of pictures, first: bytes that are sent at first, most: pictures. Its value: {sizes: [[width, height]], failed: [[name, lines by language]]}. */
  function folder(element, props, trigger) {
    const field = (id, more) => make("input", { type: "file", id, multiple: true, hidden: true, ...more, onchange: (event) => { take([...event.target.files]); event.target.value = ""; } });
    const pictures = field("fs-folder-files", { accept: "image/*" }), whole = field("fs-folder-whole", { webkitdirectory: true });
    const stop = button(say("cancel"), () => { turn += 1; idle(); }, "fs-small");
    const bar = make("progress", { "aria-label": say("folder_label") }), told = make("span", { role: "status" });
    const line = make("p", { class: "fs-progress", hidden: true }, bar, told, stop);
    const ways = [button(say("folder_files"), () => pictures.click()), button(say("folder_whole"), () => whole.click())];
    let turn = 0;
    const idle = () => { line.hidden = true; ways.forEach((way) => { way.disabled = false; }); };

    async function size(file) {
      for (const all of file.size <= props.first ? [true] : [false, true]) {
        const answer = await fetch(`/media/size?name=${encodeURIComponent(file.name)}&whole=${all}`, { method: "POST", body: all ? file : file.slice(0, props.first) });
        const { size: found, error } = await answer.json();
        if (found) return found;
        if (error) throw error;
      }
      throw null;
    }

    async function take(files) {
      const mine = ++turn;
      const wanted = files.filter(({ name }) => props.suffixes.some((suffix) => name.toLowerCase().endsWith(suffix))).slice(0, props.most);
      const sizes = [], failed = [];
      let next = 0, done = 0;
      const tell = () => { [bar.max, bar.value] = [wanted.length, done]; told.textContent = say("folder_progress", { done, count: wanted.length }); };
      async function work() {
        while (next < wanted.length && mine === turn) {
          const file = wanted[next++];
          try { sizes.push(await size(file)); } catch (lines) {
            const lost = [say("upload_failed"), say("upload_hint")];
            failed.push([file.name, Array.isArray(spoken(lines)) ? lines : { en: lost, "zh-CN": lost }]);
          }
          done += 1;
          if (mine === turn) tell();
        }
      }
      ways.forEach((way) => { way.disabled = true; });
      line.hidden = false;
      tell();
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (mine !== turn) return; // stopped
      idle();
      props.value = { sizes, failed };
      trigger("submit");
    }
    element.replaceChildren(make("div", { class: "fs-ways" }, ...ways, pictures, whole), line);
  }

  Object.assign(window.fusionStudio, { folder });
})();
