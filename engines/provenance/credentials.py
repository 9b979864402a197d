"""Content Credentials (C2PA) read: who signed what about a picture, and whether file and signature still fit.

A signature proves that the holder of a certificate said something about these bytes. So the state says whose certificate it is: this
installation's; one that the operator's list vouches for; somebody's that nobody here knows, which is no more than a claim.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Literal

from engines.provenance.boxes import is_movie
from engines.provenance.certificates import Trust
from engines.provenance.containers import parts_of
from engines.provenance.labels import ALGORITHMIC
from engines.provenance.signer import BINDING, QUIET, available

State = Literal["ours", "trusted", "unknown", "tampered", "invalid", "unchecked"]
# What c2pa-rs calls it, and what happened to the file: keys under `provenance.fault.` of the locale files (C2PA 2.2, "Status codes").
_FAULTS = {
    "assertion.dataHash.mismatch": "changed",
    "assertion.bmffHash.mismatch": "changed",
    "assertion.boxesHash.mismatch": "changed",
    "assertion.hashedURI.mismatch": "claim_changed",
    "assertion.missing": "claim_changed",
    "claimSignature.mismatch": "signature",
    "claimSignature.missing": "signature",
    "claimSignature.outsideValidity": "expired",
    "signingCredential.expired": "expired",
    "signingCredential.untrusted": "unknown_signer",
    "signingCredential.invalid": "certificate",
    "signingCredential.revoked": "certificate",
}
_TAMPERED = {"changed", "claim_changed", "signature"}


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a file's manifest says.

    Attributes:
        state: "ours": signed here, unchanged. "trusted": by somebody on the operator's list. "unknown": whole, and signed by somebody
            unknown. "tampered": file or manifest were changed after signing. "invalid": can't be checked, or the certificate is no good.
            "unchecked": the library isn't here.
        signer: organisation of the certificate, or its common name. tool: what says it made the file.
        algorithmic: whether it says that an algorithm had a part.
        id: of this studio's watermark, where the manifest binds one; "" else.
        faults: keys under `provenance.fault.`
        derived_from: id of this studio's earlier output that the picture was made from, where the manifest names one; "" else.
        broken: C2PA's names of the signed parts that don't fit any more: "c2pa.hash.data" and "c2pa.hash.bmff.v3" (the file's bytes
            but the manifest's),
            "c2pa.actions.v2" (what was done), "c2pa.soft-binding" (the watermark's id) and so on.
        stamped: when a time stamp authority saw the signature, ISO 8601; "" where none did.
    """

    state: State
    signer: str = ""
    tool: str = ""
    algorithmic: bool = False
    id: str = ""
    faults: tuple[str, ...] = ()
    derived_from: str = ""
    broken: tuple[str, ...] = ()
    stamped: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "state": self.state,
            "signer": self.signer,
            "tool": self.tool,
            "algorithmic": self.algorithmic,
            "id": self.id,
            "faults": list(self.faults),
            "derived_from": self.derived_from,
            "broken": list(self.broken),
            "stamped": self.stamped,
        }


