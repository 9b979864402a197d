"""Every file that a command writes: taken, and asked what it is."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.command import Command


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("data"))


def test_what_the_commands_write(command: Command, officer_path: Path, astronaut: NDArray[np.uint8], tmp_path: Path) -> None:
    her = tmp_path / "her.png"
    Image.fromarray(astronaut).save(her)
    (tmp_path / "many").mkdir()
    command("fuse", officer_path, her, "-o", tmp_path / "one.webp", "--mode", "live", "--label")
    command("batch", her, "--source", officer_path, "-o", tmp_path / "many", "--mode", "live")
    command("faces", tmp_path / "one.webp", "--crops", tmp_path / "fused", "--size", 256)
    command("faces", her, "--crops", tmp_path / "plain", "--size", 256)
    written = [tmp_path / "one.webp", *(tmp_path / "many").iterdir(), *(tmp_path / "fused").iterdir()]
    assert len(written) == 3
    for path in written:
        found = command.json("verify", path)
        assert (found["verdict"], found["labels"]["aigc_label"], found["credentials"]["state"]) == ("made_here", "1", "ours"), path
        assert found["mark"], path
    (plain,) = (tmp_path / "plain").iterdir()
    found = command.json("verify", plain)
    assert (found["mark"], found["labels"]["found"], found["credentials"]["algorithmic"]) == (None, ["c2pa"], False)
