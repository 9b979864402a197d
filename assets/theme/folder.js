/* Many pictures of which only the sizes are wanted: their first bytes go to the studio, several pictures in a request. It keeps none of them. */
(() => {
  "use strict";

  const { say, make, button } = window.fusionStudio;
  const PNG = "137,80,78,71,13,10,26,10", PIXELS = 0x49444154; // its signature; "IDAT"
  const AT_ONCE = 2; // requests: while the studio looks at one, the browser reads the files of the next

  /** `props`: suffixes of pictures, first: bytes of each that are sent at first, together, batch: pictures and bytes of a request, most: pictures. Its value: {sizes: [[width, height]], failed: [[name, lines by language, or the name of a notice]], of: pictures that were wanted, where it was stopped before all were counted}. */
  function folder(element, props, trigger) {
    const field = (id, more) => make("input", { type: "file", id, multiple: true, hidden: true, ...more, onchange: (event) => { take([...event.target.files]); event.target.value = ""; } });
    const pictures = field("fs-folder-files", { accept: "image/*" }), whole = field("fs-folder-whole", { webkitdirectory: true });
    const stop = button(say("cancel"), () => { run.abort(); over(true); }, "fs-small");
    const bar = make("progress", { "aria-label": say("folder_label") }), told = make("span", { role: "status" });
    const line = make("p", { class: "fs-progress", hidden: true }, bar, told, stop);
    const ways = [button(say("folder_files"), () => pictures.click()), button(say("folder_whole"), () => whole.click())];
    let run = new AbortController(), over = () => {};
    const idle = () => { line.hidden = true; ways.forEach((way) => { way.disabled = false; }); };

    async function ask(address, body, signal) {
      const answer = await fetch(address, { method: "POST", body, signal });
      return answer.json();
    }

    /** Fails where a file isn't what was chosen any more. */
    const touch = (file) => file.stream().getReader().read();

    /** What tells a file's size: its first bytes; of a long PNG, whose orientation may stand behind its pixels, all but the pixels. */
    async function telling(file) {
      if (!file.size) await touch(file); // Chromium calls a file empty that is gone
      const start = file.slice(0, props.first);
      if (file.size <= props.first || `${new Uint8Array(await start.slice(0, 8).arrayBuffer())}` !== PNG) return start;
      const data = new DataView(await file.arrayBuffer()), parts = [file.slice(0, 8)];
      let at = 8, bytes = 8;
      while (at + 12 <= file.size && bytes <= props.first) {
        const end = at + 12 + data.getUint32(at);
        if (data.getUint32(at + 4) !== PIXELS) { parts.push(file.slice(at, end)); bytes += end - at; }
        at = end;
      }
      return at === file.size && bytes <= props.first ? new Blob(parts) : start;
    }

    /** Why a file got nowhere: it isn't what was chosen any more, or it couldn't be sent. */
    async function trouble(file) {
      try { await touch(file); return "unsent"; } catch { return "vanished"; }
    }

    /** One answer a file, in their order: {size}, or {error} of one that can't be read or sent. A file that fails takes none of the others along. */
    async function heads(files, signal) {
      let sizes;
      try {
        const parts = [];
        for (const file of files) parts.push(await telling(file));
        const line = JSON.stringify(files.map(({ name, size }, place) => [name, parts[place].size, parts[place].size === size]));
        ({ sizes } = await ask("/media/sizes", new Blob([line, "\n", ...parts]), signal));
      } catch { /* gone from the disk, or the studio is */ }
      if (sizes || signal.aborted) return sizes || [];
      if (files.length === 1) return [{ error: await trouble(files[0]) }];
      const each = [];
      for (const file of files) each.push(...await heads([file], signal));
      return each;
    }

    async function whole_of(file, signal) {
      try { return await ask(`/media/size?name=${encodeURIComponent(file.name)}`, file, signal); } catch { return { error: await trouble(file) }; }
    }

    async function take(files) {
      run.abort();
      run = new AbortController();
      const { signal } = run;
      const wanted = files.filter(({ name }) => props.suffixes.some((suffix) => name.toLowerCase().endsWith(suffix))).slice(0, props.most);
      const answers = [];
      let next = 0, done = 0;
      const tell = () => { if (!signal.aborted) { [bar.max, bar.value] = [wanted.length, done]; told.textContent = say("folder_progress", { done, count: wanted.length }); } };
      async function work() {
        while (next < wanted.length && !signal.aborted) {
          const first = next;
          for (let bytes = 0; next < wanted.length && next - first < props.together; next += 1) {
            bytes += Math.min(wanted[next].size, props.first);
            if (bytes > props.batch) break;
          }
          const batch = wanted.slice(first, next), told_of = await heads(batch, signal);
          done += told_of.filter(({ again }) => !again).length;
          tell();
          for (const [place, answer] of told_of.entries()) {
            if (signal.aborted) return;
            answers[first + place] = answer.again ? await whole_of(batch[place], signal) : answer;
            done += answer.again ? 1 : 0;
            tell();
          }
        }
      }
      /** What there is by now; afterwards nothing more is heard of this run. */
      over = (stopped) => {
        idle();
        over = () => {};
        const told = wanted.flatMap((file, place) => answers[place] ? [[file.name, answers[place]]] : []);
        props.value = {
          sizes: told.flatMap(([, { size }]) => size ? [size] : []),
          failed: told.flatMap(([name, { size, error }]) => size ? [] : [[name, error]]),
          ...(stopped ? { of: wanted.length } : {}),
        };
        trigger("submit");
      };
      ways.forEach((way) => { way.disabled = true; });
      line.hidden = false;
      tell();
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      if (!signal.aborted) over(false);
    }
    element.replaceChildren(make("div", { class: "fs-ways" }, ...ways, pictures, whole), line);
  }

  Object.assign(window.fusionStudio, { folder });
})();
