"""What is given, made ready to be fused: a picture decoded, a persona opened, several photos made one person, and all of it admitted."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from engines.choosing import choose, ready, source_half
from engines.errors import ContentRefused, InputError, PhotoRefused
from engines.known import Known
from engines.options import FuseOptions, check
from engines.persona_file import is_persona, load
from engines.personas import Persona, Photo, check_photos, of_photos
from engines.provenance.keys import MarkKey
from engines.provenance.metadata import read_labels
from engines.settings import Settings
from engines.timing import Run
from engines.types import Frame, Pixels, Role, SafetyScore
from engines.vision import io

Picture = Frame | Path | str | bytes | Pixels
Source = Picture | Persona | Sequence[Picture]  # several pictures: of one person


def file_bytes(picture: Path | str | bytes, name: str = "") -> tuple[bytes, str]:
    """A file's bytes and its name; bytes as they are, under `name`. Raises `UnreadableImage`."""
    if isinstance(picture, bytes):
        return picture, name
    path = Path(picture)
    return io.read_bytes(path), name or path.name


class Reader:
    """Reads sources and targets for one studio; thread-safe. What each method takes and raises stands at `Studio`'s of the same name."""

    def __init__(self, settings: Settings, key: MarkKey, known: Known) -> None:
        self.settings, self.key, self.known = settings, key, known

    def read(self, picture: Picture, name: str, run: Run) -> Frame:
        """Decodes a file, its bytes, or takes pixels as they are ((H, W), (H, W, 3) or (H, W, 4) uint8 RGB(A)).

        Raises:
            UnreadableImage, ImageTooLarge.
        """
        with run.stage("decode"):
            if isinstance(picture, Frame):
                return picture
            if isinstance(picture, np.ndarray):
                return io.from_array(picture)
            data, name = file_bytes(picture, name)
            frame = io.decode(data, name or "picture", self.settings.max_megapixels)
            said = read_labels(data).algorithm
            return replace(frame, origin=replace(frame.origin, source_type=said)) if said else frame

    def source(self, source: Source, name: str, run: Run) -> Frame | Persona:
        """What may be asked to be a source: a picture as `read` takes it; a persona, its file or its bytes; several pictures.

        Raises:
            UnreadableImage, ImageTooLarge, PersonaUnusable; for several pictures as `persona` does.
        """
        if isinstance(source, Persona):
            return source
        if isinstance(source, Sequence) and not isinstance(source, str | bytes):
            return self._together(source, run)
        if isinstance(source, str | Path | bytes):
            source, name = file_bytes(source, name)
            if is_persona(source):
                return self.load_persona(source, name)
        return self.read(source, name, run)

    def load_persona(self, persona: Path | str | bytes, name: str) -> Persona:
        """Reads a persona's file or its bytes. Raises `PersonaUnusable`, `UnreadableImage` (no such file, no permission)."""
        data, name = file_bytes(persona, name)
        return load(data, self.key, io.printable(name or "persona"))

    def persona(self, pictures: Sequence[Picture], name: str, faces: Sequence[int | None] | None, run: Run) -> Persona:
        """One person of several photos: the identity that they share, one mesh and one cleaner texture.

        Args:
            pictures: 2 to 20 photos of one person.
            name: 1 to 80 printable characters.
            faces: for each photo the number of the face; None takes the only one, or the largest usable one.

        Raises:
            InvalidOption: the number of photos or faces, the name.
            PhotoRefused: one of the photos can't be read or used; it says which one and why.
            NotOnePerson: one or more show somebody else than the others.
            ProviderUnavailable, ModelMissing, ModelCorrupt, Cancelled.
        """
        name = check_photos(name, len(pictures), faces)
        photos = []
        for number, (picture, index) in enumerate(zip(pictures, faces or [None] * len(pictures), strict=True), 1):
            label = f"{number} ({picture.name})" if isinstance(picture, Path) else str(number)
            try:
                frame = self.read(picture, "", run)
                score = self.safe(frame, "source", run)
                face, _ = choose(self.known, frame, "source", index, run)
            except InputError as fault:
                raise PhotoRefused(photo=label, fault=fault) from fault
            photos.append(
                Photo(label, self.known.identity(frame, face, run), score, partial(ready, self.known, frame, face, FuseOptions(), run))
            )
        return of_photos(name, photos, run)

    def admit(self, source: Source, options: FuseOptions, run: Run) -> Frame | Persona:
        """A source that was found fit to be one, before any target is known: as `source`, and its face is looked for.

        Raises:
            ContentRefused, NoFace, FaceIndexError, FaceNotUsable, InvalidOption (the options), and what `source` raises.
        """
        check(options)
        given = self.source(source, "", run)
        self.safe(given, "source", run)
        source_half(self.known, given, options, run)
        return given

    def safe(self, given: Frame | Persona, role: Role, run: Run) -> SafetyScore:
        """The safety check's word, within the limit. Raises `ContentRefused`."""
        with run.stage("safety"):
            found = given.safety if isinstance(given, Persona) else self.known.safety(given)
        if found.score > self.settings.safety_limit:
            raise ContentRefused(role=role, score=found.score, limit=self.settings.safety_limit)
        return found

    def _together(self, pictures: Sequence[Picture], run: Run) -> Frame | Persona:
        if len(pictures) == 1:
            return self.source(pictures[0], "", run)
        frames = [self.read(picture, "", run) for picture in pictures]
        return self.known.persona(frames, lambda: self.persona(pictures, "source", None, run))
