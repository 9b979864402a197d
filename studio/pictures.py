"""What the page is told about a picture that somebody put into it: a small preview, its faces, and which one is chosen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from engines.provenance.view import on_white, shrunk
from engines.results import FoundFaces
from engines.types import Face, Frame, Pixels
from studio import i18n
from studio.media import MEDIA_TYPES, Item, Shelf
from studio.notes import note_sentence
from studio.overlay import photo_layers
from studio.presenters import count_sentence, notice_lines, rounded, told, verdict_caption, verdict_colour, verdict_sentence

if TYPE_CHECKING:
    from engines.pipeline import Studio

PREVIEW_SIDE = 1280  # longer side of a preview, in pixels: twice the width of a pane, for dense screens
PREVIEW_QUALITY = 88
WHOLE_PIXELS = 6_000_000  # up to here the page shows a finished file itself, above it a preview
JPEG_SIDE = 65_500  # of the format itself, in pixels
TILE = 112  # of the thumbnails
TILES_ACROSS = 16
TILES_SHOWN = 96  # a crowd beyond that is cut; the API gives them all

Value = dict[str, Any]  # JSON for the picture box of assets/theme/picture.js


def empty() -> Value:
    return {"token": "", "faces": [], "chosen": None, "hand": None}


def found_value(studio: "Studio", shelf: Shelf, visitor: str, item: Item, found: FoundFaces, chosen: int | None, layers: bool) -> Value:
    """A picture with its faces.

    Args:
        chosen: a face's number; None takes the largest usable one.
        layers: also what the Align tab draws over the photo.
    """
    picked = chosen if chosen is not None and 0 <= chosen < len(found.faces) else default_face(found.faces)
    shown = found.faces[:TILES_SHOWN]
    value = preview_value(studio, shelf, visitor, item, found.frame) | {
        "faces": [_face_value(face, found.frame) for face in shown],
        "chosen": picked,
        "count": i18n.both(lambda language: count_sentence(len(found.faces), language)),
        "tiles": _tiles(studio, shelf, visitor, found.frame, shown),
        "across": TILES_ACROSS,
    }
    if layers:
        value["layers"] = photo_layers(shown, picked, found.frame.width, found.frame.height)
    return value


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


def fault_value(token: str, name: str, fault: BaseException) -> Value:
    """A picture that can't be used, and why; the file stays chosen."""
    return {**empty(), "token": token, "name": name, "error": told(fault)}


def gone_value() -> Value:
    return {**empty(), "error": i18n.both(lambda language: notice_lines("gone", language))}


def preview(studio: "Studio", shelf: Shelf, visitor: str, frame: Frame, group: str = "") -> Item:
    """A marked JPEG of at most `PREVIEW_SIDE` for the page, transparent parts on white."""
    pixels = on_white(*shrunk(frame.pixels, frame.alpha, PREVIEW_SIDE))
    data = studio.encode(studio.mark(pixels, "preview"), "jpg", PREVIEW_QUALITY).data
    return shelf.add(visitor, data, "preview.jpg", MEDIA_TYPES["jpg"], group)


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
    data = studio.encode(studio.mark(sheet, "preview"), "jpg", PREVIEW_QUALITY).data
    return shelf.add(visitor, data, "faces.jpg", MEDIA_TYPES["jpg"]).address


def _face_value(face: Face, frame: Frame) -> Value:
    box = face.box
    return {
        "index": face.index,
        "box": [box.x / frame.width, box.y / frame.height, box.width / frame.width, box.height / frame.height],
        "points": rounded(face.detection.points),
        "usable": face.verdict.usable,
        "colour": verdict_colour(face),
        "caption": i18n.both(lambda language: verdict_caption(face, language)),
        "why": i18n.both(lambda language: verdict_sentence(face, language)),
    }
