"""Verdicts: what was found, and no more."""

from collections.abc import Callable
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from engines.errors import Cancelled, ImageTooLarge, UnreadableImage
from engines.provenance import payload, watermark
from engines.provenance.keys import MarkKey
from engines.provenance.mark import FUSED, MarkedImage, mark
from engines.provenance.metadata import Labels, build_xmp
from engines.provenance.save import FORMATS, encode
from engines.provenance.verify import verify
from engines.text import text
from engines.timing import Run
from engines.types import Frame, Pixels

Change = Callable[[Pixels], Pixels]


def file_of(pixels: Pixels, format: str = "PNG", **options: object) -> bytes:
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, format, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("who", ["astronaut", "officer", "cut-out"])
def test_what_was_made_here(marked: dict[str, MarkedImage], key: MarkKey, who: str, format: str) -> None:
    image = marked[who]
    found = verify(encode(image, format, None, key).data, "out", key, 100)
    assert (found.verdict, found.id) == ("made_here", image.mark.id)
    told = found.as_dict()
    assert told["mark"] == {"id": image.mark.id, "score": round(found.score, 1)}
    assert told["labels"]["id"] == image.mark.id
    assert told["labels"]["found"] == ["iptc", "aigc"]


def test_without_its_labels_it_is_still_known(marked: dict[str, MarkedImage], key: MarkKey, change: Change) -> None:
    found = verify(file_of(change(marked["officer"].pixels), "JPEG", quality=90), "out", key, 100, deep=False)
    assert (found.verdict, found.id) == ("made_here", marked["officer"].mark.id)
    assert found.labels.names() == ()


def test_cut_it_needs_the_deep_search(marked: dict[str, MarkedImage], key: MarkKey) -> None:
    part = file_of(np.ascontiguousarray(marked["astronaut"].pixels[50:460, 30:470]))
    assert verify(part, "part", key, 100).id == marked["astronaut"].mark.id
    assert verify(part, "part", key, 100, deep=False).verdict == "unmarked"


def test_another_studio_s_output_is_marked_by_its_labels_only(marked: dict[str, MarkedImage], key: MarkKey, other_key: MarkKey) -> None:
    data = encode(marked["officer"], "jpg", None, key).data
    found = verify(data, "out", other_key, 100, deep=False)
    assert (found.verdict, found.id, found.as_dict()["mark"]) == ("marked", None, None)
    assert verify(file_of(marked["officer"].pixels), "out", other_key, 100, deep=False).verdict == "unmarked"


def test_labels_alone_never_make_it_ours(portraits: dict[str, Frame], key: MarkKey) -> None:
    forged = build_xmp(Labels("compositeWithTrainedAlgorithmicMedia", "1", "Fusion Studio", "7F3-A91-C04", "Fusion Studio 1.0", "2026"))
    found = verify(file_of(portraits["astronaut"].pixels, "JPEG", xmp=forged), "forged", key, 100, deep=False)
    assert (found.verdict, found.id) == ("marked", None)
    preview = encode(mark(portraits["astronaut"], key, "preview", said=FUSED), "png", None, key)
    assert verify(preview.data, "preview", key, 100, deep=False).verdict == "marked"


def test_others_marks(astronaut: Pixels, key: MarkKey) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "a portrait, Steps: 20", zip=True)
    found = verify(file_of(astronaut, pnginfo=info), "generated", key, 100, deep=False)
    assert (found.verdict, found.as_dict()["labels"]) == ("marked", {"found": ["parameters"]})


def test_a_photograph(officer_path: object, key: MarkKey) -> None:
    with open(str(officer_path), "rb") as file:
        found = verify(file.read(), "photo", key, 100)
    assert found.verdict == "unmarked"
    assert found.as_dict() == {
        "verdict": "unmarked",
        "mark": None,
        "labels": {"found": []},
        "credentials": None,
        "others": {"marks": [], "texts": {}},
    }


def test_a_destroyed_message_is_inconclusive(astronaut: Pixels, key: MarkKey, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(7).integers(0, 2, payload.BITS).astype(np.uint8)
    with monkeypatch.context() as patch:
        patch.setattr(payload, "encode", lambda mark_id, key: noise)
        pixels = watermark.embed(astronaut, "000-000-000", key)
    found = verify(file_of(pixels), "damaged", key, 100, deep=False)
    assert (found.verdict, found.id) == ("inconclusive", None)
    assert found.score > 9


def test_verdicts_are_told_in_both_languages_without_overstating() -> None:
    for verdict in ("made_here", "marked", "inconclusive", "unmarked"):
        assert text(f"provenance.verdict.{verdict}", "zh-CN") != text(f"provenance.verdict.{verdict}", "en")
    assert "doesn't prove" in text("provenance.verdict.unmarked")
    for number, reason in ((1.0, "id"), (2.0, "none")):
        assert f"{number}" in text(f"provenance.mark.{reason}", "zh-CN", id="7F3-A91-C04", score=number)


def test_what_is_no_picture_is_an_error_and_no_verdict(key: MarkKey, astronaut: Pixels) -> None:
    with pytest.raises(UnreadableImage):
        verify(b"", "empty.png", key, 100)
    with pytest.raises(ImageTooLarge):
        verify(file_of(astronaut), "large.png", key, 0.1)


def test_it_can_be_stopped(astronaut: Pixels, key: MarkKey) -> None:
    run = Run(on_progress=lambda progress: run.cancel() if progress.stage == "verify" else None)
    with pytest.raises(Cancelled):
        verify(file_of(astronaut), "picture", key, 100, run=run)
