"""Every way in which a picture leaves the studio's page and its endpoints: what left is taken, and asked what it is.

That these are all ways there are, `tests/studio/test_ways_out.py` sees to.
"""

import base64
import json
import os
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from engines.errors import UnreadableImage
from engines.pipeline import Studio
from engines.provenance.keys import load_key
from engines.provenance.mark import FUSED
from engines.provenance.signer import open_trust
from engines.provenance.verify import Verification, verify
from engines.settings import Settings
from engines.vision import io
from studio.routes import EXAMPLES

COPIED = """async () => {
  const image = document.querySelector('#panel-swap-result .fs-after img');
  const canvas = Object.assign(document.createElement('canvas'), { width: image.naturalWidth, height: image.naturalHeight });
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.toDataURL('image/png').split(',')[1];
}"""  # what "Copy image" puts on the clipboard: the pixels, without a word of the file
MAGIC = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"II*\0", b"MM\0*", b"GIF8")
EMBEDDED = re.compile(rb"data:image/jpeg;base64,([A-Za-z0-9+/=]+)")


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

    def fused(self, data: bytes) -> None:
        """Too small for the watermark, perhaps, and labelled as what it shows."""
        assert self(data).labels.labels.source_type == FUSED

    def photo(self, data: bytes) -> None:
        """Nothing of AI is said of what no algorithm made."""
        found = self(data)
        assert found.id is None
        assert not found.labels.algorithmic
        assert not (found.credentials and found.credentials.algorithmic)
        assert found.labels.labels.tool.startswith("Fusion Studio")

    def drawing(self, data: bytes) -> None:
        """Nothing is said of what shows no photo."""
        found = self(data)
        assert (found.verdict, found.id, found.labels.algorithmic) == ("unmarked", None, False)


def taken(page: Any, click: str) -> bytes:
    with page.expect_download() as waiting:
        page.click(click)
    return Path(waiting.value.path()).read_bytes()


def shown(page: Any, selector: str) -> list[bytes]:
    addresses = page.eval_on_selector_all(selector, "all => all.map(image => image.src)")
    return [page.request.get(address).body() for address in addresses]


def pictures_on_disk(folder: Path) -> dict[Path, bytes]:
    """Files of visitors, previews, results, and whatever Gradio keeps."""
    files = {}
    for path in (Path(place, name) for place, _, names in os.walk(folder) for name in names):
        with suppress(FileNotFoundError):  # gone meanwhile: what was given up, a database's journal
            files[path] = path.read_bytes()
    return {path: data for path, data in files.items() if data.startswith(MAGIC) or data[4:8] == b"ftyp"}


class Left:
    """What came to lie in the data folder since this was made: files of visitors, previews, results, and whatever Gradio keeps."""

    def __init__(self, server: Any) -> None:
        self._server, self._older = server, set(pictures_on_disk(server.data_dir))

    def pictures(self, *given: Path) -> list[bytes]:
        """All but the pictures that were given, as they came."""
        came = {path.read_bytes() for path in given}
        found = [data for path, data in pictures_on_disk(self._server.data_dir).items() if path not in self._older and data not in came]
        assert found
        return found


