"""Who may know whom, and who may write a picture: read from the syntax trees, so that no path has to be run to be judged."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]

# The floor plan: a room may know the floors below it and itself, never a neighbour on its own floor. A module that stands in no
# room fails the test: whoever adds one says here where it belongs. Longest prefix counts.
FLOORS: tuple[dict[str, tuple[str, ...]], ...] = (
    {
        "values": (
            "engines.types",
            "engines.errors",
            "engines.text",
            "engines.timing",
            "engines.settings",
            "engines.options",
            "engines.face_mask",
        )
    },
    {
        "vision": ("engines.vision",),
        "cache": ("engines.cache",),
        "presets": ("engines.presets",),
        "packing": ("engines.packing",),
        "store": (
            *("engines.manifest", "engines.model_entry", "engines.model_files", "engines.download", "engines.rebuild"),
            *("engines.onnx_file", "engines.toml_table", "engines.pretrained"),
        ),
    },
    {"runtime": ("engines.runtime",)},
    {
        "faces": ("engines.faces",),
        "safety": ("engines.safety",),
        "provenance": ("engines.provenance",),
        "tokens": ("engines.tokens",),
        "prompts": ("engines.prompts",),
        "text encoder": ("engines.text_encoder",),
        "visual cache": ("engines.visual_cache",),
        "sentences": ("engines.sentences",),
    },
    {"personas": ("engines.personas", "engines.persona_file")},
    {"results": ("engines.results",)},
    {"models": ("engines.models",)},
    {"known": ("engines.known",)},
    {"choosing": ("engines.choosing",)},
    {"fusing": ("engines.fusing",), "batch": ("engines.batch",), "reading": ("engines.reading",), "marking": ("engines.marking",)},
    {"pipeline": ("engines.pipeline", "engines.comparing", "engines.footprint"), "counting": ("engines.picture_tokens",)},
    {"studio": ("studio",)},
)
FACADE = "engines"  # engines/__init__.py names what others may take, and loads it when it is used

ENGINES_MAY = {"numpy", "cv2", "PIL", "pi_heif", "platformdirs", "httpx", "defusedxml", "cryptography", "c2pa", "tokenizers", "psutil"}
TORCH_IN = (
    "engines.text_encoder",
    "engines.visual_cache",
    "engines.pretrained",
    "engines.sentences",
    "engines.provenance.on_device",
)  # the extra `torch`; imported where it is used, never at the top
PACKAGES_FOR = {"imwatermark": "engines.provenance.second_mark"}  # of the extra `marks`; imported where it is used
VISION_MAY = {"numpy", "cv2", "PIL", "pi_heif"}
ONNXRUNTIME_IN = {"engines.runtime.ort", "engines.runtime.providers"}
SEES_ONLY_THE_PROTOCOL = ("engines.faces", "engines.safety", "engines.models")
FILES = "engines.provenance.files"  # how a file gets its bytes in one step: for outputs, and for the keys
WRITER = "engines.provenance.save"
ENCODER = "engines.provenance.encoders"  # the writer's alone
ONLY_FOR = {FILES: {"engines.provenance.output", "engines.provenance.keys", "engines.provenance.certificates"}, ENCODER: {WRITER}}
COMPUTED_NAMES_IN = {"engines", "engines.runtime.providers"}  # import_module with a name that isn't written out: the facade, a plug-in

# Ways to turn pixels into an encoded picture or a file of one's own. `save` is Pillow's and NumPy's.
ENCODERS = {
    "imwrite", "imwritemulti", "imwriteanimation", "imencode", "imencodemulti", "imencodeanimation", "imsave", "VideoWriter",
    "save", "savez", "savez_compressed", "savetxt", "tofile",
}  # fmt: skip
PICTURE_PACKAGES = {"imageio", "matplotlib", "skimage", "tifffile", "torchvision", "pyvips", "png", "qoi", "wand"}
# Gradio's picture components encode whatever array a handler returns.
COMPONENTS = {"Image", "ImageEditor", "ImageMask", "ImageSlider", "Paint", "Sketchpad", "Gallery", "AnnotatedImage", "Video", "Plot"}
PERSONAS = "engines.personas"  # a persona's file is no picture: no viewer opens it, and no photo is in it
# `FusionResult.save`, which goes through the writer; `Persona.save`, which keeps no picture
SAVES_OF_OURS = {
    ("engines.visual_cache.store", "safetensors.torch"),  # tensors
    ("studio.cli", "result"),
    ("studio.batch_commands", "result"),
    ("studio.batches", "result"),
    ("studio.compare_commands", "result"),
    ("studio.persona_commands", "persona"),
}
BYTES_WRITTEN_BY = {
    FILES, "engines.download", "engines.model_files", "engines.rebuild",
    "engines.visual_cache.store",  # what a vision model made of a picture: numbers, in a folder that somebody asked for
    "studio.media",  # a visitor's uploads, and what the writer encoded
    "studio.uploads",  # as they arrive
}  # fmt: skip
OS_WRITES = {("os", "open"), ("os", "write"), ("os", "fdopen")}
MARKERS = {"MarkedImage": "engines.provenance.mark", "MarkedVideo": "engines.provenance.video"}  # who alone makes what may leave


class Module(NamedTuple):
    name: str
    tree: ast.Module


class Import(NamedTuple):
    line: int
    name: str


def modules(*packages: str) -> list[Module]:
    found = []
    for path in sorted(path for package in packages for path in (ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found.append(Module(".".join(parts[:-1] if parts[-1] == "__init__" else parts), ast.parse(path.read_text(encoding="utf-8"))))
    return found


TREES = modules("engines", "studio")
NAMES = {module.name for module in TREES}


def imports(module: Module) -> Iterator[Import]:
    """Every import of a module, at the top or inside a function, by statement or by `import_module`; `TYPE_CHECKING` too."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.name.rsplit(".", node.level)[0] if node.level else ""
            source = ".".join(part for part in (package, node.module or "") if part)
            # The version is a word that stands in engines/__init__.py itself; everything else there comes from above.
            members = [f"{source}.{alias.name}" for alias in node.names if f"{source}.{alias.name}" != f"{FACADE}.__version__"]
            yield from (Import(node.lineno, member if member in NAMES else source) for member in members)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__") and node.args:
            name = node.args[0].value if isinstance(node.args[0], ast.Constant) else "<computed>"
            yield Import(node.lineno, str(name))


