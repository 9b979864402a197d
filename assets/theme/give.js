/* How a file gets to the studio: an upload, and the camera. */
(() => {
  "use strict";

  const { say, spoken, make, button } = window.fusionStudio;

  /** Sends a file as it is. Gives its token; throws the two lines of why it can't be had. `told`: hears the percentage. */
  const upload = (file, told) => new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    const interrupted = [say("upload_failed"), say("upload_hint")];
    request.open("POST", `/media?name=${encodeURIComponent(file.name)}`);
    request.upload.onprogress = (event) => told(Math.floor((100 * event.loaded) / Math.max(1, event.total)));
    request.onerror = () => failed(interrupted);
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* a proxy's page */ }
      if (answer.token) done(answer.token);
      else failed(answer.error ? spoken(answer.error) : interrupted);
    };
    request.send(file);
  });

  /** Opens the camera in a dialog. `taken(file)` hears of the picture. Throws where there is no camera, or none allowed. */
  async function camera(taken) {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { width: { ideal: 1280 }, height: { ideal: 960 } } });
    const video = make("video", { autoplay: true, playsinline: true, muted: true });
    video.srcObject = stream;
    const close = () => { stream.getTracks().forEach((track) => track.stop()); dialog.remove(); };
    const dialog = make("dialog", { class: "fs-dialog", "aria-label": say("camera"), onclose: close }, video, make("div", { class: "fs-line" },
      button(say("capture"), () => {
        const canvas = make("canvas");
        [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
        canvas.getContext("2d").drawImage(video, 0, 0);
        canvas.toBlob((blob) => { dialog.close(); if (blob) taken(new File([blob], "camera.png", { type: "image/png" })); }, "image/png");
      }, "fs-primary"), button(say("cancel"), () => dialog.close())));
    document.body.append(dialog);
    dialog.showModal();
  }

  Object.assign(window.fusionStudio, { upload, camera });
})();
