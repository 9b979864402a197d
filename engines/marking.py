"""A studio's key, ledger and signature at work: pictures marked and encoded, files verified and found again."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import cast

from engines.manifest import Manifest
from engines.options import FuseOptions
from engines.provenance.entry import Match
from engines.provenance.heat import drawn
from engines.provenance.keys import MarkKey
from engines.provenance.ledger import FILE as LEDGER
from engines.provenance.ledger import Ledger
from engines.provenance.lookup import lookup
from engines.provenance.mark import FUSED, MarkedImage, MarkKind, mark, preview_of
from engines.provenance.save import EncodedImage, encode, sign
from engines.provenance.second_mark import SecondMark, check_second
from engines.provenance.signer import Signer, open_signer, open_trust
from engines.provenance.verify import Verification, verify
from engines.provenance.view import on_white, shrunk
from engines.provenance.visible import VisibleLabel, label_of
from engines.provenance.watermark import detect
from engines.results import FusionModel
from engines.settings import Settings
from engines.timing import Run
from engines.types import Frame, Note, Pixels
from engines.vision import io
from engines.vision.mask import overlay

_ASKED = 256  # pictures of which is remembered whether they carry a mark


class Marker:
    """Marks, encodes and verifies for one studio; thread-safe. What each method takes and raises stands at `Studio`'s of the same name.

    Args:
        manifest: which licence each model has, for the labels.
    """

    def __init__(self, settings: Settings, manifest: Manifest, key: MarkKey) -> None:
        self.settings, self.manifest, self.key = settings, manifest, key
        self.ledger = Ledger(settings.data_dir / LEDGER, settings.ledger_days)
        self._second = cast(SecondMark, settings.second_mark)
        self._ids: dict[str, str] = {}  # see `first_id`

    @cached_property
    def signer(self) -> Signer | None:
        """See `Studio.signer`."""
        return open_signer(self.settings)

    def words(self, label: bool) -> VisibleLabel | None:
        """What people are to read in the picture, by the settings and by `label`; found out before the work, as is what marking needs.

        Raises:
            ExtraMissing: the settings ask for a second mark and its package isn't there. InvalidOption: as `visible.label_of` says.
        """
        check_second(self._second)
        return label_of(self.settings, label)

    def notes(self) -> tuple[Note, ...]:
        """What a person should know of all files of this studio: that they are unsigned where they might have been signed."""
        return (("unsigned", ()),) if self.settings.credentials == "auto" and self.signer is None else ()

    def mark(
        self, frame: Frame, kind: MarkKind, run: Run | None = None, model: FusionModel | None = None,
        options: Sequence[FuseOptions] = (), label: VisibleLabel | None = None, of: Frame | None = None,
    ) -> MarkedImage:  # fmt: skip
        """Marks a picture: the only way to anything that can be shown, sent or written.

        Args:
            model, options: what drew it, and how; the labels say so, and where the model's licence forbids trade.
            label: words for people, as `visible.label_of` gives them.
            of: the picture that a fusion changed, or that a crop or a preview shows: it says what that is, and its mark's id is kept.
        """
        said = "" if kind == "fusion" else self.algorithm(of or frame)
        return mark(
            frame,
            self.key,
            kind,
            self.settings.mark_psnr,
            self.settings.producer,
            run=run,
            options=options,
            models=[(name, self.manifest.entry(name).licence) for name in model.graphs] if model else [],
            label=label,
            said=said,
            second=self._second,
            first=self.first_id(of) if of is not None and (kind == "fusion" or said) else "",
            model=model.name if model else "",
            terms=model.terms if model else "",
        )

    def algorithm(self, frame: Frame) -> str:
        """IPTC's term for what made a picture, as far as an algorithm did: by its labels, or by this studio's watermark. "" else."""
        return frame.origin.source_type or (FUSED if self.first_id(frame) else "")

    def first_id(self, frame: Frame) -> str:
        """The id of this studio's watermark in a picture, cut or turned as well; "" where there is none. Asked once of each picture."""
        found = self._ids.get(frame.digest)
        if found is None:
            found = detect(on_white(*shrunk(frame.pixels, frame.alpha, 1024)), self.key, cut=True).id or ""
            while len(self._ids) >= _ASKED:
                self._ids.pop(next(iter(self._ids)), None)
            self._ids[frame.digest] = found
        return found

    def preview_of(self, image: MarkedImage, longest: int) -> MarkedImage:
        """See `mark.preview_of`."""
        return preview_of(image, self.key, longest)

    def encode(self, image: MarkedImage, format: str, quality: int | None, run: Run | None) -> EncodedImage:
        """Encodes a marked picture and reads its mark and labels back. Raises `MarkNotRead`, `OutputUnwritable`, `InvalidOption`."""
        return encode(image, format, quality, self.key, run, self.ledger, self.signer)

    def sign(self, encoded: EncodedImage, image: MarkedImage, run: Run | None) -> EncodedImage:
        """Adds the credentials to a file that was made without; the same back where the settings ask for none, or it has them.

        Raises:
            MarkNotRead, CredentialsUnusable, LedgerUnusable.
        """
        return sign(encoded, image, self.key, self.signer, run, self.ledger) if self.signer and not encoded.signed else encoded

    def verify(self, data: bytes, name: str, run: Run | None) -> Verification:
        """What a file says about itself. Raises `UnreadableImage`, `ImageTooLarge`; never for a verdict."""
        trust = partial(open_trust, self.settings)
        return verify(data, name or "picture", self.key, self.settings.max_megapixels, run=run, trust=trust, ledger=self.ledger)

    def tinted(self, frame: Frame, shown: Pixels, longest: int | None, run: Run | None) -> MarkedImage:
        """A picture with a part tinted.

        Args:
            shown: (H, W) uint8, how much of each pixel is meant.
            longest: of the sides of the picture that comes back, in pixels; None = as large as the picture.
        """
        pixels, alpha = frame.pixels, frame.alpha
        if longest is not None:
            (pixels, alpha), (shown, _) = shrunk(pixels, alpha, longest), shrunk(shown, None, longest)
        return self.mark(replace(frame, pixels=overlay(pixels, shown), alpha=alpha), "preview", run, of=frame)

    def heat(self, frame: Frame, found: Verification, longest: int | None, run: Run | None) -> MarkedImage:
        """A verified picture in grey, orange where the watermark answers, blue where it doesn't; it says what the picture says.

        Args:
            longest: of the sides of the picture that comes back, in pixels; None = as large as the picture.
        """
        if found.id:  # read by the deep search; what a preview is of is asked by a shorter one
            frame = replace(frame, origin=replace(frame.origin, source_type=FUSED))
        seen = on_white(*(shrunk(frame.pixels, frame.alpha, longest) if longest else (frame.pixels, frame.alpha)))
        return self.mark(io.from_array(drawn(seen, found.heat)), "preview", run, of=frame)

    def find(self, data: bytes, name: str, run: Run | None) -> tuple[Match, ...]:
        """The ledger's lines that a file leads to: by its bytes, its mark, its label, its look.

        Raises:
            LedgerUnusable, and what `verify` raises.
        """
        return lookup(data, name or "picture", self.key, self.ledger, self.settings.max_megapixels, run)

    def close(self) -> None:
        self.ledger.close()
