"""No way around: the ways out are found in the program itself and held against what is declared of them in `tests/ways_out.py`."""

import ast
import json
import re
import subprocess
import sys
import typing
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.pipeline import Studio
from engines.provenance.mark import FUSED
from engines.provenance.save import save, write_encoded
from engines.vision import io
from studio import cli
from studio.routes import EXAMPLES
from tests.ways_out import COMMANDS, COMPONENTS, EVENTS, PYTHON, ROUTES, SCRIPTS, SHELF, TABLES, Way

ROOT = Path(__file__).resolve().parents[2]
PUTS = {"add", "promise", "reserve", "register"}  # of `studio.media.Shelf`
GIVES = ("EncodedImage", "MarkedImage", "Saved", "FusionResult")  # in what a function returns; who may encode, test_imports says
WRITES = {"write_bytes", "write_text", "writestr", "Temporary", "save", "writing"}
HANDS_OUT = re.compile(
    r"\b(toBlob|toDataURL|createObjectURL|drawImage|convertToBlob|showSaveFilePicker|execCommand|msSaveBlob|clipboard(?=\.))|\b(download):"
)


def declared(found: set[str], table: dict[str, Way]) -> None:
    """Fails by the names of those that nobody declared, and of those that are gone."""
    assert not found - set(table), f"a way out without an entry in tests/ways_out.py: {sorted(found - set(table))}"
    assert not set(table) - found, f"declared in tests/ways_out.py and not there: {sorted(set(table) - found)}"


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.studio.walked", str(tmp_path_factory.mktemp("data"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_every_route_is_declared(walked: dict[str, Any]) -> None:
    declared(set(walked["routes"]), ROUTES)


def test_what_is_closed_never_answers(walked: dict[str, Any]) -> None:
    assert len(walked["closed"]) > 30
    assert {way: answer for way, answer in walked["closed"].items() if answer != [404, 0]} == {}


def test_what_holds_no_picture_answers_with_none(walked: dict[str, Any]) -> None:
    """A picture in JSON or markup would be base64."""
    assert walked["pictures"] == []


def test_every_event_is_declared_and_no_component_draws(walked: dict[str, Any]) -> None:
    declared(set(walked["events"]), EVENTS)
    assert walked["outputs of scripts"] == 0
    assert set(walked["components"]) <= COMPONENTS


