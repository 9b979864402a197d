"""What a person should know about a result, in sentences."""

from collections.abc import Iterable

from engines.text import localised, text
from engines.types import Note


def note_sentence(note: Note, language: str) -> str:
    """One note; where it speaks of one of two pictures, the sentence begins with which."""
    key, facts = note
    sentence = text(f"notes.{key}", language, **localised(dict(facts), language))
    role = dict(facts).get("role")
    return f"{text(f'words.role_title.{role}', language)}: {sentence}" if role else sentence


def note_sentences(notes: Iterable[Note], language: str) -> list[str]:
    """Each note once, in the order in which it came up."""
    return list(dict.fromkeys(note_sentence(note, language) for note in notes))
