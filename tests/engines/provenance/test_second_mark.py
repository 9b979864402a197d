"""One of invisible-watermark's marks beside ours: written first, told as a claim, and asked for by its extra where it is missing."""

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engines.errors import ExtraMissing
from engines.pipeline import Studio
from engines.provenance import watermark
from engines.provenance.foreign import KNOWN, OURS, read_foreign
from engines.provenance.keys import MarkKey
from engines.provenance.mark import FUSED, mark
from engines.provenance.second_mark import METHODS, check_second, read_riva, write_second
from engines.settings import SECOND_MARKS, Settings
from engines.types import Frame, Pixels
from engines.vision import io


class Package:
    """Stands for the package: a mark is a blue step of one, and what was asked of it is kept."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.loaded = 0

    def WatermarkEncoder(self) -> SimpleNamespace:  # noqa: N802
        def encode(pixels: Pixels, method: str) -> Pixels:
            self.asked.append(method)
            return np.asarray(pixels ^ np.array([1, 0, 0], np.uint8))

        def set_watermark(kind: str, bits: list[int]) -> None:
            self.asked.append((kind, bits))

        return SimpleNamespace(encode=encode, set_watermark=set_watermark)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Package:
    made = Package()
    encoder = made.WatermarkEncoder

    def load() -> None:
        made.loaded += 1

    fake = SimpleNamespace(WatermarkEncoder=type("Encoder", (), {"__new__": lambda _: encoder(), "loadModel": staticmethod(load)}))
    monkeypatch.setitem(sys.modules, "imwatermark", fake)
    return made


def test_the_settings_know_the_methods() -> None:
    assert METHODS == SECOND_MARKS


@pytest.mark.parametrize(("method", "bits", "loaded"), [("dwtDct", 48, 0), ("dwtDctSvd", 48, 0), ("rivaGan", 32, 1)])
def test_it_is_given_bgr_and_the_message(package: Package, astronaut: Pixels, method: Any, bits: int, loaded: int) -> None:
    made = write_second(astronaut, method)
    assert made is not None
    assert np.array_equal(made, astronaut ^ np.array([0, 0, 1], np.uint8))
    assert package.asked == [("bits", [int(bit) for bit in KNOWN[OURS][:bits]]), method]
    assert package.loaded == loaded


def test_ours_lies_over_it(package: Package, portraits: dict[str, Frame], key: MarkKey) -> None:
    made = mark(portraits["officer"], key, second="dwtDct")
    assert package.asked[-1] == "dwtDct"
    assert watermark.detect(made.pixels, key).id == made.mark.id
    assert made.notes == ()


@pytest.mark.parametrize(("kind", "said"), [("crop", ""), ("preview", FUSED)])
def test_photos_and_previews_get_none(package: Package, portraits: dict[str, Frame], key: MarkKey, kind: Any, said: str) -> None:
    mark(portraits["officer"], key, kind, said=said, second="dwtDct")
    assert package.asked == []


def test_a_picture_too_small_for_it_says_so(package: Package, officer: Pixels, key: MarkKey) -> None:
    made = mark(io.from_array(np.ascontiguousarray(officer[100:340, 100:340])), key, second="dwtDct")
    assert ("no_second_mark", ()) in made.notes
    assert package.asked == []


def test_without_the_package_it_says_what_to_install_before_any_work(
    monkeypatch: pytest.MonkeyPatch, astronaut: Pixels, tmp_path: Any
) -> None:
    monkeypatch.setitem(sys.modules, "imwatermark", None)
    for asked in (lambda: write_second(astronaut, "dwtDct"), lambda: read_riva(astronaut)):
        with pytest.raises(ExtraMissing) as caught:
            asked()
        assert "fusion-studio[marks]" in caught.value.hint()
    monkeypatch.setattr("engines.provenance.second_mark.find_spec", lambda _: None)
    check_second("none")
    with Studio.open(Settings(data_dir=tmp_path, provider="cpu", second_mark="dwtDct")) as studio, pytest.raises(ExtraMissing):
        studio.fuse("no such file", "no such file")


@pytest.mark.parametrize("method", ["dwtDct", "dwtDctSvd"])
def test_the_package_s_own_is_read_through_ours(portraits: dict[str, Frame], key: MarkKey, method: Any) -> None:
    pytest.importorskip("imwatermark")
    made = mark(portraits["officer"], key, second=method)
    found = read_foreign(made.pixels)
    assert found is not None
    assert (found.name, found.method) == (OURS, method)
    assert watermark.detect(made.pixels, key).id == made.mark.id
    assert np.array_equal(mark(io.from_array(made.pixels), key, second=method).pixels, made.pixels)


def test_the_package_s_network(astronaut: Pixels) -> None:
    pytest.importorskip("imwatermark")
    part = np.ascontiguousarray(astronaut[:260, 100:360])
    made = write_second(part, "rivaGan")
    assert made is not None
    assert read_riva(made) >= 30
    assert read_riva(part) < 28
