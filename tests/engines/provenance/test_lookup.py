"""From a file back to its line, after what people do to pictures."""

from pathlib import Path

import numpy as np
import pytest

from engines.provenance.keys import MarkKey
from engines.provenance.ledger import FILE, Ledger
from engines.provenance.lookup import lookup
from engines.provenance.mark import MarkedImage, mark
from engines.provenance.save import encode
from engines.types import Pixels
from engines.vision import io
from tests.engines.provenance.conftest import recoded
from tests.engines.provenance.test_save import pixels_of


def as_png(pixels: Pixels) -> bytes:
    from io import BytesIO

    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / FILE)


def test_the_file_itself_then_its_mark_then_its_look(
    ledger: Ledger, marked: dict[str, MarkedImage], key: MarkKey, other_key: MarkKey
) -> None:
    data = encode(marked["officer"], "png", None, key, ledger=ledger).data
    encode(marked["astronaut"], "png", None, key, ledger=ledger)

    def found(file: bytes, by: MarkKey = key) -> list[tuple[str, str]]:
        return [(match.how, match.entry.id) for match in lookup(file, "", by, ledger, 10)]

    mine = marked["officer"].mark.id
    assert found(data) == [("file", mine)]
    sent = as_png(recoded("JPEG", 80)(pixels_of(data)))
    assert found(sent) == [("id", mine)]
    assert found(sent, other_key) == [("same", mine)]
    with ledger:
        assert found(as_png(np.full((300, 300, 3), 90, np.uint8))) == []


def test_the_label_of_a_picture_without_watermark(ledger: Ledger, officer: Pixels, key: MarkKey) -> None:
    image = mark(io.from_array(np.ascontiguousarray(officer[:64, :64])), key)
    encode(image, "png", None, key, ledger=ledger)
    other = encode(image, "jpg", None, key).data
    with ledger:
        assert [(match.how, match.entry.id) for match in lookup(other, "", key, ledger, 10)][:1] == [("label", image.mark.id)]
