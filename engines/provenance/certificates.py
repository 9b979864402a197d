"""The certificates that Content Credentials are signed with: this installation's own, made at first use, or the operator's.

Own: root → intermediate → leaf, ECDSA P-256, in one file with mode 0600. C2PA's profile (C2PA 2.2, "X.509 certificates"): a leaf that is
no authority, key usage digitalSignature, extended key usage emailProtection. A public viewer doesn't know the root, and says so.
Without a time stamp a signature holds as long as its certificate, so the leaf holds long and is renewed long before its end.
"""

import datetime as dt
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from engines.errors import CredentialsUnusable
from engines.provenance.files import Temporary

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, Name

FILE = "credentials.pem"
_YEARS = {"root": 30, "intermediate": 20, "leaf": 10}
_RENEW = dt.timedelta(days=2 * 365)  # left of the leaf when the next one is made
Algorithm = Literal["es256", "es384", "es512", "ps256", "ed25519"]


@dataclass(frozen=True, slots=True)
class Trust:
    """Whom to believe: authorities as PEM, b"" for none.

    Attributes:
        root: this installation's own; all that it vouches for was signed here.
        operator: of the operator's certificate; of what it vouches for, `serial` alone was signed here.
        listed: on the operator's list: known, and not us.
    """

    root: bytes = b""
    operator: bytes = b""
    serial: int = 0
    listed: bytes = b""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who signs.

    Attributes:
        chain: PEM, the signing certificate first. key: PEM, PKCS #8.
        anchor: PEM of the certificate that vouches for the chain: the own root; of an operator's chain its last.
        serial: of the signing certificate. own: whether this installation made it.
    """

    chain: bytes
    key: bytes = field(repr=False)
    anchor: bytes
    serial: int
    algorithm: Algorithm
    own: bool
    until: dt.datetime

    @property
    def trust(self) -> Trust:
        """What this identity signs is believed to be ours."""
        return Trust(root=self.anchor) if self.own else Trust(operator=self.anchor, serial=self.serial)


def own_identity(path: Path, organisation: str) -> Identity:
    """Reads the installation's certificates; makes them on first use, and renews the leaf. A damaged file is never replaced.

    Raises:
        CredentialsUnusable: damaged, permissions (readable by group or others; POSIX only), unwritable.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        if not os.path.lexists(path):
            _write(path, _fresh(organisation), overwrite=False)
        with path.open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                raise CredentialsUnusable("permissions", path=path)
            blocks = _blocks(file.read(1 << 16))
    except OSError as fault:
        raise CredentialsUnusable("unwritable", path=path, detail=fault.strerror or type(fault).__name__) from fault
    try:
        leaf_key, leaf, intermediate, root, intermediate_key, root_key = blocks
        certificate, issuer = x509.load_pem_x509_certificate(leaf), x509.load_pem_x509_certificate(intermediate)
        if certificate.not_valid_after_utc - dt.datetime.now(dt.UTC) < _RENEW:
            signer = load_pem_private_key(intermediate_key, None)
            leaf_key, leaf = _leaf(issuer, signer, organisation)  # type: ignore[arg-type]  # our own file: P-256
            _write(path, (leaf_key, leaf, intermediate, root, intermediate_key, root_key), overwrite=True)
            certificate = x509.load_pem_x509_certificate(leaf)
        load_pem_private_key(leaf_key, None)
    except (ValueError, TypeError) as fault:
        raise CredentialsUnusable("damaged", path=path, detail=str(fault)) from fault
    except OSError as fault:
        raise CredentialsUnusable("unwritable", path=path, detail=fault.strerror or type(fault).__name__) from fault
    return Identity(leaf + intermediate, leaf_key, root, certificate.serial_number, "es256", True, certificate.not_valid_after_utc)


