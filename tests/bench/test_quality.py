"""Each measure on pictures whose answer is known, then the whole on the two portraits of the dev packages."""

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from bench.quality import figures, measures, occluders, pairs, scene, sheet, table
from bench.quality.__main__ import main
from bench.quality.difference import ciede2000
from bench.quality.fusing import Refused, fuse, options_from
from bench.quality.scene import Scene
from bench.quality.witness import rigid
from engines import FuseOptions, Settings, Studio
from engines.errors import InvalidOption
from engines.faces.topology import EYE_LEFT, LIPS_OUTER, topology

SIDE, FACE = 420, 260.0


def picture(seed: int = 7) -> NDArray[np.uint8]:
    """A skin-coloured ground with pores and grain."""
    noise = np.random.default_rng(seed).normal(0, 1, (SIDE, SIDE)).astype(np.float32)
    rough = 9 * noise + 14 * cv2.GaussianBlur(noise, (0, 0), 2.0)
    return np.clip(np.array([196, 150, 128], np.float32) + rough[..., None], 0, 255).astype(np.uint8)


@pytest.fixture
def same() -> Scene:
    """A face that was painted over with itself."""
    points = topology().mean.astype(np.float64) * FACE + [SIDE / 2, SIDE / 2, 0]
    pixels = picture()
    mask = (scene.oval(points, (SIDE, SIDE)) * 255).astype(np.uint8)
    return Scene(pixels, pixels.copy(), mask, points, points.copy(), (slice(0, SIDE), slice(0, SIDE)))


def painted_with(same: Scene, pixels: NDArray[np.uint8]) -> Scene:
    """The scene with other pixels under its mask."""
    return replace(same, result=np.where(same.mask[..., None] > 127, pixels, same.target).astype(np.uint8))


def test_nothing_is_found_between_a_picture_and_itself(same: Scene) -> None:
    assert measures.expression(same) == pytest.approx((0, 0, 0), abs=1e-9)
    assert measures.seam(same) == pytest.approx(1)
    assert measures.band_step(same) == pytest.approx(0, abs=1e-6)
    assert measures.cast(same) == pytest.approx((0, 0), abs=1e-6)
    assert measures.texture(same) == pytest.approx({"grain": 1, "sharpness": 1, "features": 1})
    assert measures.lids(same) == pytest.approx((1, 1))
    assert measures.brightness(same) == pytest.approx({"teeth": 1, "whites": 1})
    assert measures.outside_changed(same.target, same.result, same.mask) == 0
    assert measures.painted_share(same) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("sigma", "grain", "sharp"), [(1.0, 0.5, 0.85), (3.0, 0.2, 0.5)])
def test_a_blurred_face_is_less_sharp(same: Scene, sigma: float, grain: float, sharp: float) -> None:
    found = measures.texture(painted_with(same, np.asarray(cv2.GaussianBlur(same.target, (0, 0), sigma), np.uint8)))
    assert found["grain"] < grain
    assert found["sharpness"] < sharp


def test_a_rougher_face_is_more_than_one(same: Scene) -> None:
    mean = same.target.mean(axis=(0, 1))
    rougher = np.clip(mean + 2.0 * (same.target - mean), 0, 255).astype(np.uint8)
    found = measures.texture(painted_with(same, rougher))
    assert found["grain"] == pytest.approx(2, rel=0.1)
    assert found["sharpness"] == pytest.approx(2, rel=0.1)


def test_a_shift_of_colour_is_its_difference(same: Scene) -> None:
    flat = replace(same, target=np.full_like(same.target, (196, 150, 128)))
    shifted = painted_with(flat, np.full_like(flat.target, (176, 150, 128)))
    lab = [measures.to_lab(pixels[:1, :1].astype(np.float32)) for pixels in (flat.target, np.full_like(flat.target, (176, 150, 128)))]
    wanted = float(ciede2000(*lab)[0, 0])
    assert measures.cast(shifted) == pytest.approx((wanted, wanted), abs=0.05)
    assert measures.band_step(shifted) == pytest.approx(wanted, abs=0.05)


def test_a_split_light_shows_in_the_percentile_and_not_in_the_mean(same: Scene) -> None:
    flat = replace(same, target=np.full_like(same.target, (180, 140, 120)))
    split = flat.target.copy()
    split[:, int(SIDE * 0.62) :] = (120, 90, 75)
    high, mean = measures.cast(painted_with(flat, split))
    assert high > 15
    assert mean < 0.5 * high


