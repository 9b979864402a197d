"""The fusion on two real faces: identity moves, expression and everything outside the mask don't."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np
import pytest

from engines.errors import Cancelled
from engines.faces.canonical import EYE_RINGS, LIPS_INNER, OVAL
from engines.faces.embedder import Embedder, distance
from engines.faces.facemesh import FaceMeshNet
from engines.faces.geometry_transfer import eye_opening, mouth_opening, width
from engines.faces.mesh_swapper import PreparedSource, fuse, prepare, prepare_target
from engines.faces.topology import five_points
from engines.options import FuseOptions
from engines.runtime.ort import OrtSession
from engines.text import ASSETS
from engines.timing import Run
from engines.types import FaceMesh, FusedCrop, Patch, Pixels
from engines.vision import blend

# Where the detector puts the five points on the two portraits, to a pixel or so: the mesh is refined from there.
POINTS = {
    "astronaut": [(204, 112), (248, 110), (228, 137), (205, 162), (244, 161)],
    "officer": [(224, 248), (304, 246), (270, 297), (232, 343), (304, 341)],
}
WAYS = [("astronaut", "officer"), ("officer", "astronaut")]


@dataclass(frozen=True)
class Person:
    pixels: Pixels
    mesh: FaceMesh
    prepared: PreparedSource


@pytest.fixture(scope="module")
def net() -> Iterator[FaceMeshNet]:
    session = OrtSession.open(ASSETS / "models" / "facemesh478.onnx", "cpu", 2)
    yield FaceMeshNet(session)
    session.close()


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    session = OrtSession.open(ASSETS / "models" / "dlib_resnet29.onnx", "cpu", 2)
    yield Embedder(session, "dlib_resnet29")
    session.close()


@pytest.fixture(scope="module")
def people(net: FaceMeshNet, astronaut: Pixels, officer: Pixels) -> dict[str, Person]:
    out = {}
    for name, pixels in (("astronaut", astronaut), ("officer", officer)):
        mesh = net.fit(pixels, np.array(POINTS[name], float))
        out[name] = Person(pixels, mesh, prepare(pixels, mesh))
    return out


def swap(source: Person, target: Person, strength: float = 1.0) -> tuple[FusedCrop, Patch, Pixels]:
    crop = fuse(prepare_target(target.pixels, target.mesh), source.prepared, FuseOptions(strength=strength), Run())
    patch = blend.paste(target.pixels, crop)
    return crop, patch, blend.apply(target.pixels, patch)


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_the_identity_moves_to_the_source(people: dict[str, Person], embedder: Embedder, source: str, target: str) -> None:
    a, b = people[source], people[target]
    _, _, out = swap(a, b)
    wanted = embedder.embed(a.pixels, a.mesh)
    before, after = distance(wanted, embedder.embed(b.pixels, b.mesh)), distance(wanted, embedder.embed(out, b.mesh))
    # his glasses stay whole, and to the network they are part of who he is
    assert after <= before - (0.1 if target == "officer" else 0.15)


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_the_expression_and_the_pose_stay(people: dict[str, Person], net: FaceMeshNet, source: str, target: str) -> None:
    """Refitted on the result: outline within 2.5 % of the face's width, mouth within .065 and lids within .07 of their widths."""
    b = people[target]
    _, _, out = swap(people[source], b)
    before, after = (net.fit(pixels, five_points(b.mesh.points)) for pixels in (b.pixels, out))
    moved = np.linalg.norm((after.points - before.points)[OVAL, :2], axis=1).mean() / width(before.points)
    assert moved < 0.025
    assert abs(mouth_opening(after.points) - mouth_opening(before.points)) < 0.065
    for ring in EYE_RINGS:
        assert abs(eye_opening(after.points, ring) - eye_opening(before.points, ring)) < 0.07
    assert abs(after.pose.yaw - before.pose.yaw) < 5
    assert abs(after.pose.pitch - before.pose.pitch) < 6
    assert abs(after.pose.roll - before.pose.roll) < 2


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_nothing_outside_the_mask_changes(people: dict[str, Person], source: str, target: str) -> None:
    b = people[target]
    kept = b.pixels.copy()
    _, patch, out = swap(people[source], b)
    np.testing.assert_array_equal(b.pixels, kept)
    height, wide = patch.mask.shape
    untouched = np.ones(b.pixels.shape[:2], bool)
    untouched[patch.top : patch.top + height, patch.left : patch.left + wide] = patch.mask == 0
    np.testing.assert_array_equal(out[untouched], b.pixels[untouched])
    assert 0.01 < 1 - untouched.mean() < 0.5


def test_no_strength_is_the_picture_itself(people: dict[str, Person]) -> None:
    crop, patch, out = swap(people["astronaut"], people["officer"], 0.0)
    assert not crop.mask.any()
    assert patch.mask.size == 0
    np.testing.assert_array_equal(out, people["officer"].pixels)


