import cv2
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.types import Matrix
from engines.vision.geometry import (
    ARCFACE_TEMPLATE,
    CROP_SIZES,
    align,
    apply,
    arcface_matrix,
    arcface_template,
    compose,
    halved,
    invert,
    resizing,
    scale_of,
    similarity_transform,
    warp,
)


@st.composite
def similarities(draw: st.DrawFn) -> Matrix:
    angle = draw(st.floats(-np.pi, np.pi))
    scale = draw(st.floats(0.01, 100))
    x, y = draw(st.tuples(st.floats(-5000, 5000), st.floats(-5000, 5000)))
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    return np.array([[c, -s, x], [s, c, y]])


@st.composite
def point_sets(draw: st.DrawFn) -> NDArray[np.float64]:
    coordinate = st.floats(-3000, 3000, allow_nan=False).map(lambda v: round(v, 3))
    points = np.array(draw(st.lists(st.tuples(coordinate, coordinate), min_size=2, max_size=12)), dtype=np.float64)
    assume(np.ptp(points, axis=0).max() > 1)
    return points


@given(similarities(), point_sets())
def test_a_similarity_is_recovered_from_its_points(matrix: Matrix, points: NDArray[np.float64]) -> None:
    found = similarity_transform(points, apply(matrix, points))
    size = max(1.0, scale_of(matrix)) * np.abs(points).max() + np.abs(matrix).max()
    assert np.abs(apply(found, points) - apply(matrix, points)).max() < 1e-9 * size


@given(point_sets(), point_sets())
def test_it_is_always_a_rotation_with_one_scale_and_never_a_reflection(a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
    count = min(len(a), len(b))
    a, b = a[:count], b[:count]
    assume(np.ptp(a, axis=0).max() > 1)
    linear = similarity_transform(a, b)[:, :2]
    assert linear @ linear.T == pytest.approx(np.eye(2) * np.linalg.det(linear), abs=1e-6 * max(1.0, float(np.abs(linear).max()) ** 2))
    assert np.linalg.det(linear) >= -1e-9


@given(similarities(), point_sets())
def test_no_similarity_nearby_fits_better(matrix: Matrix, points: NDArray[np.float64]) -> None:
    wanted = apply(matrix, points) + np.random.default_rng(len(points)).normal(0, 5, points.shape)
    found = similarity_transform(points, wanted)

    def error(candidate: Matrix) -> float:
        return float(((apply(candidate, points) - wanted) ** 2).sum())

    best = error(found)
    for nudge in (np.eye(2) * 1.001, np.eye(2) * 0.999, np.array([[1, -1e-3], [1e-3, 1]]), np.array([[1, 1e-3], [-1e-3, 1]])):
        other = found.copy()
        other[:, :2] = found[:, :2] @ nudge
        other[:, 2] = wanted.mean(axis=0) - other[:, :2] @ points.mean(axis=0)
        assert error(other) >= best * (1 - 1e-9) - 1e-6


def test_a_mirrored_set_is_not_fitted_by_a_reflection() -> None:
    square = np.array([(0, 0), (10, 0), (10, 4), (0, 4)], dtype=np.float64)
    assert np.linalg.det(similarity_transform(square, square * [-1, 1])[:, :2]) > 0


@pytest.mark.parametrize(
    ("src", "dst"),
    [
        ([(1, 2), (1, 2), (1, 2)], [(0, 0), (1, 1), (2, 2)]),
        ([(1e6, 1e6)] * 5, [(0, 0)] * 5),
        ([(0, 0), (np.nan, 1)], [(0, 0), (1, 1)]),
        ([(0, 0), (1, 1)], [(0, 0), (np.inf, 1)]),
        ([(0, 0), (1, 1)], [(0, 0), (1, 1), (2, 2)]),
        ([(0, 0)], [(0, 0)]),
        ([(0, 0, 0), (1, 1, 1)], [(0, 0, 0), (1, 1, 1)]),
    ],
)
def test_what_defines_no_similarity_is_refused(src: list[tuple[float, ...]], dst: list[tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match="points"):
        similarity_transform(src, dst)


@given(similarities(), point_sets())
def test_the_inverse_undoes(matrix: Matrix, points: NDArray[np.float64]) -> None:
    back = apply(invert(matrix), apply(matrix, points))
    assert back == pytest.approx(points, abs=1e-6)


@given(similarities(), similarities(), point_sets())
def test_composition_is_one_after_the_other(outer: Matrix, inner: Matrix, points: NDArray[np.float64]) -> None:
    twice = apply(outer, apply(inner, points))
    assert apply(compose(outer, inner), points) == pytest.approx(twice, rel=1e-9, abs=1e-4)
    assert scale_of(compose(outer, inner)) == pytest.approx(scale_of(outer) * scale_of(inner), rel=1e-9)


@given(st.floats(0.05, 20), similarities(), st.floats(-100, 100), st.floats(-100, 100))
def test_resizing_keeps_the_edges_of_pixels(factor: float, matrix: Matrix, x: float, y: float) -> None:
    """The corner of the top-left pixel, (-½, -½), stays; everything else grows away from it."""
    assert apply(resizing(factor), (-0.5, -0.5)) == pytest.approx((-0.5, -0.5), abs=1e-9)
    assert (apply(resizing(factor), (x, y)) + 0.5) / factor == pytest.approx((x + 0.5, y + 0.5), abs=1e-6)
    assert scale_of(resizing(factor)) == pytest.approx(factor)


def test_a_matrix_that_collapses_the_plane_has_no_inverse() -> None:
    with pytest.raises(ValueError, match="inverse"):
        invert(np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]]))


