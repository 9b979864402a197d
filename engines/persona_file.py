"""A persona's file: small, sealed, and never more than a persona.

    8 bytes  b"FSPerson"
    2 bytes  version, little-endian
    1 byte   1 = encrypted, 0 = exported
    28 bytes random salt (16) and nonce (12); zeros in an exported file
    …        the content (`engines.packing`); encrypted: AES-256-GCM of it, with the 39 bytes above as associated data
    32 bytes SHA-256 of everything before

Magic, version and the SHA-256 at the end stay where they are in all versions, so that a newer file is told from a damaged one.
The AES key is HKDF-SHA-256 (RFC 5869) of the studio's mark key, with the salt and the purpose: who hasn't that key can neither read
nor forge the file. An exported file can be read by anybody. No photo is kept, and no digest of one.
"""

import hashlib
import secrets
import struct
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args, get_type_hints

import numpy as np

from engines.errors import InvalidOption, PersonaUnusable
from engines.faces.source import PreparedSource
from engines.packing import pack, unpack
from engines.personas import Persona, check_name
from engines.provenance.keys import MarkKey
from engines.types import Identity, SafetyScore

MAGIC, VERSION = b"FSPerson", 1
LARGEST = 16 << 20  # of a file; the largest texture packs to under 1 MB
INFLATED = 64 << 20  # of all arrays together
FARTHEST = 1e6  # px, of a mesh's points
_SIDES = (64, 128, 256, 512, 1024, 2048, 4096)
_HEAD = struct.Struct("<8sHB16s12s")
_SUM = 32
_PURPOSE = b"fusion-studio persona"


def is_persona(data: bytes) -> bool:
    """Whether the bytes claim to be one: they begin as it does."""
    return data[: len(MAGIC)] == MAGIC


def is_encrypted(data: bytes) -> bool:
    """Of a persona's bytes: whether only the studio that made it can read it."""
    return data[10:11] == b"\x01"


def dump(persona: Persona, key: MarkKey | None) -> bytes:
    """The file's bytes; encrypted with `key`, or readable by anybody without one."""
    content = pack(
        {
            "name": persona.name,
            "identity": persona.identity,
            "source": persona.source,
            "photos": persona.photos,
            "created": persona.created,
            "safety": persona.safety,
        }
    )
    if key is None:
        head = _HEAD.pack(MAGIC, VERSION, 0, bytes(16), bytes(12))
    else:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        salt, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
        head = _HEAD.pack(MAGIC, VERSION, 1, salt, nonce)
        content = AESGCM(_derived(key, salt)).encrypt(nonce, content, head)
    whole = head + content
    return whole + hashlib.sha256(whole).digest()


def load(data: bytes, key: MarkKey, name: str = "persona") -> Persona:
    """Reads a persona's bytes; the same `Persona` that `dump` was given, array for array.

    Args:
        key: the studio's, for encrypted ones; older ones open what they closed.
        name: what the person calls the file; it stands in error messages only.

    Raises:
        PersonaUnusable: not_a_persona, too_large, damaged, newer, key, older.
    """
    if not is_persona(data):
        raise PersonaUnusable("not_a_persona", name=name)
    if len(data) > LARGEST:
        raise PersonaUnusable("too_large", name=name, limit=LARGEST >> 20)
    if len(data) < _HEAD.size + _SUM or hashlib.sha256(data[:-_SUM]).digest() != data[-_SUM:]:
        raise PersonaUnusable("damaged", name=name)
    _, version, encrypted, salt, nonce = _HEAD.unpack_from(data)
    if version > VERSION:
        raise PersonaUnusable("newer", name=name)
    content = data[_HEAD.size : -_SUM]
    if version < 1 or encrypted > 1:
        raise PersonaUnusable("damaged", name=name)
    if encrypted:
        content = _decrypted(content, key, salt, nonce, data[: _HEAD.size], name)
    try:
        return _persona(unpack(content, _kinds(), INFLATED))
    except LookupError as fault:  # a field that this version hasn't, or hasn't any more
        raise PersonaUnusable("older", name=name) from fault
    except (ValueError, TypeError, InvalidOption) as fault:
        raise PersonaUnusable("damaged", name=name) from fault


def _derived(key: MarkKey, salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=32, salt=salt, info=_PURPOSE).derive(key.secret)


def _decrypted(content: bytes, key: MarkKey, salt: bytes, nonce: bytes, head: bytes, name: str) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    for each in key.all:
        try:
            return AESGCM(_derived(each, salt)).decrypt(nonce, content, head)
        except InvalidTag:  # another key's: the bytes are as they were written, since their SHA-256 fits
            continue
    raise PersonaUnusable("key", name=name)


def _kinds() -> set[type]:
    """The dataclasses that a persona may hold: those that its fields' annotations name, at any depth."""
    found: set[type] = set()
    todo: list[Any] = [Identity, PreparedSource, SafetyScore]
    while todo:
        hint = todo.pop()
        todo += [each for each in get_args(hint) if each is not Ellipsis]
        if isinstance(hint, type) and is_dataclass(hint) and hint not in found:
            found.add(hint)
            todo += get_type_hints(hint).values()
    return found


def _persona(values: Any) -> Persona:
    """Checks what was read as far as a fusion relies on it. Raises `ValueError`, `KeyError`."""
    if not isinstance(values, dict):
        raise ValueError("no persona")
    identity, source, safety = values["identity"], values["source"], values["safety"]
    if not (isinstance(identity, Identity) and isinstance(source, PreparedSource) and isinstance(safety, SafetyScore)):
        raise ValueError("not the parts of a persona")
    words = (values["name"], values["created"], identity.model, safety.model)
    if not all(isinstance(word, str) for word in words) or type(values["photos"]) is not int or values["photos"] < 1:
        raise ValueError("no facts")
    if not isinstance(safety.score, float) or not 0 <= safety.score <= 1:
        raise ValueError("no score")
    _check_array(identity.embedding, np.float32, (128,))
    _check_array(source.points, np.float64, (478, 3))
    if np.abs(source.points).max() > FARTHEST or np.ptp(source.points[:, :2], axis=0).min() < 1:
        raise ValueError("no face")
    sides = [_square(level) for level in source.levels]
    if not sides or sides[0] not in _SIDES or sides != [sides[0] >> step for step in range(len(sides))]:
        raise ValueError("no texture")
    for part in fields(source):
        if part.default_factory is not MISSING:
            _check_like(getattr(source, part.name), part.default_factory())
    return Persona(check_name(values["name"]), identity, source, values["photos"], values["created"], safety)


def _check_like(value: Any, model: Any) -> None:
    """Whether a part of a source has the shape of its default. Raises `ValueError`."""
    if isinstance(model, np.ndarray):
        _check_array(value, model.dtype.type, model.shape)
    elif is_dataclass(model):
        if type(value) is not type(model):
            raise ValueError("another part")
        for part in fields(model):
            _check_like(getattr(value, part.name), getattr(model, part.name))
    elif isinstance(model, float):
        if not isinstance(value, float):
            raise ValueError("no number")
    elif type(value) is not type(model):
        raise ValueError("another part")


def _check_array(array: Any, dtype: type, shape: tuple[int, ...]) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != shape or not np.isfinite(array).all():
        raise ValueError("not the array that it should be")


def _square(level: Any) -> int:
    if not isinstance(level, np.ndarray) or level.dtype != np.uint8 or level.ndim != 3:
        raise ValueError("no texture")
    side = int(level.shape[0])
    if level.shape != (side, side, 4):
        raise ValueError("no texture")
    return side
