"""What a photo knows about people and places: none of it is in what leaves."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from engines.provenance.certificates import FILE, own_identity
from engines.provenance.keys import MarkKey
from engines.provenance.mark import mark
from engines.provenance.save import FORMATS, encode
from engines.provenance.signer import Signer
from engines.types import Pixels
from engines.vision import io

SECRETS = (b"Erika-Owner", b"SN-4711-Body", b"SN-4712-Lens", b"maker-says-so", b"Mustermann-Region", b"a private comment", b"Hidden-Town")
REGIONS = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" '
    'xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" photoshop:City="Hidden-Town">'
    '<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li mwg-rs:Name="Mustermann-Region" mwg-rs:Type="Face"/>'
    "</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions></rdf:Description></rdf:RDF></x:xmpmeta>"
)


@pytest.fixture(scope="module")
def photo(officer: Pixels) -> bytes:
    """A JPEG as a telephone writes it: on its side, with place, owner, serial numbers and face regions."""
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: turned by a quarter
    exif[0x8298] = exif[0x013B] = "Erika-Owner"
    camera = exif.get_ifd(0x8769)
    camera[0xA430], camera[0xA431], camera[0xA435] = "Erika-Owner", "SN-4711-Body", "SN-4712-Lens"
    camera[0x927C] = b"maker-says-so"
    camera[0x9286] = b"ASCII\0\0\0a private comment"
    place = exif.get_ifd(0x8825)
    place[1], place[2] = "N", (IFDRational(47), IFDRational(7), IFDRational(24441600, 1000000))
    out = BytesIO()
    Image.fromarray(officer).save(out, "JPEG", exif=exif, xmp=REGIONS.encode(), comment=b"a private comment", dpi=(300, 300), quality=92)
    return out.getvalue()


def test_the_photo_has_them(photo: bytes) -> None:
    assert all(secret in photo for secret in SECRETS)
    with Image.open(BytesIO(photo)) as picture:
        assert picture.getexif().get_ifd(0x8825)[1] == "N"


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["fusion", "crop"])
def test_nothing_of_them_is_in_what_leaves(photo: bytes, key: MarkKey, tmp_path: Path, kind: str, format: str) -> None:
    frame = io.decode(photo, "IMG_4711.jpg", 100)
    signer = Signer(own_identity(tmp_path / FILE, "studio"))
    data = encode(mark(frame, key, kind), format, None, key, signer=signer).data  # type: ignore[arg-type]
    assert not [secret for secret in (*SECRETS, b"IMG_4711") if secret in data]
    with Image.open(BytesIO(data)) as picture:
        exif = picture.getexif()
        assert not exif.get_ifd(0x8825)
        assert not exif.get_ifd(0x8769)
        assert exif.get(0x0112, 1) == 1
        assert picture.size == (600, 512)  # upright: the officer lay on his side
        assert np.asarray(picture.convert("RGB")).shape == frame.pixels.shape
        assert b"mwg-rs" not in (picture.info.get("xmp") or b"")
