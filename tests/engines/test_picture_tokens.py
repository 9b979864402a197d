"""The tokens of a picture with its faces, and of folders."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engines.errors import Cancelled, FaceIndexError, InvalidOption
from engines.picture_tokens import count, count_many, count_sizes, distribution, place_of
from engines.pipeline import Studio
from engines.results import FoundFaces
from engines.settings import Settings
from engines.timing import Run
from engines.tokens.visual import chosen, load
from engines.vision import io

MODELS = chosen(load(), ["claude", "clip_l14", "smolvlm_2b"])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, officer_path: Path) -> FoundFaces:
    with Studio.open(Settings.load(data_dir=tmp_path_factory.mktemp("data"), provider="cpu")) as studio:
        return studio.faces(officer_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six pictures of three sizes, one of them turned, and one that isn't one."""
    turned = Image.Exif()
    turned[0x0112] = 6
    for number, size in enumerate([(640, 480), (640, 480), (56, 28), (56, 28), (56, 28)]):
        Image.new("RGB", size).save(tmp_path / f"{number}.{'jpg' if number % 2 else 'png'}")
    Image.new("RGB", (480, 640)).save(tmp_path / "5.jpg", exif=turned)
    (tmp_path / "6.jpg").write_bytes(b"no picture at all")
    return tmp_path


def test_a_picture_is_counted_with_its_face(found: FoundFaces) -> None:
    told = count(found, MODELS)
    assert (told.width, told.height, told.lost_faces) == (512, 600, 0)
    assert told.enlarged == (told.shrunk == (512, 600))
    assert told.background is not None
    assert 0.5 < told.background < 0.95
    use = [row.crop.context_use() for row in told.rows]
    assert all(share is not None and 0.3 < share < 0.9 for share in use)


def test_the_largest_usable_face_is_meant_unless_one_is_named(found: FoundFaces) -> None:
    place = place_of(found.faces)
    assert place is not None
    assert len(place.others) == len(found.faces) - 1
    assert place_of(()) is None
    with pytest.raises(FaceIndexError):
        place_of(found.faces, 7)


def test_a_folder_is_summed_from_its_headers(folder: Path) -> None:
    answer = count_many([folder], MODELS).as_dict()
    assert (answer["pictures"], answer["faceless"]) == (6, None)
    assert [Path(each["image"]).name for each in answer["failed"]] == ["6.jpg"]
    claude, clip, smol = answer["rows"]
    upright = MODELS[0].count(640, 480)
    assert claude["photo"] == {"total": 3 * upright + 6, "min": 2, "p25": 2, "median": 2, "p75": upright, "p90": upright, "max": upright}
    assert claude["crop"]["224"] == 6 * 64
    assert clip["saving_vs_photo"] == 0
    assert smol["saving_vs_photo"] < 0
    assert claude["shrunk"] is None


def test_known_sizes_come_to_the_same_as_their_files(folder: Path) -> None:
    files = count_many([folder], MODELS).as_dict()
    sizes = count_sizes([(640, 480)] * 2 + [(56, 28)] * 3 + [(640, 480)], MODELS).as_dict()
    assert sizes["rows"] == files["rows"]
    assert (sizes["pictures"], sizes["failed"]) == (6, [])
    stopped = Run()
    stopped.cancel()
    with pytest.raises(Cancelled):
        count_sizes([(1, 1)], MODELS, run=stopped)


def test_faces_are_looked_for_when_they_are_asked_for(folder: Path, found: FoundFaces, officer_path: Path) -> None:
    asked: list[str] = []

    def find(path: Path, run: Run) -> FoundFaces:
        asked.append(path.name)
        if path == officer_path:
            return found
        return FoundFaces(io.read(path, 10), (), run.timings())

    answer = count_many([officer_path, folder / "0.png"], MODELS, find).as_dict()
    assert (answer["pictures"], answer["faceless"]) == (1, 1)
    assert asked == [officer_path.name, "0.png"]
    one = count(found, MODELS).rows[0]
    assert one.shrunk is not None
    assert answer["rows"][0]["shrunk"]["total"] == one.shrunk.tokens
    assert answer["rows"][0]["saving_vs_shrunk"] == pytest.approx(one.saving_vs_shrunk, abs=1e-4)


def test_progress_is_told_and_a_stop_is_heard(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    run = Run(lambda progress: seen.append((progress.done, progress.count)))
    count_many([folder], MODELS, run=run)
    assert seen == [(number, 7) for number in range(1, 8)]
    run.cancel()
    with pytest.raises(Cancelled):
        count_many([folder], MODELS, run=run)


def test_a_folder_without_pictures_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption):
        count_many([tmp_path], MODELS)


def test_a_distribution_has_values_that_were_there() -> None:
    values = np.random.default_rng(7).integers(1, 999, 57).tolist()
    told = distribution(values)
    assert told is not None
    assert told["total"] == sum(values)
    assert {told[name] for name in ("min", "p25", "median", "p75", "p90", "max")} <= set(values)
    assert distribution([]) is None
