"""What the page is told about a picture that somebody put into it: a small preview, its faces, and which one is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from engines.errors import InvalidOption
from engines.provenance.view import on_white, shrunk
from engines.results import FoundFaces
from engines.timing import Run
from engines.types import Face, FivePoints, Frame, Pixels
from studio import i18n
from studio.media import MEDIA_TYPES, Item, Shelf
from studio.notes import note_sentence
from studio.options import chosen_face, points_of
from studio.overlay import photo_layers
from studio.presenters import (
    count_sentence,
    notice_lines,
    refused_lines,
    rounded,
    told,
    verdict_caption,
    verdict_colour,
    verdict_sentence,
)

if TYPE_CHECKING:
    from engines.pipeline import Studio
    from engines.provenance.mark import MarkedImage
    from engines.provenance.verify import Verification

PREVIEW_SIDE = 1280  # longer side of a preview, in pixels: twice the width of a pane, for dense screens
PREVIEW_QUALITY = 88
HEAT_SIDE = 960  # of the picture of where a mark answers: it has 40 cells
WHOLE_PIXELS = 6_000_000  # up to here the page shows a finished file itself, above it a preview
JPEG_SIDE = 65_500  # of the format itself, in pixels
TILE = 112  # of the thumbnails
TILES_ACROSS = 16
TILES_SHOWN = 96  # a crowd beyond that is cut; the API gives them all

Value = dict[str, Any]  # JSON for the picture box of assets/theme/picture.js


def empty() -> Value:
    return {"token": "", "faces": [], "chosen": None, "hand": None}


@dataclass(frozen=True, slots=True)
class Seen:
    """The faces of a picture as its box has them: those that were found, with the one whose points were set by hand in its place.

    Attributes:
        faces: numbered from left to right; one that only the hand knows comes last.
        chosen: a face's number; None where there is none.
        hand: the five points by hand, where there are any. by_hand: the face that they give; fault: or why they give none.
    """

    found: FoundFaces
    faces: tuple[Face, ...]
    chosen: int | None
    hand: FivePoints | None = None
    by_hand: Face | None = None
    fault: InvalidOption | None = None


def look(studio: "Studio", item: Item, value: Value | None, run: Run) -> Seen:
    """Finds the faces of a file. `value`: the box's, for the face that was chosen in it and the points that were set.

    Raises:
        UnreadableImage, ImageTooLarge.
    """
    found = studio.faces(item.path.read_bytes(), item.name, run)
    chosen, hand = chosen_face(value), (value or {}).get("hand")
    if hand is None:
        picked = chosen if chosen is not None and 0 <= chosen < len(found.faces) else default_face(found.faces)
        return Seen(found, found.faces, picked)
    points = points_of(hand)
    try:
        face = studio.face_at(found.frame, points, run=run)
    except InvalidOption as fault:
        return Seen(found, found.faces, default_face(found.faces), points, fault=fault)
    faces = tuple(face if each.index == face.index else each for each in found.faces)
    return Seen(found, faces if face.index < len(faces) else (*faces, face), face.index, points, face)


def seen_value(studio: "Studio", shelf: Shelf, visitor: str, item: Item, seen: Seen, layers: bool) -> Value:
    """A picture with its faces. `layers`: also what the Align tab draws over the photo."""
    found, picked = seen.found, seen.chosen
    shown = seen.faces[:TILES_SHOWN]
    value = preview_value(studio, shelf, visitor, item, found.frame) | {
        "faces": [_face_value(face, found) for face in shown],
        "chosen": picked,
        "count": i18n.both(lambda language: count_sentence(len(found.faces), language)),
        "tiles": _tiles(studio, shelf, visitor, found.frame, shown),
        "across": TILES_ACROSS,
        "hand": seen.hand,
        "hand_error": told(seen.fault) if seen.fault else None,
    }
    if layers:
        value["layers"] = photo_layers(shown, picked, found.frame.width, found.frame.height, [one.box for one in found.refused])
        value["refused"] = i18n.both(lambda language: refused_lines(found.refused, language)) if found.refused else None
    return value


def answer(value: Value, asked: Value | None) -> Value:
    """The box's new value with the number of the question, so that the page can tell an answer that was overtaken."""
    number = (asked or {}).get("ask")
    return {**value, "ask": number} if isinstance(number, int) else value


def preview_value(studio: "Studio", shelf: Shelf, visitor: str, item: Item, frame: Frame) -> Value:
    """A picture as such: size, a preview that every browser can show, and what the decoder noticed."""
    return {
        "token": item.token,
        "name": item.name,
        "width": frame.width,
        "height": frame.height,
        "preview": preview(studio, shelf, visitor, frame).address,
        "notes": i18n.both(lambda language: [note_sentence(note, language) for note in frame.origin.notes]),
        "faces": [],
        "chosen": None,
    }


