"""Settings with a name: those that come along, and a person's own, as a file of JSON that can be passed on.

A file holds the options that are the same for any picture, and nothing of a picture or a person:

    {"format": "fusion-studio-preset", "version": 1, "name": "Gentle", "options": {"strength": 0.7, "marks": false}}
"""

import json
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from engines.errors import FusionError, InvalidOption, PresetUnusable
from engines.face_mask import FaceMask
from engines.options import FuseOptions, check

FORMAT, VERSION = "fusion-studio-preset", 1
OF_A_PICTURE = frozenset(("face", "source_face", "points", "source_points"))  # which face is meant is none of a preset's
NAMES = tuple(option.name for option in fields(FuseOptions) if option.name not in OF_A_PICTURE)
LARGEST = 64 << 10  # bytes of a file; ours have 200
LONGEST = 80  # characters of a name
_BUILT_IN = Path(__file__).resolve().parent.parent / "assets" / "presets.json"


@dataclass(frozen=True, slots=True)
class Preset:
    """Options by their names in `FuseOptions`, as JSON has them; those that aren't named are the standard."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def apply(self, options: FuseOptions | None = None) -> FuseOptions:
        """The standard with this preset's options, for the face that `options` mean, and with their brush."""
        asked = options or FuseOptions()
        mask = replace(FaceMask.of_dict(self.options.get("mask", {})), paint=asked.mask.paint)
        return replace(FuseOptions(), **{**self.options, "mask": mask}, **{name: getattr(asked, name) for name in OF_A_PICTURE})

    def dump(self) -> bytes:
        """Its file."""
        value = {"format": FORMAT, "version": VERSION, "name": self.name, "options": self.options}
        return json.dumps(value, ensure_ascii=False, indent=1).encode()


@cache
def built_in() -> dict[str, Preset]:
    """Those that come along, by name; the words for people are `page.preset.<name>`."""
    return {name: Preset(name, options) for name, options in json.loads(_BUILT_IN.read_text(encoding="utf-8")).items()}


def preset(wanted: str) -> Preset:
    """A preset by the name of one that comes along, or by the path of its file. Raises `PresetUnusable`."""
    if wanted in built_in():
        return built_in()[wanted]
    path = Path(wanted)
    if not path.is_file():
        raise PresetUnusable("unknown", name=wanted, known=", ".join(built_in()))
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    return load(data, path.name)


def load(data: bytes, name: str) -> Preset:
    """Reads a preset's file.

    Raises:
        PresetUnusable: not_a_preset, newer, or option: one that doesn't exist or is out of its range, with the error that says which.
    """
    if len(data) > LARGEST:
        raise PresetUnusable("not_a_preset", name=name)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as fault:
        raise PresetUnusable("not_a_preset", name=name) from fault
    if not isinstance(value, dict) or value.get("format") != FORMAT or not isinstance(value.get("options"), dict):
        raise PresetUnusable("not_a_preset", name=name)
    if not isinstance(value.get("version"), int) or value["version"] > VERSION:
        raise PresetUnusable("newer", name=name)
    called = value.get("name")
    if not isinstance(called, str) or not called.strip() or len(called) > LONGEST or not called.isprintable():
        raise PresetUnusable("not_a_preset", name=name)
    found = Preset(called.strip(), value["options"])
    try:
        _checked(found)
    except FusionError as fault:
        raise PresetUnusable("option", name=name, fault=fault) from fault
    return found


def _checked(found: Preset) -> None:
    for name, value in found.options.items():
        if name not in NAMES:
            raise InvalidOption(name=name, value=value, allowed=", ".join(NAMES))
        if name == "mask":
            FaceMask.of_dict(value)
        elif not isinstance(value, str | int | float | bool):
            raise InvalidOption(name=name, value=value, allowed="a number, a word, true, false")
        if name in ("model", "restore") and not isinstance(value, str):
            raise InvalidOption(name=name, value=value, allowed="a name of models.toml")
    check(found.apply())