def read_credentials(data: bytes, whom: Callable[[], Trust]) -> Credentials | None:
    """The credentials of a file, checked against its bytes; None where it has none.

    Args:
        whom: asked only where there is something to check: certificates are slow to load. What it raises is passed on.
    """
    kind = media_type_of(data)
    if kind is None or not parts_of(data).c2pa:
        return None
    if not available():
        return Credentials("unchecked")
    trust = whom()
    found = _read(data, kind, trust.root + trust.operator)
    if found is None:
        return Credentials("invalid", faults=("unreadable",))
    state, told = found
    active: dict[str, Any] = told.get("manifests", {}).get(told.get("active_manifest"), {})
    signature = active.get("signature_info") or {}
    failures = _results(told, "failure")
    faults = tuple(dict.fromkeys(_FAULTS.get(code, "other") for code, _ in failures))
    broken = dict.fromkeys(part for code, part in failures if _FAULTS.get(code) in _TAMPERED)
    stamped = any(code == "timeStamp.validated" for code, _ in _results(told, "success"))
    verdict: State
    if state == "Invalid":
        verdict = "tampered" if _TAMPERED & set(faults) else "invalid"
    elif state == "Trusted" and (
        not trust.operator or str(signature.get("cert_serial_number")) == str(trust.serial) or _vouched(data, kind, trust.root)
    ):
        verdict = "ours"
    else:
        verdict = "trusted" if _vouched(data, kind, trust.listed) else "unknown"
    return Credentials(
        verdict,
        str(signature.get("issuer") or signature.get("common_name") or ""),
        _tool(active),
        any(f"/{term}" in json.dumps(active.get("assertions", [])) for term in ALGORITHMIC),
        _bound(active),
        tuple(fault for fault in faults if verdict not in ("trusted", "ours") or fault != "unknown_signer"),
        _parent(active),
        tuple(part for part in broken if part),
        str(signature.get("time") or "") if stamped else "",
    )


def media_type_of(data: bytes) -> str | None:
    """Of a picture file or a video, by its first bytes."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[:4] in (b"II*\0", b"MM\0*"):
        return "image/tiff"
    if data[:4] == b"GIF8":
        return "image/gif"
    if is_movie(data[:256]):
        return "video/quicktime" if data[8:12] == b"qt  " else "video/mp4"
    if data[4:8] == b"ftyp":
        return "image/avif" if data[8:12] in (b"avif", b"avis") else "image/heic"
    return None


def _read(data: bytes, kind: str, anchors: bytes) -> tuple[str, dict[str, Any]] | None:
    """State and report, with `anchors` as the only authorities; None for a manifest that can't be read."""
    import c2pa

    how: dict[str, Any] = QUIET | {"verify": QUIET["verify"] | {"verify_trust": True}}  # type: ignore[operator]
    if anchors:
        how |= {"trust": {"trust_anchors": anchors.decode()}}
    try:
        with c2pa.Settings.from_dict(how) as settings, c2pa.Context(settings) as context:
            reader = c2pa.Reader.try_create(kind, BytesIO(data), context=context)
            if reader is None:
                return None
            with reader:
                return str(reader.get_validation_state()), json.loads(reader.json())
    except (c2pa.C2paError, ValueError, RecursionError):
        return None


def _vouched(data: bytes, kind: str, anchors: bytes) -> bool:
    found = _read(data, kind, anchors) if anchors else None
    return found is not None and found[0] == "Trusted"


def _results(told: dict[str, Any], kind: str) -> list[tuple[str, str]]:
    """Code of each of "success" or "failure", and the name of the part that it is about, "" where it names none."""
    results = (told.get("validation_results") or {}).get("activeManifest") or {}
    places = ((str(each.get("code", "")), str(each.get("url", ""))) for each in results.get(kind, []))
    return [(code, place.rpartition("/")[2] if "/" in place else "") for code, place in places]


def _tool(active: dict[str, Any]) -> str:
    first: dict[str, Any] = next(iter(active.get("claim_generator_info") or []), {})
    return " ".join(str(first[name]) for name in ("name", "version") if first.get(name)) or str(active.get("claim_generator", ""))


def _bound(active: dict[str, Any]) -> str:
    """The watermark's id, where the manifest binds one of ours."""
    for assertion in active.get("assertions", []):
        value = assertion.get("data")
        if isinstance(value, dict) and value.get("alg") == BINDING:
            blocks = value.get("blocks")  # of a changed manifest it may be anything
            first = blocks[0] if isinstance(blocks, list) and blocks else None
            return str(first.get("value", "")) if isinstance(first, dict) else ""
    return ""


def _parent(active: dict[str, Any]) -> str:
    """The id of the output that was opened, where it is one of ours."""
    named = (str(each.get("instance_id", "")) for each in active.get("ingredients", []) if each.get("relationship") == "parentOf")
    return next((name.rpartition(":")[2] for name in named if name.startswith(f"{BINDING}:")), "")
