"""A persona's file: the same persona comes back, and nothing else is taken for one."""

import contextlib
import dataclasses
import hashlib
import stat
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.errors import OutputExists, PersonaUnusable
from engines.faces.source import PreparedSource
from engines.faces.topology import topology
from engines.fusing import lay
from engines.options import FuseOptions
from engines.packing import digest, pack, unpack
from engines.persona_file import LARGEST, MAGIC, VERSION, _kinds, dump, is_encrypted, is_persona, load
from engines.personas import Persona
from engines.pipeline import Studio
from engines.provenance.keys import MarkKey
from engines.settings import Settings
from engines.timing import Run
from engines.types import Identity, SafetyScore

KEY, OTHER = MarkKey(bytes(range(32))), MarkKey(bytes(32))
HEAD, SUM = 39, 32


def small() -> Persona:
    random = np.random.default_rng(0)
    level = random.integers(0, 256, (64, 64, 4), np.uint8)
    source = PreparedSource((level,), topology().mean.astype(np.float64) * 100)
    return Persona(
        "Ada", Identity(random.normal(0, 0.1, 128).astype(np.float32), "net"), source, 3, "2026-12-02T05:00:00Z", SafetyScore(0.1)
    )


PERSONA = small()
SEALED, OPEN = dump(PERSONA, KEY), dump(PERSONA, None)


@pytest.fixture(scope="module")
def made(astronaut: NDArray[np.uint8], tmp_path_factory: pytest.TempPathFactory) -> tuple[Studio, Persona]:
    studio = Studio.open(Settings(data_dir=tmp_path_factory.mktemp("data"), provider="cpu"))
    bright = np.clip(astronaut.astype(np.int16) + 12, 0, 255).astype(np.uint8)
    return studio, studio.persona([astronaut, bright], "Eileen")


@pytest.mark.parametrize("data", [SEALED, OPEN], ids=["encrypted", "exported"])
def test_it_comes_back(data: bytes) -> None:
    back = load(data, KEY)
    assert is_persona(data)
    assert is_encrypted(data) == (data is SEALED)
    assert (back.name, back.photos, back.created, back.safety) == ("Ada", 3, "2026-12-02T05:00:00Z", SafetyScore(0.1))
    assert back.digest == PERSONA.digest
    np.testing.assert_array_equal(back.identity.embedding, PERSONA.identity.embedding)
    assert back.identity.model == "net"


def test_every_field_of_a_source_is_carried(made: tuple[Studio, Persona]) -> None:
    """A field that somebody adds to `PreparedSource` is packed by itself, or this fails and says which."""
    studio, persona = made
    back = load(dump(persona, studio.key), studio.key)
    for field in dataclasses.fields(PreparedSource):
        if not field.name.startswith("_"):
            assert digest(getattr(back.source, field.name)) == digest(getattr(persona.source, field.name)), field.name
        else:
            assert field.default_factory is not dataclasses.MISSING or field.default is not dataclasses.MISSING, field.name
    assert back.digest == persona.digest


def test_a_loaded_one_fuses_to_the_same_bytes(made: tuple[Studio, Persona], officer: NDArray[np.uint8], tmp_path: Path) -> None:
    studio, persona = made
    back = studio.load_persona(persona.save(tmp_path / "a.persona", studio.key))
    target = studio.faces(officer)
    patches = [lay(studio.known, one.source, target.frame, target.faces[0], FuseOptions(), Run()) for one in (persona, back)]
    assert patches[0].pixels.tobytes() == patches[1].pixels.tobytes()
    assert patches[0].mask.tobytes() == patches[1].mask.tobytes()


def test_it_is_small(made: tuple[Studio, Persona]) -> None:
    studio, persona = made
    size = len(dump(persona, studio.key))
    assert size < persona.source.levels[0].nbytes
    assert size < 2_000_000


def test_encryption_leaves_nothing_to_read() -> None:
    assert b"Ada" in OPEN
    assert b"Ada" not in SEALED
    assert dump(PERSONA, KEY)[HEAD:-SUM] != SEALED[HEAD:-SUM], "a salt and a nonce of its own each time"
    assert dump(PERSONA, None) == OPEN


def reason(data: bytes, key: MarkKey = KEY) -> str:
    with pytest.raises(PersonaUnusable) as caught:
        load(data, key, "a.persona")
    assert "a.persona" in caught.value.message("en")
    assert "a.persona" in caught.value.message("zh-CN")
    return caught.value.reason


def resealed(data: bytes) -> bytes:
    """With a SHA-256 that fits: what somebody would forge."""
    return data[:-SUM] + hashlib.sha256(data[:-SUM]).digest()


def test_another_studio_cannot_read_it_unless_it_was_exported() -> None:
    assert reason(SEALED, OTHER) == "key"
    assert load(OPEN, OTHER).name == "Ada"


@pytest.mark.parametrize("data", [b"", b"FSPers", b"\x89PNG\r\n\x1a\n" + bytes(100), b"x" * 200])
def test_what_is_no_persona(data: bytes) -> None:
    assert not is_persona(data)
    assert reason(data) == "not_a_persona"