def test_the_arcface_matrix_is_that_of_another_implementation() -> None:
    """scikit-image's, which the published alignment code uses."""
    from skimage.transform import SimilarityTransform

    points = np.array([(201.3, 110.2), (240.8, 107.9), (221.1, 131.4), (208.2, 152.7), (239.9, 150.1)])
    for size in CROP_SIZES:
        other = SimilarityTransform.from_estimate(points, arcface_template(size))
        assert arcface_matrix(points, size) == pytest.approx(other.params[:2], abs=1e-9)


@pytest.mark.parametrize(
    ("size", "eye_left", "mouth_right"),
    [
        (112, (38.2946, 51.6963), (70.7299, 92.2041)),
        (224, (76.5892, 103.3926), (141.4598, 184.4082)),
        (128, (46.2946, 51.6963), (78.7299, 92.2041)),
        (256, (92.5892, 103.3926), (157.4598, 184.4082)),
        (512, (185.1784, 206.7852), (314.9196, 368.8164)),
    ],
)
def test_the_template_follows_the_published_crops(size: int, eye_left: tuple[float, float], mouth_right: tuple[float, float]) -> None:
    template = arcface_template(size)
    assert tuple(template[0]) == pytest.approx(eye_left)
    assert tuple(template[4]) == pytest.approx(mouth_right)


def test_the_shared_template_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        ARCFACE_TEMPLATE[0, 0] = 0


@given(similarities(), st.sampled_from(CROP_SIZES))
def test_align_brings_the_points_to_the_template(matrix: Matrix, size: int) -> None:
    points = apply(invert(matrix), arcface_template(size))
    face = align(np.zeros((40, 60, 3), np.uint8), points, size)
    assert face.pixels.shape == (size, size, 3)
    assert apply(face.matrix, points) == pytest.approx(arcface_template(size), abs=1e-6 * size)
    assert apply(face.inverse, arcface_template(size)) == pytest.approx(points, abs=1e-6 * max(1.0, float(np.abs(points).max())))
    assert (face.size, face.template) == (size, "arcface")


def dot(x: float, y: float, width: int, height: int, sigma: float) -> NDArray[np.uint8]:
    """A soft bright spot, centred between pixels if need be."""
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    spot = 250 * np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / (2 * sigma**2))
    return np.dstack([spot.astype(np.uint8)] * 3)


