"""The brush of the Swap tab: which file it is, and what becomes of the options."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from engines.face_mask import FaceMask, Paint
from engines.options import FuseOptions
from engines.timing import Run
from studio.media import Gone, Item
from studio.options import compared_value
from studio.painting import brush_among, brush_of, with_brush, without_brush

ITEM = Item("b", Path("/nowhere"), "brush.png", "image/png", 0.0)


@pytest.fixture
def shelf() -> Mock:
    known = Mock()
    known.get.return_value = ITEM
    return known


def test_the_brush_is_the_targets_own(shelf: Mock) -> None:
    panel = {"paint": {"token": "b", "of": "t"}}
    assert brush_of(panel, {"token": "t"}, shelf, "anna") is ITEM
    shelf.get.assert_called_once_with("anna", "b")


@pytest.mark.parametrize(
    ("panel", "target"),
    [
        (None, {"token": "t"}),
        ({}, {"token": "t"}),
        ({"paint": None}, {"token": "t"}),
        ({"paint": "b"}, {"token": "t"}),
        ({"paint": {"token": "b", "of": "other"}}, {"token": "t"}),
        ({"paint": {"token": "b"}}, {}),
        ({"paint": {"token": "b", "of": ""}}, {"token": ""}),
        ({"paint": {"token": "b", "of": "t"}}, None),
    ],
)
def test_what_was_painted_on_another_picture_is_left_out(panel: Any, target: Any, shelf: Mock) -> None:
    assert brush_of(panel, target, shelf, "anna") is None
    shelf.get.assert_not_called()


def test_of_several_targets_it_is_that_ones_alone(shelf: Mock) -> None:
    targets = [Item(token, Path("/nowhere"), token, "image/png", 0.0) for token in ("s", "t")]
    assert brush_among({"paint": {"token": "b", "of": "t"}}, targets, shelf, "anna") == ("t", ITEM)
    for paint in (None, "b", {}, {"token": "b", "of": ["t"]}, {"token": "b", "of": "other"}):
        assert brush_among({"paint": paint}, targets, shelf, "anna") is None


def test_where_nobody_painted_the_whole_face_is_fused() -> None:
    assert without_brush(FuseOptions(mask=FaceMask(areas=()))).mask.areas == ("outline",)
    lips = FuseOptions(mask=FaceMask(areas=("lips",)))
    assert without_brush(lips) is lips


def test_a_brush_that_is_gone_is_told(shelf: Mock) -> None:
    shelf.get.side_effect = Gone("b")
    with pytest.raises(Gone):
        brush_of({"paint": {"token": "b", "of": "t"}}, {"token": "t"}, shelf, "anna")


def test_what_was_painted_comes_to_the_mask(tmp_path: Path) -> None:
    path = tmp_path / "brush.png"
    path.write_bytes(b"png")
    paint, studio = Paint.of(np.full((2, 2), 255, np.uint8)), Mock()
    studio.paint.return_value = paint
    run, options = Run(), FuseOptions(mask=FaceMask((), ("eyes",)))
    made = with_brush(studio, options, Item("b", path, "brush.png", "image/png", 0.0), run)
    assert (made.mask.paint, made.mask.leave_out) == (paint, ("eyes",))
    studio.paint.assert_called_once_with(b"png", "brush.png", run)
    assert with_brush(studio, options, None, run) is options


def test_two_brushes_that_differ_in_pixels_are_compared_as_different() -> None:
    white = np.full((90, 90), 255, np.uint8)
    dot = white.copy()
    dot[40, 40] = 0
    first, second, third = (compared_value(FaceMask(paint=Paint.of(each))) for each in (white, dot, white.copy()))
    assert first != second
    assert first == third
    assert compared_value(FaceMask()) != first
    assert compared_value(0.5) == "0.5"
