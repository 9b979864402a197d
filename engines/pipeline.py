"""The one path for one picture: decode → safety → detect → mesh → embed → prepare → fuse → enhance → blend → mark → (save)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from engines.cache import ByteCache
from engines.errors import (
    ContentRefused,
    FaceIndexError,
    FaceNotUsable,
    FaceUnchanged,
    InputError,
    InvalidOption,
    NoFace,
    PhotoRefused,
)
from engines.faces import mesh_swapper
from engines.faces.by_hand import checked
from engines.faces.embedder import distance, similarity
from engines.faces.finder import MINIMUM_SIZE
from engines.faces.occlusion.as_source import judge
from engines.faces.pairing import Side, pairing, same_place, side_of, side_of_points, spot_of
from engines.faces.source import PreparedSource
from engines.faces.topology import five_points
from engines.manifest import Manifest
from engines.models import IDENTITY, MESH_FUSION, Models
from engines.options import check
from engines.persona_file import is_persona, load
from engines.personas import Persona, Photo, check_photos, of_photos
from engines.provenance.keys import MarkKey, load_key
from engines.provenance.mark import MarkedImage, MarkKind, mark
from engines.provenance.save import EncodedImage, encode
from engines.provenance.verify import Verification, verify
from engines.results import FoundFaces, FusionResult
from engines.settings import Settings
from engines.timing import Run
from engines.types import (
    AlignedFace,
    EnhanceMode,
    Face,
    FaceMesh,
    FivePoints,
    Frame,
    FusedFace,
    FuseOptions,
    Identity,
    Note,
    Patch,
    Pixels,
    Role,
    SafetyScore,
)
from engines.vision import blend, geometry, io

Picture = Frame | Path | str | bytes | Pixels
Source = Picture | Persona | Sequence[Picture]  # several pictures: of one person

# Mean absolute change over the mask, in levels of 255, below which nobody can see that anything happened. A fusion of two people
# changes 8 to 30; a face laid onto itself changes under 2 by resampling, which the digest catches before it comes to this.
UNCHANGED = 0.5


class Studio:
    """The pipeline, with its models, caches and key. Thread-safe; one object serves a whole process.

    >>> from engines import Studio
    >>> with Studio.open() as studio:
    ...     result = studio.fuse(SOURCE, TARGET)
    ...     saved = result.save(OUTPUT)
    >>> result.faces[0].identity_after < result.faces[0].identity_before
    True
    """

    def __init__(self, settings: Settings, manifest: Manifest, key: MarkKey) -> None:
        self.settings, self.manifest, self.key = settings, manifest, key
        self.models = Models(manifest, settings.provider, settings.threads)
        self._cache = ByteCache(settings.cache_mb << 20)

    @classmethod
    def open(cls, settings: Settings | None = None) -> Self:
        """Reads the manifest and the key; models are opened when they are first needed.

        Raises:
            KeyUnusable: the watermark key is damaged or readable by others.
        """
        settings = settings or Settings.load()
        return cls(settings, Manifest.load(settings), load_key(settings.data_dir / "keys" / "mark.key"))

    def close(self) -> None:
        self.models.close()
        self._cache.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def read(self, picture: Picture, name: str = "", run: Run | None = None) -> Frame:
        """Decodes a file, its bytes, or takes pixels as they are ((H, W), (H, W, 3) or (H, W, 4) uint8 RGB(A)).

        Raises:
            UnreadableImage, ImageTooLarge.
        """
        with (run or Run()).stage("decode"):
            if isinstance(picture, Frame):
                return picture
            if isinstance(picture, np.ndarray):
                return io.from_array(picture)
            if isinstance(picture, bytes):
                return io.decode(picture, name or "picture", self.settings.max_megapixels)
            return io.read(Path(picture), self.settings.max_megapixels)

    def faces(self, picture: Picture, name: str = "", run: Run | None = None) -> FoundFaces:
        """All faces of a picture, usable or not, from left to right. Raises `UnreadableImage`, `ImageTooLarge`."""
        run = run or Run()
        frame = self.read(picture, name, run)
        return FoundFaces(frame, self._find(frame, run), run.timings())

    def face_at(self, picture: Picture, points: FivePoints, name: str = "", run: Run | None = None) -> Face:
        """The face whose five points a person set, usable or not, also where `faces` finds none: see `FaceFinder.at`.

        Raises:
            InvalidOption: not five points, outside the picture, in one place, in the wrong order.
            UnreadableImage, ImageTooLarge.
        """
        run = run or Run()
        return self._at(self.read(picture, name, run), points, "points", run)

    def source(self, source: Source, name: str = "", run: Run | None = None) -> Frame | Persona:
        """What may be asked to be a source: a picture as `read` takes it; a persona, its file or its bytes; several pictures.

        Raises:
            UnreadableImage, ImageTooLarge, PersonaUnusable; for several pictures as `persona` does.
        """
        if isinstance(source, Persona):
            return source
        if isinstance(source, Sequence) and not isinstance(source, str | bytes):
            return self._together(source, run or Run())
        if isinstance(source, str | Path):
            path = Path(source)
            source, name = io.read_bytes(path), name or path.name
        if isinstance(source, bytes) and is_persona(source):
            return load(source, self.key, io.printable(name or "persona"))
        return self.read(source, name, run)

    def load_persona(self, persona: Path | str | bytes, name: str = "") -> Persona:
        """Reads a persona's file or its bytes. Raises `PersonaUnusable`, `UnreadableImage` (no such file, no permission)."""
        if isinstance(persona, bytes):
            return load(persona, self.key, io.printable(name or "persona"))
        path = Path(persona)
        return load(io.read_bytes(path), self.key, io.printable(name or path.name))

    def persona(self, pictures: Sequence[Picture], name: str, faces: Sequence[int | None] | None = None, run: Run | None = None) -> Persona:
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
        run = run or Run()
        name = check_photos(name, len(pictures), faces)
        photos = []
        for number, (picture, index) in enumerate(zip(pictures, faces or [None] * len(pictures), strict=True), 1):
            label = f"{number} ({picture.name})" if isinstance(picture, Path) else str(number)
            try:
                frame = self.read(picture, run=run)
                score = self._admit(frame, "source", run)
                face, _ = self._choose(frame, "source", index, run)
            except InputError as fault:
                raise PhotoRefused(photo=label, fault=fault) from fault
            photos.append(Photo(label, self._identity(frame, face, run), score, partial(self._prepared, frame, face, run=run)))
        return of_photos(name, photos, run)

    def fuse(self, source: Source, target: Picture, options: FuseOptions | None = None, run: Run | None = None) -> FusionResult:
        """Gives the target's face the source's identity.

        Args:
            source: a picture, a persona or its file, or several pictures of one person, which are made a persona for this once.

        Raises:
            InvalidOption: a value outside its range.
            UnreadableImage, ImageTooLarge, ContentRefused, NoFace, FaceIndexError, FaceNotUsable: of either picture.
            PersonaUnusable, PhotoRefused, NotOnePerson: of a source that is a persona, or several pictures.
            FaceUnchanged: the same face twice, or a strength at which nothing changes.
            ProviderUnavailable, ModelMissing, ModelCorrupt, Cancelled.
        """
        options, run = options or FuseOptions(), run or Run()
        check(options)
        given, target_frame = self.source(source, run=run), self.read(target, run=run)
        safety = self._admit(given, "source", run), self._admit(target_frame, "target", run)
        half = self._half(given, options, run)
        target_face, target_notes = self._choose(target_frame, "target", options.face, run, options.points)
        if given.digest == target_frame.digest and half.face is not None and same_place(half.face, target_face):
            raise FaceUnchanged("same", index=target_face.index)
        together = pairing(half.side(), self._side(target_frame, target_face))
        if not together.verdict.usable:
            unfit: dict[str, Any] = dict(together.verdict.facts)
            raise FaceNotUsable(role="source", index=half.face.index if half.face else 0, verdict=together.verdict.reason, **unfit)

        before = distance(half.identity, self._identity(target_frame, target_face, run))
        with run.stage("prepare"):
            prepared = half.prepare()
        open_face, cover_notes = judge(prepared.found)
        if not open_face.usable:
            why: dict[str, Any] = dict(open_face.facts)
            raise FaceNotUsable(role="source", index=half.face.index if half.face else 0, verdict=open_face.reason, **why)
        patch = self._lay(prepared, target_frame, target_face, options, run)
        with run.stage("blend"):
            pixels = blend.apply(target_frame.pixels, patch)
        after = distance(half.identity, self._identity_after(pixels, target_face, run))
        fused = FusedFace(
            target_face.index,
            target_face.box,
            target_face.detection.score,
            before,
            after,
            similarity(before),
            similarity(after),
        )
        with run.stage("mark"):
            image = self.mark(Frame(pixels, target_frame.origin, target_frame.digest, target_frame.alpha), "fusion", run)
        named = _named(given, "source") if isinstance(given, Frame) else ()
        notes = (*named, *_named(target_frame, "target"), *half.notes, *cover_notes, *target_notes, *together.notes, *image.notes)
        return FusionResult(
            image, given, target_frame, (fused,), safety, self.models.provider, MESH_FUSION, notes, run.timings(), self.key, options
        )

    def crop(self, frame: Frame, face: Face, size: int) -> AlignedFace:
        """An upright crop of a face on the ArcFace template; `size` is 112, 128, 256 or 512. Raises `InvalidOption`."""
        if size not in geometry.CROP_SIZES:
            raise InvalidOption(name="size", value=size, allowed=", ".join(map(str, geometry.CROP_SIZES)))
        # The mesh's five points, not the detector's: those lie too high at the mouth of a close-up.
        return geometry.align(frame.pixels, five_points(face.mesh.points), size)

    def mark(self, picture: Frame | Pixels, kind: MarkKind, run: Run | None = None) -> MarkedImage:
        """Marks a picture: the only way to anything that can be shown, sent or written."""
        frame = picture if isinstance(picture, Frame) else io.from_array(picture)
        return mark(frame, self.key, kind, self.settings.mark_psnr, self.settings.producer, run=run)

    def encode(self, image: MarkedImage, format: str = "png", quality: int | None = None, run: Run | None = None) -> EncodedImage:
        """Encodes a marked picture and reads its mark and labels back. Raises `MarkNotRead`, `OutputUnwritable`, `InvalidOption`."""
        return encode(image, format, quality, self.key, run)

    def verify(self, picture: Path | str | bytes, name: str = "", run: Run | None = None) -> Verification:
        """What a file says about itself. Raises `UnreadableImage`, `ImageTooLarge`; never for a verdict."""
        if isinstance(picture, bytes):
            return verify(picture, name or "picture", self.key, self.settings.max_megapixels, run=run)
        path = Path(picture)
        return verify(io.read_bytes(path), path.name, self.key, self.settings.max_megapixels, run=run)

    def _together(self, pictures: Sequence[Picture], run: Run) -> Frame | Persona:
        if len(pictures) == 1:
            return self.source(pictures[0], run=run)
        frames = [self.read(picture, run=run) for picture in pictures]
        key = ("persona", tuple(frame.digest for frame in frames))
        return self._cache.get(key, lambda: self.persona(pictures, "source", run=run), lambda persona: persona.nbytes)

    def _half(self, source: Frame | Persona, options: FuseOptions, run: Run) -> "_Half":
        if isinstance(source, Persona):  # one face, number 0, and no picture in which to look for another
            if options.source_face not in (None, 0):
                raise FaceIndexError(role="source", index=options.source_face, count=1)
            if options.source_points is not None:
                raise InvalidOption("no_picture", name="source_points")
            return _Half(source.identity, lambda: source.source, lambda: side_of_points(source.source.points))
        face, notes = self._choose(source, "source", options.source_face, run, options.source_points)
        side = partial(self._side, source, face)
        return _Half(self._identity(source, face, run), partial(self._prepared, source, face, options.enhance, run), side, notes, face)

    def _admit(self, frame: Frame | Persona, role: Role, run: Run) -> SafetyScore:
        with run.stage("safety"):
            found = frame.safety if isinstance(frame, Persona) else self._score(frame)
        if found.score > self.settings.safety_limit:
            raise ContentRefused(role=role, score=found.score, limit=self.settings.safety_limit)
        return found

    def _score(self, frame: Frame) -> SafetyScore:
        return self._cache.get(("safety", frame.digest), lambda: self.models.safety.score(frame.pixels), lambda _: 64)

    def _find(self, frame: Frame, run: Run) -> tuple[Face, ...]:
        return self._cache.get(("faces", frame.digest), lambda: self.models.finder.find(frame.pixels, run), lambda faces: 8192 * len(faces))

    def _at(self, frame: Frame, points: FivePoints, name: str, run: Run) -> Face:
        five = tuple(map(tuple, checked(points, frame.width, frame.height, name).tolist()))
        return self._cache.get(
            ("at", frame.digest, five), lambda: self.models.finder.at(frame.pixels, five, run, self._find(frame, run)), lambda _: 8192
        )

    def _choose(
        self, frame: Frame, role: Role, index: int | None, run: Run, points: FivePoints | None = None
    ) -> tuple[Face, tuple[Note, ...]]:
        if points is not None:  # set by hand, they win over the number
            by_hand = self._at(frame, points, "points" if role == "target" else "source_points", run)
            return _usable(by_hand, role), ()
        faces = self._find(frame, run)
        if not faces:
            raise NoFace(role=role, minimum=MINIMUM_SIZE)
        if index is not None and not 0 <= index < len(faces):
            raise FaceIndexError(role=role, index=index, count=len(faces))
        usable = [face for face in faces if face.verdict.usable]
        face = _usable(faces[index] if index is not None else max(usable or faces, key=lambda face: face.mesh.size), role)
        several = index is None and len(faces) > 1
        return face, ((("several", (("role", role), ("count", len(faces)), ("index", face.index))),) if several else ())

    def _side(self, frame: Frame, face: Face) -> Side:
        return self._cache.get(("side", frame.digest, spot_of(face)), lambda: side_of(frame.pixels, face.mesh), lambda _: 128)

    def _identity(self, frame: Frame, face: Face, run: Run) -> Identity:
        with run.stage("embed"):
            return self._cache.get(
                ("identity", IDENTITY, frame.digest, spot_of(face)),
                lambda: self.models.embedder.embed(frame.pixels, face.mesh),
                lambda identity: identity.embedding.nbytes,
            )

    def _prepared(self, frame: Frame, face: Face, enhance: EnhanceMode = "none", run: Run | None = None) -> PreparedSource:
        small = mesh_swapper.is_small(face.mesh)  # its face is drawn anew, by the quick network unless the best one is asked for
        network: Literal["fast", "full"] = "full" if enhance == "full" else "fast"
        return self._cache.get(
            ("prepared", frame.digest, spot_of(face), network if small else ""),
            lambda: mesh_swapper.prepare(frame.pixels, face.mesh, self.models.hands, run, self.models.enhancer(network) if small else None),
            lambda half: half.nbytes,
        )

    def _fuse_one(self, source: Frame, source_face: Face, target: Frame, target_face: Face, options: FuseOptions, run: Run) -> Patch:
        with run.stage("prepare"):
            prepared = self._prepared(source, source_face, options.enhance, run)
        return self._lay(prepared, target, target_face, options, run)

    def _lay(self, prepared: PreparedSource, target: Frame, target_face: Face, options: FuseOptions, run: Run) -> Patch:
        with run.stage("prepare"):
            spot = self._cache.get(
                ("target", target.digest, spot_of(target_face), options.mode),
                lambda: mesh_swapper.prepare_target(
                    target.pixels, target_face.mesh, options.mode, self.models.hands if options.mode == "best" else None, run
                ),
                lambda half: half.nbytes,
            )
        with run.stage("fuse", 1, 1):
            crop = mesh_swapper.fuse(spot, prepared, options, run)
        if options.enhance != "none":
            crop = self.models.enhancer(options.enhance).enhance(crop, run)  # a stage for each of its tiles
            crop = mesh_swapper.regrain(spot, crop, options)
        with run.stage("blend"):
            patch = blend.paste(target.pixels, crop)
        if _change(target.pixels, patch) < UNCHANGED:
            raise FaceUnchanged(index=target_face.index)
        return patch

    def _identity_after(self, pixels: Pixels, face: Face, run: Run) -> Identity:
        """Measured on the result with a mesh of its own, so that a wrong fit of the target can't praise itself."""
        with run.stage("embed"):
            mesh: FaceMesh = self.models.mesh.fit(pixels, face.detection.points)
            return self.models.embedder.embed(pixels, mesh)


@dataclass(frozen=True, slots=True)
class _Half:
    """What a fusion needs of its source, be it a picture or a persona. `face`: None for a persona."""

    identity: Identity
    prepare: Callable[[], PreparedSource]
    side: Callable[[], Side]
    notes: tuple[Note, ...] = ()
    face: Face | None = None


def _usable(face: Face, role: Role) -> Face:
    """The same face. Raises `FaceNotUsable`."""
    if not face.verdict.usable:
        facts: dict[str, Any] = dict(face.verdict.facts)
        raise FaceNotUsable(role=role, index=face.index, verdict=face.verdict.reason, **facts)
    return face


def _change(pixels: Pixels, patch: Patch) -> float:
    """Mean absolute change over the mask, in levels."""
    height, width = patch.mask.shape
    inside = patch.mask > 0
    if not inside.any():
        return 0.0
    was = pixels[patch.top : patch.top + height, patch.left : patch.left + width]
    return float(np.abs(was.astype(np.int16) - patch.pixels)[inside].mean())


def _named(frame: Frame, role: Role) -> tuple[Note, ...]:
    """The decoder's notes, each with the picture that it speaks of."""
    return tuple((key, (("role", role), *facts)) for key, facts in frame.origin.notes)
