"""One frozen `Settings`, read once: command line over environment over file over default.

Environment: `FUSION_STUDIO_<FIELD>` (`FUSION_STUDIO_MAX_MEGAPIXELS=400`). File: `settings.toml` in the data folder, same names.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

import platformdirs

from engines.errors import InvalidOption
from engines.text import LANGUAGES

PREFIX = "FUSION_STUDIO_"
CREDENTIALS = ("auto", "on", "off")
VISIBLE = ("auto", "on", "off")
HISTORY = ("on", "off")
SECOND_MARKS = ("none", "dwtDct", "dwtDctSvd", "rivaGan")  # of `engines.provenance.second_mark`
RULES = ("none", "cn", "eu", "us-ca")  # of `engines.provenance.regions`
POSITIONS = ("bottom-right", "bottom-left", "bottom", "top-right", "top-left", "top")
_CHOICES = {
    "history": HISTORY,
    "credentials": CREDENTIALS,
    "visible_label": VISIBLE,
    "region": RULES,
    "label_position": POSITIONS,
    "second_mark": SECOND_MARKS,
}
_RANGES: dict[str, tuple[float, float]] = {
    "max_megapixels": (1, 2000),
    "safety_limit": (0.2, 0.95),
    "label_size": (0.0, 0.3),
    "threads": (0, 256),
    "cache_mb": (16, 65536),
    "mark_psnr": (38.0, 48.0),
    "port": (1, 65535),
    "queue_size": (1, 1000),
    "keep_seconds": (60, 7 * 86400),
    "upload_mb": (1, 4096),
    "ledger_days": (0, 36500),
}


def _data_dir() -> Path:
    return Path(platformdirs.user_data_dir("fusion-studio", appauthor=False))


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the owner of an installation may set.

    Attributes:
        data_dir: keys, session files, caches, models that were fetched.
        provider: see `engines.runtime.session.PROVIDERS`.
        detector, identity: which models of models.toml find faces and know them: those of the default pack, or others for those who may.
        parser, occluder: models of others that tell a mask's regions, and what lies over a face; "" = the studio's own ways.
        threads: CPU threads of a session; 0 = all cores.
        max_megapixels: pictures above it are refused by their header (2^20 · 256 would be a 1 GB array at 4 bytes).
        safety_limit: 0.2..0.95; content scored above it is refused. A link or an API caller can't change it.
        cache_mb: of identities and prepared sources, in memory.
        mark_psnr: the strongest watermark allowed, in dB of PSNR; most pictures need less. Above 48 some photographs couldn't carry it.
        second_mark: a mark of the package invisible-watermark (extra `marks`) besides: "none", "dwtDct", "dwtDctSvd", "rivaGan".
        producer: who answers for the outputs, written into their labels; no personal name by default.
        language: "" = the browser's or the shell's.
        keep_seconds: how long a visitor's files stay.
        history: whether the page keeps earlier results while its visitor is there: "on", "off"; a visitor can switch it off as well.
        ledger_days: how long the ledger keeps an output's line; 0 = until it is deleted.
        credentials: whether outputs are signed (C2PA): "auto" where the library is there, "on", "off".
        certificate, certificate_key: PEM files of the operator's own certificate (chain, leaf first) and its key; "" signs with the
            installation's own. trust_list: PEM file of further authorities whose signatures are believed.
        timestamp_url: of a time stamp authority (RFC 3161); asked for each output. "" asks nobody.
        region: whose rules for a label that people see count: "none", "cn", "eu", "us-ca".
        visible_label: that label: "auto" where the region needs it or a person asks, "on" always, "off" only where a person asks.
        label_text, label_position, label_size, label_font: its words ("" = by language), its place, its height as a share of the
            picture's shortest side (0 = the standard; never below the region's), and a font file for words that ours doesn't have.
        text_model: CLIP's text model for the page's prefix cache, a folder or a name on the hub; "" = a seeded one that only shows times.
        vision_model: a model of LLaVA's or Qwen-VL's shape for the page's visual cache, likewise; "" = a tiny seeded one.
        sentence_model: a model of sentence embeddings that hints how alike a shortened prompt is, likewise; "" = nothing is said of it.
    """

    data_dir: Path = field(default_factory=_data_dir)
    provider: str = "auto"
    detector: str = "centerface"
    identity: str = "dlib_resnet29"
    parser: str = ""
    occluder: str = ""
    threads: int = 0
    max_megapixels: float = 256.0
    safety_limit: float = 0.8
    cache_mb: int = 512
    mark_psnr: float = 44.0
    second_mark: str = "none"
    producer: str = "Fusion Studio"
    language: str = ""
    host: str = "127.0.0.1"
    port: int = 7860
    queue_size: int = 20
    keep_seconds: int = 3600
    upload_mb: int = 512
    ledger_days: int = 0
    history: str = "on"
    credentials: str = "auto"
    certificate: str = ""
    certificate_key: str = ""
    trust_list: str = ""
    timestamp_url: str = ""
    region: str = "none"
    visible_label: str = "auto"
    label_text: str = ""
    label_position: str = "bottom-right"
    label_size: float = 0.0
    label_font: str = ""
    text_model: str = ""
    vision_model: str = ""
    sentence_model: str = ""

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise InvalidOption(name=name, value=value, allowed=f"{low:g} … {high:g}")
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InvalidOption(name=name, value=getattr(self, name), allowed=", ".join(allowed))
        if self.language and self.language not in LANGUAGES:
            raise InvalidOption(name="language", value=self.language, allowed=", ".join(LANGUAGES))

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> Self:
        """Reads the file and the environment; `overrides` (of the command line) win, where they aren't None.

        Raises:
            InvalidOption: a value that isn't a number, or out of range, an unknown name in the file, or a file that isn't TOML.
        """
        environ = os.environ if environ is None else environ
        given: dict[str, Any] = {}
        data_dir = Path(overrides.get("data_dir") or environ.get(PREFIX + "DATA_DIR") or _data_dir()).expanduser()
        path = data_dir / "settings.toml"
        if path.is_file():
            try:
                given |= tomllib.loads(path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
                raise InvalidOption(name=path, value=str(fault), allowed="TOML") from fault
        given |= {f.name: environ[PREFIX + f.name.upper()] for f in fields(cls) if environ.get(PREFIX + f.name.upper())}
        given |= {name: value for name, value in overrides.items() if value is not None}
        given["data_dir"] = data_dir
        known = {f.name: f for f in fields(cls)}
        for name in given:
            if name not in known:
                raise InvalidOption(name=name, value=given[name], allowed=", ".join(known))
        return cls(**{name: _cast(name, value) for name, value in given.items()})

    def with_(self, **changes: Any) -> Self:
        """A copy with some values changed, checked again."""
        return replace(self, **changes)


_KINDS: dict[str, type] = {
    "data_dir": Path, "provider": str, "detector": str, "identity": str, "parser": str, "occluder": str,
    "producer": str, "language": str, "host": str,
    "max_megapixels": float, "safety_limit": float, "mark_psnr": float,
    "threads": int, "cache_mb": int, "port": int, "queue_size": int, "keep_seconds": int, "upload_mb": int, "ledger_days": int,
    "second_mark": str,
    "history": str, "credentials": str, "certificate": str, "certificate_key": str, "trust_list": str, "timestamp_url": str,
    "region": str, "visible_label": str, "label_text": str, "label_position": str, "label_size": float, "label_font": str,
    "text_model": str, "vision_model": str, "sentence_model": str,
}  # fmt: skip


def _cast(name: str, value: Any) -> Any:
    kind = _KINDS[name]
    try:
        return Path(value).expanduser() if kind is Path else kind(value)
    except (TypeError, ValueError) as fault:
        raise InvalidOption(name=name, value=value, allowed=kind.__name__) from fault