def test_a_newer_version_is_told_from_a_damaged_one() -> None:
    newer = bytearray(OPEN)
    newer[8:10] = struct.pack("<H", VERSION + 1)
    assert reason(bytes(newer)) == "damaged"
    assert reason(resealed(bytes(newer))) == "newer"


def test_one_that_is_too_large_is_not_even_hashed() -> None:
    assert reason(MAGIC + bytes(LARGEST)) == "too_large"


@given(st.data(), st.sampled_from([SEALED, OPEN]))
def test_any_changed_byte_is_noticed(data: st.DataObject, whole: bytes) -> None:
    at, flip = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(1, 255))
    changed = bytearray(whole)
    changed[at] ^= flip
    assert reason(bytes(changed)) == ("not_a_persona" if at < len(MAGIC) else "damaged")


@given(st.integers(0, max(len(SEALED), len(OPEN)) - 1), st.sampled_from([SEALED, OPEN]))
def test_any_cut_is_noticed(length: int, whole: bytes) -> None:
    if length < len(whole):
        assert reason(whole[:length]) in ("damaged", "not_a_persona")


@given(st.data())
def test_whoever_forges_the_sum_of_an_encrypted_one_is_found_out(data: st.DataObject) -> None:
    at = data.draw(st.integers(len(MAGIC), len(SEALED) - SUM - 1))
    changed = bytearray(SEALED)
    changed[at] ^= data.draw(st.integers(1, 255))
    assert reason(resealed(bytes(changed))) in ("key", "newer", "damaged", "older")


@given(st.data())
def test_an_exported_one_with_a_forged_sum_is_a_persona_or_a_typed_error(data: st.DataObject) -> None:
    changed = bytearray(OPEN)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(HEAD, HEAD + 900))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(PersonaUnusable):
        load(resealed(bytes(changed)), KEY)


def content(**changes: Any) -> bytes:
    values = unpack(OPEN[HEAD:-SUM], _kinds(), 1 << 26)
    return resealed(OPEN[:HEAD] + pack(values | changes) + bytes(SUM))


LEVEL, POINTS = PERSONA.source.levels[0], PERSONA.source.points


@pytest.mark.parametrize(
    "changes",
    [
        {"name": ""},
        {"name": "a\nb"},
        {"name": "x" * 200},
        {"name": 3},
        {"photos": 0},
        {"photos": True},
        {"photos": 2.0},
        {"created": None},
        {"safety": SafetyScore(1.5)},
        {"safety": SafetyScore(1)},
        {"safety": 0.5},
        {"identity": Identity(np.zeros(64, np.float32), "net")},
        {"identity": Identity(np.full(128, np.nan, np.float32), "net")},
        {"identity": Identity(np.zeros(128), "net")},
        {"identity": Identity(np.zeros(128, np.float32), 7)},  # type: ignore[arg-type]
        {"source": PreparedSource((), POINTS)},
        {"source": PreparedSource((LEVEL[:, :60],), POINTS)},
        {"source": PreparedSource((LEVEL[:48, :48].copy(),), POINTS)},
        {"source": PreparedSource((LEVEL[..., :3].copy(),), POINTS)},
        {"source": PreparedSource((LEVEL, LEVEL), POINTS)},
        {"source": PreparedSource((LEVEL.astype(np.float32),), POINTS)},  # type: ignore[arg-type]
        {"source": PreparedSource((LEVEL,), POINTS[:470])},
        {"source": PreparedSource((LEVEL,), np.full((478, 3), np.inf))},
        {"source": PreparedSource((LEVEL,), POINTS * 1e9)},
        {"source": PreparedSource((LEVEL,), POINTS * 0)},
        {"source": POINTS},
    ],
)
def test_values_that_no_fusion_could_use_are_damage(changes: dict[str, Any]) -> None:
    assert reason(content(**changes)) == "damaged"


def test_parts_of_another_shape_are_damage() -> None:
    """What has a default is held to its shape."""
    for field in dataclasses.fields(PreparedSource):
        if field.default_factory is dataclasses.MISSING or field.name.startswith("_"):
            continue
        source = dataclasses.replace(PERSONA.source, **{field.name: "something else"})
        assert reason(content(source=source)) == "damaged", field.name


def test_what_an_older_version_did_not_keep() -> None:
    values = unpack(OPEN[HEAD:-SUM], _kinds(), 1 << 26)
    del values["safety"]
    assert reason(resealed(OPEN[:HEAD] + pack(values) + bytes(SUM))) == "older"


def test_the_digest_is_never_read_from_a_file() -> None:
    other = dataclasses.replace(PERSONA, name="Eve")
    assert other.digest != PERSONA.digest
    assert PERSONA.digest.encode() not in OPEN


@pytest.mark.parametrize("export", [False, True])
def test_saving_writes_a_file_for_its_owner_and_never_over_another(tmp_path: Path, export: bool) -> None:
    path = PERSONA.save(tmp_path / "new" / "a.persona", KEY, export)
    assert is_encrypted(path.read_bytes()) is not export
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with pytest.raises(OutputExists):
        PERSONA.save(path, KEY)
    assert path.read_bytes() == before
    PERSONA.save(str(path), KEY, overwrite=True)
    assert load(path.read_bytes(), KEY).digest == PERSONA.digest
    assert [one.name for one in path.parent.iterdir()] == ["a.persona"]
