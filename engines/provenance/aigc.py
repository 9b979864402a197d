"""The implicit label of GB 45438-2025 (China, in force since 2025-09-01): one JSON object, wherever a format has room for it."""

import json

from engines.provenance.labels import Labels

_AIGC_FIELDS = ("Label", "ContentProducer", "ProduceID", "ReservedCode1", "ContentPropagator", "PropagateID", "ReservedCode2")


def written(labels: Labels) -> str:
    """The object, in the standard's order; "" where no algorithm had a part."""
    if not labels.aigc:
        return ""
    said = {"Label": labels.aigc, "ContentProducer": labels.producer, "ProduceID": labels.id}
    return json.dumps(dict.fromkeys(_AIGC_FIELDS, "") | said, ensure_ascii=False, separators=(",", ":"))


def read(value: str) -> tuple[str, str, str]:
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


def in_exif(exif: bytes) -> str:
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
