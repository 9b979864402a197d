"""What stands before the command. Everything from the first word that isn't ours is passed on as it is."""

import os
from typing import Any, NamedTuple

from tools.door.words import Stop


class Options(NamedTuple):
    """The door's own options.

    Attributes:
        extras: None = those of the last time, or `auto` the first time; `auto` = what fits the machine. FUSION_STUDIO_EXTRAS stands in
            for the option where it isn't given, for scripts that pass a command on as it is.
        opencv: the wheel that is to answer for `cv2`; None = the one of the last time, or the headless one.
        browser: of the tests: "required", or "" = take it when there is one.
        no_venv: use the Python that runs this instead of `.venv`.
        reinstall: build `.venv` anew; with `no_venv`: install into the Python that runs this.
    """

    extras: list[str] | None = None
    opencv: str | None = None
    browser: str = ""
    no_venv: bool = False
    reinstall: bool = False
    help: bool = False
    test: bool = False


def parse(arguments: list[str]) -> tuple[Options, list[str]]:
    """Our options, and what is passed on. `test` is ours too: options may follow it, then pytest's arguments.

    Raises:
        Stop: an option without its value, or with one that it can't have.
    """
    taken: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        name, _, value = rest[0].partition("=")
        testing = "test" in taken
        if rest[0] in ("--no-venv", "--reinstall"):
            taken[name[2:].replace("-", "_")] = True
        elif rest[0] in ("-h", "--help") and not testing:
            return Options(help=True), []
        elif rest[0] == "test" and not testing:
            taken["test"] = True
        elif name in ("--extras", "--opencv") or (name == "--browser" and testing):
            if "=" not in rest[0]:
                value = rest.pop(0) and (rest[0] if rest else "")
            taken[name[2:]] = _checked(name, value)
        else:
            break
        rest.pop(0)
    if "extras" not in taken and os.environ.get("FUSION_STUDIO_EXTRAS"):
        taken["extras"] = _checked("--extras", os.environ["FUSION_STUDIO_EXTRAS"])
    return Options(**taken), rest


def _checked(name: str, value: str) -> list[str] | str:
    if name == "--extras" and value:
        return [one.strip() for one in value.split(",") if one.strip() not in ("", "none")]
    if (name == "--opencv" and value.startswith("opencv-")) or (name == "--browser" and value == "required"):
        return value
    raise Stop("option_value", option=name)
