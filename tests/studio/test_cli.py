"""The commands, on real files; those that are stopped, and one of each kind, in a process of their own."""

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engines import __version__
from engines.options import FuseOptions, as_dict
from engines.presets import Preset
from tests.command import Command

Pixels = NDArray[np.uint8]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def astronaut_path(tmp_path_factory: pytest.TempPathFactory, astronaut: Pixels) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "astronaut.png"
    Image.fromarray(astronaut).save(path)
    return path


@pytest.fixture(scope="module")
def command(data_dir: Path) -> Command:
    return Command(data_dir)


@pytest.fixture(scope="module")
def environment(command: Command) -> dict[str, str]:
    return command.environment


@pytest.fixture(scope="module")
def fused(command: Command, officer_path: Path, astronaut_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    output = tmp_path_factory.mktemp("out") / "fused.jpg"
    return command.json("fuse", officer_path, astronaut_path, "-o", output, "--quality", 80)


def test_fuse_answers_with_every_fact(fused: dict[str, Any]) -> None:
    assert set(fused) >= {"output", "width", "height", "faces", "mark", "labels", "provider", "model", "options", "timings_ms"}
    assert (fused["width"], fused["height"]) == (512, 512)
    with Image.open(fused["output"]) as picture:
        assert (picture.format, picture.size) == ("JPEG", (512, 512))
    (face,) = fused["faces"]
    assert set(face) == {"index", "box", "score", "identity_before", "identity_after", "similarity_before", "similarity_after", "source"}
    assert face["identity_after"] <= face["identity_before"] - 0.15
    assert fused["mark"]["kind"] == "watermark"
    assert fused["provider"] == "cpu"
    assert fused["labels"]
    stages = {name: ms for name, ms in fused["timings_ms"].items() if name != "total"}
    assert {"encode", "verify", "save"} <= set(stages)
    assert sum(stages.values()) <= fused["timings_ms"]["total"] + len(stages) * 0.1


def test_the_options_are_turned_and_told(command: Command, officer_path: Path, astronaut_path: Path, tmp_path: Path) -> None:
    turned = ["--shape", 0.3, "--colour", 0.9, "--texture", 0.5, "--feather", 0.2, "--keep-eyes", "--keep-mouth", "--beard", "source"]
    turned += ["--no-marks", "--glasses", "--mode", "live"]
    answer = command.json("fuse", officer_path, astronaut_path, "-o", tmp_path / "a.png", *turned)
    want = FuseOptions(
        shape=0.3, colour=0.9, texture=0.5, feather=0.2, keep_eyes=True, keep_mouth=True, beard="source", marks=False, glasses=True,
        mode="live",
    )  # fmt: skip
    assert answer["options"] == as_dict(want)


def test_a_preset_is_taken_and_what_is_said_beside_it_wins(
    command: Command, officer_path: Path, astronaut_path: Path, tmp_path: Path
) -> None:
    assert {one["name"] for one in command.json("presets")["presets"]} >= {"standard", "likeness", "gentle"}
    given = ("--preset", "gentle", "--strength", 0.9, "--mode", "live")
    answer = command.json("fuse", officer_path, astronaut_path, "-o", tmp_path / "a.png", *given)
    assert answer["options"] == as_dict(FuseOptions(strength=0.9, marks=False, mode="live"))
    (told,) = command.json("verify", answer["output"])["labels"]["settings"]
    assert told["options"] == {"strength": 0.9, "marks": False, "mode": "live"}
    assert told["preset"].startswith("custom-")
    assert "Strength 90 · Marks and make-up: off · Mode: Live (fast)" in command("verify", answer["output"]).stdout
    wrong = command.json("fuse", officer_path, astronaut_path, "-o", tmp_path / "b.png", "--preset", "none", status=1)
    assert wrong["error"]["code"] == "preset_unusable"


def test_a_mask_is_taken_told_and_shown(
    command: Command, officer_path: Path, astronaut_path: Path, astronaut: Pixels, tmp_path: Path
) -> None:
    brush = tmp_path / "brush.png"
    painted = np.full(astronaut.shape, 128, np.uint8)
    painted[:, :235] = 0
    Image.fromarray(painted).save(brush)
    turned = ["--mask", "skin, nose", "--leave-out", "lips", "--grow", 1.5, "--padding", "10", "--no-occlusion", "--mode", "live"]
    answer = command.json("fuse", officer_path, astronaut_path, "-o", tmp_path / "a.png", *turned, "--paint", brush)
    told = {"areas": ["skin", "nose"], "leave_out": ["lips"], "padding": [10, 10, 10, 10], "grow": 1.5, "occlusion": False}
    assert answer["options"]["mask"] == told | {"paint": True}
    with Image.open(answer["output"]) as picture:  # the watermark is all that changes where the target was to be kept
        away = np.abs(np.asarray(picture.convert("RGB")).astype(int) - astronaut).max(axis=2)
    assert away[:, :233].max() < 12 < away[:, 235:].max()
    shown = command.json("mask", astronaut_path, "-o", tmp_path / "m.png", *turned, "--paint", brush)
    assert shown["mask"] == answer["options"]["mask"]
    # It shows a photo, and no algorithm's work; it looks like the fusion that the ledger knows, which is all that may be said.
    assert command.json("verify", shown["output"])["verdict"] == "possible_copy"
    assert "skin + nose, without lips, +1.5 %" in command("mask", astronaut_path, "-o", tmp_path / "n.png", *turned).stdout


def test_what_is_said_beside_a_preset_changes_that_part_of_its_mask(command: Command, astronaut_path: Path, tmp_path: Path) -> None:
    preset = tmp_path / "mine.json"
    preset.write_bytes(Preset("Mine", {"mask": {"areas": ["oval"], "grow": 3}}).dump())
    given = ("mask", astronaut_path, "--preset", preset, "--leave-out", "eyes")
    mask = command.json(*given, "-o", tmp_path / "a.png")["mask"]
    assert (mask["areas"], mask["grow"], mask["leave_out"]) == (["oval"], 3, ["eyes"])


@pytest.mark.parametrize(
    "wrong", [["--mask", "ears"], ["--leave-out", "outline"], ["--grow", 99], ["--padding", "a"], ["--padding", "1,2"]]
)
def test_a_wrong_mask_is_refused(command: Command, astronaut_path: Path, tmp_path: Path, wrong: list[object]) -> None:
    answer = command.json("mask", astronaut_path, "-o", tmp_path / "a.png", *wrong, status=1)
    assert answer["error"]["code"] == "invalid_option"
    assert not (tmp_path / "a.png").exists()


def test_points_set_by_hand_move_the_fusion(command: Command, officer_path: Path, astronaut_path: Path, tmp_path: Path) -> None:
    points = np.array(command.json("faces", astronaut_path)["faces"][0]["points5"])
    given = ",".join(f"{value:.1f}" for value in points.ravel())
    answer = command.json("fuse", officer_path, astronaut_path, "-o", tmp_path / "a.png", "--points", given, "--mode", "live")
    assert np.allclose(answer["options"]["points"], points, atol=0.06)
    assert command.json("verify", answer["output"])["labels"]["settings"] == [{"preset": "stream", "options": {"mode": "live"}}]
    wrong = command.json("fuse", officer_path, astronaut_path, "-o", tmp_path / "b.png", "--source-points", "1,2,3", status=1)
    assert wrong["error"]["code"] == "invalid_option"


def test_verify_finds_the_mark_in_the_file(command: Command, fused: dict[str, Any]) -> None:
    answer = command.json("verify", fused["output"])
    assert answer["verdict"] == "made_here"
    assert answer["mark"]["id"] == fused["mark"]["id"]
    assert answer["labels"]


def test_verify_of_an_unmarked_picture_is_no_failure(command: Command, officer_path: Path) -> None:
    assert command.json("verify", officer_path)["verdict"] == "unmarked"


def test_the_sentences_name_mark_and_scores(
    command: Command, fused: dict[str, Any], officer_path: Path, astronaut_path: Path, tmp_path: Path
) -> None:
    said = command("fuse", officer_path, astronaut_path, "-o", tmp_path / "a.png").stdout
    assert "a.png" in said
    assert "512 × 512" in said
    assert "similarity" in said
    chinese = command("fuse", officer_path, astronaut_path, "-o", tmp_path / "b.png", LANG="zh_CN.UTF-8").stdout
    assert "已保存" in chinese
    assert "相似度" in chinese


def test_the_language_of_the_settings_file_wins_over_the_shell(
    command: Command, officer_path: Path, data_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "settings.toml").write_text('language = "zh-CN"\n', encoding="utf-8")
    home = {"FUSION_STUDIO_DATA_DIR": str(tmp_path), "LANG": "en_GB.UTF-8"}
    chinese = command("verify", officer_path, **home).stdout
    english = command("verify", officer_path, LANG="en_GB.UTF-8").stdout
    assert chinese != english
    assert not chinese.isascii()
    assert "文件" in command("fuse", tmp_path / "no.jpg", officer_path, "-o", tmp_path / "a.png", status=1, **home).stderr


def test_what_a_jpeg_loses_is_said(command: Command, officer_path: Path, astronaut: Pixels, tmp_path: Path) -> None:
    alpha = np.full(astronaut.shape[:2], 255, np.uint8)
    alpha[-50:] = 0
    Image.fromarray(np.dstack([astronaut, alpha])).save(tmp_path / "cut.png")
    answer = command.json("fuse", officer_path, tmp_path / "cut.png", "-o", tmp_path / "a.jpg")
    assert [note["key"] for note in answer["notes"]] == ["glasses_kept", "flattened"]
    assert "white" in command("fuse", officer_path, tmp_path / "cut.png", "-o", tmp_path / "b.jpg").stdout


def test_faces_lists_and_cuts(command: Command, astronaut_path: Path, tmp_path: Path) -> None:
    answer = command.json("faces", astronaut_path, "--crops", tmp_path / "crops", "--size", 256)
    (face,) = answer["faces"]
    assert face["verdict"] == "usable"
    assert len(face["points5"]) == 5
    assert len(face["points68"]) == 68
    assert set(face["pose"]) == {"yaw", "pitch", "roll"}
    assert face["sharpness"] > 0
    with Image.open(face["crop"]["path"]) as crop:
        assert crop.size == (256, 256)
    matrix, inverse = np.array(face["crop"]["matrix"]), np.array(face["crop"]["inverse"])
    whole = np.vstack([matrix, [0, 0, 1]]) @ np.vstack([inverse, [0, 0, 1]])
    np.testing.assert_allclose(whole, np.eye(3), atol=1e-6)
    assert command.json("verify", face["crop"]["path"])["verdict"] in ("made_here", "marked")


def test_faces_lists_what_was_refused(command: Command, officer: np.ndarray, tmp_path: Path) -> None:
    """Everything under the eyes is painted over: the detector takes it for a face still."""
    picture = officer.copy()
    picture[246:360, 160:370] = (200, 170, 150)
    Image.fromarray(picture).save(tmp_path / "covered.png")
    answer = command.json("faces", tmp_path / "covered.png")
    assert answer["faces"] == []
    (one,) = answer["refused"]
    assert set(one) == {"box", "score", "look", "reason", "why"}
    assert 160 < one["box"][0] + one["box"][2] / 2 < 370
    said = re.fullmatch(r"a closer look gives it (0\.\d\d), at least 0\.75 is needed", one["why"])
    assert said
    assert float(said[1]) == pytest.approx(one["look"], abs=0.0056)  # each rounded by itself, to two places and to three
    assert one["reason"] == "unseen"
    assert one["why"] in command("faces", tmp_path / "covered.png").stdout


def test_faces_of_a_picture_without_any(command: Command, tmp_path: Path) -> None:
    Image.new("RGB", (64, 64), "gray").save(tmp_path / "gray.png")
    assert command.json("faces", tmp_path / "gray.png")["faces"] == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("{officer}", "{astronaut}", "-o", "{tmp}/o.png", "--face", "5"), "face_index"),
        (("{officer}", "{tmp}/nobody.jpg", "-o", "{tmp}/o.png"), "unreadable_image"),
        (("{tmp}/empty.jpg", "{astronaut}", "-o", "{tmp}/o.png"), "unreadable_image"),
        (("{tmp}/gray.png", "{astronaut}", "-o", "{tmp}/o.png"), "no_face"),
        (("{officer}", "{officer}", "-o", "{tmp}/o.png"), "face_unchanged"),
        (("{officer}", "{astronaut}", "-o", "{tmp}/o.xyz"), "output_unwritable"),
        (("{officer}", "{astronaut}", "-o", "{tmp}/o.png", "--strength", "2"), "invalid_option"),
        (("{officer}", "{astronaut}", "-o", "{tmp}/o.png", "--enhance", "most"), "invalid_option"),
        (("{officer}", "{astronaut}", "-o", "{tmp}/o.png", "--provider", "coreml"), "provider_unavailable"),
        (("{officer}", "{astronaut}", "-o", "{tmp}/o.png", "--provider", "abacus"), "invalid_option"),
        (("{officer}", "{astronaut}", "-o", "{astronaut}"), "output_exists"),
        (("{officer}", "{astronaut}", "-o", "{tmp}/gray.png/o.png"), "output_unwritable"),
    ],
)
def test_errors_have_a_code_two_lines_and_leave_nothing(
    command: Command, officer_path: Path, astronaut_path: Path, tmp_path: Path, arguments: tuple[str, ...], code: str
) -> None:
    (tmp_path / "empty.jpg").touch()
    Image.new("RGB", (64, 64), "gray").save(tmp_path / "gray.png")
    before = {path: path.read_bytes() for path in (*tmp_path.iterdir(), astronaut_path)}
    filled = [part.format(officer=officer_path, astronaut=astronaut_path, tmp=tmp_path) for part in arguments]
    error = command.json("fuse", *filled, status=1)["error"]
    assert error["code"] == code
    assert error["message"]
    assert error["hint"]
    said = command("fuse", *filled, status=1)
    assert said.stdout == ""
    assert said.stderr.splitlines() == [error["message"], error["hint"]]
    assert {path: path.read_bytes() for path in (*tmp_path.iterdir(), astronaut_path)} == before


