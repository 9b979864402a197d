"""The look: contrast in both modes, nothing fetched from elsewhere."""

import re

import pytest

from engines.text import ASSETS, section

FOLDER = ASSETS / "theme"
CSS = (FOLDER / "studio.css").read_text(encoding="utf-8")
SCRIPT = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js")))


def tokens(mode: str) -> dict[str, str]:
    light = re.search(r":root \{(.*?)\}", CSS, re.S)
    dark = re.search(r':root\[data-theme="dark"\] \{(.*?)\}', CSS, re.S)
    assert light
    assert dark
    found = dict(re.findall(r"--fs-([\w-]+): (#[0-9a-f]{6})", light.group(1)))
    return found | (dict(re.findall(r"--fs-([\w-]+): (#[0-9a-f]{6})", dark.group(1))) if mode == "dark" else {})


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize(
    ("words", "ground"),
    [
        *((words, ground) for words in ("text", "soft", "bad") for ground in ("bg", "surface", "sunk")),
        ("text", "line"), ("text", "tint"), ("soft", "tint"), ("on-accent", "accent"), ("accent", "surface"),
    ],
)  # fmt: skip
def test_words_can_be_read(mode: str, words: str, ground: str) -> None:
    found = tokens(mode)
    assert contrast(found[words], found[ground]) >= 4.5


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("part", ["good", "warn", "bad", "accent", "edge"])
def test_dots_edges_and_focus_can_be_seen(mode: str, part: str) -> None:
    """WCAG 2.2, 1.4.11: parts of controls, 3 to 1."""
    found = tokens(mode)
    for ground in ("bg", "surface"):
        assert contrast(found[part], found[ground]) >= 3


def test_nothing_comes_from_elsewhere() -> None:
    for words in (CSS, SCRIPT):
        assert not re.search(r"https?:|@import|@font-face|importScripts|\bimport\b", words)
    assert "url(" not in CSS


def test_the_scripts_words_all_exist_and_are_all_used() -> None:
    said = {name for call in re.findall(r"say\(([^)]*)", SCRIPT) for name in re.findall(r'"(\w+)"', re.sub(r'=== "\w+"', "", call))}
    assert said == set(section("en", "page")["script"])


def test_icons_are_what_the_manifest_says() -> None:
    from PIL import Image

    for side in (192, 512):
        with Image.open(FOLDER / f"icon-{side}.png") as icon:
            assert icon.size == (side, side)
    with Image.open(FOLDER / "favicon.ico") as icon:
        assert (32, 32) in icon.info["sizes"]
