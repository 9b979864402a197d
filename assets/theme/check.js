/* Many files to verify: each is sent as it is, then all are gone through by the studio (studio/tabs/verify_many.py). */
(() => {
  "use strict";

  const { say, make, button, upload } = window.fusionStudio;

  let atWork = () => {};
  /* Whether files are gone through; those on their way count too. Stop would stop whatever else this tab's visitor has running. */
  const verifying = (now) => atWork(now);

  /** `props`: most: files. Its value: {files: [[token, name]]}; a file that didn't get there has no token. */
  function check(element, props, trigger) {
    const field = (id, more) => make("input", { type: "file", id, multiple: true, hidden: true, ...more, onchange: (event) => { take([...event.target.files]); event.target.value = ""; } });
    const files = field("fs-check-files", {}), whole = field("fs-check-whole", { webkitdirectory: true });
    const bar = make("progress", { "aria-label": say("check_label") }), told = make("span", { role: "status" });
    const line = make("p", { class: "fs-progress", hidden: true }, bar, told);
    const stop = button(say("check_stop"), () => { turn += 1; line.hidden = true; atWork(false); trigger("clear"); });
    stop.disabled = true;
    atWork = (now) => { stop.disabled = !now && line.hidden; };
    const ways = [button(say("check_files"), () => files.click()), button(say("check_whole"), () => whole.click()), stop];
    let turn = 0;

    async function take(given) {
      const mine = ++turn;
      const wanted = given.filter(({ name }) => !name.startsWith(".")).sort((a, b) => (a.webkitRelativePath || a.name).localeCompare(b.webkitRelativePath || b.name)).slice(0, props.most);
      if (!wanted.length) return;
      const sent = [];
      line.hidden = false;
      atWork(true);
      for (const file of wanted) {
        [bar.max, bar.value] = [wanted.length, sent.length];
        told.textContent = say("check_progress", { done: sent.length + 1, count: wanted.length });
        let token = "";
        try { token = await upload(file, () => {}); } catch { /* the studio's list names it as one that can't be read */ }
        if (mine !== turn) return; // stopped, or others were chosen
        sent.push([token, file.name]);
      }
      line.hidden = true;
      props.value = { files: sent };
      trigger("submit");
    }
    element.replaceChildren(make("div", { class: "fs-ways" }, ...ways, files, whole), line);
  }

  Object.assign(window.fusionStudio, { check, verifying });
})();