@pytest.fixture(scope="module")
def fusion(server: Any, portraits: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fusion of this studio, as a file."""
    path = tmp_path_factory.mktemp("fused") / "fused.png"
    with Studio.open(Settings(data_dir=server.data_dir)) as studio:
        studio.fuse(*portraits).save(path)
    return path


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
        judge.fused(data)
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
            page.wait_for_selector("#panel-align-face .fs-crop", state="detached")
        seen.give("photo", path)
        page.wait_for_selector("#panel-align-face .fs-crop img")
        for data in (*shown(page, "#box-photo img"), taken(page, "#panel-align-face >> text=This crop")):
            (judge.fused if is_fused else judge.photo)(data)
        with zipfile.ZipFile(BytesIO(taken(page, "#panel-align-face >> text=All crops"))) as archive:
            crops = {each: archive.read(each) for each in archive.namelist() if each.endswith(".png")}
        assert len(crops) == 4
        for each, data in crops.items():
            if not is_fused:
                judge.photo(data)
            elif each.endswith(("-256.png", "-512.png")):
                judge.fusion(data)
            else:
                judge.fused(data)

    page.click("#tab-swap-button")  # several targets: the list's thumbnails, each file, all as a ZIP
    Image.open(portraits[0]).transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(tmp_path / "other.png")
    seen.give("source", portraits[1])
    page.click("#box-target .fs-remove")
    seen.give("target", portraits[0], tmp_path / "other.png")
    seen.fuse()
    page.wait_for_function("() => document.querySelectorAll('.fs-batch-lines img').length === 2")
    for data in shown(page, ".fs-batch-lines img"):
        judge.fused(data)
    judge.fusion(taken(page, ".fs-batch-lines li:first-child > a[download]"))
    with zipfile.ZipFile(BytesIO(taken(page, ".fs-batch > .fs-line a"))) as archive:
        assert len({judge.fusion(archive.read(each)) for each in archive.namelist()}) == 2

    given = {path.read_bytes() for path in (*portraits, fused, tmp_path / "other.png")}
    for path, data in pictures_on_disk(server.data_dir).items():  # Gradio's cache too: nothing lies there that says nothing
        assert path in older or data in given or judge(data).labels.labels.tool.startswith("Fusion Studio"), path


def test_a_pair_to_try_it_with_stays_photos(visit: Callable[..., Any], server: Any) -> None:
    left, judge, seen = Left(server), Judge(server), visit()
    with seen.page.expect_response(lambda answer: "/media/" in answer.url):
        seen.page.click("[data-example=good]")
    for slot in ("source", "target"):
        seen.page.wait_for_selector(f"#box-{slot} .fs-photo img")
        for data in shown(seen.page, f"#box-{slot} img"):
            judge.photo(data)
    for data in left.pictures(*EXAMPLES.glob("*.jpg")):
        judge.photo(data)


def test_the_cards_of_models_say_what_they_are(visit: Callable[..., Any], server: Any, portraits: tuple[Path, Path]) -> None:
    judge, seen = Judge(server), visit()
    seen.give("source", portraits[0])
    seen.give("target", portraits[1])
    seen.page.click(".fs-disclose")
    seen.page.check("input[name=fs-option-mode][value=live]", force=True)
    left = Left(server)
    seen.page.click("#models")
    card = "#panel-models .fs-card[data-model=mesh]"
    seen.page.wait_for_selector(f"{card} img")
    (small,) = shown(seen.page, "#panel-models img")
    judge.fused(small)
    names = {judge.fusion(taken(seen.page, f"{card} .fs-downloads >> text={kind}")) for kind in ("PNG", "JPEG", "WebP", "AVIF", "TIFF")}
    assert len(names) == 1
    for data in left.pictures():
        judge.fused(data)


def test_photos_of_one_person_stay_photos_and_a_persona_is_no_picture(
    visit: Callable[..., Any], server: Any, portraits: tuple[Path, Path], tmp_path: Path
) -> None:
    left, judge, seen = Left(server), Judge(server), visit()
    with Image.open(portraits[0]) as photo:
        photo.rotate(4).save(tmp_path / "turned.png")
    given = (portraits[0], tmp_path / "turned.png")
    seen.give("source", *given)
    seen.page.fill("#box-source .fs-name", "Ann")
    seen.page.click("#box-source >> text=Make persona")
    seen.page.wait_for_selector("#box-source .fs-persona")
    for button in ("Download", "Export unencrypted"):
        data = taken(seen.page, f"#box-source >> text={button}")
        assert not any(start in data for start in (b"\x89PNG", b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xe1", b"WEBP", b"ftyp"))
        with pytest.raises(UnreadableImage):
            io.decode(data, "", 10)
    for data in left.pictures(*given):
        judge.photo(data)


def test_the_tokens_tab_gives_a_crop_that_says_what_it_is_and_no_other_picture(
    visit: Callable[..., Any], server: Any, portraits: tuple[Path, Path], fusion: Path
) -> None:
    judge, seen = Judge(server), visit("?tab=tokens")
    for given, is_fused in ((portraits[1], False), (fusion, True)):
        if is_fused:
            seen.page.click("#box-counted .fs-remove")
            seen.page.wait_for_selector("#panel-visual-crop img", state="detached")
        left = Left(server)
        seen.give("counted", given)
        seen.page.wait_for_selector("#panel-visual-crop img")
        seen.page.click("#visual-size >> text='256'")
        seen.page.wait_for_function("() => document.querySelector('#panel-visual-crop').innerText.includes('256 × 256')")
        (crop,) = shown(seen.page, "#panel-visual-crop img")
        (judge.fusion if is_fused else judge.photo)(crop)
        for data in left.pictures(given):
            (judge.fused if is_fused else judge.photo)(data)
        chart = taken(seen.page, "#panel-visual-result .fs-downloads >> text=Chart")
        judge.drawing(chart)
        for button in ("Report", "Table"):
            data = taken(seen.page, f"#panel-visual-result .fs-downloads >> text={button}")
            assert b"data:image" not in data
            assert b"<img" not in data
        seen.page.click("#visual-size >> text='112'")
        seen.page.wait_for_function("() => document.querySelector('#panel-visual-crop').innerText.includes('112 × 112')")
    seen.page.set_input_files("#fs-folder-files", [str(portraits[1]), str(fusion)])
    seen.page.wait_for_selector("#panel-folder .fs-downloads a")
    for place in range(seen.page.locator("#panel-folder .fs-downloads a").count()):
        assert b"data:image" not in taken(seen.page, f"#panel-folder .fs-downloads a >> nth={place}")


def test_a_mask_says_what_it_lies_on(visit: Callable[..., Any], server: Any, portraits: tuple[Path, Path], fusion: Path) -> None:
    judge, seen = Judge(server), visit()
    seen.page.click("#mask-place summary")
    for given, is_fused in ((portraits[1], False), (fusion, True)):
        if is_fused:
            seen.page.click("#box-target .fs-remove")
        left = Left(server)
        seen.give("target", given)
        if not is_fused:  # it stays switched on
            seen.page.click("[data-mask-show]")
        seen.page.wait_for_selector("#box-target .fs-masked[src*='/media/']")
        for data in (*shown(seen.page, "#box-target .fs-masked"), *left.pictures(given)):
            (judge.fused if is_fused else judge.photo)(data)


def test_what_verify_shows_says_what_the_file_is(
    visit: Callable[..., Any], server: Any, portraits: tuple[Path, Path], fusion: Path
) -> None:
    judge, seen = Judge(server), visit("?tab=verify")
    for given, is_fused in ((portraits[1], False), (fusion, True)):
        if is_fused:
            seen.page.click("#box-file .fs-remove")
            seen.page.wait_for_selector("#panel-verify-result .fs-answer", state="detached")
        left = Left(server)
        seen.give("file", given)
        seen.page.wait_for_selector("#panel-verify-result .fs-answer")
        assert seen.page.locator("#panel-verify-result .fs-heat img").count() == is_fused
        page, facts = (taken(seen.page, f"#panel-verify-result a[data-download] >> nth={place}") for place in (0, 1))
        small = [base64.b64decode(each) for each in EMBEDDED.findall(page)]
        assert (len(small), page.count(b"data:image")) == (is_fused, is_fused)
        assert b"data:image" not in facts
        for data in (*shown(seen.page, "#box-file img, #panel-verify-result img"), *left.pictures(given), *small):
            (judge.fused if is_fused else judge.photo)(data)
    left = Left(server)
    seen.page.set_input_files("#fs-check-files", [str(portraits[1]), str(fusion)])
    seen.page.wait_for_selector("#panel-verify-many a[data-download]")
    (small,) = (base64.b64decode(each) for each in EMBEDDED.findall(taken(seen.page, "#panel-verify-many a[data-download] >> nth=0")))
    judge.fused(small)
    assert set(left.pictures()) == {portraits[1].read_bytes(), fusion.read_bytes()}  # as they came, and nothing beside them


def test_what_the_endpoints_give_says_what_it_is(server: Any, portraits: tuple[Path, Path], fusion: Path, tmp_path: Path) -> None:
    client = pytest.importorskip("gradio_client")
    judge, left = Judge(server), Left(server)
    caller, file = client.Client(server.address, verbose=False, download_files=str(tmp_path)), client.handle_file
    pair = {"source": file(portraits[0]), "target": file(portraits[1])}
    for format in ("png", "jpg", "webp", "avif", "tiff"):
        saved, facts = caller.predict(**pair, mode="live", label=True, format=format, api_name="/fuse")
        assert judge.fusion(Path(saved).read_bytes()) == facts["mark"]["id"]
        assert facts["visible_label"] == "AI-generated"
    assert httpx.get(f"{server.address}gradio_api/file={saved}", trust_env=False, timeout=60).status_code == 404
    assert io.decode(Path(saved).read_bytes(), "", 10).pixels.shape == (600, 512, 3)
    for row in caller.predict(**pair, models=["mesh"], mode="live", format="jpg", api_name="/compare")["models"]:
        judge.fusion(Path(row["output"]).read_bytes())
    for given, says in ((portraits[1], judge.photo), (fusion, judge.fused)):
        shown, _ = caller.predict(target=file(given), mode="live", api_name="/mask")
        says(Path(shown).read_bytes())
    for name, value in (("/faces", "image"), ("/tokens", "image"), ("/verify", "file")):
        assert "data:image" not in json.dumps(caller.predict(**{value: file(fusion)}, api_name=name))
    caller.close()
    for data in left.pictures(*portraits, fusion):
        assert judge(data).labels.labels.tool.startswith("Fusion Studio")
