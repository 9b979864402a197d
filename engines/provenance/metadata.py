"""The labels that a picture file carries in the open: what made it, for programs and for the law.

Written: one XMP packet with
- IPTC `DigitalSourceType` (IPTC Photo Metadata 2023.2; NewsCodes "digitalsourcetype"),
- `TC260:AIGC`, the implicit label of GB 45438-2025 (China, in force since 2025-09-01): one JSON object,
- tool with version, time, id (California SB 942; EU AI Act Art. 50(2)),
- what it is derived from (`xmpMM:DerivedFrom`: XMP specification part 2, "ResourceRef"), by the id of an earlier output,
- where it was told: the model that drew the face, under which terms the picture may be used (`xmpRights:UsageTerms`), and the settings
  (`xmpMM:History`, an event for each: XMP specification part 2, "ResourceEvent").

Read: the same from any file, and the marks that other tools leave. A label is a claim: anybody can write one or take it away.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

from engines import __version__
from engines.presets import Preset
from engines.provenance import recipe
from engines.provenance.containers import Parts, parts_of
from engines.provenance.payload import is_id

TOOL = f"Fusion Studio {__version__}"
SOURCE_TYPES = "http://cv.iptc.org/newscodes/digitalsourcetype/"
# Terms of that list which say that an algorithm made the picture or changed it.
ALGORITHMIC = {
    "trainedAlgorithmicMedia",
    "compositeWithTrainedAlgorithmicMedia",
    "algorithmicMedia",
    "algorithmicallyEnhanced",
    "compositeSynthetic",
}
_NAMESPACES = {
    "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
    "TC260": "http://www.tc260.org.cn/ns/AIGC/1.0/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "xmpMM": "http://ns.adobe.com/xap/1.0/mm/",
    "xmpRights": "http://ns.adobe.com/xap/1.0/rights/",
    "stEvt": "http://ns.adobe.com/xap/1.0/sType/ResourceEvent#",
    "stRef": "http://ns.adobe.com/xap/1.0/sType/ResourceRef#",
}
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_AIGC_FIELDS = ("Label", "ContentProducer", "ProduceID", "ReservedCode1", "ContentPropagator", "PropagateID", "ReservedCode2")
# PNG keywords of image generators, and words that stand in the EXIF of others.
_GENERATOR_TEXTS = {"parameters": "parameters", "prompt": "comfyui", "workflow": "comfyui", "invokeai_metadata": "invokeai"}
_GENERATOR_TEXTS |= {"sd-metadata": "invokeai", "Dream": "invokeai", "generation_data": "parameters"}
_GENERATOR_TEXTS |= {"fooocus_scheme": "fooocus"}
# Keywords that others use as well, with a word that only that generator writes: NovelAI; Midjourney; SwarmUI, in Automatic1111's place.
_GENERATOR_WORDS = (
    ("Software", "NovelAI", "novelai"),
    ("Description", "Job ID: ", "midjourney"),
    ("parameters", "sui_image_params", "swarmui"),
)
EXCERPT, _TEXTS = 400, 4  # characters of a generator's text that are shown, and of how many
_EXIF_WORDS = (
    *((word, "parameters") for word in (b"Negative prompt:", b"Sampler:")),
    *((word, "comfyui") for word in (b"workflow:{", b"prompt:{")),  # of its WebP
    (b"sui_image_params", "swarmui"),
)


@dataclass(frozen=True, slots=True)
class Labels:
    """What a packet says.

    Attributes:
        source_type: IPTC's term, such as "compositeWithTrainedAlgorithmicMedia"; "" without one.
        aigc: `Label` of GB 45438: "1" generated, "2" possibly, "3" suspected; "" without one.
        producer: `ContentProducer`, who answers for it.
        id: `ProduceID`; of this studio's pictures the watermark's id.
        tool, created: program with version; ISO 8601 time, UTC.
        derived_from: id of the earlier output that the picture was made from, "" where it is the first. Only ids of this studio's shape.
        model: what drew the face. terms: under which the picture may be used; "" where nothing binds it.
        settings: of its faces, as `recipe.recipes` tells them.
    """

    source_type: str = ""
    aigc: str = ""
    producer: str = ""
    id: str = ""
    tool: str = ""
    created: str = ""
    model: str = ""
    terms: str = ""
    settings: tuple[Preset, ...] = ()
    derived_from: str = ""

    @property
    def algorithmic(self) -> bool:
        """Whether they say that an algorithm made or changed the picture."""
        return self.source_type in ALGORITHMIC or bool(self.aigc)

    def names(self) -> tuple[str, ...]:
        """Which labels there are: "iptc", "aigc", keys under `provenance.label.` of the locale files."""
        return tuple(name for name, there in (("iptc", self.source_type), ("aigc", self.aigc)) if there)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: a string each, and of the settings a list; empty ones are left out."""
        known = {
            "digital_source_type": self.source_type,
            "aigc_label": self.aigc,
            "producer": self.producer,
            "id": self.id,
            "tool": self.tool,
            "created": self.created,
            "derived_from": self.derived_from,
            "model": self.model,
            "terms": self.terms,
            "settings": [{"preset": preset.name, "options": preset.options} for preset in self.settings],
        }
        return {name: value for name, value in known.items() if value}


