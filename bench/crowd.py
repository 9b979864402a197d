"""Pictures with many faces whose places are known: the two public-domain portraits of the dev packages, small, on a textured ground."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from matplotlib.cbook import get_sample_data
from numpy.typing import NDArray
from PIL import Image
from skimage.data import astronaut

from engines.types import Face

Pixels = NDArray[np.uint8]
GRAIN = ((12, 25.0), (60, 22.0), (300, 20.0), (900, 12.0))  # of the ground: waves along its long side, and their strength
MIDDLE_OFF = 0.5  # of the face's size: how far from its place a face that was found counts as that one


@dataclass(frozen=True, slots=True)
class Head:
    """A portrait, and the middle (x, y) and size of its face as the mesh has them."""

    pixels: Pixels
    middle: tuple[float, float]
    size: float


@dataclass(frozen=True, slots=True)
class Placed:
    """A face that was put into a picture: the middle and the size in pixels, and by how many degrees it leans clockwise."""

    x: float
    y: float
    size: float
    roll: float = 0.0


@dataclass(frozen=True, slots=True)
class Scene:
    """A picture, (H, W, 3) uint8 RGB, and the faces that are in it."""

    pixels: Pixels
    placed: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """Numbers of the placed faces that were found; how many found ones are none (false) or one that was found already (doubled)."""

    hits: frozenset[int]
    false: int
    doubled: int

    def by_size(self, scene: Scene) -> dict[float, tuple[int, int]]:
        """For each size (found, placed)."""
        out: dict[float, tuple[int, int]] = {}
        for number, one in enumerate(scene.placed):
            found, placed = out.get(one.size, (0, 0))
            out[one.size] = found + (number in self.hits), placed + 1
        return dict(sorted(out.items()))


def heads() -> tuple[Head, ...]:
    with Image.open(str(get_sample_data("grace_hopper.jpg", asfileobj=False))) as picture:
        officer = np.asarray(picture.convert("RGB"))
    return Head(np.asarray(astronaut()), (224.4, 123.3), 100.4), Head(officer, (266.0, 234.0), 195.8)


def ground(width: int, height: int, seed: int) -> Pixels:
    """Soft and fine texture with a camera's noise: nothing that looks like a face, and detail in every cell."""
    rng = np.random.default_rng(seed)
    out = np.full((height, width, 3), 128, np.float32)
    for waves, strength in GRAIN:
        shape = height * waves // max(width, height) + 2, width * waves // max(width, height) + 2, 3
        out += cv2.resize(rng.normal(0, strength, shape).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
    out += rng.normal(0, 3, (height, width, 1))
    return np.asarray(out.clip(0, 255), np.uint8)


def put(pixels: Pixels, head: Head, place: Placed) -> None:
    """Lays a head, with its hair and a soft edge, into the picture: changes it."""
    scale = place.size / head.size
    c, s = np.cos(np.radians(place.roll)) * scale, np.sin(np.radians(place.roll)) * scale
    (x, y), reach = head.middle, 1.25 * place.size
    left, top = max(0, int(place.x - reach)), max(0, int(place.y - reach))
    right, bottom = min(pixels.shape[1], int(place.x + reach)), min(pixels.shape[0], int(place.y + reach))
    matrix = np.array([[c, -s, place.x - left - c * x + s * y], [s, c, place.y - top - s * x - c * y]])
    # Areas are averaged before it is turned: warpAffine alone skips pixels.
    near = cv2.resize(head.pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else head.pixels
    if scale < 1:
        matrix[:, :2] /= scale
    size = right - left, bottom - top
    laid = cv2.warpAffine(near, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    rows, columns = np.mgrid[top:bottom, left:right]
    u, v = (columns - place.x) / place.size, (rows - place.y) / place.size
    c, s = np.cos(np.radians(place.roll)), np.sin(np.radians(place.roll))
    away = np.hypot((u * c + v * s) / 0.8, (v * c - u * s + 0.12) / 1.05)
    share = np.clip((1 - away) / 0.12, 0, 1)[..., None]
    part = pixels[top:bottom, left:right]
    part[:] = (part + share * (laid.astype(np.float64) - part)).round().clip(0, 255)


def crowd(
    count: int, sizes: Sequence[float], width: int, height: int, seed: int = 5, rolls: Sequence[float] = (0.0,), portrait: float = 0.0
) -> Scene:
    """Faces scattered over a picture, no two nearer than their heads are wide.

    Args:
        sizes: of the faces in turn, in pixels. rolls: the same, in degrees clockwise; up to 12° are added.
        portrait: size of one face more, a little left of the middle; faces that would lie on it, or below it, are left out.
    """
    rng = np.random.default_rng(seed)
    pixels, people = ground(width, height, seed), heads()
    placed = []
    if portrait:
        placed.append(Placed(0.3 * width, 0.45 * height, portrait))
        put(pixels, people[1], placed[0])
    columns = max(1, int(np.ceil(np.sqrt(count * width / height))))
    rows = -(-count // columns)
    cells = rng.permutation(rows * columns)[:count]
    for number, cell in enumerate(cells.tolist()):
        x, y = ((v + 0.5 + rng.uniform(-0.15, 0.15)) * w for v, w in ((cell % columns, width / columns), (cell // columns, height / rows)))
        if portrait and abs(x - 0.3 * width) < 1.3 * portrait and y > 0.45 * height - 1.3 * portrait:
            continue
        place = Placed(x, y, sizes[number % len(sizes)], rolls[number % len(rolls)] + rng.uniform(-12, 12))
        put(pixels, people[int(rng.integers(2))], place)
        placed.append(place)
    return Scene(pixels, tuple(placed))


def tally(faces: Sequence[Face], scene: Scene) -> Tally:
    """Which of the placed faces were found, by the middles of the meshes."""
    hits: set[int] = set()
    false = doubled = 0
    for face in faces:
        middle = face.mesh.points[:468, :2].mean(axis=0)
        away = [float(np.hypot(middle[0] - one.x, middle[1] - one.y)) / one.size for one in scene.placed]
        nearest = int(np.argmin(away)) if away else -1
        if nearest < 0 or away[nearest] > MIDDLE_OFF:
            false += 1
        elif nearest in hits:
            doubled += 1
        else:
            hits.add(nearest)
    return Tally(frozenset(hits), false, doubled)
