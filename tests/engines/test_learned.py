"""Models of others in the pipeline: tiny graphs with their contracts, added as a person adds them, with a list of one's own."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engines.errors import InvalidOption, LicenceNotAccepted, ModelMissing
from engines.face_mask import FaceMask
from engines.faces.embedder import distance
from engines.faces.scrfd import Scrfd
from engines.fusing import fuse
from engines.manifest import Manifest
from engines.options import FuseOptions
from engines.pipeline import Studio
from engines.provenance.metadata import read_labels
from engines.settings import Settings
from engines.text import LANGUAGES
from engines.timing import Run
from engines.types import Pixels
from tests import graphs

ENTRY = """
[models.{name}]
task = "{task}"
contract = "{contract}"
{more}
file = "{name}.onnx"
sha256 = "{sha256}"
size = {size}
licence = "LicenseRef-{name}-research"
use = "research"
commercial = false
template = ""
minimum_memory_mb = 1
input = {{ name = "x", axes = [1, 3, "H", "W"], layout = "NCHW", colour = "RGB", range = {range}, mean = {mean}, std = {std} }}
outputs = [{{ name = "y", axes = ["n"], meaning = "as the contract has it" }}]
"""
KINDS: dict[str, tuple[str, str, str, str, float, float, Callable[[Path], Path]]] = {
    "tiny_finder": ("detect", "scrfd", "", "[0, 255]", 127.5, 128, partial(graphs.scrfd, doubt=60.0)),
    "tiny_knower": ("identity", "arcface", "", "[0, 255]", 127.5, 127.5, graphs.arcface),
    "tiny_swapper": ("swap", "inswapper", 'identity = "tiny_knower"', "[0, 1]", 0, 1, graphs.inswapper),
    "tiny_restorer": ("restore", "codeformer", "", "[-1, 1]", 0, 1, graphs.codeformer),
    "tiny_parser": ("parse", "face_parser", "", "[0, 1]", 0, 1, graphs.face_parser),
    "tiny_occluder": ("occlude", "face_occluder", "", "[0, 1]", 0, 1, graphs.face_occluder),
}
SWAP = FuseOptions(model="tiny_swapper")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    (folder / "models").mkdir()
    text = "format = 1\n"
    for name, (task, contract, more, span, mean, std, make) in KINDS.items():
        content = make(folder / "models" / f"{name}.onnx").read_bytes()
        facts = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "range": span, "mean": [mean] * 3, "std": [std] * 3}
        text += ENTRY.format(name=name, task=task, contract=contract, more=more, **facts)
    (folder / "models" / "models.toml").write_text(text)
    return folder


def opened(data: Path, **settings: str) -> Studio:
    return Studio.open(Settings(data_dir=data, provider="cpu", threads=2, **settings))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def learned(data: Path) -> Iterator[Studio]:
    """A studio whose owner accepted all licences."""
    with opened(data) as studio:
        for name in KINDS:
            studio.manifest.fetch(name, accept_licence=True)
        yield studio


def inside(studio: Studio, pixels: Pixels) -> np.ndarray:
    """(H, W) where the face of a picture may be painted."""
    frame = studio.read(pixels)
    (face,) = studio.faces(frame).faces
    low, high = face.mesh.points[:468, :2].min(0), face.mesh.points[:468, :2].max(0)
    rows, columns = np.mgrid[: pixels.shape[0], : pixels.shape[1]]
    return np.asarray((columns > low[0] - 2) & (columns < high[0] + 2) & (rows > low[1] - 2) & (rows < high[1] + 2))


def test_the_face_changes_and_outside_it_not_a_value(learned: Studio, astronaut: Pixels, officer: Pixels) -> None:
    """Before the mark, which changes all of the picture a little."""
    frame = learned.read(astronaut)
    for options in (SWAP, FuseOptions(model="tiny_swapper", boost=2, restore="tiny_restorer")):
        done = fuse(learned.known, [(learned.read(officer), options)], frame, Run())
        changed = np.abs(done.pixels.astype(int) - astronaut).max(axis=2) > 0
        assert changed.sum() > 1000
        assert not (changed & ~inside(learned, astronaut)).any()


def test_a_restorer_follows_the_mesh_fusion_too(learned: Studio, astronaut: Pixels, officer: Pixels) -> None:
    frame, source = learned.read(astronaut), learned.read(officer)
    plain, none, whole = (
        fuse(learned.known, [(source, FuseOptions(restore=name, restore_share=share))], frame, Run()).pixels.astype(int)
        for name, share in (("", 0.8), ("tiny_restorer", 0.0), ("tiny_restorer", 1.0))
    )
    face = inside(learned, astronaut)
    kept, drawn = (float(np.abs(one - plain)[face].mean()) for one in (none, whole))
    assert kept < 4  # the grain alone, which comes last now
    assert drawn > 2 * kept


def test_two_sources_give_two_faces_and_strength_halves_the_change(learned: Studio, astronaut: Pixels, officer: Pixels) -> None:
    frame = learned.read(astronaut)

    def fused(source: Pixels, **options: float) -> np.ndarray:
        made = fuse(learned.known, [(learned.read(source), FuseOptions(model="tiny_swapper", texture=0.0, **options))], frame, Run())  # type: ignore[arg-type]
        return made.pixels.astype(float) - astronaut

    whole, other = fused(officer), fused(np.ascontiguousarray(officer[:, ::-1]))
    assert np.abs(whole - other).max() > 5
    half = fused(officer, strength=0.5)
    assert np.abs(half).sum() == pytest.approx(0.5 * np.abs(whole).sum(), rel=0.05)


@pytest.mark.parametrize(("option", "part"), [("keep_eyes", (468, 473)), ("keep_mouth", (13, 14))])
def test_what_the_target_keeps_is_its_own(option: str, part: tuple[int, ...], learned: Studio, astronaut: Pixels, officer: Pixels) -> None:
    frame = learned.read(astronaut)
    (face,) = learned.faces(frame).faces
    options = FuseOptions(model="tiny_swapper", texture=0.0, **{option: True})  # type: ignore[arg-type]
    done = fuse(learned.known, [(learned.read(officer), options)], frame, Run()).pixels
    for vertex in part:
        x, y = face.mesh.points[vertex, :2].round().astype(int)
        np.testing.assert_array_equal(done[y, x], astronaut[y, x])


@pytest.mark.parametrize("format", ["png", "jpg", "webp"])
def test_the_licence_stands_in_the_result_and_in_the_file(format: str, learned: Studio, astronaut: Pixels, officer: Pixels) -> None:
    done = learned.fuse(officer, astronaut, FuseOptions(model="tiny_swapper", restore="tiny_restorer"))
    told = done.as_dict()
    assert told["model"] == "tiny_swapper + tiny_restorer"
    assert not told["commercial"]
    assert told["licence"] == "LicenseRef-tiny_swapper-research AND LicenseRef-tiny_knower-research AND LicenseRef-tiny_restorer-research"
    assert {"tiny_swapper", "tiny_knower", "tiny_restorer", "centerface"} <= set(done.model.graphs)
    labels = read_labels(done.encode(format).data).labels
    assert labels.model == told["model"]
    assert labels.terms == f"no commercial use ({told['licence']})"


def test_the_default_pack_binds_nothing(learned: Studio, astronaut: Pixels, officer: Pixels) -> None:
    done = learned.fuse(officer, astronaut)
    assert (done.model.name, done.model.commercial, done.image.labels.terms) == ("mesh_fusion", True, "")
    assert done.image.labels.model == "mesh_fusion"


def test_a_licence_nobody_accepted_is_told_before_the_work(data: Path, astronaut: Pixels, officer: Pixels, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "models").symlink_to(data / "models")
    with opened(fresh) as studio:
        with pytest.raises(LicenceNotAccepted) as fault:
            studio.fuse(b"no picture", b"no picture", SWAP)
        assert "--accept-licence" in fault.value.hint()
        assert "tiny_swapper" in fault.value.message("zh-CN")
        for name in ("tiny_swapper", "tiny_knower"):
            studio.manifest.fetch(name, accept_licence=True)
        with pytest.raises(InvalidOption, match="restore"):
            studio.fuse(officer, astronaut, FuseOptions(restore="tiny_swapper"))


def test_a_model_that_is_not_there_is_told_with_the_way_to_get_it(data: Path, astronaut: Pixels, tmp_path: Path) -> None:
    with opened(tmp_path) as studio:
        with pytest.raises(LicenceNotAccepted):
            studio.fuse(astronaut, astronaut, FuseOptions(model="inswapper_128"))
        (tmp_path / "licences.json").write_text('{"inswapper_128": {"licence": "LicenseRef-InsightFace-non-commercial-research"}}')
        with pytest.raises(ModelMissing) as fault:
            studio.fuse(astronaut, astronaut, FuseOptions(model="inswapper_128"))
        for language in LANGUAGES:
            assert "fusion-studio models fetch inswapper_128" in fault.value.hint(language)


@pytest.mark.parametrize("options", [FuseOptions(model="nobody"), FuseOptions(model="tiny_knower"), FuseOptions(restore="mesh")])
def test_another_name_is_answered_with_those_that_there_are(options: FuseOptions, learned: Studio, astronaut: Pixels) -> None:
    with pytest.raises(InvalidOption) as fault:
        learned.fuse(astronaut, astronaut, options)
    allowed = str(fault.value.facts["allowed"])
    assert ("mesh, inswapper_128, tiny_swapper" if options.model != "mesh" else "gfpgan_14, codeformer, tiny_restorer") in allowed


@pytest.mark.parametrize(("name", "value"), [("boost", 3), ("boost", True), ("restore_share", 1.5), ("fidelity", -1.0)])
def test_other_values_are_refused(name: str, value: float, learned: Studio, astronaut: Pixels) -> None:
    with pytest.raises(InvalidOption) as fault:
        learned.fuse(astronaut, astronaut, FuseOptions(**{name: value}))  # type: ignore[arg-type]
    assert fault.value.facts["name"] == name


def test_a_persona_keeps_the_identity_of_one_model(learned: Studio, data: Path, astronaut: Pixels, officer: Pixels) -> None:
    half = np.ascontiguousarray(officer[2:, 2:])
    persona = learned.persona([officer, half], "somebody")
    with pytest.raises(InvalidOption) as fault:
        learned.fuse(persona, astronaut, SWAP)
    assert fault.value.reason == "persona_identity"
    assert fault.value.facts["needed"] == "tiny_knower"
    with opened(data, identity="tiny_knower") as studio:
        with pytest.raises(InvalidOption):
            studio.fuse(persona, astronaut)
        done = studio.fuse(studio.persona([officer, half], "somebody"), astronaut, SWAP)
        assert done.model.name == "tiny_swapper"


def test_the_identity_model_of_the_settings_measures(learned: Studio, data: Path, astronaut: Pixels, officer: Pixels) -> None:
    with opened(data, identity="tiny_knower") as studio:
        done = studio.fuse(officer, astronaut)
        assert "tiny_knower" in done.model.graphs
        assert not done.model.commercial  # its part in the result is bound by its licence
        frames = studio.read(officer), studio.read(astronaut)
        identities = [studio.known.identity(frame, studio.faces(frame).faces[0], Run()) for frame in frames]
        assert {identity.model for identity in identities} == {"tiny_knower"}
        assert done.faces[0].identity_before == pytest.approx(distance(*identities))
        assert done.faces[0].identity_before != pytest.approx(learned.fuse(officer, astronaut).faces[0].identity_before)


def test_the_detector_of_the_settings_proposes(data: Path, learned: Studio, astronaut: Pixels) -> None:
    with opened(data, detector="tiny_finder") as studio:
        assert isinstance(studio.models._open_detector(), Scrfd)
        assert studio.models.provider == "cpu"
        assert studio.faces(astronaut).faces == ()
    with opened(data, detector="tiny_knower") as studio, pytest.raises(InvalidOption, match="tiny_knower"):
        studio.faces(astronaut)


def test_only_what_was_accepted_may_be_chosen(learned: Studio, data: Path, tmp_path: Path) -> None:
    assert learned.manifest.usable("swap") == ("tiny_swapper",)
    assert learned.manifest.usable("restore") == ("tiny_restorer",)
    (tmp_path / "models").symlink_to(data / "models")
    with opened(tmp_path) as studio:
        assert studio.manifest.usable("swap") == ()
        studio.manifest.fetch("tiny_swapper", accept_licence=True)
        assert studio.manifest.usable("swap") == ()  # its identity model's licence counts too
        studio.manifest.fetch("tiny_knower", accept_licence=True)
        assert studio.manifest.usable("swap") == ("tiny_swapper",)


def test_the_list_of_models_has_both_ones(learned: Studio) -> None:
    names = [entry.name for entry in Manifest.load(learned.settings).entries]
    assert names[-len(KINDS) :] == list(KINDS)
    assert "centerface" in names


def test_a_learned_swapper_is_compared_with_the_mesh(learned: Studio, astronaut: Pixels, officer: Pixels) -> None:
    mesh, swapper = learned.compare(officer, astronaut, ["mesh", "tiny_swapper"])
    assert mesh.state == swapper.state == "compared"
    assert (mesh.commercial, swapper.commercial) == (True, False)
    assert "tiny_swapper" in swapper.licence
    assert swapper.result
    assert swapper.result.options.model == "tiny_swapper"


def test_a_swapper_whose_licence_nobody_accepted_is_told(tmp_path: Path, data: Path, astronaut: Pixels, officer: Pixels) -> None:
    shutil.copytree(data / "models", tmp_path / "models")
    with opened(tmp_path) as studio:
        (one,) = studio.compare(officer, astronaut, ["tiny_swapper"])
    assert (one.state, one.result) == ("licence", None)
    assert isinstance(one.fault, LicenceNotAccepted)


def test_a_parser_and_an_occluder_of_the_owners_take_part_and_bind_the_picture(
    learned: Studio, data: Path, tmp_path: Path, astronaut: Pixels, officer: Pixels
) -> None:
    options = FuseOptions(mask=FaceMask(("skin",), ("eyes",)))
    plain = learned.mask(astronaut, options).pixels
    with opened(data, parser="tiny_parser", occluder="tiny_occluder") as studio:
        assert studio.models.parser is studio.models.parser
        assert (studio.mask(astronaut, options).pixels != plain).any()
        model = studio.models.admit([options])
        assert {"tiny_parser", "tiny_occluder"} <= set(model.graphs)
        assert not model.commercial
        assert "LicenseRef-tiny_parser-research" in model.licence
    (tmp_path / "models").symlink_to(data / "models")
    with opened(tmp_path, occluder="tiny_occluder") as studio, pytest.raises(LicenceNotAccepted):
        studio.fuse(officer, astronaut)
    with opened(data, parser="tiny_occluder") as studio, pytest.raises(InvalidOption, match="parser"):
        studio.fuse(officer, astronaut)
