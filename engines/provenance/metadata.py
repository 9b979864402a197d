"""The labels that a picture file carries in the open: what made it, for programs and for the law.

Written: one XMP packet, see `xmp`. Read: the same from any file, and the marks that other tools leave. A label is a claim: anybody can
write one or take it away.
"""

from dataclasses import replace

from engines.provenance import aigc
from engines.provenance.containers import Parts, parts_of
from engines.provenance.generators import marks_of, texts_of
from engines.provenance.labels import ALGORITHMIC, FoundLabels
from engines.provenance.xmp import read_xmp


def read_labels(data: bytes) -> FoundLabels:
    """All labels of an encoded picture. Damaged or hostile metadata counts as none; never raises for what `data` holds."""
    return labels_of(parts_of(data))


def labels_of(parts: Parts) -> FoundLabels:
    """See `read_labels`."""
    labels = read_xmp(parts.xmp)
    if not labels.aigc:
        loose = next((value for keyword, value in parts.texts if keyword == "AIGC"), "") or aigc.in_exif(parts.exif)
        label, producer, ident = aigc.read(loose)
        labels = replace(labels, aigc=label, producer=labels.producer or producer, id=labels.id or ident)
    others = list(marks_of(parts))
    if parts.c2pa:
        terms = (term for term in ALGORITHMIC if term != "algorithmicallyEnhanced")
        others.append("c2pa_ai" if any(term.encode() in parts.c2pa for term in terms) else "c2pa")
    return FoundLabels(labels, tuple(dict.fromkeys(others)), texts_of(parts))