@dataclass(frozen=True, slots=True)
class FoundLabels:
    """What a file says about itself.

    Attributes:
        labels: from XMP, or from another place that holds the AIGC label.
        others: further marks, keys under `provenance.label.`: "c2pa" (signed manifest, not checked here), "c2pa_ai" (it says that an
            algorithm had a part); a generator's settings: "parameters", "comfyui", "invokeai", "fooocus", "novelai", "midjourney",
            "swarmui".
        texts: keyword and beginning of what generators wrote into a PNG, on one line.
    """

    labels: Labels = Labels()
    others: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()

    @property
    def algorithmic(self) -> bool:
        """Whether anything says that an algorithm made or changed the picture. Cameras sign with C2PA too: by itself it doesn't."""
        return self.labels.algorithmic or any(name != "c2pa" for name in self.others)

    @property
    def algorithm(self) -> str:
        """IPTC's term for what made the picture, as far as an algorithm did; "" where nothing says so."""
        if self.labels.source_type in ALGORITHMIC:
            return self.labels.source_type
        return "trainedAlgorithmicMedia" if self.algorithmic else ""

    def names(self) -> tuple[str, ...]:
        return (*self.labels.names(), *self.others)


def build_xmp(labels: Labels) -> bytes:
    """The XMP packet, UTF-8, in the shape that every toolkit reads (RDF elements, no attributes)."""
    spaces = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in _NAMESPACES.items())
    elements = [("xmp:CreatorTool", labels.tool), ("xmp:CreateDate", labels.created), ("dc:identifier", labels.id)]
    if labels.source_type:
        elements += [("Iptc4xmpExt:DigitalSourceType", SOURCE_TYPES + labels.source_type), ("Iptc4xmpExt:AISystemUsed", labels.tool)]
    if labels.aigc:
        aigc = dict.fromkeys(_AIGC_FIELDS, "") | {"Label": labels.aigc, "ContentProducer": labels.producer, "ProduceID": labels.id}
        elements.append(("TC260:AIGC", json.dumps(aigc, ensure_ascii=False, separators=(",", ":"))))
    body = "".join(f"<{name}>{escape(plain(value))}</{name}>" for name, value in elements)
    if labels.model:  # IPTC Photo Metadata 2025.1: the version of the system is where its model belongs
        body += f"<Iptc4xmpExt:AISystemVersionUsed>{escape(plain(labels.model))}</Iptc4xmpExt:AISystemVersionUsed>"
    if labels.derived_from:
        source = f"<stRef:documentID>{escape(plain(labels.derived_from))}</stRef:documentID>"
        body += f'<xmpMM:DerivedFrom rdf:parseType="Resource">{source}</xmpMM:DerivedFrom>'
    if labels.terms:
        said = f'<rdf:li xml:lang="x-default">{escape(plain(labels.terms))}</rdf:li>'
        body += f"<xmpRights:UsageTerms><rdf:Alt>{said}</rdf:Alt></xmpRights:UsageTerms>"
    if labels.settings:
        body += f"<xmpMM:History><rdf:Seq>{''.join(_event(preset, labels) for preset in labels.settings)}</rdf:Seq></xmpMM:History>"
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
        f'<rdf:RDF xmlns:rdf="{_RDF}"><rdf:Description rdf:about="" {spaces}>{body}</rdf:Description></rdf:RDF></x:xmpmeta>'
        '<?xpacket end="w"?>'
    ).encode()


def _event(preset: Preset, labels: Labels) -> str:
    fields = {"action": "edited", "softwareAgent": labels.tool, "when": labels.created, "parameters": recipe.write(preset)}
    said = "".join(f"<stEvt:{name}>{escape(plain(value))}</stEvt:{name}>" for name, value in fields.items())
    return f'<rdf:li rdf:parseType="Resource">{said}</rdf:li>'


def read_labels(data: bytes) -> FoundLabels:
    """All labels of an encoded picture. Damaged or hostile metadata counts as none; never raises for what `data` holds."""
    return labels_of(parts_of(data))


