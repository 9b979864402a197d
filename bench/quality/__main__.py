"""Fuses pairs of faces and measures how good they look.

    python -m bench.quality --photos FOLDER [--quick] [--pairs a:b,a:b#2] [--mode best|live] [--options shape=.5,…]
                            [--json FILE] [--sheet FILE.jpg] [--markdown FILE] [--prototype FOLDER]

What is measured, and how to read it, stands in docs/quality.md. Without a folder of photographs the pairs of faces that come with
developers' packages are left.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.quality import figures, sheet, table
from bench.quality.fusing import Fused, Refused, fuse, options_from
from bench.quality.pairs import Album, Pair, chosen
from bench.quality.prototype import Prototype
from bench.quality.witness import Witness
from engines import FuseOptions, Settings, Studio
from engines.faces.centerface import CenterFace
from engines.models import DETECTOR
from engines.types import Pixels


class Bench:
    """One studio, one witness, and the prototype if there is one."""

    def __init__(self, studio: Studio, album: Album, options: FuseOptions, prototype: Prototype | None, draw: bool) -> None:
        self._studio, self._album, self._options, self._prototype, self._draw = studio, album, options, prototype, draw
        models = studio.models
        self._witness = Witness(CenterFace(models._session(DETECTOR)), models.mesh, models.embedder)
        self.panels: list[tuple[str, Pixels]] = []

    def measure(self, pair: Pair) -> dict[str, Any]:
        """The JSON's entry for one pair whose pictures are there."""
        source, target = self._album[pair.source], self._album[pair.target]
        fused = fuse(self._studio, source, target, pair.face, self._options)
        answer, columns = self._judge(pair, fused, "now")
        if self._prototype is not None:
            first = self._first(source, target, fused)
            judged, earlier = self._judge(pair, first, "prototype")
            answer["prototype"] = judged
            columns = [*(columns or earlier)[:1], *earlier[1:], *columns[1:]]
        if self._draw and len(columns) > 1:
            head = f"{pair.name}   {table.headline(answer)}"
            self.panels.append((pair.name, sheet.panel(head, self._portrait(source, pair.source), columns)))
        return answer

    def _judge(self, pair: Pair, fused: Fused | Refused, title: str) -> tuple[dict[str, Any], list[sheet.Column]]:
        about = {"face": pair.face, "about": pair.about}
        if isinstance(fused, Refused):
            return figures.entry(pair.source, pair.target, fused) | about, []
        found, scene = figures.of(fused, self._witness, pair.target)
        columns = [sheet.Column("target", scene.target, scene.points), sheet.Column(title, scene.result, scene.points)]
        return figures.entry(pair.source, pair.target, found) | about, columns

    def _first(self, source: Pixels, target: Pixels, fused: Fused | Refused) -> Fused | Refused:
        """The prototype on the same faces; on those that the product found where it refused them."""
        if self._prototype is None:
            return Refused("none")
        if isinstance(fused, Fused):
            return self._prototype.fuse(source, target, fused.source_box, fused.target_box)
        faces = self._studio.faces(source).faces
        if fused.target_box is None or not faces:
            return Refused("no_face")
        return self._prototype.fuse(source, target, max(faces, key=lambda face: face.mesh.size).box, fused.target_box)

    def _portrait(self, pixels: Pixels, title: str) -> sheet.Column:
        face = max(self._studio.faces(pixels).faces, key=lambda one: one.mesh.size)
        return sheet.Column(f"source {title}", pixels, face.mesh.points.astype("float64"))


def main(arguments: list[str] | None = None) -> int:
    given = _arguments().parse_args(arguments)
    try:
        pairs, options = chosen(given.pairs, given.quick), options_from(given.options, given.mode)
    except ValueError as fault:
        print(fault, file=sys.stderr)
        return 2
    album = Album(given.photos)
    missing = sorted({stem for pair in pairs for stem in (pair.source, pair.target) if stem not in album})
    if missing:
        print(f"left out, for want of pictures: pairs with {', '.join(missing)}", file=sys.stderr)
    pairs = tuple(pair for pair in pairs if pair.source in album and pair.target in album)
    prototype = Prototype(given.prototype) if given.prototype else None
    with tempfile.TemporaryDirectory() as folder, Studio.open(Settings(data_dir=Path(folder), provider=given.provider)) as studio:
        bench = Bench(studio, album, options, prototype, given.sheet is not None)
        entries = []
        for number, pair in enumerate(pairs, 1):
            entries.append(bench.measure(pair))
            if given.sheet and sheet.EACH in given.sheet:  # a panel is 20 MB: written and let go
                sheet.write(bench.panels, given.sheet)
                bench.panels.clear()
            print(f"{number}/{len(pairs)}  {pair.name}: {table.headline(entries[-1])}", file=sys.stderr, flush=True)
    medians = figures.summary(entries)
    if prototype:
        earlier = figures.summary([entry["prototype"] for entry in entries])
        medians |= {f"prototype_{name}": value for name, value in earlier.items()}
    print(table.text(entries, medians))
    if given.json:
        given.json.write_text(json.dumps({"pairs": entries, "summary": medians}, indent=1, ensure_ascii=False), encoding="utf-8")
    if given.markdown:
        given.markdown.write_text(table.markdown(entries, medians), encoding="utf-8")
    if given.sheet:
        sheet.write(bench.panels, given.sheet)
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("bench.quality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, help="folder of photographs, known by their stems")
    parser.add_argument("--pairs", help="source:target[#face], separated by commas; of the table or any other stems")
    parser.add_argument("--quick", action="store_true", help="seven pairs instead of all")
    parser.add_argument("--mode", choices=("best", "live"), default="best")
    parser.add_argument("--options", default="", help="of the fusion: shape=.5,keep_eyes=true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path, help="both tables, for the docs")
    parser.add_argument("--sheet", help="contact sheet, .jpg or .png; with {pair} in its name one file a pair")
    parser.add_argument("--prototype", type=Path, help="folder of the prototype, for comparison")
    parser.add_argument("--provider", default="cpu")
    return parser


if __name__ == "__main__":
    sys.exit(main())
