"""Several photos of one person averaged: noise falls, what one photo adds goes, sharpness stays."""

import dataclasses
from collections.abc import Sequence

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.errors import Cancelled
from engines.faces.average import average, mean_identity
from engines.faces.canonical import EYE_RINGS, GRID, LIPS_OUTER, chart
from engines.faces.geometry_transfer import mouth_opening, posed, width
from engines.faces.source import PreparedSource, assembled
from engines.faces.topology import topology
from engines.packing import digest
from engines.timing import Run
from engines.types import Floats, Identity
from engines.vision.color import luma
from engines.vision.mask import grow, polygon, shrink, soften

SIDE = GRID
PLAIN = shrink(chart().covered, 12) * (1 - grow(chart().features, 6)) > 0.5


def face(seed: int = 0) -> Floats:
    """(SIDE, SIDE, 3): skin with pores, dark brows and eyes, red lips."""
    table = chart()
    random = np.random.default_rng(seed)
    out = np.full((SIDE, SIDE, 3), (190, 150, 130), np.float32)
    for part in (*EYE_RINGS, LIPS_OUTER):
        inside = polygon(table.pixels(SIDE)[part], SIDE, SIDE)[..., None]
        out = out * (1 - inside) + np.array((120, 60, 60), np.float32) * inside
    for row in range(60, 90, 4):  # brows: strokes, the finest structure that all photos share
        cv2.line(out, (60, row), (110, row - 6), (70, 50, 40), 1, cv2.LINE_AA)
        cv2.line(out, (146, row - 6), (196, row), (70, 50, 40), 1, cv2.LINE_AA)
    return np.asarray(out + soften(random.normal(0, 6, (SIDE, SIDE, 1)).astype(np.float32), 0.8).reshape(SIDE, SIDE, 1), np.float32)


