"""The label that people see: words in a corner of the picture, on a plate that keeps them legible on any background.

Drawn before the invisible mark, which then lies over it too. Where a region's rule needs the words (`regions.REGIONS`), or somebody asks.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from engines.errors import InvalidOption
from engines.provenance.labels import tidy
from engines.provenance.regions import REGIONS
from engines.provenance.view import on_white
from engines.text import ASSETS, text
from engines.types import Frame, Pixels

if TYPE_CHECKING:
    from engines.settings import Settings

FONT = ASSETS / "fonts" / "label.otf"
LONGEST = 60  # characters
SHARE = 0.04  # of the shortest side where no rule names one
LEAST = 10  # pixels: letters below it can't be read; smaller only where the picture has no room
# White on a plate that leaves 35 % of what lies below: on white 7.0 : 1, and WCAG 2.2 asks for 4.5 : 1 (1.4.3).
PLATE = 0.35
_MARGIN = 0.02  # of the shortest side, to the picture's edge
_AROUND = 0.35  # of the words' height, from them to the plate's edge
_LINES = 1.3  # of the words' height, from line to line
_UNKNOWN = "\U0010ffff"  # no font has it


@dataclass(frozen=True, slots=True)
class VisibleLabel:
    """What is drawn.

    Attributes:
        words: one line. position: "bottom-right", "top" and so on, see `settings.POSITIONS`.
        share: height of the words' tallest letter, of the picture's shortest side.
        font: a file that FreeType reads.
    """

    words: str
    position: str = "bottom-right"
    share: float = SHARE
    font: Path = FONT


def label_of(settings: "Settings", asked: bool = False) -> VisibleLabel | None:
    """The label that a fusion gets; None where nobody asks and no rule needs it.

    Args:
        asked: by the person for whom it is made. That adds a label, and takes none away.

    Raises:
        InvalidOption: words that the font doesn't have, or too many; no such font.
    """
    region = REGIONS[settings.region]
    if not (asked or settings.visible_label == "on" or (settings.visible_label == "auto" and region.visible)):
        return None
    words = tidy(settings.label_text) or text("provenance.visible.words", region.language or settings.language or "en")
    font = Path(settings.label_font).expanduser() if settings.label_font else FONT
    if len(words) > LONGEST:
        raise InvalidOption(name="label_text", value=words, allowed=f"1 … {LONGEST}")
    missing = "".join(ch for ch in words if not _drawn(ch, font))
    if missing:
        raise InvalidOption("label_font", name="label_text", value=words, allowed="", missing=missing)
    return VisibleLabel(words, settings.label_position, max(settings.label_size or SHARE, region.share), font)


def draw(frame: Frame, label: VisibleLabel) -> Frame:
    """A copy with the words in it. Where it was transparent, the plate lies on white and is opaque.

    Raises:
        InvalidOption: the picture is too small for the words.
    """
    height, width = frame.pixels.shape[:2]
    plate = _plate(label, width, height)
    rows, columns = plate.shape
    edge = round(_MARGIN * min(width, height))
    edge = max(0, min(edge, height - rows, width - columns))
    across = {"left": edge, "right": width - columns - edge}.get(label.position.rpartition("-")[2], (width - columns) // 2)
    down = edge if label.position.startswith("top") else height - rows - edge
    place = np.s_[down : down + rows, across : across + columns]
    pixels = frame.pixels.copy()
    alpha = None if frame.alpha is None else frame.alpha.copy()
    below = on_white(pixels[place], None if alpha is None else alpha[place]).astype(np.float32)
    ink = plate[..., None].astype(np.float32) / 255
    pixels[place] = np.rint(below * PLATE * (1 - ink) + 255 * ink).astype(np.uint8)
    if alpha is not None:
        alpha[place] = 255
    return replace(frame, pixels=pixels, alpha=alpha)


def _plate(label: VisibleLabel, width: int, height: int) -> Pixels:
    """(rows, columns) uint8, how much of each pixel is ink: as large as the rule says, on as many lines as the width needs."""
    least = label.share * min(width, height)
    for tall in (max(least, LEAST), least):  # the second where the picture is too small for letters that can be read
        font = _font(label.font, _points(label.font, label.words, tall))
        pad = round(_AROUND * tall)
        lines = _broken(label.words, font, width - 2 * pad)
        boxes = [font.getbbox(line) for line in lines]
        left, top, right, bottom = (pick(box[side] for box in boxes) for side, pick in enumerate((min, min, max, max)))
        step = round(_LINES * tall)
        size = round(right - left) + 2 * pad, round(bottom - top) + step * (len(lines) - 1) + 2 * pad
        if size[0] <= width and size[1] <= height:
            drawn = Image.new("L", size, 0)
            pen = ImageDraw.Draw(drawn)
            for number, line in enumerate(lines):
                pen.text((pad - left, pad - top + number * step), line, 255, font)
            return np.asarray(drawn, np.uint8)
    raise InvalidOption("label_room", name="label_text", value=label.words, allowed="", width=width, height=height)


def _broken(words: str, font: ImageFont.FreeTypeFont, room: float) -> list[str]:
    """Into lines: at spaces, and inside of words only where one alone is too long."""
    lines = [""]
    for word in words.replace(" ", " \0").split("\0"):
        if lines[-1] and font.getlength((lines[-1] + word).rstrip()) > room:
            lines.append("")
        for ch in word:
            if lines[-1] and ch != " " and font.getlength(lines[-1] + ch) > room:
                lines.append("")
            lines[-1] += ch
    return [line.strip() for line in lines if line.strip()]


def _points(path: Path, words: str, tall: float) -> int:
    """The size at which the words' tallest letter is at least `tall` pixels high."""
    _, top, _, bottom = _font(path, 256).getbbox(words)
    return int(np.ceil(256 * tall / (bottom - top))) + 1


@lru_cache(maxsize=16)
def _font(path: Path, points: int) -> ImageFont.FreeTypeFont:
    try:
        return ImageFont.truetype(path, points)
    except OSError as fault:
        raise InvalidOption(name="label_font", value=path, allowed="TrueType, OpenType") from fault


def _drawn(ch: str, path: Path) -> bool:
    """Whether the font has the character: what it hasn't looks all the same."""
    font = _font(path, 32)
    return ch == " " or bytes(font.getmask(ch)) != bytes(font.getmask(_UNKNOWN))
