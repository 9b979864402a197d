"""The models and their visual tokens: `VisualModel.count(width, height)`, from the size alone.

A model is a row of `assets/tokenizers/visual.toml`: a family, which is a formula in `engines.tokens.patches` or `engines.tokens.tiles`,
and its arguments. A person's own rows come from the data folder.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engines.errors import InvalidOption, PictureSizeRefused
from engines.text import ASSETS
from engines.tokens import catalogue, patches, tiles
from engines.tokens.layout import Layout, SizeRefusedError
from engines.toml_table import Table

FAMILIES: dict[str, Callable[..., Layout]] = {
    "fixed": patches.fixed,
    "qwen": patches.qwen,
    "pixtral": patches.pixtral,
    "gemma4": patches.gemma4,
    "openai_patch": patches.openai_patch,
    "claude": patches.claude,
    "flat": patches.flat,
    "llava_next": tiles.llava_next,
    "internvl": tiles.internvl,
    "idefics3": tiles.idefics3,
    "mllama": tiles.mllama,
    "phi3": tiles.phi3,
    "openai_tile": tiles.openai_tile,
    "gemini_tile": tiles.gemini_tile,
}
ONE_SIZE = ("fixed", "flat")  # families for which every picture costs the same
CHECKED = ("processor", "published", "own")
LARGEST = 1 << 24  # a side beyond it is a slip of the keyboard, and floating point would no longer be exact in the formulas


@dataclass(frozen=True, slots=True)
class VisualModel:
    """What is known of a model's preprocessing.

    Attributes:
        name: what the command line and the JSON call it. title: what people do.
        family, arguments: the formula and what it is called with.
        context: tokens that fit into the model at once; 0 where no prompt takes the tokens.
        checked: "processor" (equal to the published preprocessing over a table of sizes), "published" (the vendor's formula), "own".
        source, date: where the arguments stand, and when they were last looked at.
    """

    name: str
    title: str
    family: str
    arguments: Mapping[str, Any]
    context: int
    checked: str
    source: str
    date: str

    @property
    def one_size(self) -> bool:
        """Whether every picture costs the same."""
        return self.family in ONE_SIZE

    def layout(self, width: int, height: int) -> Layout:
        """Where its tokens lie on a picture of width × height pixels, upright.

        Raises:
            InvalidOption: a side outside 1..2^24.
            PictureSizeRefused: the model's processor doesn't take such a picture.
        """
        for name, side in (("width", width), ("height", height)):
            if not 1 <= side <= LARGEST:
                raise InvalidOption(name=name, value=side, allowed=f"1..{LARGEST}")
        try:
            return FAMILIES[self.family](width, height, **self.arguments)
        except SizeRefusedError as fault:
            raise PictureSizeRefused(model=self.title, width=width, height=height, detail=fault) from fault

    def count(self, width: int, height: int) -> int:
        """Its tokens for a picture of width × height pixels. Raises as `layout`."""
        return self.layout(width, height).tokens

    def count_or_none(self, width: int, height: int) -> int | None:
        """As `count`; None where the processor doesn't take such a picture."""
        try:
            return self.count(width, height)
        except PictureSizeRefused:
            return None


def load(data_dir: Path | None = None) -> dict[str, VisualModel]:
    """All models by name, in the table's order, a person's own last.

    Args:
        data_dir: whose `tokenizers/visual.toml`, where there is one, adds rows and replaces those of the same name.

    Raises:
        ManifestInvalid: a table is wrong, and where.
    """
    models = dict(_shipped())
    own = data_dir / "tokenizers" / "visual.toml" if data_dir else None
    if own is not None and own.is_file():
        models |= _read(own)
    return models


def chosen(models: Mapping[str, VisualModel], names: list[str] | None) -> list[VisualModel]:
    """Those of the names, or all. Raises `InvalidOption` for a name that isn't there."""
    return catalogue.chosen(models, names, "model")


def check_arguments(family: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the family's function takes them. Raises `ValueError`: one is missing, unknown or of the wrong kind."""
    wanted = {
        name: parameter
        for name, parameter in inspect.signature(FAMILIES[family]).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    for name in arguments:
        if name not in wanted:
            raise ValueError(f"{name}: {family} takes {', '.join(wanted)}")
    given: dict[str, Any] = {}
    for name, parameter in wanted.items():
        if name not in arguments:
            if parameter.default is inspect.Parameter.empty:
                raise ValueError(f"{name}: it is missing")
            continue
        value = arguments[name]
        if name == "crop":
            good = isinstance(value, bool)
        elif name == "grids":
            good = bool(value) and isinstance(value, list | tuple) and all(len(pair) == 2 and all(map(_is_size, pair)) for pair in value)
            value = tuple(tuple(pair) for pair in value) if good else value
        else:
            good = _is_size(value)
        if not good:
            raise ValueError(f"{name}: {value!r} is no good value")
        given[name] = value
    return given


@cache
def _shipped() -> Mapping[str, VisualModel]:
    return _read(ASSETS / "tokenizers" / "visual.toml")


def _read(path: Path) -> dict[str, VisualModel]:
    return catalogue.rows(catalogue.read(path), "models", _model)


def _model(name: str, table: Table) -> VisualModel:
    family = table.choice("family", FAMILIES)
    arguments = table.table("arguments")
    try:
        given = check_arguments(family, arguments.values())
    except ValueError as fault:
        raise arguments.fault("", str(fault)) from fault
    return VisualModel(
        name=name,
        title=table.text("title"),
        family=family,
        arguments=given,
        context=table.whole("context"),
        checked=table.choice("checked", CHECKED),
        source=table.text("source"),
        date=table.text("date", r"\d{4}-\d{2}-\d{2}"),
    )


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST * 16