def functions(body: list[ast.stmt], inside: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions and methods, by their names; what stands inside of one belongs to it."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield inside + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body, f"{inside}{node.name}.")


def sources(package: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        yield ".".join(path.relative_to(ROOT).with_suffix("").parts), ast.parse(path.read_text(encoding="utf-8"))


def called(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Of each call: what it is a method of, as it is written, and its name."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            if isinstance(call.func, ast.Attribute):
                yield ast.unparse(call.func.value), call.func.attr
            elif isinstance(call.func, ast.Name):
                yield "", call.func.id


def test_whatever_goes_on_the_shelf_is_declared() -> None:
    found, elsewhere = set(), []
    for module, tree in sources("studio"):
        if module == "studio.media":
            continue
        for name, node in functions(tree.body):
            found |= {f"{module}:{name} {how}" for owner, how in called(node) if how in PUTS and owner.split(".")[-1] == "shelf"}
        inside = sum(1 for _, node in functions(tree.body) for owner, how in called(node) if how in PUTS and owner.endswith("shelf"))
        if inside != sum(1 for owner, how in called(tree) if how in PUTS and owner.endswith("shelf")):
            elsewhere.append(module)  # at a module's top, where no name can be given
    declared(found, SHELF)
    assert elsewhere == []


def commands(app: Any, before: tuple[str, ...] = ()) -> Iterator[str]:
    """What of each command's parameters is a path."""
    for command in app.registered_commands:
        name = " ".join((*before, command.name or command.callback.__name__))
        hints = typing.get_type_hints(command.callback, include_extras=True)
        yield from (f"{name} {parameter}" for parameter, hint in hints.items() if "Path" in str(hint))
    for group in app.registered_groups:
        yield from commands(group.typer_instance, (*before, group.name))


def test_every_file_of_a_command_is_declared() -> None:
    declared(set(commands(cli.app)), COMMANDS)


def test_every_function_that_gives_or_writes_is_declared() -> None:
    found = set()
    for module, tree in sources("engines"):
        for name, node in functions(tree.body):
            if any(part.startswith("_") for part in name.split(".")):
                continue
            given = ast.unparse(node.returns) if node.returns else ""
            if any(re.search(rf"\b{word}\b", given) for word in GIVES) or {how for _, how in called(node)} & WRITES:
                found.add(f"{module}:{name}")
    declared(found, PYTHON)


def test_every_script_that_hands_something_out_is_declared() -> None:
    found = {
        f"{path.name} {call or named}"
        for path in sorted((ROOT / "assets" / "theme").glob("*.js"))
        for call, named in HANDS_OUT.findall(path.read_text(encoding="utf-8"))
    }
    declared(found, SCRIPTS)


def test_a_picture_has_a_test_that_takes_it() -> None:
    for table, entries in TABLES.items():
        for name, way in entries.items():
            assert way.told, (table, name)
            if way.kind == "picture":
                file, test = way.told.split("::")
                assert test in dict(functions(ast.parse((ROOT / file).read_text(encoding="utf-8")).body)), (table, name, way.told)


@pytest.mark.parametrize("table", list(TABLES))
def test_a_new_way_fails_by_its_name(table: str) -> None:
    with pytest.raises(AssertionError, match="GET /new"):
        declared({*TABLES[table], "GET /new"}, TABLES[table])
    gone = next(iter(TABLES[table]))
    with pytest.raises(AssertionError, match=re.escape(gone)):
        declared(set(TABLES[table]) - {gone}, TABLES[table])


def test_the_shipped_photos_say_nothing_of_ai(studio: Studio) -> None:
    shipped = sorted(EXAMPLES.glob("*.jpg"))
    assert len(shipped) == 4
    for path in shipped:
        found = studio.verify(path)
        assert (found.verdict, found.id, found.labels.algorithmic) == ("unmarked", None, False), path


def test_what_python_is_given_is_marked(studio: Studio, astronaut: NDArray[np.uint8], officer_path: Path, tmp_path: Path) -> None:
    """A fusion by each public way says that it is one; a photo by each says nothing of AI."""
    fused = studio.fuse(officer_path, astronaut)
    alike = studio.fuse_faces([(officer_path, fused.options)], astronaut)
    frame = studio.read(astronaut)
    fused.save(tmp_path / "saved.png")
    save(alike.image, tmp_path / "too.webp", key=studio.key)
    plain = fused.encode("png", signed=False)
    preview = studio.encode(studio.marker.preview_of(fused.image, 400), "jpg").data
    told = [(tmp_path / "saved.png").read_bytes(), (tmp_path / "too.webp").read_bytes(), fused.encode("jpg").data, plain.data, preview]
    write_encoded(plain, tmp_path / "encoded.png")
    told.append((tmp_path / "encoded.png").read_bytes())
    told += [studio.sign(plain, fused.image).data, studio.encode(fused.image, "avif").data]
    found = studio.verify(told[0])
    told.append(studio.encode(studio.heat(told[0], found), "png").data)
    told.append(studio.encode(studio.mask(told[0]), "png").data)
    told.append(studio.encode(studio.mark(io.decode(told[0], "", 10), "crop", of=io.decode(told[0], "", 10)), "png").data)
    for number, data in enumerate(told):
        said = studio.verify(data)
        assert (said.verdict, said.labels.labels.source_type) == ("made_here", FUSED), number
    photos = [
        studio.mask(frame),
        studio.mark(astronaut, "crop"),
        studio.mark(astronaut, "preview"),
        studio.heat(frame, studio.verify(_png(astronaut))),
    ]
    for number, image in enumerate(photos):
        said = studio.verify(studio.encode(image, "png").data)
        assert (said.id, said.labels.algorithmic, said.labels.labels.tool[:13]) == (None, False, "Fusion Studio"), number


def _png(pixels: NDArray[np.uint8]) -> bytes:
    out = BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()
