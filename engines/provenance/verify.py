"""What a picture file says about where it comes from. A verdict says what was found, and never that a picture is real."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from engines.errors import LedgerUnusable
from engines.provenance import watermark
from engines.provenance.boxes import child, is_movie
from engines.provenance.certificates import Trust
from engines.provenance.credentials import Credentials, read_credentials
from engines.provenance.foreign import ForeignMark, read_foreign
from engines.provenance.heat import Heat, heat_of
from engines.provenance.keys import MarkKey
from engines.provenance.labels import FoundLabels
from engines.provenance.ledger import Ledger
from engines.provenance.lookup import Kept, kept
from engines.provenance.metadata import read_labels
from engines.provenance.view import on_white
from engines.timing import Run
from engines.types import Frame
from engines.vision import io

Verdict = Literal["made_here", "marked", "inconclusive", "possible_copy", "unmarked"]
VERDICTS = get_args(Verdict)

# Score without a readable id from which a damaged mark is likelier than chance. 20,000 unmarked pictures reached 6.8 in the quick search;
# the deep one looks at a hundred times as many places.
INCONCLUSIVE = 7.5


@dataclass(frozen=True, slots=True)
class Verification:
    """An answer about one file.

    Attributes:
        verdict: "made_here": this key's watermark was read, this installation's signature holds, or these very bytes stand in its
            ledger. "marked": none of these, but labels or marks of others say that an algorithm made or changed the picture.
            "inconclusive": a watermark of this key seems to be there and can't be read. "possible_copy": nothing was found but that the
            picture looks like an output in the ledger. "unmarked": nothing was found, which proves nothing.
        id: the watermark's, None where it wasn't read.
        score: how far the watermark's pilot stands out, see `watermark.Reading`.
        labels: what the file says in the open; anybody can write or remove that.
        credentials: what is signed in it, and whether that holds; None where nothing is, or nobody asked.
        kept: what the ledger tells of it; None where nobody asked.
        foreign: the invisible watermark of another program, a claim like a label; None where none is known.
        heat: where in the picture the watermark answers; None where it wasn't read.
        video: whether the file is a video, whose frames aren't decoded here: the watermark and the looks weren't asked.
    """

    verdict: Verdict
    id: str | None
    score: float
    labels: FoundLabels
    name: str = ""
    credentials: Credentials | None = None
    kept: Kept | None = None
    foreign: ForeignMark | None = None
    heat: Heat | None = None
    video: bool = False

    def as_dict(self) -> dict[str, Any]:
        """`{"verdict", "mark": {"id", "score", "answers", "asked"}, "labels": {…}, "credentials": {…}, "others": {…}, "ledger": {…}}`,
        and `"video": True` for one.

        None for a mark that wasn't read, for credentials that aren't there, for a ledger that nobody asked.
        """
        mark = {"id": self.id, "score": round(self.score, 1)} if self.id else None
        if mark and self.heat:
            mark |= {"answers": round(self.heat.warm, 3), "asked": round(self.heat.heard, 3)}
        labels = self.labels.labels.as_dict() | {"found": list(self.labels.names())}
        signed = self.credentials.as_dict() if self.credentials else None
        others = {
            "marks": list(self.labels.others),
            "texts": dict(self.labels.texts),
            "watermark": self.foreign.as_dict() if self.foreign else None,
        }
        told = self.kept.as_dict() | ({"compared": False} if self.video else {}) if self.kept else None
        answer = {"verdict": self.verdict, "mark": mark, "labels": labels, "credentials": signed, "others": others, "ledger": told}
        return answer | ({"video": True} if self.video else {})


def verify(
    data: bytes,
    name: str,
    key: MarkKey,
    max_megapixels: float,
    deep: bool = True,
    run: Run | None = None,
    trust: Callable[[], Trust] | None = None,
    ledger: Ledger | None = None,
) -> Verification:
    """Reads the watermark, the labels and the signature of a picture file, and asks the ledger for it; of an MP4 or MOV the labels, the
    signature and the ledger's line of these very bytes.

    Args:
        name: for error messages.
        deep: also looks for crops down to 40 % of the long side, borders, other turns and proportions. Resized, turned by quarter turns
            and mirrored pictures are found without it. It adds at most about 2 s, whatever the picture's size, and nothing where the
            mark is found at once.
        trust: whom to believe a signature; None leaves signatures unchecked.
        ledger: None asks none. One that can't be read is told (`Kept.fault`) and stops nothing.

    Raises:
        UnreadableImage, ImageTooLarge: as `engines.vision.io.decode`. Cancelled; what `trust` raises.
    """
    run = run or Run()
    if is_movie(data[:256]) and child(data, b"moov"):
        with run.stage("verify"):
            return _video(data, name, trust, ledger)
    with run.stage("decode"):
        frame = io.decode(data, name, max_megapixels)
    with run.stage("verify"):
        reading = watermark.detect(on_white(frame.pixels, frame.alpha), key, deep, run)
        foreign = read_foreign(frame.pixels)
        heat = heat_of(reading, key)
        labels = read_labels(data)
        signed = read_credentials(data, trust) if trust else None
        told = _asked(data, frame, reading.id or "", labels.labels.id, ledger) if ledger else None
    verdict: Verdict
    if reading.id is not None or _ours(signed, told):
        verdict = "made_here"
    elif reading.score >= INCONCLUSIVE:
        verdict = "inconclusive"
    elif labels.algorithmic or foreign is not None:
        verdict = "marked"
    else:
        verdict = "possible_copy" if told is not None and told.alike else "unmarked"
    return Verification(verdict, reading.id, reading.score, labels, name, signed, told, foreign, heat)


def _video(data: bytes, name: str, trust: Callable[[], Trust] | None, ledger: Ledger | None) -> Verification:
    labels = read_labels(data)
    signed = read_credentials(data, trust) if trust else None
    told = _asked(data, None, "", labels.labels.id, ledger) if ledger else None
    verdict: Verdict = "made_here" if _ours(signed, told) else "marked" if labels.algorithmic else "unmarked"
    return Verification(verdict, None, 0.0, labels, name, signed, told, video=True)


def _ours(signed: Credentials | None, told: Kept | None) -> bool:
    """Whether the signature or the ledger says, beyond what anybody can write, that the file was made here."""
    return (signed is not None and signed.state == "ours") or (told is not None and told.the_file)


def _asked(data: bytes, frame: Frame | None, mark_id: str, label: str, ledger: Ledger) -> Kept:
    try:
        return kept(data, frame, mark_id, label, ledger)
    except LedgerUnusable as fault:
        return Kept(fault=fault.reason)
