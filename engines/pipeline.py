"""The one path for one picture: decode → safety → detect → mesh → embed → prepare → fuse → enhance → blend → mark → (save)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from engines.choosing import choose, distinct, likeness, mapped, ready, source_half
from engines.errors import ContentRefused, InputError, InvalidOption, PhotoRefused
from engines.face_mask import Paint
from engines.faces.face_map import THRESHOLD
from engines.faces.topology import five_points
from engines.fusing import fuse, masked
from engines.known import Known
from engines.manifest import Manifest
from engines.models import Models
from engines.options import check
from engines.persona_file import is_persona, load
from engines.personas import Persona, Photo, check_photos, of_photos
from engines.provenance.certificates import Trust
from engines.provenance.entry import Match
from engines.provenance.heat import drawn
from engines.provenance.keys import KEY_FILE, MarkKey, load_key
from engines.provenance.ledger import FILE as LEDGER
from engines.provenance.ledger import Ledger
from engines.provenance.lookup import lookup
from engines.provenance.mark import FUSED, MarkedImage, MarkKind, mark, preview_of
from engines.provenance.metadata import read_labels
from engines.provenance.save import EncodedImage, encode, sign
from engines.provenance.second_mark import SecondMark, check_second
from engines.provenance.signer import Signer, open_signer, open_trust
from engines.provenance.verify import Verification, verify
from engines.provenance.view import on_white, shrunk
from engines.provenance.visible import VisibleLabel, label_of
from engines.provenance.watermark import detect
from engines.results import FoundFaces, FusionModel, FusionResult, notes_of
from engines.settings import Settings
from engines.timing import Run
from engines.types import AlignedFace, Face, FivePoints, Frame, FuseOptions, Pixels, Role, SafetyScore
from engines.vision import geometry, io
from engines.vision.mask import overlay

if TYPE_CHECKING:
    from engines.comparing import Compared

Picture = Frame | Path | str | bytes | Pixels
Source = Picture | Persona | Sequence[Picture]  # several pictures: of one person

_ASKED = 256  # pictures of which is remembered whether they carry a mark


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
        self.models = Models(
            manifest, settings.provider, settings.threads, settings.detector, settings.identity, settings.parser, settings.occluder
        )
        self.known = Known(self.models, settings.cache_mb << 20)
        self.ledger = Ledger(settings.data_dir / LEDGER, settings.ledger_days)
        self._marked: dict[str, str] = {}  # see `first_id`

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
        self.ledger.close()
        self.known.forget()

    @cached_property
    def signer(self) -> Signer | None:
        """Signs the outputs, as the settings ask; None where it needn't. Raises `CredentialsUnusable`."""
        return open_signer(self.settings)

    @property
    def _second(self) -> SecondMark:
        return cast(SecondMark, self.settings.second_mark)

    def _trust(self) -> Trust:
        return open_trust(self.settings)

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
            if not isinstance(picture, bytes):
                path = Path(picture)
                picture, name = io.read_bytes(path), path.name
            frame = io.decode(picture, name or "picture", self.settings.max_megapixels)
            said = read_labels(picture).algorithm
            return replace(frame, origin=replace(frame.origin, source_type=said)) if said else frame

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

    def admit(self, source: Source, options: FuseOptions | None = None, run: Run | None = None) -> Frame | Persona:
        """A source that was found fit to be one, before any target is known: as `source`, and its face is looked for.

        Raises:
            ContentRefused, NoFace, FaceIndexError, FaceNotUsable, InvalidOption (the options), and what `source` raises.
        """
        options, run = options or FuseOptions(), run or Run()
        check(options)
        given = self.source(source, run=run)
        self._admit(given, "source", run)
        source_half(self.known, given, options, run)
        return given

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
                face, _ = choose(self.known, frame, "source", index, run)
            except InputError as fault:
                raise PhotoRefused(photo=label, fault=fault) from fault
            photos.append(
                Photo(label, self.known.identity(frame, face, run), score, partial(ready, self.known, frame, face, FuseOptions(), run))
            )
        return of_photos(name, photos, run)

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
        check_second(self._second)
        words = label_of(self.settings, label)
        model = self.models.admit(options for _, options in wishes)
        sources, which = distinct([source for source, _ in wishes])
        # the pictures are dealt with beside each other
        given, frame = run.both(lambda: [self.source(source, run=run) for source in sources], lambda: self.read(target, run=run))
        scores, last = run.both(lambda: [self._admit(one, "source", run) for one in given], lambda: self._admit(frame, "target", run))
        done = fuse(self.known, [(given[n], options) for n, (_, options) in zip(which, wishes, strict=True)], frame, run)
        with run.stage("mark"):
            fused = Frame(done.pixels, frame.origin, frame.digest, frame.alpha)
            image = self.mark(fused, "fusion", run, model, [options for _, options in wishes], words, frame)
        named = tuple(note for one in given if isinstance(one, Frame) for note in notes_of(one, "source"))
        notes = tuple(dict.fromkeys((*named, *notes_of(frame, "target"), *done.notes, *image.notes)))
        faces = tuple(replace(face, source=n) for face, n in zip(done.faces, which, strict=True))
        if self.settings.credentials == "auto" and self.signer is None:
            notes = (*notes, ("unsigned", ()))
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
            models: `engines.types.MESH` and names of models.toml; None takes all that can fuse, installed or not.
            label: see `fuse`.

        Raises:
            ModelUnknown, Cancelled, and what `fuse` raises of the pictures and the options. A model that can't run is told, not raised.
        """
        from engines.comparing import compare, swappers
        from engines.footprint import footprint

        options, run = options or FuseOptions(), run or Run()
        check(options)
        given, frame = self.source(source, run=run), self.read(target, run=run)

        @contextmanager
        def opened() -> Iterator[Callable[[FuseOptions, Run], FusionResult]]:
            twin = copy(self)
            twin.models = self.models.closed()
            twin.known = Known(twin.models, self.settings.cache_mb << 20)

            def anew(wish: FuseOptions, one: Run) -> FusionResult:
                twin.known.forget()
                return twin.fuse(given, frame, wish, one, label)

            try:
                yield anew
            finally:
                twin.models.close()
                twin.known.forget()

        def measured(wish: FuseOptions, one: Run) -> tuple[int, int] | None:
            found = footprint(self, given, frame, wish, one)
            return (found.rise, found.peak) if found else None

        return compare(swappers(self.manifest) if models is None else models, options, self.manifest, opened, measured, run)

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
        """Whose face each source is for, as `fuse_faces` takes it: by order, or by likeness to reference pictures.

        Args:
            sources: one alone is for every usable face.
            order: "left-right" or "large-small": the first source for the first face, and so on.
            references: one picture for each source, of the person in the target whose face it is for; every usable face that shows that
                person is taken.
            threshold: largest distance at which a face is that person, on the scale of `FusedFace.identity_before`.
            options: for all of them.

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
        """How far each usable face of a picture is from the person of a reference picture, by the face's number.

        On the scale of `FusedFace.identity_before`: a face within `faces.face_map.THRESHOLD` is that person. Raises `NoFace`,
        `FaceNotUsable`: of either picture.
        """
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
        self._admit(frame, "target", run)
        shown = masked(self.known, frame, options, run)
        with run.stage("mark"):
            pixels, alpha = frame.pixels, frame.alpha
            if longest is not None:
                (pixels, alpha), (shown, _) = shrunk(pixels, alpha, longest), shrunk(shown, None, longest)
            return self.mark(replace(frame, pixels=overlay(pixels, shown), alpha=alpha), "preview", run, of=frame)

    def mark(
        self, picture: Frame | Pixels, kind: MarkKind, run: Run | None = None, model: FusionModel | None = None,
        options: Sequence[FuseOptions] = (), label: VisibleLabel | None = None, of: Frame | None = None,
    ) -> MarkedImage:  # fmt: skip
        """Marks a picture: the only way to anything that can be shown, sent or written.

        Args:
            model, options: what drew it, and how; the labels say so, and where the model's licence forbids trade.
            label: words for people, as `visible.label_of` gives them.
            of: the picture that a fusion changed, or that a crop or a preview shows: it says what that is, and its mark's id is kept.
        """
        frame, psnr, producer = self.read(picture), self.settings.mark_psnr, self.settings.producer
        made_by, terms = (model.name, model.terms) if model else ("", "")
        models = [(name, self.manifest.entry(name).licence) for name in model.graphs] if model else []
        said = "" if kind == "fusion" else self.algorithm(of or frame)
        return mark(
            frame,
            self.key,
            kind,
            psnr,
            producer,
            run=run,
            options=options,
            models=models,
            label=label,
            said=said,
            second=self._second,
            first=self.first_id(of) if of is not None and (kind == "fusion" or said) else "",
            model=made_by,
            terms=terms,
        )

    def algorithm(self, picture: Picture) -> str:
        """IPTC's term for what made a picture, as far as an algorithm did: by its labels, or by this studio's watermark. "" else."""
        frame = self.read(picture)
        return frame.origin.source_type or (FUSED if self.first_id(frame) else "")

    def first_id(self, picture: Picture) -> str:
        """The id of this studio's watermark in a picture, cut or turned as well; "" where there is none. Asked once of each picture."""
        frame = self.read(picture)
        found = self._marked.get(frame.digest)
        if found is None:
            found = detect(on_white(*shrunk(frame.pixels, frame.alpha, 1024)), self.key, cut=True).id or ""
            while len(self._marked) >= _ASKED:
                self._marked.pop(next(iter(self._marked)), None)
            self._marked[frame.digest] = found
        return found

    def preview_of(self, image: MarkedImage, longest: int) -> MarkedImage:
        """See `mark.preview_of`."""
        return preview_of(image, self.key, longest)

    def encode(self, image: MarkedImage, format: str = "png", quality: int | None = None, run: Run | None = None) -> EncodedImage:
        """Encodes a marked picture and reads its mark and labels back. Raises `MarkNotRead`, `OutputUnwritable`, `InvalidOption`."""
        return encode(image, format, quality, self.key, run, self.ledger, self.signer)

    def sign(self, encoded: EncodedImage, image: MarkedImage, run: Run | None = None) -> EncodedImage:
        """Adds the credentials to a file that was made without; the same back where the settings ask for none, or it has them.

        Raises:
            MarkNotRead, CredentialsUnusable, LedgerUnusable.
        """
        return sign(encoded, image, self.key, self.signer, run, self.ledger) if self.signer and not encoded.signed else encoded

    def verify(self, picture: Path | str | bytes, name: str = "", run: Run | None = None) -> Verification:
        """What a file says about itself. Raises `UnreadableImage`, `ImageTooLarge`; never for a verdict."""
        if not isinstance(picture, bytes):
            path = Path(picture)
            picture, name = io.read_bytes(path), path.name
        limit = self.settings.max_megapixels
        return verify(picture, name or "picture", self.key, limit, run=run, trust=self._trust, ledger=self.ledger)

    def heat(self, picture: Picture, found: Verification, longest: int | None = None, run: Run | None = None) -> MarkedImage:
        """A verified picture in grey, orange where the watermark answers, blue where it doesn't; it says what the picture says.

        Args:
            longest: of the sides of the picture that comes back, in pixels; None = as large as the picture.
        """
        frame = self.read(picture, run=run)
        if found.id:  # read by the deep search; what a preview is of is asked by the quick one
            frame = replace(frame, origin=replace(frame.origin, source_type=FUSED))
        seen = on_white(*(shrunk(frame.pixels, frame.alpha, longest) if longest else (frame.pixels, frame.alpha)))
        return self.mark(drawn(seen, found.heat), "preview", run, of=frame)

    def find(self, picture: Path | str | bytes, name: str = "", run: Run | None = None) -> tuple[Match, ...]:
        """The ledger's lines that a file leads to: by its bytes, its mark, its label, its look.

        Raises:
            LedgerUnusable, and what `verify` raises.
        """
        data = picture if isinstance(picture, bytes) else io.read_bytes(Path(picture))
        named = name or (Path(picture).name if not isinstance(picture, bytes) else "picture")
        return lookup(data, named, self.key, self.ledger, self.settings.max_megapixels, run)

    def _together(self, pictures: Sequence[Picture], run: Run) -> Frame | Persona:
        if len(pictures) == 1:
            return self.source(pictures[0], run=run)
        frames = [self.read(picture, run=run) for picture in pictures]
        return self.known.persona(frames, lambda: self.persona(pictures, "source", run=run))

    def _admit(self, frame: Frame | Persona, role: Role, run: Run) -> SafetyScore:
        with run.stage("safety"):
            found = frame.safety if isinstance(frame, Persona) else self.known.safety(frame)
        if found.score > self.settings.safety_limit:
            raise ContentRefused(role=role, score=found.score, limit=self.settings.safety_limit)
        return found
