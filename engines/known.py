"""What is known of pictures: found out when it is first asked for, and kept by content, so that nothing has to be invalidated."""

from collections.abc import Callable, Sequence
from typing import Literal

from engines.cache import ByteCache
from engines.faces import mesh_swapper
from engines.faces.by_hand import checked
from engines.faces.pairing import Side, side_of, spot_of
from engines.faces.source import PreparedSource
from engines.faces.target import PreparedTarget
from engines.models import Models
from engines.options import EnhanceMode, Mode
from engines.personas import Persona
from engines.timing import Run
from engines.types import Face, FivePoints, Frame, Identity, RefusedFace, SafetyScore


class Known:
    """Asks the networks, and remembers their answers. Thread-safe.

    Args:
        models: the networks.
        limit: bytes that all answers together may take.
    """

    def __init__(self, models: Models, limit: int) -> None:
        self.models, self.cache = models, ByteCache(limit)

    def safety(self, frame: Frame) -> SafetyScore:
        """The safety classifier's word on a picture."""
        return self.cache.get(("safety", frame.digest), lambda: self.models.safety.score(frame.pixels), lambda _: 64)

    def faces(self, frame: Frame, run: Run) -> tuple[Face, ...]:
        """All faces of a picture, usable or not, from left to right."""
        return self._found(frame, run)[0]

    def refused(self, frame: Frame, run: Run) -> tuple[RefusedFace, ...]:
        """Places that were taken for faces at first, and are none."""
        return self._found(frame, run)[1]

    def face_at(self, frame: Frame, points: FivePoints, name: str, run: Run) -> Face:
        """The face at five points set by hand; `name`: of the option, for the error. Raises `InvalidOption`."""
        five = tuple(map(tuple, checked(points, frame.width, frame.height, name).tolist()))
        return self.cache.get(
            ("at", frame.digest, five), lambda: self.models.finder.at(frame.pixels, five, run, self.faces(frame, run)), lambda _: 8192
        )

    def side(self, frame: Frame, face: Face) -> Side:
        """What a pairing asks of a face."""
        return self.cache.get(("side", frame.digest, spot_of(face)), lambda: side_of(frame.pixels, face.mesh), lambda _: 128)

    def identity(self, frame: Frame, face: Face, run: Run, model: str = "") -> Identity:
        """Who a face is, to a network: that of the settings, or the one that a swapper takes."""
        name = model or self.models.identity
        with run.stage("embed"):
            return self.cache.get(
                ("identity", name, frame.digest, spot_of(face)),
                lambda: self.models.knower(name).embed(frame.pixels, face.mesh),
                lambda identity: identity.embedding.nbytes,
            )

    def source(self, frame: Frame, face: Face, enhance: EnhanceMode = "none", run: Run | None = None) -> PreparedSource:
        """A face as the source of fusions."""
        small = mesh_swapper.is_small(face.mesh)  # its face is drawn anew, by the quick network unless the best one is asked for
        network: Literal["fast", "full"] = "full" if enhance == "full" else "fast"
        return self.cache.get(
            ("prepared", frame.digest, spot_of(face), network if small else ""),
            lambda: mesh_swapper.prepare(frame.pixels, face.mesh, self.models.hands, run, self.models.enhancer(network) if small else None),
            lambda half: half.nbytes,
        )

    def target(self, frame: Frame, face: Face, mode: Mode, run: Run) -> PreparedTarget:
        """A face as the target of fusions."""
        hands, occluder = (self.models.hands, self.models.occluder) if mode == "best" else (None, None)
        return self.cache.get(
            ("target", frame.digest, spot_of(face), mode),
            lambda: mesh_swapper.prepare_target(frame.pixels, face.mesh, mode, hands, run, occluder),
            lambda half: half.nbytes,
        )

    def persona(self, frames: Sequence[Frame], make: Callable[[], Persona]) -> Persona:
        """The person whom several photos show."""
        return self.cache.get(("persona", tuple(frame.digest for frame in frames)), make, lambda persona: persona.nbytes)

    def _found(self, frame: Frame, run: Run) -> tuple[tuple[Face, ...], tuple[RefusedFace, ...]]:
        return self.cache.get(
            ("faces", frame.digest),
            lambda: self.models.finder.find_all(frame.pixels, run),
            lambda found: 8192 * len(found[0]) + 256 * len(found[1]),
        )

    def forget(self) -> None:
        """Forgets everything."""
        self.cache.clear()
