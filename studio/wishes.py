"""Who becomes whom, as a person says it: a source for one face, several in order, by likeness, or face by face."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engines.errors import InvalidOption
from engines.faces.face_map import THRESHOLD, at_place
from engines.options import FuseOptions
from engines.timing import Run
from engines.types import Frame

if TYPE_CHECKING:
    from engines.personas import Persona
    from engines.pipeline import Studio
    from engines.reading import Source

MAP_ALLOWED = "0=a.jpg,2=b.jpg, or 420x310=a.jpg for the face at that place"
_ENTRY = re.compile(r"\s*(\d+)(?:x(\d+))?=(.+)", re.DOTALL)
_COMMA = re.compile(r",(?=\s*\d+(?:x\d+)?=)")  # one that begins an entry: names may have others

Key = tuple[int, ...]  # a face's number, or a place in the picture, x and y in pixels


def parse_map(entries: Sequence[str]) -> tuple[tuple[Key, Path], ...]:
    """`0=a.jpg,420x310=b.jpg` → ((0,), a.jpg), ((420, 310), b.jpg). Raises `InvalidOption`."""
    found = []
    for entry in (part for each in entries for part in _COMMA.split(each)):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise InvalidOption(name="map", value=entry, allowed=MAP_ALLOWED)
        found.append((tuple(int(number) for number in match.groups()[:2] if number is not None), Path(match[3])))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked for, before a target is known.

    Attributes:
        sources: in the order in which they were given; those of a face map, once each.
        order: see `Studio.face_map`. references: with `threshold`, likewise. face_map: source by face, instead of either.
    """

    sources: tuple[Path, ...]
    order: str | None = None
    references: tuple[Path, ...] = ()
    threshold: float = THRESHOLD
    face_map: tuple[tuple[Key, Path], ...] = ()

    def admitted(self, studio: "Studio", options: FuseOptions, run: Run) -> dict[Path, "Frame | Persona"]:
        """The sources, read and found fit to be one, before any target is touched. Raises what `Studio.admit` does."""
        return {path: studio.admit(path, options, run) for path in self.sources}

    def of(
        self, studio: "Studio", given: dict[Path, "Frame | Persona"], target: Frame, options: FuseOptions, run: Run
    ) -> "list[tuple[Source, FuseOptions]]":
        """For one target, as `Studio.fuse_faces` takes it. Raises `InvalidOption`, `NoMatch`, and what `Studio.face_map` does."""
        if self.face_map:
            faces = studio.faces(target, run=run).faces if any(len(key) == 2 for key, _ in self.face_map) else ()
            numbers = [key[0] if len(key) == 1 else at_place(faces, *key).index for key, _ in self.face_map]
            return [(given[path], replace(options, face=n)) for n, (_, path) in zip(numbers, self.face_map, strict=True)]
        sources: list[Source] = [given[path] for path in self.sources]
        if self.order is None and not self.references:
            if len(sources) != 1:
                raise InvalidOption("several", name="source", value=len(sources), allowed="")
            return [(sources[0], options)]
        references = list(self.references) or None
        return list(studio.face_map(sources, target, self.order, references, self.threshold, options, run))


def wishes_of(
    sources: Sequence[Path],
    face_map: Sequence[str] = (),
    order: str | None = None,
    match: Sequence[Path] = (),
    threshold: float = THRESHOLD,
) -> Wishes:
    """Raises `InvalidOption`: no source, a face map beside other sources, or two ways of choosing at once."""
    mapped = parse_map(face_map)
    ways = [name for name, given in (("map", mapped), ("order", order), ("match", match)) if given]
    if len(ways) > 1:
        raise InvalidOption("ways", name=ways[1], value="", first=ways[0], allowed="")
    if mapped and sources:
        raise InvalidOption("map_and_source", name="map", value=str(sources[0]), allowed="")
    if not mapped and not sources:
        raise InvalidOption("nobody", name="source", value="", allowed="")
    given = tuple(dict.fromkeys(path for _, path in mapped)) if mapped else tuple(sources)
    return Wishes(given, order, tuple(match), threshold, mapped)