def test_usage_errors_have_status_2(command: Command) -> None:
    command("fuse", status=2)
    command("nonsense", status=2)


def test_case_i10_output_on_top_of_the_input(command: Command, officer_path: Path, astronaut_path: Path, tmp_path: Path) -> None:
    target, link, hard = tmp_path / "target.png", tmp_path / "link.png", tmp_path / "hard.png"
    shutil.copy(astronaut_path, target)
    link.symlink_to(target)
    hard.hardlink_to(target)
    original = target.read_bytes()
    for output in (target, link, hard, tmp_path / "x" / ".." / "target.png"):
        (tmp_path / "x").mkdir(exist_ok=True)
        assert command.json("fuse", officer_path, target, "-o", output, status=1)["error"]["code"] == "output_exists"
        assert target.read_bytes() == original
    command.json("fuse", officer_path, target, "-o", target, "--overwrite")
    assert target.read_bytes() != original
    assert command.json("verify", target)["verdict"] == "made_here"


NAMES = [
    "spaces [x] & '%41.png",
    "Příšerně žluťoučký Straße.png",
    "人脸 顔 얼굴.png",
    "وجه.png",
    "👩‍🚀.png",
    "e\u0301.png",
    "n" * 246 + ".png",
]


@pytest.mark.parametrize("name", NAMES)
def test_case_i09_names(command: Command, officer_path: Path, astronaut_path: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "in" / name
    target.parent.mkdir()
    shutil.copy(astronaut_path, target)
    output = tmp_path / "out" / name
    assert command.json("fuse", officer_path, target, "-o", output)["output"] == str(output)
    assert [path.name for path in output.parent.iterdir()] == [name]


@pytest.mark.parametrize(("kind", "delay"), [(signal.SIGINT, 0.6), (signal.SIGTERM, 1.1), (signal.SIGINT, 1.6), (signal.SIGTERM, 2.1)])
def test_stopping_leaves_no_half_written_file(
    environment: dict[str, str], officer_path: Path, astronaut_path: Path, tmp_path: Path, kind: signal.Signals, delay: float
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    line = [sys.executable, "-m", "studio.cli", "fuse", str(officer_path), str(astronaut_path), "-o", str(out / "o.png")]
    job = subprocess.Popen(line, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(delay)
    job.send_signal(kind)
    job.wait(60)
    left = list(out.iterdir())
    assert left == [] or [path.name for path in left] == ["o.png"]
    for path in left:
        with Image.open(path) as picture:
            picture.load()


def test_a_damaged_model_is_named_with_the_command_that_mends_it(
    command: Command, officer_path: Path, astronaut_path: Path, data_dir: Path, tmp_path: Path
) -> None:
    wrong = data_dir / "models" / "centerface.onnx"
    wrong.parent.mkdir(exist_ok=True)
    wrong.write_bytes(b"half")
    try:
        error = command.json("fuse", officer_path, astronaut_path, "-o", tmp_path / "o.png", status=1)["error"]
        assert error["code"] == "model_corrupt"
        assert str(wrong.parent) in error["message"]
        assert "models fetch centerface" in error["hint"]
        command("models", "check", status=1)
        command("models", "fetch", "centerface")
        command("models", "check")
        command("fuse", officer_path, astronaut_path, "-o", tmp_path / "o.png")
    finally:
        wrong.unlink(missing_ok=True)


def test_models_are_listed_with_licence_use_size_hash_and_state(command: Command) -> None:
    models = {model["name"]: model for model in command.json("models", "list")["models"]}
    assert {"centerface", "facemesh478", "dlib_resnet29", "open_nsfw"} <= set(models)
    for model in models.values():
        assert {"licence", "use", "size", "sha256", "state"} <= set(model)


def test_doctor_tells_what_runs_and_why_the_rest_does_not(command: Command) -> None:
    report = command.json("doctor")
    assert report["python"]
    providers = {row["name"]: row for row in report["providers"]}
    assert providers["cpu"]["usable"] is True
    assert all(row["reason"] for row in providers.values() if not row["usable"])
    assert command("doctor").stdout.strip()


@pytest.mark.parametrize(
    ("arguments", "status", "stream"),
    [(["version", "--json"], 0, "stdout"), (["verify", "nobody.png"], 1, "stderr"), (["fuse"], 2, "stderr"), (["--help"], 0, "stdout")],
)
def test_the_process_answers_on_the_right_stream(
    environment: dict[str, str], tmp_path: Path, arguments: list[str], status: int, stream: str
) -> None:
    line = [sys.executable, "-m", "studio.cli", *arguments]
    done = subprocess.run(
        line, cwd=tmp_path, env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == status
    assert getattr(done, stream).strip()
    assert not getattr(done, {"stdout": "stderr", "stderr": "stdout"}[stream])


def test_version(command: Command) -> None:
    assert command.json("version") == {"version": __version__}
    assert __version__ in command("version").stdout
