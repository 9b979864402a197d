"""What happens to pictures after they leave: the ways on which a watermark has to last.

Each attack takes (H, W, 3) uint8 RGB and gives such a picture back. What is random is seeded: the same picture gives the same answer.
"""

from collections.abc import Callable
from io import BytesIO

import cv2
import numpy as np
from PIL import Image

from engines.types import Pixels

Attack = Callable[[Pixels], Pixels]
GREY = (206, 209, 214)  # of the pages that a picture is pasted on


def recoded(format: str, quality: int, subsampling: int | None = None) -> Attack:
    def attack(pixels: Pixels) -> Pixels:
        buffer = BytesIO()
        named = {} if subsampling is None else {"subsampling": subsampling}
        Image.fromarray(pixels).save(buffer, format, quality=quality, **named)
        return np.asarray(Image.open(buffer).convert("RGB"))

    return attack


def resized(across: float, down: float | None = None) -> Attack:
    def attack(pixels: Pixels) -> Pixels:
        size = round(pixels.shape[1] * across), round(pixels.shape[0] * (across if down is None else down))
        how = cv2.INTER_AREA if across < 1 else cv2.INTER_CUBIC
        return np.asarray(cv2.resize(pixels, (max(8, size[0]), max(8, size[1])), interpolation=how), np.uint8)

    return attack


def at_most(long: int) -> Attack:
    """Reduced to a long side, and never enlarged."""

    def attack(pixels: Pixels) -> Pixels:
        return resized(min(1.0, long / max(pixels.shape[:2])))(pixels)

    return attack


def cropped(area: float, across: float = 0.5, down: float = 0.5) -> Attack:
    """Cuts a share of the area off; `across` and `down` say how much of that on the left and at the top."""

    def attack(pixels: Pixels) -> Pixels:
        height, width = pixels.shape[:2]
        rows, columns = round(height * (1 - area) ** 0.5), round(width * (1 - area) ** 0.5)
        top, left = round((height - rows) * down), round((width - columns) * across)
        return np.ascontiguousarray(pixels[top : top + rows, left : left + columns])

    return attack


def turned(degrees: float) -> Attack:
    """Turned about the middle, and cut to the largest upright rectangle of the same proportions, as editors do."""

    def attack(pixels: Pixels) -> Pixels:
        height, width = pixels.shape[:2]
        angle = np.deg2rad(abs(degrees))
        ratio = max(width, height) / min(width, height)
        share = 1 / (np.cos(angle) + ratio * np.sin(angle))
        around = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1)
        whole = cv2.warpAffine(pixels, around, (width, height), flags=cv2.INTER_CUBIC)
        return cropped(1 - share**2)(np.asarray(whole, np.uint8))

    return attack


def tilted(share: float) -> Attack:
    """A perspective: two corners move by a share of the sides, the rest is cut off."""

    def attack(pixels: Pixels) -> Pixels:
        height, width = pixels.shape[:2]
        x, y = width * share, height * share
        corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
        inner = np.array([[x, y * 0.6], [width, 0], [width - x * 0.5, height], [0, height - y]], np.float32)
        matrix = cv2.getPerspectiveTransform(inner, corners)
        return np.asarray(cv2.warpPerspective(pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE))

    return attack


def toned(contrast: float = 1.0, brightness: float = 0.0, gamma: float = 1.0) -> Attack:
    values = np.arange(256) / 255
    table = np.clip((values**gamma - 0.5) * contrast + 0.5 + brightness, 0, 1)
    table = np.rint(table * 255).astype(np.uint8)
    return lambda pixels: table[pixels]


def noisy(sigma: float) -> Attack:
    def attack(pixels: Pixels) -> Pixels:
        return np.clip(pixels + np.random.default_rng(1).normal(0, sigma, pixels.shape), 0, 255).astype(np.uint8)

    return attack


def blurred(sigma: float) -> Attack:
    return lambda pixels: np.asarray(cv2.GaussianBlur(pixels, (0, 0), sigma), np.uint8)


def sharpened(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.addWeighted(pixels, 2.0, cv2.GaussianBlur(pixels, (0, 0), 1.5), -1.0, 0), np.uint8)


def denoised(pixels: Pixels) -> Pixels:
    """Non-local means as OpenCV has it for colour; strength 5 takes camera noise of about 5 levels away."""
    return np.asarray(cv2.fastNlMeansDenoisingColored(pixels, None, 5, 5, 7, 15), np.uint8)


def recoloured(pixels: Pixels) -> Pixels:
    colours = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV)).astype(np.int32)
    colours[..., 0] = (colours[..., 0] + 5) % 180
    colours[..., 1] = np.clip(colours[..., 1] * 1.2, 0, 255)
    return np.asarray(cv2.cvtColor(colours.astype(np.uint8), cv2.COLOR_HSV2RGB), np.uint8)


def in_colours(count: int) -> Attack:
    """As a GIF: a palette with Floyd-Steinberg dithering."""
    return lambda pixels: np.asarray(Image.fromarray(pixels).quantize(count, dither=Image.Dither.FLOYDSTEINBERG).convert("RGB"))


