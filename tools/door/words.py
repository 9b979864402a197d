"""The sentences of the door, from `assets/locales/<language>/launch.json`. Runs on Python 3.8, as `launch.py` does."""

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LANGUAGE_VARIABLES = ("FUSION_STUDIO_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")  # ours first, then POSIX's order


class Stop(Exception):
    """The door can't go on. Shown as the sentence `key` with its facts; exit status 1."""

    def __init__(self, key: str, **facts: object) -> None:
        super().__init__(key)
        self.key, self.facts = key, facts


def words(key: str, **facts: object) -> str:
    """The sentence `key` in the language that the environment asks for."""
    wanted = next(filter(None, (os.environ.get(name) for name in LANGUAGE_VARIABLES)), "en")
    language = "zh-CN" if wanted.lower().startswith("zh") else "en"
    sentences = json.loads((ROOT / "assets" / "locales" / language / "launch.json").read_text(encoding="utf-8"))
    return str(sentences[key]).format(**facts)


def say(key: str, **facts: object) -> None:
    """Prints a sentence on stderr: stdout belongs to the command, which may answer in JSON."""
    print(words(key, **facts), file=sys.stderr, flush=True)
