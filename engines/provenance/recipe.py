"""What a picture's file may tell of the settings that it was fused with: a preset, and nothing of a person.

Numbers in their range, switches and words out of short lists: no text that somebody typed, no face, no point, no name of a file. So a
preset of one's own is told by a digest of its options and not by the name that its owner gave it; one that comes along by its name.
The model's name is a label of its own.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from engines.errors import InvalidOption
from engines.face_mask import FaceMask
from engines.options import BOOSTS, CHOICES, SHARES, SWITCHES, FuseOptions
from engines.presets import FORMAT, LARGEST, VERSION, Preset, built_in

TOLD = (*SHARES, *CHOICES, *SWITCHES, "boost", "mask")  # of the mask nothing that a brush said
MOST = 16  # different settings in one picture: a packet in a JPEG has 64 KB, and each takes 0.5
CUSTOM = "custom"
_STANDARD = FuseOptions()
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def recipes(options: Iterable[FuseOptions]) -> tuple[Preset, ...]:
    """The different settings of a picture's faces, in their order; of more than `MOST` the first."""
    found: list[Preset] = []
    for one in options:
        preset = recipe(one)
        if preset not in found:
            found.append(preset)
    return tuple(found[:MOST])


def recipe(options: FuseOptions) -> Preset:
    """The options that differ from the standard, shares to three places, under the name of the preset that has just these."""
    values = {name: _plain(name, getattr(options, name)) for name in TOLD}
    differing = {name: value for name, value in values.items() if value != _plain(name, getattr(_STANDARD, name))}
    same = (
        name for name, preset in built_in().items() if {each: preset.options[each] for each in TOLD if each in preset.options} == differing
    )
    return Preset(next(same, "") or f"{CUSTOM}-{_digest(differing)}", differing)


def write(preset: Preset) -> str:
    """In one line, as a preset's own file has it: what is read here can be taken in as a preset."""
    value = {"format": FORMAT, "version": VERSION, "name": preset.name, "options": preset.options}
    return json.dumps(value, separators=(",", ":"))


def read(line: str) -> Preset | None:
    """The same from a file that anybody may have written: names and values that aren't ours are left out; None where it tells nothing."""
    if len(line) > LARGEST or FORMAT not in line:
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("format") != FORMAT or not isinstance(value.get("options"), dict):
        return None
    name = value.get("name")
    known = {each: _plain(each, value["options"][each]) for each in TOLD if _fits(each, value["options"].get(each))}
    return Preset(name if isinstance(name, str) and _NAME.fullmatch(name) else CUSTOM, known)


def _fits(name: str, value: Any) -> bool:
    if name == "mask":
        return _mask(value) is not None
    if name in SWITCHES:
        return isinstance(value, bool)
    if name in CHOICES:
        return isinstance(value, str) and value in CHOICES[name]
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and (value in BOOSTS if name == "boost" else 0 <= value <= 1)


def _plain(name: str, value: Any) -> Any:
    if name == "mask":
        return (value if isinstance(value, FaceMask) else FaceMask.of_dict(value)).differing()
    return round(float(value), 3) if name in SHARES else value


def _mask(value: Any) -> FaceMask | None:
    try:
        return FaceMask.of_dict(value)
    except InvalidOption:
        return None


def _digest(options: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:8]
