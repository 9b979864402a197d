"""Labels are written so that others read them, and read as others write them."""

import json
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from engines.provenance.containers import Parts, png_with
from engines.provenance.labels import SOURCE_TYPES, FoundLabels, Labels, plain
from engines.provenance.metadata import labels_of, read_labels
from engines.provenance.xmp import build_xmp
from engines.text import has

LABELS = Labels("compositeWithTrainedAlgorithmicMedia", "1", "Fusion Studio", "7F3-A91-C04", "Fusion Studio 9", "2026-01-02T03:04:05Z")
IPTC = 'xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"'
TC260 = 'xmlns:t="http://www.tc260.org.cn/ns/AIGC/1.0/"'


def packet(inside: str, attributes: str = "", before: str = "") -> bytes:
    return (
        f'{before}<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" {IPTC} {TC260} {attributes}>{inside}</rdf:Description></rdf:RDF></x:xmpmeta>'
    ).encode()


def said(xmp: bytes) -> FoundLabels:
    return labels_of(Parts(xmp=xmp))


def test_what_is_written_is_read() -> None:
    found = said(build_xmp(LABELS))
    assert found == FoundLabels(LABELS)
    assert found.algorithmic
    assert found.names() == ("iptc", "aigc")
    assert LABELS.as_dict()["aigc_label"] == "1"


@given(st.text(max_size=60))
def test_any_producer_s_name(producer: str) -> None:
    labels = Labels("algorithmicallyEnhanced", "2", plain(producer), "000-000-000", "tool", "now")
    assert said(build_xmp(labels)).labels == labels


def test_the_packet_says_what_the_standards_ask_for() -> None:
    root = fromstring(build_xmp(LABELS))
    values = {element.tag: element.text for element in root.iter()}
    assert values["{http://iptc.org/std/Iptc4xmpExt/2008-02-29/}DigitalSourceType"] == SOURCE_TYPES + LABELS.source_type
    assert json.loads(values["{http://www.tc260.org.cn/ns/AIGC/1.0/}AIGC"] or "") == {
        "Label": "1",
        "ContentProducer": "Fusion Studio",
        "ProduceID": "7F3-A91-C04",
        "ReservedCode1": "",
        "ContentPropagator": "",
        "PropagateID": "",
        "ReservedCode2": "",
    }
    assert values["{http://ns.adobe.com/xap/1.0/}CreateDate"] == "2026-01-02T03:04:05Z"


URI = SOURCE_TYPES + "trainedAlgorithmicMedia"


@pytest.mark.parametrize(
    "xmp",
    [
        packet(f"<e:DigitalSourceType>{URI}</e:DigitalSourceType>"),
        packet(f"<e:DigitalSourceType>\n {URI} \n</e:DigitalSourceType>"),
        packet(f'<e:DigitalSourceType rdf:resource="{URI}"/>'),
        packet("", f'e:DigitalSourceType="{URI}"'),
        packet("", f'e:DigitalSourceType="{URI.replace("http:", "https:")}"'),
        packet(f"<e:DigitalSourceType>{URI}</e:DigitalSourceType>", before='<?xml version="1.0"?>') + b"\0\n",
    ],
    ids=["element", "spaces", "resource", "attribute", "https", "declaration"],
)
def test_iptc_in_every_spelling(xmp: bytes) -> None:
    assert said(xmp).labels.source_type == "trainedAlgorithmicMedia"
    assert said(xmp).algorithmic


@pytest.mark.parametrize("term", ["digitalCapture", "negativeFilm", "humanEdits"])
def test_a_camera_s_label_is_no_mark(term: str) -> None:
    found = said(packet(f"<e:DigitalSourceType>{SOURCE_TYPES}{term}</e:DigitalSourceType>"))
    assert found.labels.source_type == term
    assert not found.algorithmic


AIGC = '{"Label":"2","ContentProducer":"某公司","ProduceID":"x1"}'


@pytest.mark.parametrize(
    ("parts", "label", "producer"),
    [
        (Parts(xmp=packet(f"<t:AIGC>{AIGC}</t:AIGC>")), "2", "某公司"),
        (Parts(xmp=packet("", f"t:AIGC='{escape(AIGC)}'")), "2", "某公司"),
        (Parts(xmp=packet('<t:AIGC>{"Label":1}</t:AIGC>')), "1", ""),
        (Parts(xmp=packet("<t:AIGC>not JSON</t:AIGC>")), "?", ""),
        (Parts(xmp=packet("<t:AIGC>[1, 2]</t:AIGC>")), "?", ""),
        (Parts(xmp=packet("<t:AIGC>" + "[" * 100000 + "</t:AIGC>")), "?", ""),
        (Parts(texts=(("AIGC", AIGC),)), "2", "某公司"),
        (Parts(texts=(("AIGC", '{"AIGC":' + AIGC + "}"),)), "2", "某公司"),
        (Parts(exif=b"II*\0....ASCII\0\0\0" + ('{"AIGC":' + AIGC + "}").encode() + b"\0\xff\xfe"), "2", "某公司"),
        (Parts(exif=b'....{"AIGC":broken'), "?", ""),
        (Parts(), "", ""),
    ],
    ids=["element", "attribute", "number", "no JSON", "list", "deep", "PNG text", "nested", "EXIF", "broken EXIF", "none"],
)
def test_aigc_wherever_it_stands(parts: Parts, label: str, producer: str) -> None:
    found = labels_of(parts)
    assert (found.labels.aigc, found.labels.producer) == (label, producer)
    assert found.algorithmic == bool(label)