def room(name: str) -> tuple[int, str] | None:
    """(floor, room) of a module; None for one that stands nowhere."""
    places = [
        (len(prefix), floor, label)
        for floor, rooms in enumerate(FLOORS)
        for label, prefixes in rooms.items()
        for prefix in prefixes
        if name == prefix or name.startswith(prefix + ".")
    ]
    return max(places)[1:] if places else None


def import_faults(module: Module) -> list[str]:
    """What a module imports and mayn't, one sentence each."""
    faults = []
    here = room(module.name)
    if here is None and module.name != FACADE:
        return [f"{module.name} stands in no room of FLOORS"]
    for line, name in imports(module):
        top = name.split(".")[0]
        said = f"{module.name}:{line} imports {name}"
        if name == "<computed>":
            if module.name not in COMPUTED_NAMES_IN:
                faults.append(said)
        elif top in ("engines", "studio"):
            there = room(name)
            if module.name == FACADE:
                if top == "studio":
                    faults.append(said)
            elif name == FACADE:
                if here and here[1] != "studio":
                    faults.append(f"{said}, whose names come from above")
            elif there is None:
                faults.append(f"{said}, which stands in no room")
            elif here and there != here and there[0] >= here[0]:
                faults.append(f"{said}: {here[1]} mayn't know {there[1]}")
            elif (
                name.startswith("engines.runtime") and name != "engines.runtime.session" and module.name.startswith(SEES_ONLY_THE_PROTOCOL)
            ):
                faults.append(f"{said}: models see the protocol only")
            elif module.name not in ONLY_FOR.get(name, {module.name}):
                faults.append(f"{said}, which is not for it")
        elif top == "onnxruntime":
            if module.name not in ONNXRUNTIME_IN:
                faults.append(said)
        elif top not in sys.stdlib_module_names and module.name.startswith("engines"):
            allowed = VISION_MAY if module.name.startswith("engines.vision") else ENGINES_MAY
            if (
                top not in allowed
                and module.name != PACKAGES_FOR.get(top)
                and not (top in ("torch", "safetensors", "transformers") and module.name.startswith(TORCH_IN))
            ):
                faults.append(said)
    return faults


