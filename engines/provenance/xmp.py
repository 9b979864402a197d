"""The XMP packet that a picture carries: written, and read however others write theirs.

Written with
- IPTC `DigitalSourceType` (IPTC Photo Metadata 2023.2; NewsCodes "digitalsourcetype"),
- `TC260:AIGC`, see `aigc`,
- tool with version, time, id (California SB 942; EU AI Act Art. 50(2)),
- what it is derived from (`xmpMM:DerivedFrom`: XMP specification part 2, "ResourceRef"), by the id of an earlier output,
- where it was told: the model that drew the face, under which terms the picture may be used (`xmpRights:UsageTerms`), and the settings
  (`xmpMM:History`, an event for each: XMP specification part 2, "ResourceEvent").
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import escape

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

from engines.presets import Preset
from engines.provenance import aigc, recipe
from engines.provenance.labels import SOURCE_TYPES, Labels, plain
from engines.provenance.payload import is_id

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


def build_xmp(labels: Labels) -> bytes:
    """The XMP packet, UTF-8, in the shape that every toolkit reads (RDF elements, no attributes)."""
    spaces = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in _NAMESPACES.items())
    elements = [("xmp:CreatorTool", labels.tool), ("xmp:CreateDate", labels.created), ("dc:identifier", labels.id)]
    if labels.source_type:
        elements += [("Iptc4xmpExt:DigitalSourceType", SOURCE_TYPES + labels.source_type), ("Iptc4xmpExt:AISystemUsed", labels.tool)]
    if labels.aigc:
        elements.append(("TC260:AIGC", aigc.written(labels)))
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


def read_xmp(packet: bytes) -> Labels:
    """What a packet says; nothing where it is damaged or hostile."""
    root = _parse(packet)
    if root is None:
        return Labels()
    used = ("Iptc4xmpExt", "TC260", "xmp", "dc", "xmpRights", "stEvt", "stRef")
    iptc, tc260, xmp, dc, rights, event, reference = (_NAMESPACES[name] for name in used)
    told = (recipe.read(line) for line in _values(root, event, "parameters"))
    label, producer, ident = aigc.read(_value(root, tc260, "AIGC"))
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