def test_a_hard_edge_is_a_seam_and_a_soft_one_a_step(same: Scene) -> None:
    darker = np.clip(same.target.astype(np.int16) - 25, 0, 255).astype(np.uint8)
    hard = painted_with(same, darker)
    soft = cv2.GaussianBlur(same.mask.astype(np.float32) / 255, (0, 0), 0.03 * FACE)[..., None]
    gradual = replace(same, result=(same.target * (1 - soft) + darker * soft).astype(np.uint8))
    assert measures.seam(hard) > 1.3
    assert measures.seam(gradual) < measures.seam(hard)
    assert measures.band_step(gradual) > 3


def test_an_erased_line_is_no_kept_one(same: Scene) -> None:
    region = np.zeros((SIDE, SIDE), bool)
    region[190:202, 110:310] = True
    lined = same.target.copy()
    lined[193:198, 110:310] = (30, 30, 60)
    whole = replace(same, target=lined, result=lined.copy())
    half = lined.copy()
    half[:, 210:] = same.target[:, 210:]
    gone = replace(same, target=lined, result=picture(8))
    halved = replace(same, target=lined, result=half)
    assert measures.occluder_kept(whole, region) == pytest.approx((1, 1))
    assert measures.occluder_kept(halved, region)[0] == pytest.approx(0.5, abs=0.1)
    kept, correlation = measures.occluder_kept(gone, region)
    assert kept < 0.15
    assert correlation < 0.3
    assert measures.occluder_kept(whole, np.zeros_like(region)) == (None, None)


def test_an_opened_lid_and_a_brighter_mouth_are_seen(same: Scene) -> None:
    wider = same.points.copy()
    ring = list(EYE_LEFT)
    middle = wider[ring].mean(0)
    wider[ring, 1] = middle[1] + 1.5 * (wider[ring, 1] - middle[1])
    left, right = measures.lids(replace(same, fused=wider))
    assert left == pytest.approx(1.5, rel=0.1)
    assert right == pytest.approx(1)
    lit = same.target.copy()
    lit[scene.mouth(same.points, (SIDE, SIDE)) > 0.5] = 250
    assert measures.brightness(replace(same, result=lit))["teeth"] > 1.2


def test_a_turned_head_is_pose_and_a_moved_mouth_expression(same: Scene) -> None:
    angle = np.radians(8)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    turned = (same.points - [SIDE / 2, SIDE / 2, 0]) @ turn.T + [SIDE / 2, SIDE / 2, 0]
    px, percent, degrees = measures.expression(replace(same, fused=turned))
    assert px == pytest.approx(0, abs=1e-6)
    assert degrees == pytest.approx(8, abs=0.2)
    moved = same.points.copy()
    moved[list(LIPS_OUTER), 1] += 5
    px, percent, degrees = measures.expression(replace(same, fused=moved))
    assert px == pytest.approx(5 * len(LIPS_OUTER) / len(measures.LIPS_BROWS_EYES), rel=1e-6)
    assert percent == pytest.approx(100 * px / same.width)
    assert rigid(turned, same.points, (33, 263, 4, 152)) == pytest.approx(same.points, abs=1e-6)


def test_a_pixel_beside_the_mask_is_counted(same: Scene) -> None:
    result = same.result.copy()
    result[0, :3] ^= 1
    assert measures.outside_changed(same.target, result, same.mask) == 3


def test_an_unpainted_face_has_little_to_measure(same: Scene) -> None:
    bare = replace(same, mask=np.zeros_like(same.mask))
    assert measures.seam(bare) is None
    assert measures.band_step(bare) is None
    assert measures.cast(bare) == (None, None)
    assert measures.texture(bare)["grain"] is None
    assert measures.painted_share(bare) == 0


@pytest.mark.parametrize(  # Sharma et al. 2005, table 1
    ("first", "second", "wanted"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
        ((50, 2.4900, -0.0010), (50, -2.4900, 0.0011), 7.2195),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
        ((50, 0, 0), (50, 0, 0), 0.0),
    ],
)
def test_the_colour_difference_is_the_standard_s(first: tuple[float, ...], second: tuple[float, ...], wanted: float) -> None:
    assert float(ciede2000(np.array(first), np.array(second))) == pytest.approx(wanted, abs=1e-4)
    assert float(ciede2000(np.array(second), np.array(first))) == pytest.approx(wanted, abs=1e-4)


def test_pairs_are_named_and_looked_up() -> None:
    assert len({pair.name for pair in pairs.PAIRS}) == len(pairs.PAIRS)
    assert len(pairs.chosen(None, True)) == len(pairs.QUICK)
    (known, other) = pairs.chosen("frontal_03:beard_01,a:b#2", False)
    assert known in pairs.PAIRS
    assert (other.source, other.target, other.face, other.name) == ("a", "b", 2, "a:b#2")
    with pytest.raises(ValueError, match="no pair"):
        pairs.chosen("a-b", False)


