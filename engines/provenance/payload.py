"""What the watermark says: a version, an id and a tag that only the key's owner can make.

    version (4 bits) | id (36) | HMAC-SHA-256 of both, cut to 16  =  56 bits  →  BCH  →  126 bits

A random pattern passes for a mark with a chance of 1.2e-11 per try: 4e-7 (a word within 11 bits of a code word) × 32 (`CHASE`) × 2^-20
(version and tag). `engines.provenance.detection` limits the tries per picture; one as more than 32 words counts as that many more.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.provenance import bch
from engines.provenance.keys import MarkKey
from engines.types import Floats

VERSION = 1
ID_BITS, TAG_BYTES = 36, 2
BITS = bch.CODE_BITS
CHASE = 5  # least certain bits that are tried both ways: 2^5 decodings of 0.5 ms; each further bit doubles time and false marks
_SHAPE = re.compile(r"([0-9A-F]{3})-([0-9A-F]{3})-([0-9A-F]{3})")


@dataclass(frozen=True, slots=True)
class Message:
    """A payload that was read. `corrected`: how many of the 126 bits were wrong, 0 … 19."""

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


def decode(soft: Floats, key: MarkKey, uncertain: int = CHASE) -> Message | None:
    """Reads a message from (126,) soft values: the sign is the bit, the size how sure it is (Chase 1972, algorithm 2).

    Args:
        uncertain: how many of the least certain bits are tried both ways.

    Returns:
        None where no code word near the signs carries the key's tag.
    """
    order = np.argsort(np.abs(soft))[:uncertain]
    signs = soft > 0
    received = int.from_bytes(np.packbits(signs).tobytes(), "big") >> (-BITS % 8)
    flips = [1 << (BITS - 1 - int(index)) for index in order]
    for choice in range(1 << uncertain):
        word = received
        for index, flip in enumerate(flips):
            if choice >> index & 1:
                word ^= flip
        found = bch.decode(word)
        message = _message(found[0], key) if found else None
        if message is not None:
            sent = encode(message, key)
            return Message(message, int(np.count_nonzero(sent != signs)))
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
