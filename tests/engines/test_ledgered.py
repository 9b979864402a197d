"""What the pipeline puts out has its line, with what drew it and how."""

import hashlib
from pathlib import Path

import pytest

from engines.options import FuseOptions
from engines.pipeline import Studio
from engines.settings import Settings
from engines.types import Pixels
from studio.crops import save_crops
from studio.presenters import verification_lines


def test_a_fusion_s_line(studio: Studio, officer: Pixels, astronaut: Pixels, tmp_path: Path) -> None:
    before = studio.ledger.count()
    done = studio.fuse(officer, astronaut, FuseOptions(strength=0.9, mode="live"))
    saved = done.save(tmp_path / "out.png")
    sent = done.encode("webp")
    lines = studio.find(saved.path)
    assert [line.how for line in lines] == ["file", "id"]
    assert studio.ledger.count() == before + 2
    assert lines[1].entry.sha256 == hashlib.sha256(sent.data).digest()
    entry = lines[0].entry
    assert ("centerface", "MIT") in entry.models
    assert len(entry.settings) == 64
    assert entry.settings == lines[1].entry.settings
    other = studio.fuse(officer, astronaut, FuseOptions(strength=0.8, mode="live")).encode("webp")
    assert studio.find(other.data)[0].entry.settings != entry.settings


def test_an_output_that_is_fused_again_tells_the_chain(studio: Studio, officer: Pixels, astronaut: Pixels, tmp_path: Path) -> None:
    """Its file, its labels, its signature and its line say from which output it came; the id is the first one's all along."""
    once = studio.fuse(officer, astronaut, FuseOptions(mode="live")).save(tmp_path / "once.jpg")
    assert once.labels.derived_from == ""
    twice = studio.fuse(astronaut, once.path, FuseOptions(strength=0.7, mode="live")).save(tmp_path / "twice.png")
    found = studio.verify(twice.path)
    assert (found.verdict, found.id, found.labels.labels.derived_from) == ("made_here", once.mark.id, once.mark.id)
    assert found.credentials is not None
    assert found.credentials.derived_from == once.mark.id
    lines = studio.find(twice.path)
    assert [(line.how, line.entry.derived) for line in lines[:2]] == [("file", once.mark.id), ("id", "")]
    said = "\n".join(verification_lines(found, "en"))
    assert f"Derived from: {once.mark.id} (an earlier output, whose id it keeps)" in said
    assert f"derived from {once.mark.id}" in said


def test_a_fusion_is_signed_when_it_is_taken(studio: Studio, officer: Pixels, astronaut: Pixels) -> None:
    done = studio.fuse(officer, astronaut, FuseOptions(mode="live"))
    shown = done.encode("jpg", signed=False)
    taken = studio.sign(shown, done.image)
    assert (shown.signed, taken.signed) == (False, True)
    assert studio.sign(taken, done.image) is taken
    assert studio.verify(taken.data).as_dict()["credentials"]["state"] == "ours"
    assert [match.how for match in studio.find(taken.data)[:2]] == ["file", "id"]


def test_an_output_that_cannot_be_signed_says_so(
    officer: Pixels, astronaut: Pixels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.provenance.signer.available", lambda: False)
    with Studio.open(Settings(data_dir=tmp_path, provider="cpu")) as studio:
        done = studio.fuse(officer, astronaut, FuseOptions(mode="live"))
        assert ("unsigned", ()) in done.notes
        assert not done.encode("jpg").signed
    with Studio.open(Settings(data_dir=tmp_path, provider="cpu", credentials="off")) as studio:
        assert ("unsigned", ()) not in studio.fuse(officer, astronaut, FuseOptions(mode="live")).notes


def test_a_crop_s_line(studio: Studio, astronaut: Pixels, tmp_path: Path) -> None:
    made = save_crops(studio, studio.faces(astronaut), tmp_path, 256, "who", overwrite=False)
    assert studio.find(Path(made[0]["path"]))[0].entry.kind == "crop"


def test_a_region_s_words_are_drawn_and_kept_in_the_line(officer: Pixels, astronaut: Pixels, tmp_path: Path) -> None:
    with Studio.open(Settings(data_dir=tmp_path, provider="cpu", region="cn")) as studio:
        done = studio.fuse(officer, astronaut, FuseOptions(mode="live"))
        assert done.as_dict()["visible_label"] == "AI生成"
        assert "visible" in studio.find(done.encode("jpg").data)[0].entry.labels
