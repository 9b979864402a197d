"""`ModelEntry`: what models.toml says of one model, checked line by line when it is read."""

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from engines.errors import ManifestInvalid

FORMAT = 1
TASKS = ("detect", "mesh", "identity", "enhance", "safety", "occlusion", "topology")
Task = Literal["detect", "mesh", "identity", "enhance", "safety", "occlusion", "topology"]
Use = Literal["any", "research"]
Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Source:
    """The package whose files the model was made from.

    Attributes:
        package, version: as the package index names them.
        members: paths inside the package, in the order in which the converter takes them.
    """

    package: str
    version: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelInput:
    """How a network wants its picture: value = (pixel mapped from 0..255 to `range` − mean) / std.

    Attributes:
        name: of the tensor, float32.
        axes: four sizes or, for free axes, names.
        layout: NCHW or NHWC.
        colour: the order of the channels; `mean` and `std` are in the same order.
    """

    name: str
    axes: tuple[int | str, ...]
    layout: Literal["NCHW", "NHWC"]
    colour: Literal["RGB", "BGR"]
    range: tuple[float, float]
    mean: Triple
    std: Triple


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """A tensor that a network gives, float32, and what it means."""

    name: str
    axes: tuple[int | str, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """Everything that is known of a model before its file is touched.

    Attributes:
        name: what the rest of the studio calls it.
        task: one of `TASKS`.
        file: its name in a folder of models.
        sha256: of the file, 64 lower-case hexadecimal digits. size: in bytes.
        licence: SPDX name. use: "research" must be accepted before the model is fetched or opened. commercial: may it earn money.
        template: how the picture is laid before the network; models.toml lists them.
        minimum_memory_mb: beside the runtime, on the CPU.
        source: None for a model that is only downloaded. url: "" for a model of the default pack.
        input, outputs: None and () for a table of numbers.
    """

    name: str
    task: Task
    file: str
    sha256: str
    size: int
    licence: str
    use: Use
    commercial: bool
    template: str
    minimum_memory_mb: int
    source: Source | None
    url: str
    input: ModelInput | None
    outputs: tuple[ModelOutput, ...]

    @property
    def pack(self) -> bool:
        """Whether it comes with the studio."""
        return not self.url

    @property
    def optional(self) -> bool:
        """Whether it is downloaded by those who want it."""
        return bool(self.url)

    @property
    def needs_acceptance(self) -> bool:
        return self.use != "any" or not self.commercial

    def as_dict(self) -> dict[str, object]:
        """What the command line and the API tell of a model."""
        return {
            "name": self.name, "task": self.task, "file": self.file, "size": self.size, "sha256": self.sha256,
            "licence": self.licence, "use": self.use, "commercial": self.commercial, "optional": self.optional,
            "source": f"{self.source.package} {self.source.version}" if self.source else self.url,
        }  # fmt: skip


def read_entries(path: Path) -> tuple[ModelEntry, ...]:
    """Reads and checks a models.toml, in its order.

    Raises:
        ManifestInvalid: with the key at fault: unreadable, a missing or unknown key, a value of the wrong kind, two models with one file.
    """
    try:
        top = _Table(path, "", tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise ManifestInvalid(path=path, where="the file", detail=fault) from fault
    top.choice("format", (FORMAT,))
    models = top.table("models")
    entries = tuple(_entry(name, models.table(name)) for name in models.names())
    top.close()
    for i, entry in enumerate(entries):
        if entry.file in {other.file for other in entries[:i]}:
            raise ManifestInvalid(path=path, where=f"models.{entry.name}.file", detail=f"{entry.file} belongs to another model")
    return entries


def _entry(name: str, table: "_Table") -> ModelEntry:
    source, given_input = table.table("source", optional=True), table.table("input", optional=True)
    outputs = tuple(map(_output, table.tables("outputs")))
    entry = ModelEntry(
        name=name,
        task=cast(Task, table.choice("task", TASKS)),
        file=table.text("file", r"\w[\w.-]*"),
        sha256=table.text("sha256", r"[0-9a-f]{64}"),
        size=table.positive("size"),
        licence=table.text("licence"),
        use=cast(Use, table.choice("use", ("any", "research"))),
        commercial=bool(table.choice("commercial", (True, False))),
        template=table.text("template", r"\w*"),
        minimum_memory_mb=table.positive("minimum_memory_mb"),
        source=_source(source) if source else None,
        url=table.text("url", r"https?://\S+", optional=True),
        input=_input(given_input) if given_input else None,
        outputs=outputs,
    )
    if entry.source is None and not entry.url:
        raise table.fault("source", "a model needs a source or a url")
    if entry.use == "research" and entry.commercial:
        raise table.fault("commercial", "a model for research only can't be commercial")
    if (entry.input is None or not outputs) != (entry.task == "topology"):
        raise table.fault("input", "networks have an input and outputs, tables of numbers have neither")
    table.close()
    return entry


def _source(table: "_Table") -> Source:
    members = tuple(table.array("members", lambda value: isinstance(value, str) and bool(value)))
    source = Source(table.text("package", r"[\w.-]+"), table.text("version", r"[\w.!+-]+"), members)
    table.close()
    return source


def _input(table: "_Table") -> ModelInput:
    low, high = map(float, table.array("range", _is_number, 2))
    mean = tuple(map(float, table.array("mean", _is_number, 3)))
    std = tuple(map(float, table.array("std", lambda value: _is_number(value) and value > 0, 3)))
    if low >= high:
        raise table.fault("range", "the lower end comes first")
    layout, colour = table.choice("layout", ("NCHW", "NHWC")), table.choice("colour", ("RGB", "BGR"))
    axes = tuple(table.array("axes", _is_axis, 4))
    entry = ModelInput(table.text("name"), axes, layout, colour, (low, high), cast(Triple, mean), cast(Triple, std))
    table.close()
    return entry


def _output(table: "_Table") -> ModelOutput:
    output = ModelOutput(table.text("name"), tuple(table.array("axes", _is_axis)), table.text("meaning"))
    table.close()
    return output


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_axis(value: object) -> bool:
    return (isinstance(value, str) and bool(value)) or (isinstance(value, int) and not isinstance(value, bool) and value > 0)


class _Table:
    """One table of the file. Takes values out by key and checks them; `close` refuses what was never asked for."""

    def __init__(self, path: Path, where: str, values: object) -> None:
        self._path, self._where, self._taken = path, where, set[str]()
        if not isinstance(values, dict):
            raise self.fault("", "a table is needed")
        self._values: dict[str, Any] = values

    def names(self) -> tuple[str, ...]:
        return tuple(self._values)

    def fault(self, key: str, detail: str) -> ManifestInvalid:
        return ManifestInvalid(path=self._path, where=self._at(key), detail=detail)

    def close(self) -> None:
        for key in self._values:
            if key not in self._taken:
                raise self.fault(key, "no such key")

    def table(self, key: str, optional: bool = False) -> Any:
        """A table inside; None when it is optional and missing."""
        value = self._take(key, optional)
        return None if value is None else _Table(self._path, self._at(key), value)

    def tables(self, key: str) -> list["_Table"]:
        values = self._take(key, optional=True) or []
        if not isinstance(values, list):
            raise self.fault(key, "a list of tables is needed")
        return [_Table(self._path, f"{self._at(key)}[{i}]", value) for i, value in enumerate(values)]

    def text(self, key: str, pattern: str = r".+", optional: bool = False) -> str:
        """Text that matches `pattern` as a whole; "" when it is optional and missing."""
        value = self._take(key, optional)
        if value is None:
            return ""
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise self.fault(key, f"{value!r} doesn't have the form {pattern}")
        return value

    def positive(self, key: str) -> int:
        value = self._take(key)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise self.fault(key, f"{value!r} isn't a positive whole number")
        return value

    def choice(self, key: str, allowed: Iterable[Any]) -> Any:
        value, allowed = self._take(key), tuple(allowed)
        if not any(type(value) is type(choice) and value == choice for choice in allowed):
            raise self.fault(key, f"{value!r} is none of {', '.join(map(str, allowed))}")
        return value

    def array(self, key: str, good: Callable[[Any], bool], length: int | None = None) -> list[Any]:
        values = self._take(key)
        if not isinstance(values, list) or not values or len(values) != (length or len(values)) or not all(map(good, values)):
            raise self.fault(key, f"{values!r} isn't a list of {length or 'one or more'} good values")
        return values

    def _take(self, key: str, optional: bool = False) -> Any:
        self._taken.add(key)
        if key not in self._values and not optional:
            raise self.fault(key, "it is missing")
        return self._values.get(key)

    def _at(self, key: str) -> str:
        return ".".join(part for part in (self._where, key) if part)
