"""A person kept: the identity, the mesh and the texture that several photos share, reusable wherever a source is asked for."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from engines.errors import InputError, InvalidOption, NotOnePerson, PhotoRefused
from engines.faces.average import average, mean_identity
from engines.faces.embedder import distance
from engines.faces.source import PreparedSource
from engines.packing import digest
from engines.provenance.keys import MarkKey
from engines.provenance.output import write_bytes
from engines.timing import Run
from engines.types import Identity, Note, SafetyScore

FEWEST, MOST = 2, 20  # photos of one person; noise falls with the root of their number, and the memory grows with it
SUFFIX = ".persona"
LONGEST_NAME = 80
# Distance to the photo in the middle. One person's photos lie up to .41 apart (`engines.faces.embedder`), with years, glasses and light
# between them farther; strangers begin at .44, their median is .82. Photos chosen by hand for one person are mostly that: the limit
# errs for them.
ONE_PERSON = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Persona:
    """One person, ready to be a source.

    Attributes:
        name: 1 to 80 printable characters.
        identity: the mean of the photos' embeddings.
        source: the photos' averaged texture and mesh, as `engines.faces.mesh_swapper.fuse` takes it.
        photos: how many it was made of.
        created: UTC, ISO 8601 to the second ("2026-12-02T05:00:00Z").
        safety: the highest score among the photos.
        digest: SHA-256 (hex) of the content: the caches' key, never read from a file.
    """

    name: str
    identity: Identity = field(repr=False)  # no log carries a face
    source: PreparedSource = field(repr=False)
    photos: int
    created: str
    safety: SafetyScore
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        content = digest((self.name, self.identity, self.source, self.photos, self.created, self.safety))
        object.__setattr__(self, "digest", content)

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes: what a cache counts."""
        return self.source.nbytes + int(self.identity.embedding.nbytes)

    def save(self, path: Path | str, key: MarkKey, export: bool = False, overwrite: bool = False) -> Path:
        """Writes the file, whole or not at all, readable by its owner only.

        Args:
            key: the studio's. export: leaves the content unencrypted, so that other studios can read it.

        Raises:
            OutputExists, OutputUnwritable.
        """
        from engines.persona_file import dump

        write_bytes(dump(self, None if export else key), Path(path), overwrite, mode=0o600)
        return Path(path)

    def as_dict(self) -> dict[str, Any]:
        """What the commands answer with. Neither the embedding nor the texture is in it."""
        return {
            "name": self.name,
            "photos": self.photos,
            "created": self.created,
            "model": self.identity.model,
            "texture": self.source.levels[0].shape[0],
            "safety": round(self.safety.score, 3),
        }


@dataclass(frozen=True, slots=True)
class Photo:
    """One photo's part in a persona.

    Attributes:
        label: how it is called in an error ("3 (IMG_7.jpg)").
        prepare: makes its texture, or raises `FaceNotUsable`. Its notes speak of this photo alone, and what one photo hides another
            shows: what all of them hide is noted where the persona is used.
    """

    label: str
    identity: Identity
    safety: SafetyScore
    prepare: Callable[[], tuple[PreparedSource, tuple[Note, ...]]]


def of_photos(name: str, photos: Sequence[Photo], run: Run) -> Persona:
    """Averages photos that show one person.

    Raises:
        NotOnePerson, Cancelled. PhotoRefused: a face that is too much covered.
    """
    identities = [photo.identity for photo in photos]
    table = np.array([[distance(a, b) for b in identities] for a in identities])
    away = table[int(table.sum(1).argmin())]  # from the one in the middle
    odd = [photo.label for photo, distance in zip(photos, away, strict=True) if distance > ONE_PERSON]
    if odd:
        raise NotOnePerson(photos=", ".join(odd), count=len(photos), distance=float(away.max()), limit=ONE_PERSON)
    halves = []
    for number, photo in enumerate(photos, 1):
        with run.stage("prepare", number, len(photos)):
            try:
                halves.append(photo.prepare()[0])
            except InputError as fault:
                raise PhotoRefused(photo=photo.label, fault=fault) from fault
    with run.stage("prepare"):
        source = average(halves, run)
    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    safety = max((photo.safety for photo in photos), key=lambda found: found.score)
    return Persona(name, mean_identity(identities), source, len(photos), created, safety)


def check_photos(name: str, count: int, faces: Sequence[int | None] | None = None) -> str:
    """The name, tidied; before the work. Raises `InvalidOption` (the name, the number of photos or of faces)."""
    if not FEWEST <= count <= MOST:
        raise InvalidOption(name="photos", value=count, allowed=f"{FEWEST} … {MOST}")
    if faces is not None and len(faces) != count:
        raise InvalidOption(name="faces", value=len(faces), allowed=str(count))
    return check_name(name)


def check_name(name: str) -> str:
    """The name without spaces at its ends. Raises `InvalidOption`."""
    plain = name.strip()
    if not 1 <= len(plain) <= LONGEST_NAME or not plain.isprintable():
        raise InvalidOption(name="name", value=name, allowed=f"1 … {LONGEST_NAME} printable characters")
    return plain


def file_name(name: str) -> str:
    """A file's name for a persona's: what file systems don't take becomes "_"."""
    return (re.sub(r'[\\/:*?"<>|\x00-\x1f]', "_", name).strip(". ") or "_").encode()[:180].decode("utf-8", "ignore") + SUFFIX
