"""Pieces of HTML: whole, escaped, and with the right figures in them."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.provenance.keys import load_key
from engines.provenance.labels import FoundLabels, Labels
from engines.provenance.mark import mark
from engines.provenance.verify import Verification
from engines.results import FusedFace, FusionModel, FusionResult
from engines.text import LANGUAGES
from engines.timing import Timings
from engines.types import AlignedFace, Box, Detection, Face, FaceMesh, Pose, SafetyScore, Verdict
from engines.vision import io
from studio import panels
from studio.media import Item
from studio.verify_panel import verification

HOSTILE = "<img src=x onerror=alert(1)>\"'&"
VOID = {"img", "input", "br", "path", "circle"}


class Balanced(HTMLParser):
    """Collects tags, and fails on one that isn't closed in its turn."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def item(token: str = "abc", name: str = "x.png") -> Item:
    return Item(token, Path("/nowhere"), name, "image/png", 0.0)


@pytest.fixture
def done(tmp_path: Path, astronaut: NDArray[np.uint8]) -> FusionResult:
    key = load_key(tmp_path / "mark.key")
    frame = io.from_array(astronaut)
    one = FusedFace(0, Box(128, 60, 99, 120), 0.9, 0.689, 0.464, 4.1, 64.6)
    scores = SafetyScore(0.034), SafetyScore(0.002)
    model = FusionModel(HOSTILE, "Apache-2.0", True, ())
    notes = (("several", (("role", "source"), ("count", 3), ("index", 1))),)
    return FusionResult(mark(frame, key, "preview"), (frame,), frame, (one,), scores, "cpu", model, notes, Timings(), key)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_result_is_whole_and_escaped(done: FusionResult, language: str) -> None:
    timings = Timings((("decode", 20.0), ("fuse", 60.0), ("mark", 20.0)), 100.0)
    downloads = [("PNG", item("png", HOSTILE)), ("JPEG", item("jpg"))]
    html = panels.result(done, timings, (item("before"), item("after")), downloads, 0.8, language)
    page = Balanced(html)
    assert "<img src=x" not in html
    sources = [attributes["src"] for tag, attributes in page.tags if tag == "img"]
    assert sources == ["/media/after", "/media/before"]
    links = [(attributes["href"], attributes["download"]) for tag, attributes in page.tags if tag == "a"]
    assert links == [("/media/png", HOSTILE), ("/media/jpg", "x.png")]
    assert all(attributes.get("alt") for tag, attributes in page.tags if tag == "img")
    for figure in (">4</span>", ">65</strong>", "0.689 → 0.464", "512 × 512", "0.03", done.image.mark.id):
        assert figure in html
    widths = [float(value) for value in re.findall(r"flex-grow:([\d.]+)", html)]
    assert widths == [20.0, 60.0, 20.0]
    assert ("full size" in html) is (language == "en")  # a preview is shown here, and says so
    at = re.search(r'data-at="([\d.]+)" aria-label', html)
    assert at
    assert float(at.group(1)) == pytest.approx(100 * (128 + 99 / 2) / 512, abs=0.1)  # through the face


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_face_with_its_matrices(language: str) -> None:
    matrix = np.array([(0.418332458123, -0.1, -273.9), (0.1, 0.418332458123, -254.95)])
    aligned = AlignedFace(np.zeros((112, 112, 3), np.uint8), matrix, np.array([(2.2, 0.5, 757.6), (-0.5, 2.2, 426.8)]), 112, "arcface")
    mesh = FaceMesh(np.zeros((478, 3), np.float32), Pose(-29.2, 15.3, 0.04))
    one = Face(3, Detection(Box(0, 0, 1, 1), 0.891, np.zeros((5, 2), np.float32)), mesh, 14.4, Verdict())
    html = panels.face_panel(one, 4, (aligned, item()), "<svg></svg>", item("png", HOSTILE), item("zip"), language)
    Balanced(html)
    assert "<img src=x" not in html
    for figure in ("-29.2°", "+15.3°", "+0.0°", "0.89", "112 × 112"):
        assert figure in html


def test_a_matrix_can_be_read_back() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        matrix = rng.normal(0, 300, (2, 3))
        assert np.allclose(json.loads(panels.matrix_text(matrix)), matrix, rtol=1e-8)


@pytest.mark.parametrize("kind", ["error", "info"])
def test_a_notice_is_two_escaped_lines(kind: str) -> None:
    html = panels.notice((HOSTILE, "do this"), kind)
    page = Balanced(html)
    assert "<img" not in html
    assert [tag for tag, _ in page.tags] == ["div", "p", "p"]
    assert page.tags[0][1]["role"] == ("alert" if kind == "error" else "status")


def test_progress_and_empty() -> None:
    assert "<img" not in panels.progress(HOSTILE)
    for language in LANGUAGES:
        Balanced(panels.empty("swap.result_empty", language) + panels.progress("Fusing face 3 of 7"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("verdict", ["made_here", "marked", "inconclusive", "unmarked"])
def test_a_verification_is_escaped(language: str, verdict: str) -> None:
    """Labels are whatever somebody wrote into a file."""
    mark_id = "7F3-A91-C04" if verdict == "made_here" else None
    found = Verification(verdict, mark_id, 12.0, FoundLabels(Labels(HOSTILE, "1", HOSTILE, HOSTILE, HOSTILE, HOSTILE), ("c2pa",)), "x")  # type: ignore[arg-type]
    html = verification(found, HOSTILE, 1234567, language)
    Balanced(html)
    assert "<img" not in html
    assert "1,234,567" in html
    assert (mark_id is None) or mark_id in html