@pytest.mark.parametrize(
    ("parts", "names", "algorithmic"),
    [
        (Parts(texts=(("parameters", "a cat, Steps: 20"),)), ("parameters",), True),
        (Parts(texts=(("prompt", "{}"), ("workflow", "{}"))), ("comfyui",), True),
        (Parts(texts=(("invokeai_metadata", "{}"),)), ("invokeai",), True),
        (Parts(texts=(("Comment", "a holiday"), ("Software", "a scanner"))), (), False),
        (Parts(exif=b"UNICODE\0" + "a cat\nNegative prompt: dog".encode("utf-16-be")), ("parameters",), True),
        (Parts(texts=(("Software", "NovelAI"), ("Description", "a cat"))), ("novelai",), True),
        (Parts(texts=(("Description", "a cat --v 6 Job ID: 1b2c"), ("Author", "somebody"))), ("midjourney",), True),
        (Parts(texts=(("parameters", '{"sui_image_params": {}}'),)), ("parameters", "swarmui"), True),
        (Parts(texts=(("fooocus_scheme", "a1111"),)), ("fooocus",), True),
        (Parts(exif=b"II*\0..workflow:{}\0prompt:{}"), ("comfyui",), True),
        (Parts(c2pa=b"jumb c2pa.created digitalCapture"), ("c2pa",), False),
        (Parts(c2pa=b"jumb .../digitalsourcetype/trainedAlgorithmicMedia"), ("c2pa_ai",), True),
    ],
    ids=[
        "parameters",
        "comfyui",
        "invokeai",
        "nothing",
        "exif",
        "novelai",
        "midjourney",
        "swarmui",
        "fooocus",
        "webp",
        "camera's C2PA",
        "AI's C2PA",
    ],
)
def test_marks_of_others(parts: Parts, names: tuple[str, ...], algorithmic: bool) -> None:
    found = labels_of(parts)
    assert found.others == names
    assert found.algorithmic == algorithmic
    for language in ("en", "zh-CN"):
        assert all(has(f"provenance.label.{name}", language) for name in found.names())


BOMB = '<!DOCTYPE x [<!ENTITY a "' + "a" * 1000 + '">' + "".join(f'<!ENTITY b{i} "{"&a;" * 100}">' for i in range(9)) + "]>"


@pytest.mark.parametrize(
    "xmp",
    [
        packet("<e:DigitalSourceType>&b8;</e:DigitalSourceType>", before=BOMB),
        packet("<t:AIGC>&leak;</t:AIGC>", before='<!DOCTYPE x [<!ENTITY leak SYSTEM "file:///etc/passwd">]>'),
        packet("", before='<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">'),
        packet("", before='<?xml version="1.0" encoding="no-such"?>'),
        packet("<unclosed>"),
        b"\xff\xfe" + bytes(range(256)),
        b"<a>" * 200000,
    ],
    ids=["bomb", "external entity", "external DTD", "encoding", "unclosed", "garbage", "endless"],
)
def test_hostile_packets_count_as_none(xmp: bytes) -> None:
    assert said(xmp) == FoundLabels()


def test_a_deep_packet_is_read_without_recursion() -> None:
    deep = "<e:x>" * 50000 + URI + "</e:x>" * 50000
    assert said(packet(f"<e:DigitalSourceType>{deep}</e:DigitalSourceType>")).labels.source_type == "trainedAlgorithmicMedia"


def test_a_packed_text_chunk_of_a_generator() -> None:
    info, buffer = PngImagePlugin.PngInfo(), BytesIO()
    info.add_itxt("parameters", "a cat, Steps: 20, Sampler: Euler", zip=True)
    Image.new("RGB", (4, 4)).save(buffer, "PNG", pnginfo=info)
    assert read_labels(buffer.getvalue()).others == ("parameters",)


def test_a_photograph_says_nothing(officer_path: Path) -> None:
    assert read_labels(officer_path.read_bytes()).names() == ()


def test_the_first_packet_counts() -> None:
    """A second one, put in later, can't take the first one's place."""
    empty = BytesIO()
    Image.new("RGB", (4, 4)).save(empty, "PNG")
    key = b"XML:com.adobe.xmp\0\0\0\0\0"
    data = png_with(empty.getvalue(), [(b"iTXt", key + build_xmp(LABELS)), (b"iTXt", key + packet(""))])
    assert read_labels(data).labels == LABELS
