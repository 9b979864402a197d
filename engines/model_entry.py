"""`ModelEntry`: what models.toml says of one model, checked line by line when it is read."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from engines.errors import ManifestInvalid
from engines.toml_table import Table, is_axis, is_number

FORMAT = 1
Task = Literal[
    "detect", "mesh", "identity", "enhance", "safety", "occlusion", "topology", "swap", "landmarks", "restore", "parse", "occlude"
]
TASKS = get_args(Task)
# What a graph that others made is fed and gives back; the task that it then serves. A graph of ours needs none.
CONTRACTS: dict[str, Task] = {
    "scrfd": "detect",
    "yolo_face": "detect",
    "arcface": "identity",
    "inswapper": "swap",
    "landmarks_106": "landmarks",
    "gfpgan": "restore",
    "codeformer": "restore",
    "face_parser": "parse",
    "face_occluder": "occlude",
}
CONTRACTED = ("swap", "landmarks", "restore", "parse", "occlude")  # tasks that only graphs of others serve
NAME, SHA256 = r"\w[\w.-]*", r"[0-9a-f]{64}"
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
class Archive:
    """A ZIP in which a model's file comes, for those that nobody offers singly.

    Attributes:
        name: of the archive, without its suffix: what a person calls the set, and the folder in which InsightFace's own package keeps it.
        sha256, size: of the ZIP, as of a model's file.
        member: path of the file inside.
    """

    name: str
    sha256: str
    size: int
    member: str


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
        contract: a key of `CONTRACTS`, "" for a graph of ours. The adapter of that contract runs it; no graph is known by its shapes.
        identity: of a swapper, the entry whose embedding it takes; "" otherwise.
        archive: the ZIP that `url` leads to, for a model that doesn't come singly.
        own: a person added it, with a list of their own beside its file.
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
    contract: str = ""
    identity: str = ""
    archive: Archive | None = None
    own: bool = False

    @property
    def pack(self) -> bool:
        """Whether it comes with the studio."""
        return not self.optional

    @property
    def optional(self) -> bool:
        """Whether it is added by those who want it: downloaded, or with a list of their own."""
        return bool(self.url) or self.own

    @property
    def needs_acceptance(self) -> bool:
        return self.use != "any" or not self.commercial

    def as_dict(self) -> dict[str, object]:
        """What the command line and the API tell of a model."""
        return {
            "name": self.name, "task": self.task, "file": self.file, "size": self.size, "sha256": self.sha256,
            "licence": self.licence, "use": self.use, "commercial": self.commercial, "optional": self.optional,
            "source": f"{self.source.package} {self.source.version}" if self.source else self.url,
        } | ({"contract": self.contract} if self.contract else {})  # fmt: skip


def read_entries(path: Path, own: bool = False) -> tuple[ModelEntry, ...]:
    """Reads and checks a models.toml, in its order.

    Args:
        own: it is a person's own list, whose files may come from anywhere: neither source nor url is needed.

    Raises:
        ManifestInvalid: with the key at fault: unreadable, a missing or unknown key, a value of the wrong kind, two models with one file.
    """
    top = Table.read(path)
    top.choice("format", (FORMAT,))
    models = top.table("models")
    entries = tuple(_entry(name, models.table(name), own) for name in models.names())
    top.close()
    for i, entry in enumerate(entries):
        if entry.file in {other.file for other in entries[:i]}:
            raise ManifestInvalid(path=path, where=f"models.{entry.name}.file", detail=f"{entry.file} belongs to another model")
    return entries


def _entry(name: str, table: Table, own: bool) -> ModelEntry:
    source, given_input = table.table("source", optional=True), table.table("input", optional=True)
    outputs, archive = tuple(map(_output, table.tables("outputs"))), table.table("archive", optional=True)
    entry = ModelEntry(
        name=name,
        task=cast(Task, table.choice("task", TASKS)),
        file=table.text("file", NAME),
        sha256=table.text("sha256", SHA256),
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
        contract=table.text("contract", "|".join(CONTRACTS), optional=True),
        identity=table.text("identity", NAME, optional=True),
        archive=_archive(archive) if archive else None,
        own=own,
    )
    if entry.source is None and not entry.url and not own:
        raise table.fault("source", "a model needs a source or a url")
    if CONTRACTS.get(entry.contract, entry.task) != entry.task:
        raise table.fault("contract", f"{entry.contract} is for the task {CONTRACTS[entry.contract]}")
    if not entry.contract and (own or entry.task in CONTRACTED):
        raise table.fault("contract", f"a model that isn't the studio's own needs one of {', '.join(CONTRACTS)}")
    if bool(entry.identity) != (entry.task == "swap"):
        raise table.fault("identity", "a swapper, and nothing else, names the model whose identity it takes")
    if entry.archive is not None and not entry.url:
        raise table.fault("url", "an archive needs one")
    if entry.use == "research" and entry.commercial:
        raise table.fault("commercial", "a model for research only can't be commercial")
    if (entry.input is None or not outputs) != (entry.task == "topology"):
        raise table.fault("input", "networks have an input and outputs, tables of numbers have neither")
    table.close()
    return entry


def _source(table: Table) -> Source:
    members = tuple(table.array("members", lambda value: isinstance(value, str) and bool(value)))
    source = Source(table.text("package", r"[\w.-]+"), table.text("version", r"[\w.!+-]+"), members)
    table.close()
    return source


def _archive(table: Table) -> Archive:
    archive = Archive(table.text("name", NAME), table.text("sha256", SHA256), table.positive("size"), table.text("member"))
    table.close()
    return archive


def _input(table: Table) -> ModelInput:
    low, high = map(float, table.array("range", is_number, 2))
    mean = tuple(map(float, table.array("mean", is_number, 3)))
    std = tuple(map(float, table.array("std", lambda value: is_number(value) and value > 0, 3)))
    if low >= high:
        raise table.fault("range", "the lower end comes first")
    layout, colour = table.choice("layout", ("NCHW", "NHWC")), table.choice("colour", ("RGB", "BGR"))
    axes = tuple(table.array("axes", is_axis, 4))
    entry = ModelInput(table.text("name"), axes, layout, colour, (low, high), cast(Triple, mean), cast(Triple, std))
    table.close()
    return entry


def _output(table: Table) -> ModelOutput:
    output = ModelOutput(table.text("name"), tuple(table.array("axes", is_axis)), table.text("meaning"))
    table.close()
    return output
