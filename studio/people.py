"""What the page is told about persons: photos that are gathered for one, and a persona that is a source.

A persona's averaged texture isn't a photograph of anybody: the page shows its name and the number of its photos, no face.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engines.errors import FusionError
from engines.personas import MOST, SUFFIX, Persona, file_name
from engines.text import text
from engines.timing import Run
from engines.types import Frame
from studio.i18n import both
from studio.media import MEDIA_TYPES, Gone, Item, Shelf
from studio.pictures import PREVIEW_QUALITY, TILE, default_face, empty
from studio.presenters import count_sentence, error_lines, notice_lines, verdict_caption, verdict_colour

if TYPE_CHECKING:
    from engines.pipeline import Studio
    from engines.reading import Source

Value = dict[str, Any]  # JSON for the picture box of assets/theme/picture.js


def is_person(item: Item, data: bytes) -> bool:
    """Whether a file is to be read as a persona: it says so, or its name does."""
    from engines.persona_file import is_persona

    return is_persona(data) or item.name.lower().endswith(SUFFIX)


def read_source(studio: "Studio", item: Item, run: Run) -> Frame | Persona:
    """A picture, or a persona. Raises `UnreadableImage`, `ImageTooLarge`, `PersonaUnusable`."""
    data = item.path.read_bytes()
    return studio.load_persona(data, item.name) if is_person(item, data) else studio.read(data, item.name, run)


def read_sources(studio: "Studio", items: Sequence[Item], run: Run) -> "Source":
    """One source: a picture, a persona, or several photos of one person. Raises what `read_source` does."""
    if len(items) == 1:
        return read_source(studio, items[0], run)
    return [studio.read(item.path.read_bytes(), item.name, run) for item in items]


def gathered_tokens(value: Value | None) -> list[str]:
    """The files of the photos that are gathered for one person, as the page names them."""
    listed = (value or {}).get("gathered")
    return [str(entry.get("token", "")) for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def source_tokens(source: Value | None) -> list[str]:
    """The files of a source: several photos of one person, or one; none where there is no source yet."""
    return [token for token in gathered_tokens(source) or [str((source or {}).get("token", ""))] if token]


def gathered_value(studio: "Studio", shelf: Shelf, visitor: str, value: Value, run: Run) -> Value:
    """The photos so far, each looked at once: its face, and whether that can be used."""
    entries = [entry for entry in value.get("gathered", []) if isinstance(entry, dict)][:MOST]
    looked = [entry if entry.get("caption") else _entry(studio, shelf, visitor, entry, run) for entry in entries]
    return {**empty(), "gathered": looked, "person": str(value.get("person", ""))}


def made_value(studio: "Studio", shelf: Shelf, visitor: str, persona: Persona, group: str) -> Value:
    """A persona that was just made: to be fused, and to be downloaded, encrypted for this studio or for everybody."""
    from engines.persona_file import dump

    name, kind = file_name(persona.name), MEDIA_TYPES["persona"]
    shelf.clear(visitor, group)
    kept = shelf.add(visitor, dump(persona, studio.key), name, kind, group)
    exported = shelf.promise(visitor, name, kind, group, lambda: dump(persona, None), persona.nbytes)
    downloads = [{"key": key, "address": item.address, "name": name} for key, item in (("kept", kept), ("exported", exported))]
    return persona_value(kept, persona) | {"downloads": downloads}


def persona_value(item: Item, persona: Persona) -> Value:
    """A persona as the source."""
    facts = {"photos": persona.photos, "created": persona.created[:10]}
    about = both(lambda language: text("page.persona.about", language, **facts))
    return {
        **empty(),
        "token": item.token,
        "address": item.address,
        "name": item.name,
        "persona": {"name": persona.name, "about": about, "photos": persona.photos},
    }


def _entry(studio: "Studio", shelf: Shelf, visitor: str, entry: Value, run: Run) -> Value:
    token, name = str(entry.get("token", "")), str(entry.get("name", ""))
    row: Value = {"token": token, "name": name, "colour": "bad", "tile": ""}
    try:
        item = shelf.get(visitor, token)
        found = studio.faces(item.path.read_bytes(), item.name, run)
    except Gone:
        return row | {"caption": both(lambda language: notice_lines("gone", language)[0])}
    except FusionError as fault:
        message = both(lambda language, fault=fault: error_lines(fault, language)[0])  # type: ignore[misc]
        return row | {"caption": message}
    picked = default_face(found.faces)
    if picked is None:
        return row | {"caption": both(lambda language: count_sentence(0, language))}
    face = found.faces[picked]
    tile = studio.encode(studio.mark(studio.crop(found.frame, face, TILE).pixels, "preview", of=found.frame), "jpg", PREVIEW_QUALITY)
    shown = shelf.add(visitor, tile.data, "face.jpg", MEDIA_TYPES["jpg"])
    caption = both(lambda language: verdict_caption(face, language))
    return row | {"tile": shown.address, "colour": verdict_colour(face), "caption": caption}