def labels_of(parts: Parts) -> FoundLabels:
    """See `read_labels`."""
    labels = _from_xmp(parts.xmp)
    if not labels.aigc:
        loose = next((value for keyword, value in parts.texts if keyword == "AIGC"), "") or _aigc_in_exif(parts.exif)
        label, producer, ident = _aigc(loose)
        labels = replace(labels, aigc=label, producer=labels.producer or producer, id=labels.id or ident)
    others = [name for keyword, _ in parts.texts for name in (_GENERATOR_TEXTS.get(keyword),) if name]
    others += [name for keyword, value in parts.texts for name in _by_word(keyword, value)]
    others += [name for word, name in _EXIF_WORDS if word in parts.exif or word.decode().encode("utf-16-be") in parts.exif]
    if parts.c2pa:
        terms = (term for term in ALGORITHMIC if term != "algorithmicallyEnhanced")
        others.append("c2pa_ai" if any(term.encode() in parts.c2pa for term in terms) else "c2pa")
    texts = [
        (keyword, tidy(" ".join(value[:EXCERPT].split())))
        for keyword, value in parts.texts
        if keyword in _GENERATOR_TEXTS or _by_word(keyword, value)
    ]
    return FoundLabels(labels, tuple(dict.fromkeys(others)), tuple(texts[:_TEXTS]))


def _by_word(keyword: str, value: str) -> list[str]:
    """Generators by a word of a text whose keyword says nothing."""
    return [name for known, word, name in _GENERATOR_WORDS if known == keyword and word in value]


def _from_xmp(packet: bytes) -> Labels:
    root = _parse(packet)
    if root is None:
        return Labels()
    used = ("Iptc4xmpExt", "TC260", "xmp", "dc", "xmpRights", "stEvt", "stRef")
    iptc, tc260, xmp, dc, rights, event, reference = (_NAMESPACES[name] for name in used)
    told = (recipe.read(line) for line in _values(root, event, "parameters"))
    label, producer, ident = _aigc(_value(root, tc260, "AIGC"))
    source = _value(root, iptc, "DigitalSourceType")
    return Labels(
        source.rsplit("/", 1)[-1] if source.startswith(("http://cv.iptc.org/", "https://cv.iptc.org/")) else "",
        label,
        producer,
        ident or _value(root, dc, "identifier"),
        _value(root, xmp, "CreatorTool"),
        _value(root, xmp, "CreateDate"),
        _value(root, iptc, "AISystemVersionUsed"),
        _value(root, rights, "UsageTerms"),
        tuple([preset for preset in told if preset is not None][: recipe.MOST]),
        next((value for value in _values(root, reference, "documentID") if is_id(value)), ""),
    )


def _parse(packet: bytes) -> Element | None:
    """XML without entities and document types: a packet needs none, and with them a kilobyte unfolds to gigabytes."""
    if not packet:
        return None
    try:
        root: Element = fromstring(packet.strip(b"\0 \r\n\t"), forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):  # the last: an encoding that nobody knows
        return None
    return root


def _value(root: Element, space: str, name: str) -> str:
    """The first property of that name."""
    return next(_values(root, space, name), "")


def _values(root: Element, space: str, name: str) -> Iterator[str]:
    """All properties of that name, as element, as resource or as attribute; without those that say nothing."""
    tag = f"{{{space}}}{name}"
    for element in root.iter():
        if element.tag == tag:
            found = (element.get(f"{{{_RDF}}}resource") or "".join(element.itertext())).strip()
        else:
            found = str(element.get(tag, "")).strip()
        if found:
            yield found


def _aigc(value: str) -> tuple[str, str, str]:
    """Label, producer and id of the JSON. One that can't be read still says that somebody labelled the picture: "?"."""
    if not value:
        return "", "", ""
    try:
        fields = json.loads(value)
    except (ValueError, RecursionError):
        return "?", "", ""
    if isinstance(fields, dict) and isinstance(fields.get("AIGC"), dict):
        fields = fields["AIGC"]
    if not isinstance(fields, dict):
        return "?", "", ""
    label, producer, ident = (str(fields.get(name, "")) for name in ("Label", "ContentProducer", "ProduceID"))
    return label or "?", producer, ident


def _aigc_in_exif(exif: bytes) -> str:
    """`{"AIGC":{…}}` in a user comment."""
    start = exif.find(b'{"AIGC"')
    if start < 0:
        return ""
    text = exif[start : start + 65536].decode("utf-8", "replace")
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return "?"
    return json.dumps(found)


def plain(value: str) -> str:
    """Without control characters and others that XML doesn't have."""
    return "".join(ch for ch in value if ch >= " " and ch not in "\ufffe\uffff" and not "\ud800" <= ch <= "\udfff")


def tidy(value: str) -> str:
    """The same on one line, without spaces at its ends: as it reads back from a packet."""
    return " ".join(plain(value).split())
