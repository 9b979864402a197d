"""The one path for one picture: decode → safety → detect → mesh → embed → prepare → fuse → enhance → blend → mark → (save)."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from engines.choosing import distinct, likeness, mapped
from engines.errors import InvalidOption
from engines.face_mask import Paint
from engines.faces.face_map import THRESHOLD
from engines.faces.topology import five_points
from engines.fusing import fuse, masked
from engines.known import Known
from engines.manifest import Manifest
from engines.marking import Marker
from engines.models import Models
from engines.options import FuseOptions, check
from engines.personas import Persona
from engines.provenance.entry import Match
from engines.provenance.keys import KEY_FILE, MarkKey, load_key
from engines.provenance.ledger import Ledger
from engines.provenance.mark import MarkedImage, MarkKind
from engines.provenance.save import EncodedImage
from engines.provenance.signer import Signer
from engines.provenance.verify import Verification
from engines.provenance.visible import VisibleLabel
from engines.reading import Picture, Reader, Source, file_bytes
from engines.results import FoundFaces, FusionModel, FusionResult, notes_of
from engines.settings import Settings
from engines.timing import Run
from engines.types import AlignedFace, Face, FivePoints, Frame, Pixels
from engines.vision import geometry

if TYPE_CHECKING:
    from engines.comparing import Compared


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
        self.marker = Marker(settings, manifest, key)
        self._ask(
            Models(manifest, settings.provider, settings.threads, settings.detector, settings.identity, settings.parser, settings.occluder)
        )

    def _ask(self, models: Models) -> None:
        self.models, self.known = models, Known(models, self.settings.cache_mb << 20)
        self.reader = Reader(self.settings, self.key, self.known)

    def twin(self) -> Self:
        """The same key, ledger and signature, but no network open yet, and nothing known of any picture."""
        twin = copy(self)
        twin._ask(self.models.closed())
        return twin

    @classmethod
    def open(cls, settings: Settings | None = None) -> Self:
        """Reads the manifest and the key; models are opened when they are first needed.

        Raises:
            KeyUnusable: the watermark key is damaged or readable by others.
        """
        settings = settings or Settings.load()
        return cls(settings, Manifest.load(settings), load_key(settings.data_dir / KEY_FILE))

    def close(self) -> None:
        self.models.close()
        self.marker.close()
        self.known.forget()

    @property
    def signer(self) -> Signer | None:
        """Signs the outputs, as the settings ask; None where it needn't. Raises `CredentialsUnusable`."""
        return self.marker.signer

    @property
    def ledger(self) -> Ledger:
        """Its lines tell what was made here."""
        return self.marker.ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def read(self, picture: Picture, name: str = "", run: Run | None = None) -> Frame:
        """A picture, decoded: see `Reader.read`. Raises `UnreadableImage`, `ImageTooLarge`."""
        return self.reader.read(picture, name, run or Run())

    def faces(self, picture: Picture, name: str = "", run: Run | None = None) -> FoundFaces:
        """All faces of a picture, usable or not, from left to right. Raises `UnreadableImage`, `ImageTooLarge`."""
        run = run or Run()
        frame = self.read(picture, name, run)
        faces, refused = self.known.faces(frame, run), self.known.refused(frame, run)
        return FoundFaces(frame, faces, run.timings(), refused)

    def face_at(self, picture: Picture, points: FivePoints, name: str = "", run: Run | None = None) -> Face:
        """The face whose five points a person set, usable or not, also where `faces` finds none: see `FaceFinder.at`.

        Raises:
            InvalidOption: not five points, outside the picture, in one place, in the wrong order.
            UnreadableImage, ImageTooLarge.
        """
        run = run or Run()
        return self.known.face_at(self.read(picture, name, run), points, "points", run)

    def source(self, source: Source, name: str = "", run: Run | None = None) -> Frame | Persona:
        """What may be a source, read: see `Reader.source`."""
        return self.reader.source(source, name, run or Run())

    def admit(self, source: Source, options: FuseOptions | None = None, run: Run | None = None) -> Frame | Persona:
        """A source that was found fit to be one, before any target is known: see `Reader.admit`."""
        return self.reader.admit(source, options or FuseOptions(), run or Run())

    def load_persona(self, persona: Path | str | bytes, name: str = "") -> Persona:
        """A persona's file or its bytes, read: see `Reader.load_persona`. Raises `PersonaUnusable`, `UnreadableImage`."""
        return self.reader.load_persona(persona, name)

    def persona(self, pictures: Sequence[Picture], name: str, faces: Sequence[int | None] | None = None, run: Run | None = None) -> Persona:
        """One person of 2 to 20 photos: see `Reader.persona`."""
        return self.reader.persona(pictures, name, faces, run or Run())

    def fuse(
        self, source: Source, target: Picture, options: FuseOptions | None = None, run: Run | None = None, label: bool = False
    ) -> FusionResult:
        """Gives the target's face the source's identity.

        Args:
            source: a picture, a persona or its file, or several pictures of one person, which are made a persona for this once.
            label: draws words that people see into the picture, also where no rule needs them.

        Raises:
            InvalidOption: a value outside its range; no room for the label.
            UnreadableImage, ImageTooLarge, ContentRefused, NoFace, FaceIndexError, FaceNotUsable: of either picture.
            PersonaUnusable, PhotoRefused, NotOnePerson: of a source that is a persona, or several pictures.
            FaceUnchanged: the same face twice, or a strength at which nothing changes.
            LicenceNotAccepted: of a swapper or a restorer that nobody accepted here.
            ProviderUnavailable, ModelMissing, ModelCorrupt, Cancelled.
        """
        return self.fuse_faces([(source, options or FuseOptions())], target, run, label)

    def fuse_faces(
        self, wishes: Sequence[tuple[Source, FuseOptions]], target: Picture, run: Run | None = None, label: bool = False
    ) -> FusionResult:
        """Gives several faces of one picture an identity each: all of them, or none.

        Args:
            wishes: a source, and the options for the one face that it is for: `face` or `points` say which; as `face_map` makes them.
            label: see `fuse`.

        Raises:
            InvalidOption: a face that was given two sources; no wish at all. And what `fuse` raises.
        """
        run = run or Run()
        for _, options in wishes:
            check(options)
        words = self.marker.words(label)
        model = self.models.admit(options for _, options in wishes)
        sources, which = distinct([source for source, _ in wishes])
        # the pictures are dealt with beside each other
        given, frame = run.both(lambda: [self.source(source, run=run) for source in sources], lambda: self.read(target, run=run))
        scores, last = run.both(
            lambda: [self.reader.safe(one, "source", run) for one in given], lambda: self.reader.safe(frame, "target", run)
        )
        done = fuse(self.known, [(given[n], options) for n, (_, options) in zip(which, wishes, strict=True)], frame, run)
        with run.stage("mark"):
            fused = Frame(done.pixels, frame.origin, frame.digest, frame.alpha)
            image = self.mark(fused, "fusion", run, model, [options for _, options in wishes], words, frame)
        named = tuple(note for one in given if isinstance(one, Frame) for note in notes_of(one, "source"))
        notes = tuple(dict.fromkeys((*named, *notes_of(frame, "target"), *done.notes, *image.notes, *self.marker.notes())))
        faces = tuple(replace(face, source=n) for face, n in zip(done.faces, which, strict=True))
        known, timings = (*scores, last), run.timings()
        return FusionResult(
            image, tuple(given), frame, faces, known, self.models.provider, model, notes, timings, self.key, self.ledger, self.signer
        )

    def compare(
        self,
        source: Source,
        target: Picture,
        models: Sequence[str] | None = None,
        options: FuseOptions | None = None,
        run: Run | None = None,
        label: bool = False,
    ) -> "tuple[Compared, ...]":
        """The same fusion by several models, each with networks of its own: likeness, time, memory and licence of each.

        The memory is measured in a process of its own for each model: see `engines.footprint`.

        Args:
            models: `engines.options.MESH` and names of models.toml; None takes all that can fuse, installed or not.
            label: see `fuse`.

        Raises:
            ModelUnknown, Cancelled, and what `fuse` raises of the pictures and the options. A model that can't run is told, not raised.
        """
        from engines.comparing import compare, swappers

        options, run = options or FuseOptions(), run or Run()
        check(options)
        given, frame = self.source(source, run=run), self.read(target, run=run)
        return compare(self, swappers(self.manifest) if models is None else models, given, frame, options, run, label)

    def face_map(
        self,
        sources: Sequence[Source],
        target: Picture,
        order: str | None = None,
        references: Sequence[Picture] | None = None,
        threshold: float = THRESHOLD,
        options: FuseOptions | None = None,
        run: Run | None = None,
    ) -> tuple[tuple[Source, FuseOptions], ...]:
        """Whose face each source is for, as `fuse_faces` takes it: by order, or by likeness to reference pictures. See `choosing.mapped`.

        Raises:
            InvalidOption: neither order nor references, or both; not as many references as sources; as `faces.face_map` says.
            NoMatch: no face is like a reference. NoFace, FaceNotUsable: of the target or a reference.
        """
        options, run = options or FuseOptions(), run or Run()
        frame = self.read(target, run=run)
        shown = None if references is None else [self.read(picture, run=run) for picture in references]
        pairs = mapped(self.known, frame, len(sources), order, shown, threshold, run)
        return tuple((sources[number], replace(options, face=index)) for number, index in pairs)

    def likeness(self, reference: Picture, target: Picture, run: Run | None = None) -> dict[int, float]:
        """How far each usable face of a picture is from a reference picture's person: see `choosing.likeness`."""
        run = run or Run()
        return likeness(self.known, self.read(target, run=run), self.read(reference, run=run), run)

    def crop(self, frame: Frame, face: Face, size: int) -> AlignedFace:
        """An upright crop of a face on the ArcFace template; `size` is 112, 128, 256 or 512. Raises `InvalidOption`."""
        if size not in geometry.CROP_SIZES:
            raise InvalidOption(name="size", value=size, allowed=", ".join(map(str, geometry.CROP_SIZES)))
        # The mesh's five points, not the detector's: those lie too high at the mouth of a close-up.
        return geometry.align(frame.pixels, five_points(face.mesh.points), size)

    def paint(self, picture: Picture, name: str = "", run: Run | None = None) -> Paint:
        """A brush's layers from a picture: white fuses, black keeps, mid-grey and transparent say nothing. Raises as `read`."""
        frame = self.read(picture, name, run)
        return Paint.of(frame.pixels, frame.alpha)

    def mask(self, picture: Picture, options: FuseOptions | None = None, run: Run | None = None, longest: int | None = None) -> MarkedImage:
        """A target with the part tinted in which a fusion with these options may show; the source doesn't matter.

        Args:
            longest: of the sides of the picture that comes back, in pixels; None = as large as the target.

        Raises:
            InvalidOption, UnreadableImage, ImageTooLarge, ContentRefused, NoFace, FaceIndexError, FaceNotUsable, Cancelled.
        """
        options, run = options or FuseOptions(), run or Run()
        check(options)
        frame = self.read(picture, run=run)
        self.reader.safe(frame, "target", run)
        shown = masked(self.known, frame, options, run)
        with run.stage("mark"):
            return self.marker.tinted(frame, shown, longest, run)

    def mark(
        self, picture: Frame | Pixels, kind: MarkKind, run: Run | None = None, model: FusionModel | None = None,
        options: Sequence[FuseOptions] = (), label: VisibleLabel | None = None, of: Frame | None = None,
    ) -> MarkedImage:  # fmt: skip
        """Marks a picture, the only way to anything that can be shown, sent or written: see `Marker.mark`."""
        return self.marker.mark(self.read(picture), kind, run, model, options, label, of)

    def encode(self, image: MarkedImage, format: str = "png", quality: int | None = None, run: Run | None = None) -> EncodedImage:
        """Encodes a marked picture and reads its mark and labels back: see `Marker.encode`."""
        return self.marker.encode(image, format, quality, run)

    def sign(self, encoded: EncodedImage, image: MarkedImage, run: Run | None = None) -> EncodedImage:
        """Adds the credentials to a file that was made without: see `Marker.sign`."""
        return self.marker.sign(encoded, image, run)

    def verify(self, picture: Path | str | bytes, name: str = "", run: Run | None = None) -> Verification:
        """What a file says about itself. Raises `UnreadableImage`, `ImageTooLarge`; never for a verdict."""
        return self.marker.verify(*file_bytes(picture, name), run)

    def heat(self, picture: Picture, found: Verification, longest: int | None = None, run: Run | None = None) -> MarkedImage:
        """A verified picture in grey, with colours where the watermark answers and where it doesn't: see `Marker.heat`."""
        return self.marker.heat(self.read(picture, run=run), found, longest, run)

    def find(self, picture: Path | str | bytes, name: str = "", run: Run | None = None) -> tuple[Match, ...]:
        """The ledger's lines that a file leads to: see `Marker.find`. Raises `LedgerUnusable`, and what `verify` raises."""
        return self.marker.find(*file_bytes(picture, name), run)