def screenshot(pixels: Pixels) -> Pixels:
    """Shown at 83 % in a window with a title bar, a little darker."""
    shown = np.asarray(cv2.resize(pixels, None, fx=0.83, fy=0.83, interpolation=cv2.INTER_LINEAR), np.uint8)
    height, width = shown.shape[:2]
    page = np.full((height + height // 8, width + width // 8, 3), 245, np.uint8)
    page[: height // 16] = 52
    top, left = height // 12, width // 16
    page[top : top + height, left : left + width] = shown
    return toned(gamma=1.03)(page)


def collage(pixels: Pixels) -> Pixels:
    """A quarter of a page: beside it the picture blurred, upside down and as a negative, none of which is at the same place."""
    bare = blurred(6)(pixels)
    gap = max(4, pixels.shape[1] // 60)
    upper = np.hstack([bare, np.full((pixels.shape[0], gap, 3), GREY, np.uint8), pixels])
    lower = np.hstack([255 - bare, np.full((pixels.shape[0], gap, 3), GREY, np.uint8), bare[::-1]])
    return np.vstack([upper, np.full((gap, upper.shape[1], 3), GREY, np.uint8), lower])


def stickered(pixels: Pixels) -> Pixels:
    """A line of text on a bar and two round stickers: about a quarter of the area."""
    out = pixels.copy()
    height, width = out.shape[:2]
    cv2.rectangle(out, (0, int(height * 0.84)), (width, height), (20, 20, 24), -1)
    cv2.putText(out, "what a day", (width // 20, int(height * 0.95)), cv2.FONT_HERSHEY_DUPLEX, height / 400, (255, 255, 255), 2)
    for x, y, colour in ((0.2, 0.2, (255, 214, 40)), (0.8, 0.35, (230, 60, 90))):
        cv2.circle(out, (int(width * x), int(height * y)), int(min(height, width) * 0.13), colour, -1, cv2.LINE_AA)
    return out


def printed(pixels: Pixels) -> Pixels:
    """Printed and scanned: softer ink, grain of the paper, a lift of the black, half a degree askew, proportions 1 % off, JPEG 85."""
    ink = blurred(max(pixels.shape[:2]) / 1200)(toned(contrast=0.86, brightness=0.02, gamma=1.1)(pixels))
    scanned = turned(0.5)(resized(0.8, 0.808)(noisy(4)(ink)))
    return recoded("JPEG", 85)(scanned)


def in_turn(*attacks: Attack) -> Attack:
    def attack(pixels: Pixels) -> Pixels:
        for one in attacks:
            pixels = one(pixels)
        return pixels

    return attack


def quarter(pixels: Pixels) -> Pixels:
    return np.ascontiguousarray(np.rot90(pixels))


ATTACKS: dict[str, Attack] = {
    "none": lambda pixels: pixels,
    **{f"JPEG {quality}": recoded("JPEG", quality) for quality in (95, 85, 75, 60, 50, 40, 30)},
    "WebP 80": recoded("WEBP", 80),
    "WebP 50": recoded("WEBP", 50),
    "AVIF 60": recoded("AVIF", 60),
    **{f"resized {percent} %": resized(percent / 100) for percent in (150, 75, 50, 33, 25)},
    "proportions 5 % off": resized(0.95, 1.0),
    "crop 10 %": cropped(0.10, 0.7, 0.3),
    "crop 25 %": cropped(0.25, 0.7, 0.3),
    "crop 50 %": cropped(0.50, 0.7, 0.3),
    "mirrored": lambda pixels: np.ascontiguousarray(pixels[:, ::-1]),
    "upside down": lambda pixels: np.ascontiguousarray(pixels[::-1]),
    "turned +2°": turned(2),
    "turned -2°": turned(-2),
    "turned +10°": turned(10),
    "turned -10°": turned(-10),
    "turned 90°, crop 25 %": in_turn(quarter, cropped(0.25, 0.2, 0.6)),
    "turned 5°, crop 25 %": in_turn(turned(5), cropped(0.25)),
    "perspective 3 %": tilted(0.03),
    "brighter 20 %": toned(brightness=0.2),
    "darker 20 %": toned(brightness=-0.2),
    "contrast +20 %": toned(1.2),
    "contrast -20 %": toned(0.8),
    "gamma 0.8": toned(gamma=0.8),
    "gamma 1.25": toned(gamma=1.25),
    "colours": recoloured,
    "grey": lambda p: np.repeat(np.asarray(cv2.cvtColor(p, cv2.COLOR_RGB2GRAY))[..., None], 3, axis=2),
    "noise σ 10": noisy(10),
    "blur 1 px": blurred(1),
    "median 3": lambda pixels: np.asarray(cv2.medianBlur(pixels, 3), np.uint8),
    "bilateral": lambda pixels: np.asarray(cv2.bilateralFilter(pixels, 7, 30, 3), np.uint8),
    "non-local means": denoised,
    "sharpened": sharpened,
    "palette 64": in_colours(64),
    "screenshot": screenshot,
    "collage, a quarter": collage,
    "text and stickers": stickered,
    "three re-encodes": in_turn(recoded("JPEG", 85), recoded("WEBP", 82), recoded("JPEG", 80)),
    "chat: 1280, JPEG 75": in_turn(resized(0.8), at_most(1280), recoded("JPEG", 75)),
    "chat: 960, WebP 60": in_turn(at_most(960), recoded("WEBP", 60), recoded("JPEG", 80)),
    "crop 25 %, chat": in_turn(cropped(0.25, 0.6, 0.4), at_most(1280), recoded("JPEG", 75)),
    "printed and scanned": printed,
}
