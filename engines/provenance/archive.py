"""A ZIP of pictures that were encoded, and of what is said about them."""

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

from engines.provenance.save import EncodedImage, Saved


def bundle(named: Sequence[tuple[str, EncodedImage | Saved]], texts: Mapping[str, str] | None = None) -> bytes:
    """A ZIP of encoded or saved pictures and text files. The same input gives the same bytes.

    Raises:
        ValueError: a name twice, absolute, or leading out of the archive.
    """
    data = ((name, each.data if isinstance(each, EncodedImage) else each.path.read_bytes()) for name, each in named)
    entries = [(name, content, zipfile.ZIP_STORED) for name, content in data]
    entries += [(name, content.encode(), zipfile.ZIP_DEFLATED) for name, content in (texts or {}).items()]
    names = [name for name, _, _ in entries]
    if len(set(names)) < len(names) or any(name.startswith("/") or "\\" in name or ".." in name.split("/") for name in names):
        raise ValueError("names in an archive must be relative and differ")
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content, how in entries:
            entry = zipfile.ZipInfo(name)  # dated 1980-01-01
            entry.compress_type, entry.external_attr = how, 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()
