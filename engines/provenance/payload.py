"""What the watermark says: a version, an id and a tag that only the key's owner can make.

    version (4 bits) | id (36) | HMAC-SHA-256 of both, cut to 16  =  56 bits  →  BCH  →  126 bits

2^36 words are right, one an id: how well one has to agree, so that chance doesn't pass for it, is in `engines.provenance.allowance`.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.provenance import bch
from engines.provenance.allowance import LEAST
from engines.provenance.keys import MarkKey
from engines.types import Floats

VERSION = 1
ID_BITS, TAG_BYTES = 36, 2
BITS = bch.CODE_BITS
_SHAPE = re.compile(r"([0-9A-F]{3})-([0-9A-F]{3})-([0-9A-F]{3})")


@dataclass(frozen=True, slots=True)
class Message:
    """A payload that was read. `corrected`: how many of the 126 bits were wrong, 0 to some 25."""

    id: str
    corrected: int


def new_id() -> str:
    """A random id, such as "7F3-A91-C04": 36 bits, so that a thousand outputs share one with a chance of 7e-6."""
    digits = f"{secrets.randbits(ID_BITS):09X}"
    return f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"


def is_id(value: str) -> bool:
    """Whether it has the shape of an id."""
    return _SHAPE.fullmatch(value) is not None


def encode(mark_id: str, key: MarkKey) -> NDArray[np.uint8]:
    """(126,) uint8 of 0 and 1. Raises `ValueError` for an id of another shape than "7F3-A91-C04"."""
    shape = _SHAPE.fullmatch(mark_id)
    if shape is None:
        raise ValueError(f"not an id: {mark_id!r}")
    head = (VERSION << ID_BITS | int("".join(shape.groups()), 16)).to_bytes(5, "big")
    word = bch.encode(int.from_bytes(head + _tag(head, key), "big"))
    return np.array([word >> (BITS - 1 - index) & 1 for index in range(BITS)], np.uint8)


def decode(soft: Floats, key: MarkKey, least: float = LEAST) -> Message | None:
    """Reads a message from (126,) soft values: the sign is the bit, the size how sure it is.

    Args:
        least: how well the message has to agree, as a cosine; see `engines.provenance.allowance`.

    Returns:
        The best that carries the key's tag, or None.
    """
    for data in bch.nearest(soft, least):
        message = _message(data, key)
        if message is not None:
            return Message(message, int(np.count_nonzero(encode(message, key) != (soft > 0))))
    return None


def _message(data: int, key: MarkKey) -> str | None:
    whole = data.to_bytes(7, "big")
    head, tag = whole[:5], whole[5:]
    value = int.from_bytes(head, "big")
    if value >> ID_BITS != VERSION or not hmac.compare_digest(tag, _tag(head, key)):
        return None
    digits = f"{value & ((1 << ID_BITS) - 1):09X}"
    return f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"


def _tag(head: bytes, key: MarkKey) -> bytes:
    return hmac.digest(key.derive(b"tag"), head, hashlib.sha256)[:TAG_BYTES]
