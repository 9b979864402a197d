"""Content Credentials: written into every format, read back, and never believed beyond what they prove."""

import datetime as dt
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from PIL import Image

from engines.errors import CredentialsUnusable, MarkNotRead
from engines.provenance import certificates
from engines.provenance import credentials as room
from engines.provenance.certificates import FILE, Trust, own_identity
from engines.provenance.containers import parts_of
from engines.provenance.credentials import Credentials, read_credentials
from engines.provenance.keys import MarkKey
from engines.provenance.mark import MarkedImage, mark
from engines.provenance.output import FORMATS
from engines.provenance.save import encode, save, sign
from engines.provenance.signer import BINDING, Signer, manifest, open_signer, open_trust
from engines.provenance.verify import verify
from engines.settings import Settings
from engines.text import LANGUAGES, has
from engines.types import Pixels
from engines.vision import io


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(own_identity(tmp_path_factory.mktemp("keys") / FILE, "This Studio"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(own_identity(tmp_path_factory.mktemp("others") / FILE, "Another Studio"))


@pytest.fixture(scope="module")
def signed(marked: dict[str, MarkedImage], key: MarkKey, signer: Signer) -> dict[str, bytes]:
    return {name: encode(marked["officer"], name, None, key, signer=signer).data for name in FORMATS}


def read(data: bytes, trust: Trust) -> Credentials:
    found = read_credentials(data, lambda: trust)
    assert found is not None
    return found


@pytest.mark.parametrize("format", FORMATS)
def test_ours_in_every_format(signed: dict[str, bytes], marked: dict[str, MarkedImage], signer: Signer, format: str) -> None:
    found = read(signed[format], signer.identity.trust)
    assert (found.state, found.signer, found.algorithmic, found.faults) == ("ours", "This Studio", True, ())
    assert found.id == marked["officer"].mark.id
    assert found.tool.startswith("Fusion Studio ")
    with Image.open(BytesIO(signed[format])) as picture:  # others still read the picture
        assert picture.size == (512, 600)


def test_another_authority_is_unknown_until_it_is_on_the_list(signed: dict[str, bytes], signer: Signer, other: Signer) -> None:
    theirs = read(signed["png"], other.identity.trust)
    assert (theirs.state, theirs.signer, theirs.faults) == ("unknown", "This Studio", ("unknown_signer",))
    assert read(signed["png"], Trust()).state == "unknown"
    listed = Trust(root=other.identity.anchor, listed=signer.identity.anchor)
    assert (read(signed["png"], listed).state, read(signed["png"], listed).faults) == ("trusted", ())


def test_of_an_operator_s_authority_only_the_operator_is_us(signed: dict[str, bytes], signer: Signer) -> None:
    anchor, serial = signer.identity.anchor, signer.identity.serial
    assert read(signed["png"], Trust(operator=anchor, serial=serial)).state == "ours"
    assert read(signed["png"], Trust(operator=anchor, serial=serial + 1)).state == "unknown"
    assert read(signed["png"], Trust(operator=anchor, serial=serial + 1, listed=anchor)).state == "trusted"


# C2PA 2.x, 9.2: a file of the ISO's base media format has its boxes hashed, any other its bytes.
HASH = {"avif": "c2pa.hash.bmff.v3"}


@pytest.mark.parametrize("format", FORMATS)
def test_a_changed_picture_is_named(signed: dict[str, bytes], signer: Signer, format: str) -> None:
    data = bytearray(signed[format])
    data[len(data) - 500] ^= 0x55  # in the pixels: manifests stand before them, or (WebP, TIFF) behind them
    if format in ("webp", "tiff"):
        data = bytearray(signed[format])
        data[3000] ^= 0x55
    found = read(bytes(data), signer.identity.trust)
    assert (found.state, found.faults, found.broken) == ("tampered", ("changed",), (HASH.get(format, "c2pa.hash.data"),))


def test_a_changed_claim_is_named(signed: dict[str, bytes], marked: dict[str, MarkedImage], signer: Signer) -> None:
    """Which part of it: what was done, whose watermark, what it was made from."""
    mark_id = marked["officer"].mark.id.encode()
    store = parts_of(signed["jpg"]).c2pa
    bound = b"value" + bytes([0x60 + len(mark_id)]) + mark_id  # CBOR: a text of that length
    changes = {
        "c2pa.actions.v2": (b"compositeWithTrained", b"compositeWithTrainee"),
        "c2pa.soft-binding": (bound, bound[:-1] + (b"0" if bound[-1:] != b"0" else b"1")),
        "c2pa.ingredient.v3": (b"octet-stream", b"octet-streaM"),
    }
    for part, (before, after) in changes.items():
        assert before in store, part
        at = signed["jpg"].index(before)  # the XMP packet comes after the manifest
        found = read(signed["jpg"][:at] + after + signed["jpg"][at + len(before) :], signer.identity.trust)
        assert (found.state, part in found.broken, "claim_changed" in found.faults) == ("tampered", True, True), part
        assert "c2pa.hash.data" not in found.broken  # the picture itself is whole
        assert all(has(f"provenance.part.{part.removesuffix('.v2').removesuffix('.v3')}", language) for language in LANGUAGES)


def test_saved_again_there_are_none(signed: dict[str, bytes], signer: Signer) -> None:
    out = BytesIO()
    Image.open(BytesIO(signed["png"])).save(out, "PNG")
    assert read_credentials(out.getvalue(), lambda: signer.identity.trust) is None


def test_what_is_told_and_what_is_not(signed: dict[str, bytes], marked: dict[str, MarkedImage], officer: Pixels, key: MarkKey) -> None:
    told = manifest(marked["officer"], "image/png")
    actions = [each["action"] for each in told["assertions"][0]["data"]["actions"]]
    assert actions == ["c2pa.opened", "c2pa.placed", "c2pa.edited", "c2pa.watermarked.bound"]
    assert [each["relationship"] for each in told["ingredients"]] == ["parentOf", "componentOf"]
    assert b"thumbnail" not in parts_of(signed["png"]).c2pa
    assert len(parts_of(signed["png"]).c2pa) < 20_000
    crop = manifest(mark(io.from_array(np.ascontiguousarray(officer[:112, :112])), key, "crop"), "image/png")  # of a photo: nothing of AI
    assert [each["action"] for each in crop["assertions"][0]["data"]["actions"]] == ["c2pa.opened", "c2pa.cropped"]
    assert len(crop["assertions"]) == 1
    assert "igitalSourceType" not in str(crop)


def test_a_preview_is_not_signed(officer: Pixels, key: MarkKey, signer: Signer) -> None:
    encoded = encode(mark(io.from_array(officer), key, "preview"), "jpg", None, key, signer=signer)
    assert (encoded.signed, parts_of(encoded.data).c2pa) == (False, b"")


def test_a_signature_that_does_not_read_back_leaves_no_file(
    tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Signer, "sign", lambda self, data, media_type, image: data)
    with pytest.raises(MarkNotRead):
        save(marked["officer"], tmp_path / "out.png", key=key, signer=signer)
    assert list(tmp_path.iterdir()) == []


def test_a_shown_picture_is_signed_when_it_is_taken(marked: dict[str, MarkedImage], key: MarkKey, signer: Signer) -> None:
    image = marked["officer"]
    shown = encode(image, "png", None, key)
    taken = sign(shown, image, key, signer)
    assert (shown.signed, parts_of(shown.data).c2pa) == (False, b"")
    assert (taken.signed, taken.mark.id, taken.labels) == (True, image.mark.id, image.labels)
    assert "c2pa" in taken.written
    assert read(taken.data, signer.identity.trust).state == "ours"


def test_a_verdict_by_the_signature_alone(officer: Pixels, key: MarkKey, signer: Signer, other: Signer) -> None:
    """A picture too small for the watermark."""
    data = encode(mark(io.from_array(np.ascontiguousarray(officer[200:300, 200:300])), key), "png", None, key, signer=signer).data
    mine = verify(data, "", key, 10, trust=lambda: signer.identity.trust)
    assert (mine.verdict, mine.id) == ("made_here", None)
    theirs = verify(data, "", key, 10, trust=lambda: other.identity.trust)
    assert theirs.verdict == "marked"
    assert theirs.as_dict()["credentials"]["state"] == "unknown"
    assert verify(data, "", key, 10).credentials is None


def test_hostile_files_are_no_error(signed: dict[str, bytes], signer: Signer) -> None:
    chance = np.random.default_rng(5)
    states = set()
    for data in signed.values():
        start = max(0, data.find(b"jumb") - 40)
        for _ in range(25):
            changed = bytearray(data)
            for at in chance.integers(start, min(len(data), start + 6000), int(chance.integers(1, 9))):
                changed[at] = int(chance.integers(0, 256))
            found = read_credentials(bytes(changed[: int(chance.integers(len(data) // 2, len(data) + 1))]), lambda: signer.identity.trust)
            states.add(found.state if found else None)
    assert "ours" not in states
    assert states & {"tampered", "invalid"}


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"RIFF....WEBPjumdc2pa", b"....ftypavif jumdc2pa", b"II*\0jumdc2pa"])
def test_fragments_are_no_error(data: bytes) -> None:
    found = read_credentials(data, Trust)
    assert found is None or found.state == "invalid"


def test_without_the_library(signed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "available", lambda: False)
    assert read(signed["png"], Trust()).state == "unchecked"
    monkeypatch.setattr("engines.provenance.signer.available", lambda: False)
    assert open_signer(Settings(data_dir=tmp_path)) is None
    with pytest.raises(CredentialsUnusable) as caught:
        open_signer(Settings(data_dir=tmp_path, credentials="on"))
    assert caught.value.reason == "missing"
    assert list(tmp_path.iterdir()) == []


def test_the_settings_choose(tmp_path: Path, signer: Signer) -> None:
    assert open_signer(Settings(data_dir=tmp_path, credentials="off")) is None
    assert open_trust(Settings(data_dir=tmp_path)) == Trust()
    own = open_signer(Settings(data_dir=tmp_path))
    assert own is not None
    (tmp_path / "chain.pem").write_bytes(signer.identity.chain)
    (tmp_path / "key.pem").write_bytes(signer.identity.key)
    (tmp_path / "key.pem").chmod(0o600)
    (tmp_path / "list.pem").write_bytes(signer.identity.anchor)
    files = {"certificate": "chain.pem", "certificate_key": "key.pem", "trust_list": "list.pem"}
    theirs = Settings(data_dir=tmp_path, **{name: str(tmp_path / file) for name, file in files.items()})  # type: ignore[arg-type]
    chosen = open_signer(theirs)
    assert chosen is not None
    assert chosen.identity.serial == signer.identity.serial
    trust = open_trust(theirs)
    assert (trust.root, trust.serial, trust.listed) == (own.identity.anchor, signer.identity.serial, signer.identity.anchor)
    with pytest.raises(CredentialsUnusable):
        open_trust(Settings(data_dir=tmp_path, trust_list=str(tmp_path / "missing.pem")))


def test_a_picture_signed_with_an_operator_s_certificate(
    tmp_path: Path, marked: dict[str, MarkedImage], key: MarkKey, signer: Signer
) -> None:
    (tmp_path / "chain.pem").write_bytes(signer.identity.chain)
    (tmp_path / "key.pem").write_bytes(signer.identity.key)
    (tmp_path / "key.pem").chmod(0o600)
    settings = Settings(data_dir=tmp_path, certificate=str(tmp_path / "chain.pem"), certificate_key=str(tmp_path / "key.pem"))
    data = encode(marked["officer"], "webp", None, key, signer=open_signer(settings)).data
    assert read(data, open_trust(settings)).state == "ours"


def test_an_authority_that_cannot_be_asked_is_an_error(marked: dict[str, MarkedImage], key: MarkKey, signer: Signer) -> None:
    with pytest.raises(CredentialsUnusable) as caught:
        encode(marked["officer"], "png", None, key, signer=Signer(signer.identity, "http://127.0.0.1:9"))
    assert caught.value.reason == "signing"


def test_a_certificate_out_of_date_signs_nothing(
    marked: dict[str, MarkedImage], key: MarkKey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator's that ended: the output is refused, and the reason said."""

    class Past(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> "Past":
            return cls(2020, 1, 1, tzinfo=tz)

    with monkeypatch.context() as then:
        then.setattr(certificates, "dt", SimpleNamespace(datetime=Past, timedelta=dt.timedelta, UTC=dt.UTC))
        then.setattr(certificates, "_YEARS", {"root": 30, "intermediate": 20, "leaf": 3})
        old = own_identity(tmp_path / FILE, "Old Studio")
    assert old.until < dt.datetime.now(dt.UTC)
    with pytest.raises(CredentialsUnusable, match="not valid at time") as caught:
        encode(marked["officer"], "png", None, key, signer=Signer(old))
    assert caught.value.reason == "signing"


TSA = """[tsa]
default_tsa = here
[here]
serial = {0}/serial
signer_cert = {0}/tsa.pem
certs = {0}/root.pem
signer_key = {0}/key.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
ess_cert_id_alg = sha256
"""


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """A time stamp authority (RFC 3161) of the test's own: its address, and the sizes of what it was asked."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the command openssl")
    keys = [rsa.generate_private_key(65537, 2048) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in ("Root", "Stamper")]
    now = dt.datetime.now(dt.UTC)
    for name, secret, file in zip(names, keys, ("root.pem", "tsa.pem"), strict=True):
        leaf = file == "tsa.pem"
        made = (
            x509.CertificateBuilder(names[0], name, secret.public_key(), x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(not leaf, None), critical=True)
            .add_extension(x509.KeyUsage(leaf, False, False, False, False, not leaf, not leaf, False, False), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(secret.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(keys[0].public_key()), critical=False)
        )
        if leaf:
            made = made.add_extension(x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.TIME_STAMPING]), critical=True)
        (tmp_path / file).write_bytes(made.sign(keys[0], SHA256()).public_bytes(Encoding.PEM))
    (tmp_path / "key.pem").write_bytes(keys[1].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "serial").write_text("01\n")
    (tmp_path / "tsa.cnf").write_text(TSA.format(tmp_path))
    asked: list[int] = []

    class Desk(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = self.rfile.read(int(self.headers["content-length"]))
            asked.append(len(question))
            (tmp_path / "question").write_bytes(question)
            how = ["-reply", "-config", tmp_path / "tsa.cnf", "-section", "here", "-queryfile", tmp_path / "question"]
            answer = subprocess.run([openssl, "ts", *how], capture_output=True, check=True).stdout
            self.send_response(200)
            self.send_header("content-type", "application/timestamp-reply")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with HTTPServer(("127.0.0.1", 0), Desk) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()
        thread.join()


def test_a_time_stamp_authority_is_asked_once_and_read_back(
    marked: dict[str, MarkedImage], key: MarkKey, signer: Signer, signed: dict[str, bytes], authority: tuple[str, list[int]]
) -> None:
    address, asked = authority
    data = encode(marked["officer"], "jpg", None, key, signer=Signer(signer.identity, address)).data
    found = read(data, signer.identity.trust)
    assert (found.state, len(asked), max(asked) < 200) == ("ours", 1, True)  # it sees a hash, and no picture
    assert abs(dt.datetime.fromisoformat(found.stamped) - dt.datetime.now(dt.UTC)) < dt.timedelta(hours=1)
    assert found.as_dict()["stamped"] == found.stamped
    assert read(signed["jpg"], signer.identity.trust).stamped == ""
    data = data[:-500] + bytes([data[-500] ^ 0x55]) + data[-499:]
    assert read(data, signer.identity.trust).state == "tampered"  # a stamp makes no changed picture whole


@pytest.mark.parametrize("blocks", [7, [], [7], {}, "x", None, [[]]])
def test_a_binding_of_another_shape_names_no_id(monkeypatch: pytest.MonkeyPatch, blocks: object) -> None:
    """What c2pa-rs reads of a changed manifest has any type: one of 2,000 changed videos had a number there."""
    told = {"active_manifest": "a", "manifests": {"a": {"assertions": [{"data": {"alg": BINDING, "blocks": blocks}}]}}}
    monkeypatch.setattr(room, "_read", lambda data, kind, anchors: ("Invalid", told))
    found = read_credentials(b"RIFF\0\0\0\0WEBPC2PA\4\0\0\0jumb", Trust)
    assert found is not None
    assert (found.id, found.state) == ("", "invalid")