def test_more_strength_is_more_of_the_source(people: dict[str, Person], embedder: Embedder) -> None:
    a, b = people["astronaut"], people["officer"]
    wanted = embedder.embed(a.pixels, a.mesh)
    ways = [distance(wanted, embedder.embed(swap(a, b, s)[2], b.mesh)) for s in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert all(more < less for less, more in pairwise(ways[:-1])), ways
    # the last quarter may turn back a little: a target's glasses stay whole before the new face, and its mouth shut where hers smiles
    assert ways[-1] < ways[-2] + 0.06, ways
    assert ways[-1] < ways[0] - 0.1


def test_a_little_strength_is_a_little_change(people: dict[str, Person]) -> None:
    b = people["officer"]
    _, _, out = swap(people["astronaut"], b, 0.02)
    assert 0 < np.abs(out.astype(int) - b.pixels).mean() < 1


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_the_same_input_gives_the_same_bytes(people: dict[str, Person], source: str, target: str) -> None:
    a, b = people[source], people[target]
    again = prepare(a.pixels, a.mesh)
    for one, two in zip(a.prepared.levels, again.levels, strict=True):
        np.testing.assert_array_equal(one, two)
    with ThreadPoolExecutor(3) as pool:  # and from several threads at once
        results = list(pool.map(lambda _: swap(a, b)[2], range(3)))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_a_closed_mouth_stays_shut_without_teeth(people: dict[str, Person], net: FaceMeshNet) -> None:
    """The astronaut smiles with teeth, the officer's mouth is shut: nothing in it is lighter than the officer's lips allow."""
    b = people["officer"]
    _, _, out = swap(people["astronaut"], b)
    fitted = net.fit(out, five_points(b.mesh.points))
    assert mouth_opening(fitted.points) < 0.045
    low, high = np.floor(b.mesh.points[LIPS_INNER, :2].min(0)).astype(int), np.ceil(b.mesh.points[LIPS_INNER, :2].max(0)).astype(int)
    part = np.s_[low[1] : high[1] + 1, low[0] : high[0] + 1]
    light = [cv2.cvtColor(pixels[part], cv2.COLOR_RGB2LAB)[..., 0] for pixels in (b.pixels, out)]
    assert float(np.percentile(light[1], 99)) <= float(np.percentile(light[0], 99)) + 12


def test_whites_of_the_eyes_are_no_brighter_than_the_targets(people: dict[str, Person]) -> None:
    for source, target in WAYS:
        b = people[target]
        _, _, out = swap(people[source], b)
        for ring in EYE_RINGS:
            inside = np.zeros(out.shape[:2], np.uint8)
            cv2.fillPoly(inside, [np.round(b.mesh.points[ring, :2]).astype(np.int32)], 1)
            was, now = (cv2.cvtColor(p, cv2.COLOR_RGB2GRAY)[inside > 0] for p in (b.pixels, out))
            # the source's eye may show more of its white: no brighter than the brightest of the target's eye
            assert np.percentile(now, 97) <= np.percentile(was, 99) + 12


def moved(person: Person, shift: tuple[int, int], scale: float = 1.0) -> Person:
    """The person's picture, scaled and shifted so that the face reaches over the frame."""
    matrix = np.array([[scale, 0, shift[0]], [0, scale, shift[1]]], np.float64)
    height, wide = person.pixels.shape[:2]
    area = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    pixels = np.asarray(cv2.warpAffine(person.pixels, matrix, (wide, height), flags=area, borderMode=cv2.BORDER_REFLECT), np.uint8)
    points = person.mesh.points.astype(np.float64) * scale
    points[:, :2] += shift
    mesh = FaceMesh(points.astype(np.float32), person.mesh.pose)
    return Person(pixels, mesh, person.prepared)


@pytest.mark.parametrize("shift", [(-230, 0), (240, 0), (0, -300), (0, 280), (-230, -250), (900, 900)])
def test_faces_at_the_border_and_beyond_it(people: dict[str, Person], shift: tuple[int, int]) -> None:
    b = moved(people["officer"], shift)
    _, patch, out = swap(people["astronaut"], b)
    assert out.shape == b.pixels.shape
    height, wide = patch.mask.shape
    assert 0 <= patch.left <= patch.left + wide <= out.shape[1]
    assert 0 <= patch.top <= patch.top + height <= out.shape[0]
    if shift == (900, 900):
        np.testing.assert_array_equal(out, b.pixels)


@pytest.mark.parametrize("scale", [0.12, 0.2, 3.0])
def test_sizes_from_a_thumbnail_to_a_close_up(people: dict[str, Person], scale: float) -> None:
    centre = people["officer"].mesh.points[:, :2].mean(0)
    shift = (int(256 - scale * centre[0]), int(300 - scale * centre[1]))
    b = moved(people["officer"], shift, scale)
    crop, patch, out = swap(people["astronaut"], b)
    assert crop.mask.shape[0] in range(256, 1025)
    assert np.abs(out.astype(int) - b.pixels)[patch.top : patch.top + patch.mask.shape[0]].mean() > 0.2
    upright = prepare_target(np.ascontiguousarray(np.rot90(b.pixels)), turn(b.mesh, b.pixels.shape[1]))
    turned = fuse(upright, people["astronaut"].prepared, FuseOptions(), Run())
    close = np.abs(turned.pixels.astype(int) - crop.pixels)[crop.mask > 250]
    assert np.percentile(close, 95) < 12  # the face is made upright first: its roll changes the sampling, nothing else


def turn(mesh: FaceMesh, wide: int) -> FaceMesh:
    """The mesh after `np.rot90` of a picture `wide` px wide."""
    points = mesh.points.copy()
    points[:, 0], points[:, 1] = mesh.points[:, 1], wide - 1 - mesh.points[:, 0]
    return FaceMesh(points, mesh.pose)


@pytest.mark.parametrize("kind", ["grey", "flat", "dark"])
def test_odd_pictures_are_fused_without_a_fault(people: dict[str, Person], kind: str) -> None:
    b = people["officer"]
    grey = np.repeat(cv2.cvtColor(b.pixels, cv2.COLOR_RGB2GRAY)[..., None], 3, 2)
    pixels = {"grey": grey, "flat": np.full_like(b.pixels, 128), "dark": b.pixels // 32}[kind]
    _, _, out = swap(people["astronaut"], Person(pixels, b.mesh, b.prepared))
    assert out.dtype == np.uint8
    flat_source = prepare(np.zeros_like(b.pixels), b.mesh)
    assert fuse(prepare_target(pixels, b.mesh), flat_source, FuseOptions(), Run()).pixels.shape[2] == 3


def test_grain_follows_the_target(people: dict[str, Person]) -> None:
    """A noisy target gets a grainy face, a smooth one a smooth face."""
    b = people["officer"]
    smooth = np.asarray(cv2.GaussianBlur(b.pixels, (0, 0), 2.5), np.uint8)
    noise = np.random.default_rng(0).normal(0, 8, b.pixels.shape[:2])[..., None]
    rough = np.clip(smooth + noise, 0, 255).astype(np.uint8)

    def grain(pixels: Pixels, fused: bool) -> float:
        out = swap(people["astronaut"], Person(pixels, b.mesh, b.prepared))[2] if fused else pixels
        x, y = b.mesh.points[50, :2].astype(int)  # a cheek
        part = out[y - 20 : y + 20, x - 20 : x + 20].astype(np.float32).mean(2)
        return float(np.std(part - cv2.GaussianBlur(part, (0, 0), 1.0)))

    for pixels in (smooth, rough):
        assert 0.5 * grain(pixels, False) < grain(pixels, True) < 1.5 * grain(pixels, False) + 0.3
    assert grain(rough, True) > 2 * grain(smooth, True)


def test_a_source_counts_its_bytes_and_knows_no_target(people: dict[str, Person]) -> None:
    prepared = people["astronaut"].prepared
    assert prepared.nbytes == sum(level.nbytes for level in prepared.levels) + prepared.points.nbytes + prepared.beard.map.nbytes
    assert [level.shape[0] for level in prepared.levels] == [256, 128, 64]
    np.testing.assert_array_equal(prepared.points, people["astronaut"].mesh.points.astype(np.float64))


def test_a_stopped_job_stops(people: dict[str, Person]) -> None:
    run = Run()
    run.cancel()
    with pytest.raises(Cancelled):
        fuse(prepare_target(people["officer"].pixels, people["officer"].mesh), people["astronaut"].prepared, FuseOptions(), run)


def test_shade_before_the_face_doesnt_turn_black_under_a_darker_source(people: dict[str, Person]) -> None:
    """Where the plate was lit and the picture isn't, what a darker face changes is as much less."""
    person, target = people["officer"], prepare_target(people["astronaut"].pixels, people["astronaut"].mesh)
    dark = prepare((person.pixels * 0.35).astype(np.uint8), person.mesh)
    spot = np.zeros((target.size, target.size), np.uint8)
    middle = np.round(target.points[50, :2]).astype(int).tolist()
    cv2.circle(spot, middle, round(0.05 * target.face_width), 1, -1)
    shade = (target.occlusion.clean * np.where(spot > 0, 0.4, 1)[..., None]).astype(np.uint8)
    shaded = replace(target, pixels=shade, occlusion=replace(target.occlusion, alpha=np.zeros_like(target.occlusion.alpha)))
    crop = fuse(shaded, dark, FuseOptions(colour=0), Run())
    assert (crop.mask[spot > 0] > 200).mean() > 0.9
    assert crop.pixels[spot > 0].max(1).mean() > 30
