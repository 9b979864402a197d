"""This installation's certificates, and an operator's."""

import datetime as dt
import os
import stat
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from engines.errors import CredentialsUnusable
from engines.provenance import certificates as room
from engines.provenance.certificates import FILE, Identity, operators_identity, own_identity


def certificates(identity: Identity) -> list[x509.Certificate]:
    return [*x509.load_pem_x509_certificates(identity.chain), x509.load_pem_x509_certificate(identity.anchor)]


def test_a_chain_that_fits(tmp_path: Path) -> None:
    identity = own_identity(tmp_path / "keys" / FILE, "A Studio")
    leaf, intermediate, root = certificates(identity)
    leaf.verify_directly_issued_by(intermediate)
    intermediate.verify_directly_issued_by(root)
    root.verify_directly_issued_by(root)
    assert leaf.subject.get_attributes_for_oid(x509.NameOID.ORGANIZATION_NAME)[0].value == "A Studio"
    assert not leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert leaf.extensions.get_extension_for_class(x509.KeyUsage).critical
    assert leaf.serial_number == identity.serial
    assert identity.key.decode().count("PRIVATE KEY") == 2  # one key, its first line and its last
    assert "PRIVATE" not in repr(identity)


def test_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys" / FILE
    assert own_identity(path, "A") == own_identity(path, "B")
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        path.chmod(0o640)
        with pytest.raises(CredentialsUnusable) as caught:
            own_identity(path, "A")
        assert caught.value.reason == "permissions"


def test_several_at_once_share_one(tmp_path: Path) -> None:
    found: list[Identity] = []
    threads = [threading.Thread(target=lambda: found.append(own_identity(tmp_path / FILE, "A"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({identity.serial for identity in found}) == 1


@pytest.mark.parametrize("left", [b"", b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n" * 6])
def test_a_damaged_file_is_said_and_left(tmp_path: Path, left: bytes) -> None:
    path = tmp_path / FILE
    own_identity(path, "A")
    path.write_bytes(left)
    with pytest.raises(CredentialsUnusable) as caught:
        own_identity(path, "A")
    assert caught.value.reason == "damaged"
    assert path.read_bytes() == left


def test_the_leaf_is_renewed_and_the_root_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_YEARS", {"root": 30, "intermediate": 20, "leaf": 1})
    first = own_identity(tmp_path / FILE, "A")
    monkeypatch.undo()
    second = own_identity(tmp_path / FILE, "A")
    assert second.serial != first.serial
    assert second.anchor == first.anchor
    assert second.until > first.until + dt.timedelta(days=8 * 365)
    assert own_identity(tmp_path / FILE, "A") == second
    certificates(second)[0].verify_directly_issued_by(certificates(second)[1])


KEYS = {
    "es256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "es384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "ed25519": ed25519.Ed25519PrivateKey.generate,
    "ps256": lambda: rsa.generate_private_key(65537, 2048),
}


def written(folder: Path, kind: str) -> tuple[Path, Path]:
    """A self-signed certificate and its key, as files."""
    key = KEYS[kind]()  # type: ignore[no-untyped-call]
    name = x509.Name([x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "Operator")])
    now = dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 77, now, now + dt.timedelta(days=9))
    signed = made.sign(key, None if kind == "ed25519" else SHA256())
    certificate, secret = folder / "chain.pem", folder / "key.pem"
    certificate.write_bytes(signed.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    secret.chmod(0o600)
    return certificate, secret


@pytest.mark.parametrize("kind", KEYS)
def test_an_operator_s_certificate(tmp_path: Path, kind: str) -> None:
    identity = operators_identity(*written(tmp_path, kind))
    assert (identity.algorithm, identity.serial, identity.own) == (kind, 77, False)


def test_what_an_operator_may_get_wrong(tmp_path: Path) -> None:
    certificate, key = written(tmp_path, "es256")
    (tmp_path / "other").mkdir()
    _, other = written(tmp_path / "other", "es256")
    for pair in ((certificate, other), (key, key), (tmp_path / "missing", key), (certificate, tmp_path / "missing")):
        with pytest.raises(CredentialsUnusable) as caught:
            operators_identity(*pair)
        assert caught.value.reason == "certificate"
    if os.name == "posix":
        key.chmod(0o644)
        with pytest.raises(CredentialsUnusable) as caught:
            operators_identity(certificate, key)
        assert caught.value.reason == "permissions"