def operators_identity(certificate: Path, key: Path) -> Identity:
    """An operator's own: a PEM chain with the signing certificate first, and its PKCS #8 key without a password.

    Raises:
        CredentialsUnusable: certificate (missing, damaged, or the key doesn't fit it), permissions (of the key; POSIX only).
    """
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

    try:
        if os.name == "posix" and key.stat().st_mode & 0o077:
            raise CredentialsUnusable("permissions", path=key)
        chain = x509.load_pem_x509_certificates(certificate.read_bytes())
        secret = key.read_bytes()
        if load_pem_private_key(secret, None).public_key() != chain[0].public_key():
            raise CredentialsUnusable("certificate", path=certificate, detail="the key doesn't fit")
    except (OSError, ValueError, TypeError) as fault:
        raise CredentialsUnusable("certificate", path=certificate, detail=str(fault)) from fault
    pem = [each.public_bytes(Encoding.PEM) for each in chain]
    first = chain[0]
    return Identity(b"".join(pem), secret, pem[-1], first.serial_number, _algorithm(first), False, first.not_valid_after_utc)


def _algorithm(certificate: "Certificate") -> Algorithm:
    """What C2PA signs with for a key of that kind; others are refused by C2PA."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    public = certificate.public_key()
    if isinstance(public, ec.EllipticCurvePublicKey):
        found: dict[int, Algorithm] = {256: "es256", 384: "es384", 521: "es512"}
        if public.curve.key_size in found:
            return found[public.curve.key_size]
    if isinstance(public, rsa.RSAPublicKey):
        return "ps256"
    if isinstance(public, ed25519.Ed25519PublicKey):
        return "ed25519"
    raise ValueError("a key that Content Credentials don't take")


def _fresh(organisation: str) -> tuple[bytes, ...]:
    from cryptography.hazmat.primitives.asymmetric import ec

    root_key, intermediate_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    root_name, name = _name(organisation, "Root"), _name(organisation, "Intermediate")
    root = _certificate(root_name, root_key, root_name, root_key, "root", 1)
    intermediate = _certificate(name, intermediate_key, root_name, root_key, "intermediate", 0)
    return (*_leaf(intermediate, intermediate_key, organisation), _pem(intermediate), _pem(root), _pem(intermediate_key), _pem(root_key))


def _leaf(issuer: "Certificate", issuer_key: "EllipticCurvePrivateKey", organisation: str) -> tuple[bytes, bytes]:
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    return _pem(key), _pem(_certificate(_name(organisation, "Signer"), key, issuer.subject, issuer_key, "leaf", None))


def _name(organisation: str, common: str) -> "Name":
    from cryptography.x509 import Name, NameAttribute, NameOID

    organisation = organisation[:64] or "Fusion Studio"  # X.520's upper bound
    return Name([NameAttribute(NameOID.ORGANIZATION_NAME, organisation), NameAttribute(NameOID.COMMON_NAME, common)])


def _certificate(
    subject: "Name", key: "EllipticCurvePrivateKey", issuer: "Name", issuer_key: "EllipticCurvePrivateKey", kind: str, below: int | None
) -> "Certificate":
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import ExtendedKeyUsageOID

    begin = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=5)  # clocks differ
    authority = below is not None
    usage = x509.KeyUsage(not authority, False, False, False, False, authority, authority, False, False)
    made = (
        x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + dt.timedelta(days=365 * _YEARS[kind]))
        .add_extension(x509.BasicConstraints(authority, below), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if not authority:
        made = made.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), critical=False)
    return made.sign(issuer_key, SHA256())


def _pem(value: "Certificate | EllipticCurvePrivateKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.x509 import Certificate

    if isinstance(value, Certificate):
        return value.public_bytes(Encoding.PEM)
    return value.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _blocks(data: bytes) -> list[bytes]:
    """The PEM blocks of a file, each with its lines."""
    ends = data.split(b"-----\n")
    return [b"-----\n".join(ends[n : n + 2]) + b"-----\n" for n in range(0, len(ends) - 1, 2)]


def _write(path: Path, blocks: tuple[bytes, ...], overwrite: bool) -> None:
    path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
    with Temporary(path, mode=0o600) as temporary:
        temporary.write(b"".join(blocks))
        try:
            temporary.publish(overwrite)
        except FileExistsError:
            return  # another process was first: its certificates count