def source(texture: Floats, confidence: float | Floats = 1.0, points: NDArray[np.float64] | None = None) -> PreparedSource:
    known = np.broadcast_to(np.asarray(confidence, np.float32) * 255, (SIDE, SIDE))
    levels = [np.clip(np.dstack([texture, known]) + 0.5, 0, 255).astype(np.uint8)]
    while levels[-1].shape[0] > 64:
        levels.append(np.asarray(cv2.resize(levels[-1], None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8))
    return PreparedSource(tuple(levels), topology().mean.astype(np.float64) * 200 if points is None else points)


def texture_of(made: PreparedSource) -> Floats:
    return made.levels[0][..., :3].astype(np.float32)


def noisy(count: int, sigma: float = 10.0) -> list[PreparedSource]:
    random = np.random.default_rng(1)
    return [source(face() + random.normal(0, sigma, (SIDE, SIDE, 3)).astype(np.float32)) for _ in range(count)]


def test_what_lies_over_every_photo_stays_known() -> None:
    first, second = noisy(2)
    founds = ((("glasses", 3.0), ("lumps", 0.2), ("hands", 1.0)), (("lumps", 0.1), ("glasses", 2.0), ("strands", 4.0)))
    covered = [dataclasses.replace(photo, found=found) for photo, found in zip((first, second), founds, strict=True)]
    assert average(covered).found == (("glasses", 2.0), ("lumps", 0.1))
    assert average([covered[0], second]).found == ()


def noise(made: PreparedSource) -> float:
    """Variance of what differs from the face itself, slow light apart."""
    off = luma(texture_of(made) - face())
    off -= soften(off, 0.1 * SIDE)
    return float(off[PLAIN].var())


@pytest.mark.parametrize("count", [2, 4, 8])
def test_noise_falls_with_the_number_of_photos(count: int) -> None:
    sources = noisy(count)
    alone = np.mean([noise(one) for one in sources])
    assert noise(average(sources)) == pytest.approx(alone / count, rel=0.45)


def test_structure_that_all_share_stays_as_it_was() -> None:
    made, true = luma(texture_of(average(noisy(8, 6.0)))), luma(face())
    strokes = grow(chart().features, 2) * shrink(chart().covered, 12) > 0.5
    fine = [image - soften(image, 2.0) for image in (made, true)]
    gain = float((fine[0] * fine[1])[strokes].sum() / np.square(fine[1])[strokes].sum())
    assert gain == pytest.approx(1, abs=0.08)


def relit(texture: Floats, seed: int) -> Floats:
    random = np.random.default_rng(seed)
    x, y = np.meshgrid(np.linspace(-1, 1, SIDE), np.linspace(-1, 1, SIDE))
    light = 1 + 0.25 * (random.uniform(-1, 1) * x + random.uniform(-1, 1) * y)
    return np.asarray(texture * light[..., None] * random.uniform(0.85, 1.1, 3), np.float32)


def test_light_is_brought_to_a_common_one() -> None:
    """Photos in different lights agree after it, so that nothing of them counts as foreign, and no edge between them shows."""
    sources = [source(relit(face(), seed)) for seed in range(5)]
    made = texture_of(average(sources))
    slow = np.stack([soften(luma(texture_of(one)), 0.1 * SIDE) for one in sources])
    assert slow[:, PLAIN].mean(1).min() < soften(luma(made), 0.1 * SIDE)[PLAIN].mean() < slow[:, PLAIN].mean(1).max()
    off = luma(made) - luma(face())
    off -= soften(off, 0.1 * SIDE)
    assert off[PLAIN].std() < 2.5


def barred(texture: Floats, at: int) -> Floats:
    out = texture.copy()
    cv2.line(out, (at, 60), (at + 40, 220), (30, 140, 60), 9)
    return out


@pytest.mark.parametrize("count", [3, 5])
def test_what_lies_over_one_photo_is_left_out(count: int) -> None:
    plain = [source(face()) for _ in range(count - 1)]
    for at in (70, 110, 150):
        made = texture_of(average([source(barred(face(), at)), *plain]))
        away = np.abs(soften(made - face(), 1.0)).max(2)[shrink(chart().covered, 12) > 0.5]
        assert away.max() < 12, "the bar is 100 levels away from skin"


def test_each_photo_may_have_something_else_before_it() -> None:
    made = texture_of(average([source(barred(face(), at)) for at in (50, 90, 130, 170)]))
    assert np.abs(soften(made - face(), 1.0)).max(2)[shrink(chart().covered, 12) > 0.5].max() < 20


def test_what_a_photo_does_not_know_comes_from_those_that_do() -> None:
    hidden = np.ones((SIDE, SIDE), np.float32)
    hidden[:, : SIDE // 2] = 0
    wrong = face()
    wrong[:, : SIDE // 2] = (90, 120, 90)
    made = average([source(wrong, hidden), source(face()), source(wrong[:, ::-1].copy(), hidden[:, ::-1])])
    inside = shrink(chart().covered, 16) > 0.5
    assert np.abs(soften(luma(texture_of(made)) - luma(face()), 2.0))[inside].max() < 12
    assert made.levels[0][..., 3][inside].min() > 200


def test_what_no_photo_knows_stays_unknown_and_is_no_hole() -> None:
    unknown = np.ones((SIDE, SIDE), np.float32)
    unknown[:80] = 0
    made = average([source(face(), unknown), source(face(), unknown)])
    assert made.levels[0][:70, :, 3].max() < 10
    assert texture_of(made)[PLAIN].min() > 90


def shifted(texture: Floats, x: float, y: float) -> Floats:
    return np.asarray(
        cv2.warpAffine(texture, np.array([[1.0, 0, x], [0, 1.0, y]]), (SIDE, SIDE), borderMode=cv2.BORDER_REPLICATE), np.float32
    )


def fine_energy(image: Floats) -> float:
    light = luma(image)
    return float(np.square(light - soften(light, 1.0))[PLAIN].mean())


def test_photos_that_do_not_fit_to_the_pixel_give_no_blur() -> None:
    """Their pores lie beside each other: a mean of five would keep a fifth of the energy."""
    shifts = [(0, 0), (1.7, 1.1), (-1.4, 1.8), (1.2, -1.9), (-2.1, -0.9)]
    textures = [shifted(face(), *shift) for shift in shifts]
    plain = fine_energy(np.asarray(np.mean(textures, 0), np.float32))
    made = fine_energy(texture_of(average([source(one) for one in textures])))
    assert plain < 0.45 * fine_energy(textures[0])
    assert made > 0.8 * fine_energy(textures[0])


def test_soft_photos_do_not_soften_a_sharp_one() -> None:
    soft = np.asarray(cv2.GaussianBlur(face(), (0, 0), 2.5), np.float32)
    made = texture_of(average([source(soft), source(soft), source(face()), source(soft)]))
    assert fine_energy(made) > 0.8 * fine_energy(face())


def test_eyes_that_look_elsewhere_come_from_one_photo() -> None:
    looks = []
    for x in (-7, 0, 7):
        texture = face()
        for ring in EYE_RINGS:
            centre = chart().pixels(SIDE)[ring].mean(0)
            cv2.circle(texture, (round(float(centre[0])) + x, round(float(centre[1]))), 3, (10, 10, 10), -1, cv2.LINE_AA)
        looks.append(texture)
    made = texture_of(average([source(one) for one in looks]))
    window = np.zeros((SIDE, SIDE), bool)
    for ring in EYE_RINGS:
        window |= polygon(chart().pixels(SIDE)[ring], SIDE, SIDE) > 0.9
    assert min(np.abs(made - look)[window].mean() for look in looks) < 3, "one of the three glances"


def turned(points: NDArray[np.float64], yaw: float, roll: float, scale: float, shift: Sequence[float]) -> NDArray[np.float64]:
    a, b = np.radians([yaw, roll])
    about_y = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    about_z = np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]])
    return np.asarray(points @ (about_z @ about_y).T * scale + shift)