def writer_faults(module: Module) -> list[str]:
    """Every place where a module could encode or write a picture, or make a `MarkedImage` or `MarkedVideo`, and mayn't."""
    faults = []
    for node in ast.walk(module.tree):
        said = f"{module.name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            source = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            names = [alias.name for alias in node.names]
            ours = source.startswith(("engines", "studio"))
            faults += [f"{said} imports {name}" for name in names if name in ENCODERS and not ours and module.name != ENCODER]
            faults += [f"{said} imports {name}" for name in names if name == "write_bytes" and module.name not in (WRITER, PERSONAS)]
            faults += [f"{said} imports {name}" for name in (source, *names) if name.split(".")[0] in PICTURE_PACKAGES]
            faults += [f"{said} takes gradio's {name}" for name in names if source.startswith("gradio") and name in COMPONENTS]
        elif isinstance(node, ast.Attribute):
            receiver = ast.unparse(node.value)
            if node.attr in ENCODERS and module.name != ENCODER and (module.name, receiver) not in SAVES_OF_OURS:
                faults.append(f"{said} uses {receiver}.{node.attr}")
            if node.attr in COMPONENTS and receiver.split(".")[0] in ("gr", "gradio"):
                faults.append(f"{said} uses {receiver}.{node.attr}")
            writes = node.attr in ("write_bytes", "NamedTemporaryFile", "mkstemp") or (receiver, node.attr) in OS_WRITES
            if writes and module.name not in BYTES_WRITTEN_BY:
                faults.append(f"{said} uses {receiver}.{node.attr}")
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).split(".")[-1]
            words = [value.value for value in (*node.args, *(each.value for each in node.keywords)) if isinstance(value, ast.Constant)]
            if name in ("getattr", "attrgetter", "methodcaller") and any(word in ENCODERS for word in words):
                faults.append(f"{said} reaches an encoder by its name")
            modes = [word for word in words if isinstance(word, str) and len(word) <= 3 and "b" in word and set(word) & set("wax+")]
            if name in ("open", "fdopen") and modes and module.name not in BYTES_WRITTEN_BY:
                faults.append(f"{said} opens a file to write bytes")
            for kind, marker in MARKERS.items():
                if name == kind and module.name != marker:
                    faults.append(f"{said} makes a {kind}")
                if name == "__new__" and kind in ast.unparse(node) and module.name != marker:
                    faults.append(f"{said} makes a {kind} past its constructor")
    return faults


@pytest.mark.parametrize("module", TREES, ids=lambda module: module.name)
def test_a_module_knows_only_the_floors_below(module: Module) -> None:
    assert import_faults(module) == []


@pytest.mark.parametrize("module", TREES, ids=lambda module: module.name)
def test_only_the_writer_writes_pictures_and_only_the_marker_marks(module: Module) -> None:
    assert writer_faults(module) == []


def test_the_door_needs_nothing_but_python() -> None:
    door = modules("tools/door")
    launch = Module("launch", ast.parse((ROOT / "launch.py").read_text(encoding="utf-8")))
    strangers = [
        f"{m.name} {i.name}" for m in (*door, launch) for i in imports(m) if i.name.split(".")[0] not in ("tools", *sys.stdlib_module_names)
    ]
    assert strangers == []


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("engines.errors", "from engines.vision import mask", "values mayn't know vision"),
        ("engines.vision.mask", "def f():\n    from engines.runtime.session import Session", "vision mayn't know runtime"),
        ("engines.vision.mask", "from ..runtime import session", "vision mayn't know runtime"),
        ("engines.vision.mask", "import torch", "imports torch"),
        ("engines.vision.mask", "import httpx", "imports httpx"),
        ("engines.runtime.session", "from engines.faces import topology", "runtime mayn't know faces"),
        ("engines.faces.pose", "from engines.provenance.keys import MarkKey", "faces mayn't know provenance"),
        ("engines.provenance.mark", "import engines.faces.pose", "provenance mayn't know faces"),
        ("engines.safety", "from engines.faces.pose import pose_of", "safety mayn't know faces"),
        ("engines.faces.pose", "from engines.runtime.ort import OrtSession", "the protocol only"),
        ("engines.faces.pose", "from engines.runtime import Session", "the protocol only"),
        ("engines.safety", "import onnxruntime", "imports onnxruntime"),
        ("studio.app", "from onnxruntime import InferenceSession", "imports onnxruntime"),
        ("engines.pipeline", "from studio.app import create_app", "pipeline mayn't know studio"),
        ("engines.pipeline", "import gradio as gr", "imports gradio"),
        ("engines.faces.pose", "from engines import Studio", "from above"),
        ("engines.faces.pose", "import importlib\nimportlib.import_module('torch')", "imports torch"),
        ("engines.faces.pose", "from importlib import import_module\nimport_module(name)", "<computed>"),
        ("engines.faces.pose", "__import__('studio.app')", "faces mayn't know studio"),
        ("engines.provenance.verify", "from engines.provenance import files", "not for it"),
        ("studio.crops", "from engines.provenance.files import Temporary", "not for it"),
        ("engines.provenance.verify", "from engines.provenance import encoders", "not for it"),
        ("engines.attic", "import os", "stands in no room"),
        ("engines.faces.pose", "from engines.attic import box", "stands in no room"),
        ("engines", "def f():\n    import studio.app", "imports studio.app"),
    ],
)
def test_the_walk_finds_a_forbidden_import(name: str, code: str, said: str) -> None:
    faults = import_faults(Module(name, ast.parse(code)))
    assert len(faults) == 1
    assert said in faults[0]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("engines.faces.pose", "import numpy as np\nfrom engines.vision.geometry import apply\nfrom engines.faces import topology"),
        ("engines.safety", "from engines.runtime.session import Session"),
        ("engines.pipeline", "from engines.models import Models\nfrom engines.provenance.mark import mark"),
        ("studio.app", "import gradio\nimport engines\nfrom engines.runtime.providers import provider_report"),
        ("engines.runtime.ort", "def f():\n    import onnxruntime"),
        ("engines.provenance.metadata", "from engines import __version__"),
        ("engines.provenance.keys", "from engines.provenance import files"),
    ],
)
def test_the_walk_lets_an_allowed_import_pass(name: str, code: str) -> None:
    assert import_faults(Module(name, ast.parse(code))) == []