def carried(value: Value | None) -> Value | None:
    """A box's value for the box of another tab: the same photo and the same face; None where there is no photo."""
    if not (value or {}).get("token"):
        return None
    return {key: part for key, part in (value or {}).items() if key not in ("layers", "ask")}


def fault_value(token: str, name: str, fault: BaseException) -> Value:
    """A picture that can't be used, and why; the file stays chosen."""
    return {**empty(), "token": token, "name": name, "error": told(fault)}


def gone_value() -> Value:
    return {**empty(), "error": i18n.both(lambda language: notice_lines("gone", language))}


def preview(studio: "Studio", shelf: Shelf, visitor: str, frame: Frame, group: str = "", side: int = PREVIEW_SIDE) -> Item:
    """A marked JPEG for the page, its longer side at most `side`, transparent parts on white."""
    pixels = on_white(*shrunk(frame.pixels, frame.alpha, side))
    return _shown(studio.mark(pixels, "preview", of=frame), studio, shelf, visitor, group)


def fused_preview(studio: "Studio", shelf: Shelf, visitor: str, image: "MarkedImage", group: str = "", side: int = PREVIEW_SIDE) -> Item:
    """The same of a fusion: it says what the fusion says."""
    return _shown(studio.marker.preview_of(image, side), studio, shelf, visitor, group)


def heat_preview(studio: "Studio", shelf: Shelf, visitor: str, frame: Frame, found: "Verification") -> Item:
    """Where the mark answers, as a marked JPEG for the page."""
    return _shown(studio.heat(frame, found, HEAT_SIDE), studio, shelf, visitor, "")


def _shown(image: "MarkedImage", studio: "Studio", shelf: Shelf, visitor: str, group: str) -> Item:
    return shelf.add(visitor, studio.encode(image, "jpg", PREVIEW_QUALITY).data, "preview.jpg", MEDIA_TYPES["jpg"], group)


def shown_whole(width: int, height: int) -> tuple[bool, str]:
    """Whether the page shows the finished file itself, and the format that is made at once; the others wait until they are asked for.

    A large picture is a JPEG first: as a PNG of 108 megapixels it takes 2 s, in which Stop isn't heard (1 s as a JPEG).
    """
    whole = width * height <= WHOLE_PIXELS
    return whole, "png" if whole or max(width, height) > JPEG_SIDE else "jpg"


def default_face(faces: Sequence[Face]) -> int | None:
    """The largest usable face, or the largest where none is usable: the pipeline's own choice."""
    pool = [face for face in faces if face.verdict.usable] or list(faces)
    return max(pool, key=lambda face: face.mesh.size).index if pool else None


def tile_sheet(tiles: Sequence[Pixels]) -> Pixels:
    """`TILES_ACROSS` thumbnails a row on one sheet: one picture to mark, encode and load, however many faces there are."""
    across = min(len(tiles), TILES_ACROSS)
    down = -(-len(tiles) // TILES_ACROSS)
    sheet = np.zeros((down * TILE, across * TILE, 3), np.uint8)
    for number, tile in enumerate(tiles):
        row, column = divmod(number, TILES_ACROSS)
        sheet[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE] = tile
    return sheet


def _tiles(studio: "Studio", shelf: Shelf, visitor: str, frame: Frame, faces: Sequence[Face]) -> str:
    if not faces:
        return ""
    sheet = tile_sheet([studio.crop(frame, face, TILE).pixels for face in faces])
    data = studio.encode(studio.mark(sheet, "preview", of=frame), "jpg", PREVIEW_QUALITY).data
    return shelf.add(visitor, data, "faces.jpg", MEDIA_TYPES["jpg"]).address


def _face_value(face: Face, found: FoundFaces) -> Value:
    box, frame = face.box, found.frame
    own = found.faces[face.index] if face.index < len(found.faces) else None  # where it was found, also when points were set by hand
    return {
        "index": face.index,
        "box": [box.x / frame.width, box.y / frame.height, box.width / frame.width, box.height / frame.height],
        "points": rounded(own.detection.points) if own else None,
        "usable": face.verdict.usable,
        "size": round(face.mesh.size, 1),
        "colour": verdict_colour(face),
        "caption": i18n.both(lambda language: verdict_caption(face, language)),
        "why": i18n.both(lambda language: verdict_sentence(face, language)),
    }