def test_the_mesh_is_the_same_face_whatever_the_poses() -> None:
    random = np.random.default_rng(5)
    own = topology().mean.astype(np.float64) * 200 + random.normal(0, 2.0, (478, 3))
    poses = [(0, 0, 1.0), (25, 10, 1.4), (-20, -30, 0.7), (10, 170, 1.2)]
    meshes = [turned(own, yaw, roll, scale, (300 * scale, 200, 5)) + random.normal(0, 1.0, (478, 3)) for yaw, roll, scale in poses]
    made = average([source(face(), points=mesh) for mesh in meshes])
    assert made.points.dtype == np.float64
    assert made.points.min() >= 0
    aligned = posed(made.points, own)
    alone = [np.linalg.norm(posed(mesh, own) - own, axis=1).mean() for mesh in meshes]
    assert np.linalg.norm(aligned - own, axis=1).mean() < 0.75 * np.mean(alone)
    assert width(made.points) == pytest.approx(max(map(width, meshes)), rel=0.1)
    upright = made.points[[10, 152], :2]  # forehead over chin
    assert abs(upright[0, 0] - upright[1, 0]) < 0.1 * (upright[1, 1] - upright[0, 1])


def test_a_mouth_of_one_photo_brings_its_mesh_along() -> None:
    opened = topology().mean.astype(np.float64) * 200
    opened[[14, 87, 178, 317, 402, 17, 84, 314], 1] += 14
    lips = soften(grow(polygon(chart().pixels(SIDE)[LIPS_OUTER], SIDE, SIDE), 3), 1.0)[..., None]
    laughing = np.asarray(face() * (1 - lips) + 245 * lips, np.float32)
    shut = topology().mean.astype(np.float64) * 200
    made = average([source(laughing, points=opened), source(face(), points=shut), source(face(), points=shut)])
    white = texture_of(made)[polygon(chart().pixels(SIDE)[LIPS_OUTER], SIDE, SIDE) > 0.9].mean() > 200
    mouths = [mouth_opening(posed(mesh, shut)) for mesh in (opened, shut)]
    assert mouth_opening(made.points) == pytest.approx(mouths[0 if white else 1], abs=0.02)


def test_the_largest_texture_gives_the_size() -> None:
    small = source(face())
    large = np.asarray(cv2.resize(face(), (2 * SIDE, 2 * SIDE), interpolation=cv2.INTER_CUBIC), np.float32)
    level = np.clip(np.dstack([large, np.full((2 * SIDE, 2 * SIDE), 255)]), 0, 255).astype(np.uint8)
    made = average([small, PreparedSource((level, *small.levels), small.points), small])
    assert [one.shape for one in made.levels] == [(side, side, 4) for side in (512, 256, 128, 64)]
    for whole, half in zip(made.levels, made.levels[1:], strict=False):
        np.testing.assert_array_equal(half, cv2.resize(whole, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))


def test_the_same_photos_give_the_same_bytes() -> None:
    first, second = average(noisy(3)), average(noisy(3))
    assert first.levels[0].tobytes() == second.levels[0].tobytes()
    assert first.points.tobytes() == second.points.tobytes()


def test_one_photo_stays_what_it_is() -> None:
    one = source(face())
    made = average([one])
    assert np.abs(made.levels[0].astype(int) - one.levels[0].astype(int)).max() <= 2


def test_nothing_to_average() -> None:
    with pytest.raises(ValueError, match="nothing"):
        average([])


def test_it_stops_between_the_photos() -> None:
    run = Run()
    run.cancel()
    with pytest.raises(Cancelled):
        average(noisy(2), run)


def test_the_mean_identity_is_nearer_to_the_person() -> None:
    random = np.random.default_rng(0)
    person = random.normal(0, 0.1, 128)
    photos = [Identity((person + random.normal(0, 0.02, 128)).astype(np.float32), "net") for _ in range(5)]
    mean = mean_identity(photos)
    assert mean.model == "net"
    assert mean.embedding.dtype == np.float32
    assert np.linalg.norm(mean.embedding - person) < 0.6 * min(np.linalg.norm(one.embedding - person) for one in photos)


def test_all_else_is_measured_on_the_mean() -> None:
    """A field that somebody adds to `PreparedSource` has to be made in `engines.faces.source.assembled`, or be lost here."""
    made = average(noisy(2))
    again = assembled(made.levels[0][..., :3], made.levels[0][..., 3], made.points)
    for field in dataclasses.fields(PreparedSource):
        if not field.name.startswith("_"):
            assert digest(getattr(made, field.name)) == digest(getattr(again, field.name)), field.name
    assert made.found == ()