@pytest.mark.parametrize("scale", [3.0, 1.0, 0.51, 0.49, 0.3, 0.2, 0.11, 0.05])
@pytest.mark.parametrize("angle", [0.0, 0.7, -2.0])
def test_a_warp_puts_things_where_its_matrix_says(scale: float, angle: float) -> None:
    """To a tenth of a crop pixel, at any scale: the blocks that are averaged must not shift the picture."""
    picture = dot(301.3, 252.8, 640, 480, max(3.0, 2.5 / scale))
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    matrix = np.array([[c, -s, 0.0], [s, c, 0.0]])
    matrix[:, 2] = np.array([33.2, 29.7]) - matrix[:, :2] @ np.array([301.3, 252.8])
    crop = warp(picture, matrix, (70, 64))[..., 0].astype(np.float64)
    rows, columns = np.mgrid[:64, :70]
    assert (crop * columns).sum() / crop.sum() == pytest.approx(33.2, abs=0.1)
    assert (crop * rows).sum() / crop.sum() == pytest.approx(29.7, abs=0.1)


def test_shrinking_averages_instead_of_skipping() -> None:
    """A checker of single pixels is grey from afar. Plain bilinear sampling leaves its full contrast."""
    checker = np.where(np.indices((400, 400)).sum(axis=0) % 2, 255, 0).astype(np.uint8)
    matrix = np.array([[0.2, 0.0, 0.0], [0.0, 0.2, 0.0]])
    plain = cv2.warpAffine(checker, matrix, (60, 60), flags=cv2.INTER_LINEAR)
    assert np.std(plain[5:-5, 5:-5]) > 50
    assert np.std(warp(checker, matrix, (60, 60))[5:-5, 5:-5]) < 2


def test_a_shift_by_whole_pixels_is_exact_and_the_outside_is_the_fill() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    crop = warp(picture, np.array([[1.0, 0.0, 5.0], [0.0, 1.0, -7.0]]), (50, 20), fill=9)
    assert np.array_equal(crop[:, 5:45], picture[7:27])
    assert (crop[:, :5] == 9).all()
    assert (crop[:, 45:] == 9).all()


@given(similarities(), st.integers(1, 60), st.integers(1, 60))
def test_a_warp_of_anything_gives_the_size_that_was_asked_for(matrix: Matrix, width: int, height: int) -> None:
    assert warp(np.full((height, width, 3), 200, np.uint8), matrix, (17, 9)).shape == (9, 17, 3)


def test_a_picture_wider_than_opencv_warps_is_no_obstacle() -> None:
    strip = np.zeros((20, 40_000, 3), np.uint8)
    strip[:, 39_000:39_010] = 255
    crop = warp(strip, np.array([[1.0, 0.0, -38_990.0], [0.0, 1.0, 0.0]]), (30, 20))
    assert np.array_equal(np.flatnonzero(crop[10, :, 0]), np.arange(10, 20))


@given(st.integers(1, 700), st.integers(1, 700), st.integers(1, 300))
def test_halving_stops_in_time_and_says_by_how_much(width: int, height: int, long_side: int) -> None:
    small, scale = halved(np.full((height, width, 3), 7, np.uint8), long_side)
    assert small.shape[0] == int(height * scale)
    assert small.shape[1] == int(width * scale)
    assert (small == 7).all()
    assert scale == 1 or max(small.shape[:2]) >= long_side - 1
    assert max(small.shape[:2]) < 2 * long_side or min(small.shape[:2]) < 2


def test_halving_keeps_the_mean_and_the_place() -> None:
    picture = dot(200, 120, 512, 256, 12)
    small, scale = halved(picture, 64)
    assert scale == 1 / 8
    weights = small[..., 0].astype(np.float64)
    rows, columns = np.mgrid[: small.shape[0], : small.shape[1]]
    assert ((columns + 0.5) * weights).sum() / weights.sum() / scale - 0.5 == pytest.approx(200, abs=0.3)
    assert ((rows + 0.5) * weights).sum() / weights.sum() / scale - 0.5 == pytest.approx(120, abs=0.3)
    assert small.mean() == pytest.approx(picture.mean(), abs=0.5)
