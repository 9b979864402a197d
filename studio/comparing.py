"""What the page needs to lay two results beside each other: their pictures, and the settings in words, a row each."""

from collections.abc import Sequence
from typing import Any

from engines.results import FusedFace, FusionResult
from engines.text import text
from engines.timing import Timings
from studio.i18n import both
from studio.media import Item
from studio.options import CONTROLS, compared_value, option_label, value_word

Row = tuple[str, str, str, str]  # what it is, its name, its value in words, and what is compared


def shown_value(done: FusionResult, shown: tuple[Item, Item], names: tuple[Sequence[str], str], timings: Timings) -> dict[str, Any]:
    """A result as assets/theme/compare.js takes it.

    Args:
        shown: before and after, as the page shows them.
        names: of the sources' files, in their order, and of the target's.
    """
    before, after = shown
    return {
        "before": before.address,
        "after": after.address,
        "width": done.target.width,
        "height": done.target.height,
        "target": done.target.digest,
        "focus": _focus(done),
        "settings": both(lambda language: setting_rows(done, names, language)),
        "figures": both(lambda language: figure_rows(done, timings, language)),
    }


def setting_rows(done: FusionResult, names: tuple[Sequence[str], str], language: str) -> list[Row]:
    """All that a person chose: pictures, faces, every option. Two pictures of one name are told apart by their content."""
    sources, target = names
    rows: list[Row] = [("target", text("page.swap.target", language), target, done.target.digest)]
    several = len(done.faces) > 1
    for face in done.faces:
        source = done.sources[face.source]
        name = sources[face.source] if face.source < len(sources) else ""
        before, prefix = (f"{face.index}.", text("page.compare.face", language, index=face.index)) if several else ("", "")
        if not several:
            rows.append(("face", text("page.compare.target_face", language), str(face.index), str(face.index)))
        rows.append((f"{before}source", _joined(prefix, text("page.swap.source", language)), name, source.digest))
        rows += [(f"{before}{key}", _joined(prefix, label), words, value) for key, label, words, value in _option_rows(face, language)]
    return rows


def figure_rows(done: FusionResult, timings: Timings, language: str) -> list[Row]:
    """What came of it: similarity of each face, and the time."""
    rows: list[Row] = []
    for face in done.faces:
        key = "similarity_one_of" if len(done.faces) > 1 else "similarity"
        label = text(f"page.result.{key}", language, index=face.index)
        rows.append((f"similarity.{face.index}", label, f"{face.similarity_after:.0f}", f"{face.similarity_after:.0f}"))
    total = text("page.result.ms", language, ms=timings.total)
    return [*rows, ("time", text("page.compare.time", language), total, total)]


def _focus(done: FusionResult) -> tuple[float, float]:
    """What a step nearer leads to: the first fused face, in shares of the picture."""
    x, y = done.faces[0].box.centre
    return float(x) / done.target.width, float(y) / done.target.height


def _option_rows(face: FusedFace, language: str) -> list[Row]:
    rows: list[Row] = []
    for control in CONTROLS:
        if control.kind != "face":
            value = getattr(face.options, control.name)
            rows.append((control.name, option_label(control.name, language), value_word(control, value, language), compared_value(value)))
    return rows


def _joined(prefix: str, label: str) -> str:
    return f"{prefix} · {label}" if prefix else label