def test_the_album_reads_packages_and_a_folder(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "somebody.png"), picture())
    album = pairs.Album(tmp_path)
    assert album["somebody"].shape == (SIDE, SIDE, 3)
    assert album["frontal_01"].shape == (512, 512, 3)
    assert "nobody" not in album
    assert "somebody" not in pairs.Album(tmp_path / "missing")


def test_lines_drawn_by_hand_lie_within_their_picture() -> None:
    for stem, lines in occluders.LINES.items():
        assert all(0 <= number <= 1000 for line in lines for point in line for number in point), stem
        assert occluders.drawn(stem, 300, 200, 4.0).any()
    assert occluders.drawn("nobody", 300, 200, 4.0) is None


def test_options_are_read_and_checked() -> None:
    options = options_from("shape=.5,keep_eyes=true,beard=source", "live")
    assert (options.shape, options.keep_eyes, options.beard, options.mode) == (0.5, True, "source", "live")
    for wrong in ("nonsense=1", "shape=3", "beard=mine"):
        with pytest.raises(InvalidOption):
            options_from(wrong, "best")


def test_refused_pairs_have_a_reason_and_no_figures() -> None:
    entry = figures.entry("a", "b", Refused("turned"))
    assert entry["verdict"] == "turned"
    assert all(entry[name] is None for name in figures.FIGURES)
    assert figures.summary([entry]) == {"fused": 0, "refused": 1}
    assert "turned" in table.text([entry], {})


def test_what_the_studio_refuses_the_bench_refuses(astronaut: NDArray[np.uint8], officer: NDArray[np.uint8], tmp_path: Path) -> None:
    """A source half behind a curtain: a picture that nobody would be given has no figures."""
    covered = astronaut.copy()
    covered[60:186, 176:210] = (60, 110, 160)
    with Studio.open(Settings(data_dir=tmp_path, provider="cpu")) as studio:
        fused = fuse(studio, covered, officer, None, FuseOptions())
    assert isinstance(fused, Refused)
    assert fused.reason == "hidden"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    """A run on the portraits that every developer has."""
    folder = tmp_path_factory.mktemp("quality")
    given = ["--pairs", "frontal_01:glasses_01,glasses_01:frontal_01,nobody:frontal_01", "--json", str(folder / "q.json")]
    assert main([*given, "--sheet", str(folder / "sheet.jpg"), "--markdown", str(folder / "q.md")]) == 0
    return json.loads((folder / "q.json").read_text(encoding="utf-8")), folder


def test_the_json_has_every_figure_of_every_pair(whole: tuple[dict, Path]) -> None:
    answer, _ = whole
    assert set(answer) == {"pairs", "summary"}
    assert [(pair["source"], pair["target"]) for pair in answer["pairs"]] == [("frontal_01", "glasses_01"), ("glasses_01", "frontal_01")]
    for pair in answer["pairs"]:
        assert set(figures.FIGURES) | {"source", "target", "verdict"} <= set(pair)
        assert pair["verdict"] == "fused"
        assert pair["identity_after"] < pair["identity_before"]
        assert pair["outside_changed"] == 0
        assert pair["detected"] is True
        assert 0 < pair["painted_share"] <= 1
    glasses, smile = answer["pairs"]
    assert glasses["occluder_kept"] is not None
    assert smile["occluder_kept"] is None
    wanted = np.median([pair["seam_ratio"] for pair in answer["pairs"]])
    assert answer["summary"]["seam_ratio_median"] == pytest.approx(wanted, abs=1e-3)


def test_the_sheet_and_the_table_show_every_pair(whole: tuple[dict, Path]) -> None:
    _, folder = whole
    drawn = cv2.imread(str(folder / "sheet.jpg"))
    assert drawn.shape[1] == sheet.ACROSS * (sheet.COLUMN + sheet.GAP)
    assert drawn.shape[0] > 2 * sheet.COLUMN
    told = (folder / "q.md").read_text(encoding="utf-8")
    assert "| frontal_01 → glasses_01 |" in told
    assert "| identity_after" in told


def test_the_edges_of_eyes_brows_and_lips_are_the_faces_own(same: Scene) -> None:
    own = scene.own_features(same)
    at = np.round(same.points[:, :2]).astype(int)
    assert own[at[[159, 386, 105, 334, 13, 17], 1], at[[159, 386, 105, 334, 13, 17], 0]].all()
    assert not own[at[[168, 4, 50, 280, 151, 152], 1], at[[168, 4, 50, 280, 151, 152], 0]].any()
    assert 0.08 < own.sum() / (scene.oval(same.points, (SIDE, SIDE)) > 0.5).sum() < 0.3
