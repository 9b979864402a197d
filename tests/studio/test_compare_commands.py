"""`compare`."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engines.pipeline import Studio
from engines.settings import Settings
from tests.command import Command


def test_each_model_is_told_and_what_came_of_it_is_kept(tmp_path: Path, officer_path: Path, astronaut: NDArray[np.uint8]) -> None:
    command, target, folder = Command(tmp_path / "data"), tmp_path / "her.png", tmp_path / "out"
    Image.fromarray(astronaut).save(target)
    folder.mkdir()
    mesh, swapper = command.json("compare", officer_path, target, "--model", "mesh", "--model", "inswapper_128", "-o", folder)["models"]
    assert (mesh["model"], mesh["state"], mesh["error"]) == ("mesh", "compared", None)
    assert mesh["similarity_after"] > mesh["similarity_before"]
    assert mesh["warm_ms"] > 0
    assert (swapper["model"], swapper["commercial"], swapper["output"]) == ("inswapper_128", False, None)
    assert swapper["error"]["hint"]
    assert [path.name for path in folder.iterdir()] == ["her-mesh.png"]
    with Studio.open(Settings(data_dir=tmp_path / "data")) as studio:
        assert studio.verify(folder / "her-mesh.png").verdict == "made_here"
    refused = command.json("compare", officer_path, target, "--model", "mesh", "-o", folder, status=1)
    assert refused["error"]["code"] == "output_exists"


def test_a_person_reads_a_line_for_each(tmp_path: Path, officer_path: Path, astronaut: NDArray[np.uint8]) -> None:
    target = tmp_path / "her.png"
    Image.fromarray(astronaut).save(target)
    lines = Command(tmp_path / "data")("compare", officer_path, target, LC_ALL="C.UTF-8").stdout.strip().splitlines()
    assert lines[0].startswith("mesh: similarity ")
    assert "commercial use allowed" in lines[0]
    assert any(line.startswith("inswapper_128: ") for line in lines[1:])
