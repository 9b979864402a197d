"""Content Credentials (C2PA) written: what was done to a picture, signed into its file. https://spec.c2pa.org/specifications/

The manifest tells: a picture was opened, another placed, the result made with AI; which watermark is in it (soft binding). It holds no
thumbnail, no file's name and no hash of the pictures that it was made from. Written last: it signs the file's bytes.
c2pa-python takes 60 ms to import and 5 to 13 to sign, and is imported when it is first needed. Nothing is fetched, but for a time stamp
where the operator names an authority.
"""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engines import __version__
from engines.errors import CredentialsUnusable
from engines.provenance.certificates import FILE, Identity, Trust, operators_identity, own_identity
from engines.provenance.labels import SOURCE_TYPES

if TYPE_CHECKING:
    from engines.provenance.mark import MarkedImage
    from engines.settings import Settings

BINDING = "fusion-studio.watermark.1"  # of the soft binding: whose value is a watermark's id
QUIET = {"version": 1, "builder": {"thumbnail": {"enabled": False}}, "verify": {"remote_manifest_fetch": False, "ocsp_fetch": False}}
_NAME = "Fusion Studio"


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs outputs. `timestamp`: address of a time stamp authority (RFC 3161), or ""."""

    identity: Identity
    timestamp: str = ""

    def sign(self, data: bytes, media_type: str, image: "MarkedImage") -> bytes:
        """The file with its credentials. Raises `CredentialsUnusable` (signing, with the library's words)."""
        import c2pa

        who = c2pa.C2paSignerInfo(
            self.identity.algorithm.encode(), self.identity.chain, self.identity.key, self.timestamp.encode() if self.timestamp else None
        )
        out = BytesIO()
        try:
            with (
                c2pa.Settings.from_dict(QUIET) as quiet,
                c2pa.Context(quiet) as context,
                c2pa.Signer.from_info(who) as signer,
                c2pa.Builder(json.dumps(manifest(image, media_type)), context) as builder,
            ):
                builder.sign(signer, media_type, BytesIO(data), out)
        except c2pa.C2paError as fault:
            raise CredentialsUnusable("signing", path="", detail=str(fault)) from fault
        return out.getvalue()


def open_signer(settings: "Settings") -> Signer | None:
    """The signer that the settings ask for; None where they ask for none, or where the library isn't there and needn't be.

    Raises:
        CredentialsUnusable: missing (the library, with `credentials = "on"`), certificate, damaged, permissions, unwritable.
    """
    if settings.credentials == "off":
        return None
    if not available():
        if settings.credentials == "on":
            raise CredentialsUnusable("missing", path="", detail="")
        return None
    if settings.certificate or settings.certificate_key:  # one alone is an error there
        return Signer(operators_identity(_path(settings.certificate), _path(settings.certificate_key)), settings.timestamp_url)
    return Signer(own_identity(settings.data_dir / "keys" / FILE, settings.producer), settings.timestamp_url)


def open_trust(settings: "Settings") -> Trust:
    """Whom the installation believes: itself, as far as it ever signed, and the operator's list.

    Raises:
        CredentialsUnusable: as `open_signer`; list (the list can't be read).
    """
    own = settings.data_dir / "keys" / FILE
    root = own_identity(own, settings.producer).anchor if own.is_file() else b""
    operator = (
        operators_identity(_path(settings.certificate), _path(settings.certificate_key))
        if settings.certificate or settings.certificate_key
        else None
    )
    listed = b""
    if settings.trust_list:
        try:
            listed = _path(settings.trust_list).read_bytes()
        except OSError as fault:
            raise CredentialsUnusable("list", path=settings.trust_list, detail=fault.strerror or type(fault).__name__) from fault
        if b"-----BEGIN CERTIFICATE-----" not in listed:
            raise CredentialsUnusable("list", path=settings.trust_list, detail="PEM")
    return Trust(root, operator.anchor if operator else b"", operator.serial if operator else 0, listed)


def _path(name: str) -> Path:
    return Path(name).expanduser()


def available() -> bool:
    """Whether c2pa-python is installed and its library can be loaded here."""
    if find_spec("c2pa") is None:
        return False
    try:
        import c2pa  # noqa: F401
    except (ImportError, OSError):  # no build for this system's C library
        return False
    return True


def manifest(image: "MarkedImage", media_type: str) -> dict[str, Any]:
    """What is signed about a picture, in c2pa-rs's JSON."""
    agent = {"name": _NAME, "version": __version__}
    marked = image.mark.kind == "watermark"
    actions: list[dict[str, Any]] = [{"action": "c2pa.opened", "parameters": {"ingredientIds": ["target"]}}]
    ingredients = [{"title": "target", "relationship": "parentOf", "format": "application/octet-stream", "label": "target"}]
    if image.labels.derived_from:
        ingredients[0]["instance_id"] = f"{BINDING}:{image.labels.derived_from}"
    done = {"softwareAgent": agent, "when": image.labels.created}
    if image.labels.source_type:
        done["digitalSourceType"] = SOURCE_TYPES + image.labels.source_type
    if image.kind == "fusion":
        ingredients.append({"title": "source", "relationship": "componentOf", "format": "application/octet-stream", "label": "source"})
        actions.append({"action": "c2pa.placed", "parameters": {"ingredientIds": ["source"]}})
        actions.append({"action": "c2pa.edited", **done})
    else:
        actions.append({"action": "c2pa.cropped", **done})
    assertions: list[dict[str, Any]] = [{"label": "c2pa.actions.v2", "data": {"actions": actions}}]
    if marked:
        actions.append({"action": "c2pa.watermarked.bound", "softwareAgent": agent})
        binding = {"alg": BINDING, "blocks": [{"scope": {}, "value": image.mark.id}]}
        assertions.append({"label": "c2pa.soft-binding", "data": binding})
    return {
        "claim_generator_info": [agent],
        "title": image.mark.id,
        "format": media_type,
        "ingredients": ingredients,
        "assertions": assertions,
    }
