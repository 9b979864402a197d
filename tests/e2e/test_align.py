"""Align and Verify, in a browser."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def aligned(visit_once: Callable[..., Any], portraits: tuple[Path, Path]) -> Any:
    """The Align tab with a portrait on it."""
    seen = visit_once("?tab=align")
    seen.give("photo", portraits[1])
    seen.page.wait_for_selector("#panel-align-face .fs-crop img")
    return seen


def matrices(page: Any) -> list[np.ndarray]:
    return [np.array(json.loads(text)) for text in page.eval_on_selector_all(".fs-matrix pre", "all => all.map(e => e.innerText)")]


def test_layers_are_switched_on_and_off(aligned: Any) -> None:
    page = aligned.page
    assert page.locator(".fs-photo .ov-mesh").is_visible()
    assert not page.locator(".fs-photo .ov-axes").is_visible()
    for layer in ("mesh", "points", "axes"):
        was = page.locator(f".fs-photo .ov-{layer}").is_visible()
        page.click(f".fs-layers input[value={layer}]")
        assert page.locator(f".fs-photo .ov-{layer}").is_visible() is not was
        page.click(f".fs-layers input[value={layer}]")


def test_the_drawing_lies_on_the_photo(aligned: Any) -> None:
    photo = aligned.page.locator("#box-photo .fs-photo img").bounding_box()
    drawing = aligned.page.locator("#box-photo .fs-photo .fs-overlay").bounding_box()
    assert photo == pytest.approx(drawing, abs=0.5)


@pytest.mark.parametrize("size", [112, 128, 256, 512])
def test_the_crop_is_what_its_matrix_says(aligned: Any, portraits: tuple[Path, Path], size: int, tmp_path: Path) -> None:
    page = aligned.page
    page.click(f"#size >> text='{size}'")
    page.wait_for_function(f"() => document.querySelector('#panel-align-face .fs-crop img')?.naturalWidth === {size}")
    matrix, inverse = matrices(page)
    whole = np.vstack([matrix, (0, 0, 1)]) @ np.vstack([inverse, (0, 0, 1)])
    assert np.allclose(whole, np.eye(3), atol=1e-5)
    with page.expect_download() as waiting:
        page.click("#panel-align-face >> text=This crop")
    path = tmp_path / "crop.png"
    waiting.value.save_as(path)
    with Image.open(path) as picture, Image.open(portraits[1]) as photo:
        assert picture.size == (size, size)
        want = photo.convert("RGB").transform((size, size), Image.Transform.AFFINE, inverse.ravel().tolist(), Image.Resampling.BILINEAR)
        coarse = [np.asarray(each.convert("RGB").reduce(size // 28)).astype(int) for each in (picture, want)]  # grain isn't the question
        assert np.abs(coarse[0] - coarse[1]).mean() < 4
        assert np.abs(coarse[0][1:] - coarse[1][:-1]).mean() > 8  # and a crop that lies 4 % off would be noticed


def test_all_crops_in_one_archive(aligned: Any, tmp_path: Path) -> None:
    with aligned.page.expect_download() as waiting:
        aligned.page.click("#panel-align-face >> text=All crops")
    path = tmp_path / "crops.zip"
    waiting.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        told = json.loads(archive.read("crops.json"))
        assert [(crop["face"], crop["size"]) for crop in told["crops"]] == [(0, size) for size in (112, 128, 256, 512)]
        for crop in told["crops"]:
            with Image.open(io.BytesIO(archive.read(crop["file"]))) as picture:
                assert picture.size == (crop["size"], crop["size"])
                assert picture.info  # labelled, like all that leaves the studio
    pose = told["faces"][0]["pose"]
    assert set(pose) == {"yaw", "pitch", "roll"}


def test_numbers_of_the_pose_are_shown(aligned: Any) -> None:
    text = aligned.text("#panel-align-face")
    for name in ("Yaw", "Pitch", "Roll"):
        assert re.search(rf"{name}\s+[+-]\d+\.\d°", text)


def test_the_face_goes_to_the_swap_tab_and_to_the_tokens(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    seen = visit("?tab=align")
    page = seen.page
    seen.give("photo", portraits[1])
    page.wait_for_selector("#panel-align-face .fs-crop img")
    page.click("#use-source")
    page.wait_for_selector("[data-slot=source].fs-filled:visible .fs-pick")
    assert page.locator("#tab-swap-button").get_attribute("aria-selected") == "true"
    page.wait_for_function("() => !location.search")
    page.click("#tab-align-button")
    page.click("#count-tokens")
    page.wait_for_selector("#panel-visual-result tbody tr:visible")
    assert page.locator("#box-counted .touched").get_attribute("d")
    page.wait_for_function("() => location.search === '?tab=tokens'")


def test_a_photo_without_a_face_says_so(visit: Callable[..., Any]) -> None:
    seen = visit("?tab=align")
    seen.give("photo", Path(__file__).resolve().parents[2] / "assets" / "examples" / "cat.jpg")
    assert seen.text("#box-photo .fs-count") == "No face found"
    assert seen.page.locator("#panel-align-face .fs-crop").count() == 0


def test_what_looked_like_a_face_is_told_and_drawn(visit: Callable[..., Any], officer: np.ndarray, tmp_path: Path) -> None:
    picture = officer.copy()
    picture[246:360, 160:370] = (200, 170, 150)
    Image.fromarray(picture).save(tmp_path / "covered.png")
    seen = visit("?tab=align")
    seen.give("photo", tmp_path / "covered.png")
    assert seen.text("#box-photo .fs-refused summary") == "1 place refused: no face, or too small to tell"
    seen.page.click("#box-photo .fs-refused summary")
    assert re.fullmatch(r"0\.\d\d · \d+ × \d+ at \d+, \d+ · .+", seen.text("#box-photo .fs-refused li"))
    assert seen.page.locator("#box-photo .ov-box .refused").count() == 1


def test_an_unmarked_file_is_not_called_real_and_a_text_is_not_verified(
    visit: Callable[..., Any], officer: np.ndarray, tmp_path: Path
) -> None:
    Image.fromarray(officer[::-1]).save(tmp_path / "photo.png")  # upside down: it looks like nothing that other tests put out
    seen = visit("?tab=verify")
    seen.give("file", tmp_path / "photo.png")
    seen.page.wait_for_selector("#panel-verify-result .fs-what")
    said = seen.text("#panel-verify-result")
    assert "No mark was found" in said
    assert "doesn't prove" in said
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    seen.give("file", path)
    seen.page.wait_for_selector("#panel-verify-result .fs-error")


def test_points_by_hand_move_the_crop_and_reset_takes_it_back(visit: Callable[..., Any], portraits: tuple[Path, Path]) -> None:
    """The matrix follows the mesh that the points give; the face goes to the Swap tab as it was set."""
    seen = visit("?tab=align")
    page = seen.page
    seen.give("photo", portraits[1])
    page.wait_for_selector("#panel-align-face .fs-crop img")
    mesh = "() => document.querySelector('#box-photo .ov-mesh path').getAttribute('d')"
    matrix = "() => document.querySelector('.fs-matrix pre').innerText"
    drawn, before = page.evaluate(mesh), page.evaluate(matrix)
    page.click("#box-photo .fs-hand-toggle")
    page.focus("#box-photo .fs-point-all")
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    page.wait_for_function(f"old => ({mesh})() !== old", arg=drawn)
    page.wait_for_function(f"old => ({matrix})() !== old", arg=before)
    assert page.locator("#box-photo .fs-hand .fs-dot").count() == 1  # what the studio thinks of them stands beside them
    page.click("#box-photo .fs-hand-reset")
    page.wait_for_function(f"old => ({mesh})() === old", arg=drawn)
    page.wait_for_function(f"old => ({matrix})() === old", arg=before)
    page.focus("#box-photo .fs-point-all")
    page.keyboard.press("ArrowDown")
    page.wait_for_function(f"old => ({mesh})() !== old", arg=drawn)
    page.click("#use-source")
    page.wait_for_selector("[data-slot=source].fs-filled:visible .fs-pick")
    assert "Points set by hand" in seen.text("#box-source .fs-count")
