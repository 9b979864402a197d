"""Every file that a command writes: taken, and asked what it is."""

import base64
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines.errors import UnreadableImage
from engines.provenance.mark import FUSED
from engines.vision import io
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


def test_what_the_commands_show_of_a_file(command: Command, officer_path: Path, astronaut: NDArray[np.uint8], tmp_path: Path) -> None:
    """The mask, and where the mark answers: of a photo they say nothing of AI, of a fusion what it says."""
    Image.fromarray(astronaut).save(tmp_path / "photo.png")
    command("fuse", officer_path, tmp_path / "photo.png", "-o", tmp_path / "fused.png", "--mode", "live")
    for name, fused in (("photo", False), ("fused", True)):
        command("mask", tmp_path / f"{name}.png", "-o", tmp_path / f"{name}-mask.png")
        command("verify", tmp_path / f"{name}.png", "--heat", tmp_path / f"{name}-heat.png", "--html", tmp_path / f"{name}.html")
        small = [base64.b64decode(each) for each in re.findall(r"data:image/jpeg;base64,([^\"]+)", (tmp_path / f"{name}.html").read_text())]
        assert len(small) == fused
        (tmp_path / f"{name}-small.jpg").write_bytes(small[0] if small else (tmp_path / f"{name}-heat.png").read_bytes())
        for path in (tmp_path / f"{name}-mask.png", tmp_path / f"{name}-heat.png", tmp_path / f"{name}-small.jpg"):
            found = command.json("verify", path)
            labels = found["labels"]
            assert labels["tool"].startswith("Fusion Studio"), path
            assert [labels.get(key) for key in ("digital_source_type", "aigc_label")] == ([FUSED, "1"] if fused else [None, None]), path
            assert fused or found["mark"] is None, path


def test_what_compare_writes(command: Command, officer_path: Path, astronaut: NDArray[np.uint8], tmp_path: Path) -> None:
    Image.fromarray(astronaut).save(tmp_path / "her.png")
    (tmp_path / "out").mkdir()
    command("compare", officer_path, tmp_path / "her.png", "--model", "mesh", "-o", tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    found = command.json("verify", path)
    assert (found["verdict"], found["labels"]["aigc_label"], found["credentials"]["state"]) == ("made_here", "1", "ours")


def test_a_persona_is_no_picture(command: Command, astronaut: NDArray[np.uint8], tmp_path: Path) -> None:
    """Neither is one inside of it, as a file that a viewer could open."""
    photos = tmp_path / "one.png", tmp_path / "two.png"
    Image.fromarray(astronaut).save(photos[0])
    Image.fromarray(astronaut).rotate(4).save(photos[1])
    for name, more in (("kept", ()), ("exported", ("--export",))):
        command("persona", "make", "Ann", *photos, "-o", tmp_path / f"{name}.persona", *more)
        data = (tmp_path / f"{name}.persona").read_bytes()
        assert not any(start in data for start in (b"\x89PNG", b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xe1", b"WEBP", b"ftyp"))
        with pytest.raises(UnreadableImage):
            io.decode(data, "", 10)
