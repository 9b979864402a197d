"""What a picture file may say about itself, as values: the labels of a packet, and all that was found in a file."""

from dataclasses import dataclass
from typing import Any

from engines import __version__
from engines.presets import Preset

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


def plain(value: str) -> str:
    """Without control characters and others that XML doesn't have."""
    return "".join(ch for ch in value if ch >= " " and ch not in "\ufffe\uffff" and not "\ud800" <= ch <= "\udfff")


def tidy(value: str) -> str:
    """The same on one line, without spaces at its ends: as it reads back from a packet."""
    return " ".join(plain(value).split())