@pytest.mark.parametrize(
    "code",
    [
        "cv2.imwrite('a.png', pixels)",
        "ok, data = cv2.imencode('.png', pixels)",
        "write = cv2.imencode",
        "from cv2 import imencode as e",
        "getattr(cv2, 'imencode')('.png', pixels)",
        "Image.fromarray(pixels).save('a.png')",
        "picture.save(buffer, 'PNG')",
        "result = Image.fromarray(pixels)\nresult.save(path)",
        "keep = picture.save",
        "np.save('a.npy', pixels)",
        "from numpy import savez",
        "pixels.tofile('a.raw')",
        "plt.imsave('a.png', pixels)",
        "import imageio.v3 as iio",
        "from skimage import io",
        "cv2.VideoWriter('a.mp4', 0, 25, (2, 2))",
        "gr.Image(value=pixels)",
        "gr.Gallery()",
        "from gradio import ImageSlider",
        "from gradio.components import Image as Picture",
        "path.write_bytes(data)",
        "from engines.provenance.output import write_bytes",
        "from engines.provenance import output\noutput.write_bytes(data, path, True)",
        "open('a.ppm', 'wb').write(data)",
        "path.open(mode='xb')",
        "os.fdopen(descriptor, 'r+b')",
        "os.write(os.open(path, flags), data)",
        "tempfile.NamedTemporaryFile()",
        "MarkedImage(pixels, None, mark, labels, 'fusion')",
        "provenance.mark.MarkedImage(pixels)",
        "object.__new__(MarkedImage)",
        "MarkedVideo(mark_id, 640, 360, 24, labels)",
        "object.__new__(video.MarkedVideo)",
    ],
)
def test_the_walk_finds_another_way_to_a_picture(code: str) -> None:
    for name in ("engines.faces.pose", "studio.api"):
        assert writer_faults(Module(name, ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "from engines.provenance.save import encode, save\nsave(image, path)",
        "open(path, 'rb').read()",
        "path.write_text(json.dumps(values))",
        "picture = Image.open(stream)\npicture.load()",
        "cv2.imdecode(values, 1)",
        "def f(image: MarkedImage) -> bytes: return encode(image, 'png').data",
        "gr.HTML('<img>')",
        "isinstance(image, MarkedImage)",
    ],
)
def test_the_walk_lets_reading_and_the_one_way_pass(code: str) -> None:
    assert writer_faults(Module("studio.api", ast.parse(code))) == []


def test_the_saves_of_ours_are_really_there() -> None:
    """An exception that nobody needs any more is a hole."""
    used = {
        (module.name, ast.unparse(node.value))
        for module in TREES
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr == "save"
    }
    assert used >= SAVES_OF_OURS
    assert BYTES_WRITTEN_BY | ONNXRUNTIME_IN | {WRITER, PERSONAS, *MARKERS.values()} <= NAMES


def loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*(name for name in sys.modules if '.' not in name))"
    answer = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(answer.stdout.split())


@pytest.mark.parametrize("code", ["import engines", "from engines import Studio, Settings, FuseOptions"])
def test_the_engines_load_no_framework(code: str) -> None:
    assert loaded_by(code) & {"torch", "gradio", "fastapi", "onnxruntime", "studio", "pandas", "matplotlib"} == set()


def test_the_engines_alone_load_not_even_arrays() -> None:
    """Which is all of what their import costs: numpy and cv2 take five times as long as the rest of it."""
    assert loaded_by("import numpy, cv2") >= {"numpy", "cv2"}
    assert loaded_by("import engines") & {"numpy", "cv2", "PIL", "cryptography"} == set()


def test_the_rooms_that_use_torch_can_be_looked_at_without_it() -> None:
    code = "import sys; sys.modules['torch'] = None\n"
    code += "import engines.text_encoder.pipelines, engines.visual_cache.inputs, engines.visual_cache.features"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False).stderr == ""
