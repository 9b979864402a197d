import json
import re
from string import Formatter

import pytest

from tools.door.words import ROOT, words


def sentences(language: str) -> dict[str, str]:
    return dict(json.loads((ROOT / "assets" / "locales" / language / "launch.json").read_text(encoding="utf-8")))


def test_both_languages_say_the_same_things() -> None:
    english, chinese = sentences("en"), sentences("zh-CN")
    assert english.keys() == chinese.keys()
    for key, sentence in english.items():
        facts = [{name for _, name, _, _ in Formatter().parse(text) if name} for text in (sentence, chinese[key])]
        assert facts[0] == facts[1], key
        assert re.search(r"[\u4e00-\u9fff]", chinese[key]), key


def test_every_sentence_is_used_and_every_used_one_is_there() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "launch.py", *(ROOT / "tools" / "door").glob("*.py")])
    assert {key for key in sentences("en") if f'"{key}"' in code} == sentences("en").keys()
    named = set(re.findall(r"""(?:say|words|Stop)\(\s*"(\w+)\"""", code))
    assert named <= sentences("en").keys()


@pytest.mark.parametrize(
    ("environ", "chinese"),
    [
        ({"LANG": "zh_CN.UTF-8"}, True),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "de_DE.UTF-8"}, False),
        ({"FUSION_STUDIO_LANGUAGE": "zh-CN"}, True),
        ({}, False),
    ],
)
def test_the_language_is_the_shells_unless_ours_is_set(environ: dict[str, str], chinese: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FUSION_STUDIO_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert ("安装完成" in words("ready", seconds=1.0)) is chinese
