"""Every way in which a picture leaves the studio's page and its endpoints: what left is taken, and asked what it is."""

import base64
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from engines.provenance.keys import load_key
from engines.provenance.mark import FUSED
from engines.provenance.signer import open_trust
from engines.provenance.verify import Verification, verify
from engines.settings import Settings
from engines.vision import io

COPIED = """async () => {
  const image = document.querySelector('#panel-swap-result .fs-after img');
  const canvas = Object.assign(document.createElement('canvas'), { width: image.naturalWidth, height: image.naturalHeight });
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.toDataURL('image/png').split(',')[1];
}"""  # what "Copy image" puts on the clipboard: the pixels, without a word of the file
MAGIC = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF")


class Judge:
    """Says what a file is, with the studio's own key and certificates."""

    def __init__(self, server: Any) -> None:
        settings = Settings(data_dir=server.data_dir)
        self._key, self._trust = load_key(server.data_dir / "keys" / "mark.key"), lambda: open_trust(settings)

    def __call__(self, data: bytes) -> Verification:
        return verify(data, "", self._key, 100, deep=False, trust=self._trust)

    def fusion(self, data: bytes, signed: bool = True, pixels_only: bool = False) -> str:
        """Holds it against all that a fusion says; gives its id."""
        found = self(data)
        assert found.verdict == "made_here"
        assert found.id
        if not pixels_only:
            assert (found.labels.labels.source_type, found.labels.labels.aigc) == (FUSED, "1")
            assert (found.credentials.state if found.credentials else None) == ("ours" if signed else None)
        return found.id

    def photo(self, data: bytes) -> None:
        """Nothing of AI is said of what no algorithm made."""
        found = self(data)
        assert found.id is None
        assert not found.labels.algorithmic
        assert not (found.credentials and found.credentials.algorithmic)
        assert found.labels.labels.tool.startswith("Fusion Studio")


def taken(page: Any, click: str) -> bytes:
    with page.expect_download() as waiting:
        page.click(click)
    return Path(waiting.value.path()).read_bytes()


def shown(page: Any, selector: str) -> list[bytes]:
    addresses = page.eval_on_selector_all(selector, "all => all.map(image => image.src)")
    return [page.request.get(address).body() for address in addresses]


def pictures_on_disk(folder: Path) -> dict[Path, bytes]:
    """Files of visitors, previews, results, and whatever Gradio keeps."""
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {path: data for path, data in files.items() if data.startswith(MAGIC)}


def test_nothing_leaves_the_page_without_saying_what_it_is(
    visit: Callable[..., Any], server: Any, portraits: tuple[Path, Path], tmp_path: Path
) -> None:
    older = set(pictures_on_disk(server.data_dir))
    seen = visit()
    page = seen.page
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    seen.fuse()
    page.wait_for_selector("#panel-swap-result .fs-compare img")
    judge = Judge(server)

    (before,), (after,) = (shown(page, f"#panel-swap-result .fs-{side} img") for side in ("before", "after"))  # the slider
    judge.photo(before)
    name = judge.fusion(after, signed=False)
    page.wait_for_selector("#history .fs-row img")
    for data in shown(page, "#history .fs-row img"):  # earlier results
        said_fused(judge, data)
    for thumbs in shown(page, "#box-source img") + shown(page, "#box-target img"):
        judge.photo(thumbs)
    assert judge.fusion(base64.b64decode(page.evaluate(COPIED)), pixels_only=True) == name  # the clipboard
    files = {kind: taken(page, f".fs-downloads >> text={kind}") for kind in ("PNG", "JPEG", "WebP", "AVIF", "TIFF")}
    assert {judge.fusion(data) for data in files.values()} == {name}

    (fused := tmp_path / "fused.png").write_bytes(files["PNG"])
    page.click("#tab-align-button")
    for path, is_fused in ((portraits[1], False), (fused, True)):  # crops, alone and as a ZIP
        if is_fused:
            page.click("#box-photo .fs-remove")
        seen.give("photo", path)
        page.wait_for_selector("#panel-align-face .fs-crop img")
        for data in (*shown(page, "#box-photo img"), taken(page, "#panel-align-face >> text=This crop")):
            (said_fused if is_fused else judge.photo)(*((judge, data) if is_fused else (data,)))
        with zipfile.ZipFile(BytesIO(taken(page, "#panel-align-face >> text=All crops"))) as archive:
            crops = {each: archive.read(each) for each in archive.namelist() if each.endswith(".png")}
        assert len(crops) == 4
        for each, data in crops.items():
            if not is_fused:
                judge.photo(data)
            elif each.endswith(("-256.png", "-512.png")):
                judge.fusion(data)
            else:
                said_fused(judge, data)

    page.click("#tab-swap-button")  # several targets: the list's thumbnails, each file, all as a ZIP
    Image.open(portraits[0]).transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(tmp_path / "other.png")
    seen.give("source", portraits[1])
    page.click("#box-target .fs-remove")
    seen.give("target", portraits[0], tmp_path / "other.png")
    seen.fuse()
    page.wait_for_function("() => document.querySelectorAll('.fs-batch-lines img').length === 2")
    for data in shown(page, ".fs-batch-lines img"):
        said_fused(judge, data)
    judge.fusion(taken(page, ".fs-batch-lines li:first-child > a[download]"))
    with zipfile.ZipFile(BytesIO(taken(page, ".fs-batch > .fs-line a"))) as archive:
        assert len({judge.fusion(archive.read(each)) for each in archive.namelist()}) == 2

    given = {path.read_bytes() for path in (*portraits, fused, tmp_path / "other.png")}
    for path, data in pictures_on_disk(server.data_dir).items():  # Gradio's cache too: nothing lies there that says nothing
        assert path in older or data in given or judge(data).labels.labels.tool.startswith("Fusion Studio"), path


def said_fused(judge: Judge, data: bytes) -> None:
    """Too small for the watermark, perhaps, and labelled as what it shows."""
    assert judge(data).labels.labels.source_type == FUSED


def test_what_the_endpoint_gives_says_what_it_is(server: Any, portraits: tuple[Path, Path], tmp_path: Path) -> None:
    client = pytest.importorskip("gradio_client")
    judge = Judge(server)
    caller = client.Client(server.address, verbose=False, download_files=str(tmp_path))
    for format in ("png", "jpg", "webp", "avif", "tiff"):
        file = {"source": client.handle_file(portraits[0]), "target": client.handle_file(portraits[1])}
        saved, facts = caller.predict(**file, mode="live", label=True, format=format, api_name="/fuse")
        assert judge.fusion(Path(saved).read_bytes()) == facts["mark"]["id"]
        assert facts["visible_label"] == "AI-generated"
    caller.close()
    assert httpx.get(f"{server.address}gradio_api/file={saved}", trust_env=False).status_code == 404
    assert io.decode(Path(saved).read_bytes(), "", 10).pixels.shape == (600, 512, 3)
