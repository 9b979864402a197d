"""A result's files: one in each format, made when somebody takes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engines.provenance.output import NAMES
from engines.results import FusionResult
from studio.media import MEDIA_TYPES, Item, Shelf

if TYPE_CHECKING:
    from engines.pipeline import Studio
    from engines.provenance.mark import MarkedImage
    from engines.provenance.save import EncodedImage

FORMATS = tuple((name, suffix) for suffix, name in NAMES.items())


@dataclass(frozen=True, slots=True)
class Ready:
    """The format that is there already: its suffix, its bytes without a signature, and its file."""

    suffix: str
    encoded: "EncodedImage"
    item: Item


def downloads(
    studio: "Studio", shelf: Shelf, visitor: str, done: FusionResult, stem: str, group: str, ready: Ready | None = None
) -> list[tuple[str, Item]]:
    """(what its button says, the file) of each format. `stem`: of the files' names."""
    held = done.image.pixels.nbytes // (len(FORMATS) - bool(ready))  # the promises share one picture

    def later(suffix: str) -> Item:
        if ready is None or suffix != ready.suffix:
            made = _encoder(studio, done.image, suffix)
        elif done.signer is None:
            return ready.item
        else:  # a slider that is turned waits for no signature; who takes the file gets it
            made = _signing(studio, done.image, ready.encoded)
        return shelf.promise(visitor, f"{stem}.{suffix}", MEDIA_TYPES[suffix], group, made, held)

    return [(name, later(suffix)) for name, suffix in FORMATS]


def _encoder(studio: "Studio", image: "MarkedImage", suffix: str) -> Callable[[], bytes]:
    """Holds the marked picture alone, and not what it was made from."""
    return lambda: studio.encode(image, suffix).data


def _signing(studio: "Studio", image: "MarkedImage", encoded: "EncodedImage") -> Callable[[], bytes]:
    """The file that is shown, signed when somebody takes it."""
    return lambda: studio.sign(encoded, image).data
