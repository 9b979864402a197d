"""Things drawn over a face with their exact alpha: what no photograph brings along."""

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.types import Floats, Pixels

Points = NDArray[np.float64]
Colour = tuple[float, float, float]


class Canvas:
    """An alpha and a colour of the size of a crop, in which `unit` is the face's width and (0, 0) the middle between the eyes.

    x runs along the eyes, y down the face; the outer eye corners lie near x = -.3 and .3, the brows near y = -.12, the mouth near y = .45.
    """

    def __init__(self, points: Points, height: int, width: int) -> None:
        self.alpha = np.zeros((height, width), np.float32)
        self.colour = np.zeros((height, width, 3), np.float32)
        right, left = points[[33, 133], :2].mean(0), points[[263, 362], :2].mean(0)
        self.middle, self.across = (right + left) / 2, (left - right) / np.linalg.norm(left - right)
        self.down = np.array([-self.across[1], self.across[0]])
        self.unit = float(np.ptp(points[:468, :2], axis=0).max())

    def at(self, xy: NDArray[np.floating]) -> Points:
        """Places of the face → pixels."""
        xy = np.asarray(xy, float).reshape(-1, 2)
        return np.asarray(self.middle + self.unit * (xy[:, :1] * self.across + xy[:, 1:] * self.down))

    def lay(self, alpha: Floats, colour: Colour, shade: float = 0.12) -> None:
        """Puts a layer of one colour, lit from the upper left, over what is there."""
        alpha = cv2.GaussianBlur(alpha, (0, 0), max(0.4, 0.0012 * self.unit))
        rows, columns = np.mgrid[: alpha.shape[0], : alpha.shape[1]].astype(np.float32)
        light = 1 - shade * ((rows - self.middle[1]) + (columns - self.middle[0])) / self.unit
        over = np.clip(np.asarray(colour, np.float32) * light[..., None], 0, 255)
        total = alpha + self.alpha * (1 - alpha)
        self.colour = (over * alpha[..., None] + self.colour * (self.alpha * (1 - alpha))[..., None]) / np.maximum(total, 1e-6)[..., None]
        self.alpha = total

    def line(self, xy: NDArray[np.floating], thickness: float, closed: bool = False) -> Floats:
        """The alpha of a curve; the thickness in face widths, down to parts of a pixel."""
        fine = np.zeros((self.alpha.shape[0] * 4, self.alpha.shape[1] * 4), np.uint8)
        at = np.round((self.at(xy) * 4 + 1.5) * 16).astype(np.int32)
        cv2.polylines(fine, [at], closed, 255, max(1, round(thickness * self.unit * 4)), cv2.LINE_AA, 4)
        return np.asarray(cv2.resize(fine, self.alpha.shape[::-1], interpolation=cv2.INTER_AREA), np.float32) / 255

    def area(self, xy: NDArray[np.floating]) -> Floats:
        """The alpha of a filled outline."""
        fine = np.zeros((self.alpha.shape[0] * 2, self.alpha.shape[1] * 2), np.uint8)
        cv2.fillPoly(fine, [np.round((self.at(xy) * 2 + 0.5) * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
        return np.asarray(cv2.resize(fine, self.alpha.shape[::-1], interpolation=cv2.INTER_AREA), np.float32) / 255


def _ellipse(x: float, y: float, a: float, b: float, square: float = 2.0) -> Points:
    t = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    c, s = np.cos(t), np.sin(t)
    return np.column_stack([x + a * np.sign(c) * np.abs(c) ** (2 / square), y + b * np.sign(s) * np.abs(s) ** (2 / square)])


WING = ((0.33, -0.075), (0.44, -0.1), (0.455, -0.045), (0.37, -0.01))


def _frames(thickness: float, colour: Colour, square: float, opacity: float = 1.0) -> Callable[[Canvas, np.random.Generator], None]:
    def draw(canvas: Canvas, random: np.random.Generator) -> None:
        a, b = random.uniform(0.15, 0.175), random.uniform(0.115, 0.14)
        alpha = canvas.line(_ellipse(-0.205, 0.03, a, b, square), thickness, True)
        alpha = np.maximum(alpha, canvas.line(_ellipse(0.205, 0.03, a, b, square), thickness, True))
        bridge = np.column_stack([np.linspace(a - 0.205, 0.205 - a, 12), -0.02 - 0.02 * np.sin(np.linspace(0, np.pi, 12))])
        alpha = np.maximum(alpha, canvas.line(bridge, thickness))
        for side in (-1, 1):
            alpha = np.maximum(alpha, canvas.line(np.array([[side * (0.205 + a), 0.0], [side * 0.56, -0.02]]), thickness))
        canvas.lay(np.asarray(alpha * opacity, np.float32), colour)

    return draw


def _winged(canvas: Canvas, random: np.random.Generator) -> None:
    """Thin rims with a dark wing at each outer upper end."""
    _frames(0.014, (45, 38, 34), 2.2)(canvas, random)
    for side in (-1, 1):
        canvas.lay(canvas.area(np.array([[side * x, y] for x, y in WING])), (38, 32, 30))


def _half_rimless(canvas: Canvas, random: np.random.Generator) -> None:
    a, b, grey = random.uniform(0.15, 0.17), random.uniform(0.1, 0.12), (85.0, 85.0, 90.0)
    across = np.linspace(a - 0.205, 0.205 - a, 12)
    for side in (-1, 1):
        lens = np.roll(_ellipse(side * 0.205, 0.06, a, b, 3.5), 22, axis=0)
        canvas.lay(np.asarray(canvas.line(lens[22:68], 0.009) * 0.6, np.float32), (235, 235, 235))
        canvas.lay(canvas.line(np.array([[side * (0.205 - a), 0.06 - b], [side * (0.205 + a), 0.06 - b], [side * 0.56, 0.0]]), 0.026), grey)
    canvas.lay(canvas.line(np.column_stack([across, np.full(12, 0.06 - b)]), 0.026), grey)


def _lock(colour: Colour, count: int, thickness: float, spread: float) -> Callable[[Canvas, np.random.Generator], None]:
    def draw(canvas: Canvas, random: np.random.Generator) -> None:
        side = random.choice([-1.0, 1.0])
        start, bend = random.uniform(0.02, 0.25), random.uniform(0.05, 0.2)
        for _ in range(count):
            t = np.linspace(0, 1, 40)
            x = side * (start + random.normal(0, spread) + bend * t**2 + random.normal(0, spread) * t)
            y = -0.55 + (1.15 + random.normal(0, 0.1)) * t
            tone = random.uniform(0.75, 1.15)
            line = canvas.line(np.column_stack([x, y]), thickness * random.uniform(0.7, 1.2))
            canvas.lay(line, tuple(float(min(255, c * tone)) for c in colour))  # type: ignore[arg-type]

    return draw


def _mask(canvas: Canvas, random: np.random.Generator) -> None:
    top = np.column_stack([np.linspace(-0.5, 0.5, 21), 0.22 - 0.06 * np.cos(np.linspace(-np.pi / 2, np.pi / 2, 21))])
    canvas.lay(canvas.area(np.vstack([top, [[0.45, 0.8], [0, 0.95], [-0.45, 0.8]]])), (150, 190, 205))


def _brim(canvas: Canvas, random: np.random.Generator) -> None:
    t = np.linspace(-0.7, 0.7, 25)
    canvas.lay(canvas.area(np.vstack([np.column_stack([t, -0.22 - 0.1 * t**2]), [[0.7, -0.8], [-0.7, -0.8]]])), (45, 50, 80))


def _microphone(canvas: Canvas, random: np.random.Generator) -> None:
    side = random.choice([-1.0, 1.0])
    boom = np.column_stack([side * np.linspace(0.55, 0.24, 20), 0.25 + 0.22 * np.linspace(0, 1, 20) ** 0.7])
    canvas.lay(canvas.line(boom, 0.016), (35, 35, 38))
    canvas.lay(canvas.area(_ellipse(side * 0.22, 0.47, 0.055, 0.045)), (28, 28, 30))


def _straw(canvas: Canvas, random: np.random.Generator) -> None:
    side = random.choice([-1.0, 1.0])
    start, end = np.array([0.02 * side, 0.44]), np.array([0.45 * side, 0.9])
    canvas.lay(canvas.line(np.vstack([start, end]), 0.05), (235, 235, 230))
    for k in range(6):
        at = start + (end - start) * (k + 0.5) / 6
        canvas.lay(canvas.line(np.vstack([at - [0.02, 0.0], at + np.array([0.02, 0.012])]), 0.022), (200, 40, 45))


def _black_hand(canvas: Canvas, random: np.random.Generator) -> None:
    side = random.choice([-1.0, 1.0])
    for k in range(4):
        tip = np.array([side * (0.1 + 0.015 * k), 0.42 + 0.085 * k])
        canvas.lay(canvas.line(np.vstack([tip, [side * 0.75, 0.5 + 0.09 * k]]), 0.075), (52, 56, 66))


KINDS: dict[str, Callable[[Canvas, np.random.Generator], None]] = {
    "mask": _mask,
    "brim": _brim,
    "thick frames": _frames(0.034, (40, 28, 22), 2.6),
    "dark thin frames": _frames(0.012, (30, 28, 30), 2.4),
    "metal frames": _frames(0.009, (150, 135, 110), 2.2),
    "clear frames": _frames(0.022, (235, 225, 205), 2.5, 0.45),
    "winged frames": _winged,
    "half-rimless glasses": _half_rimless,
    "microphone": _microphone,
    "straw": _straw,
    "gloved fingers": _black_hand,
    "blond lock": _lock((205, 170, 110), 60, 0.006, 0.022),
    "brown lock": _lock((80, 50, 32), 60, 0.006, 0.022),
    "dark strands": _lock((30, 22, 18), 7, 0.006, 0.05),
    "blond strands": _lock((215, 185, 130), 7, 0.006, 0.05),
}


def draw(kind: str, crop: Pixels, points: Points, seed: int = 0) -> tuple[Pixels, Floats]:
    """The crop with a thing over it, and the thing's alpha (h, w) float32."""
    canvas = Canvas(points, *crop.shape[:2])
    KINDS[kind](canvas, np.random.default_rng(seed))
    alpha = np.minimum(canvas.alpha, 1)[..., None]
    mixed = crop * (1 - alpha) + canvas.colour * alpha
    return np.clip(mixed + 0.5, 0, 255).astype(np.uint8), np.asarray(alpha[..., 0], np.float32)
