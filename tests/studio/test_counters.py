"""Each way of counting adds to the counters of the process."""

import ast
from pathlib import Path

from engines.picture_tokens import count_sizes
from engines.settings import Settings
from engines.tokens.counters import COUNTERS, Kind
from engines.tokens.text import load
from engines.tokens.visual import load as models
from studio.context import Context
from studio.tabs.prompt import PromptHandlers
from studio.text_counts import counts

ROOT = Path(__file__).resolve().parents[2]


def counted(kind: Kind, name: str) -> int:
    figures = COUNTERS.read().get((kind, name))
    return figures.counts if figures else 0


def test_texts_prompts_and_known_sizes(tmp_path: Path) -> None:
    before = [counted("text", "clip"), counted("prompt", "clip"), counted("crop", "claude")]
    counts("a photo of a cat", [load()["clip"]])
    PromptHandlers(Context(Settings(data_dir=tmp_path, provider="cpu"))).shorten("a photo of a cat", "safe", True, "", "", 0, 0, None)
    count_sizes([(640, 480)] * 3, [models()["claude"]])
    assert [counted("text", "clip"), counted("prompt", "clip"), counted("crop", "claude")] == [before[0] + 1, before[1] + 1, before[2] + 3]


def test_no_command_tab_or_endpoint_counts_past_them() -> None:
    """`savings` and `optimise` are pure; whoever calls them in the studio tells the counters, or is named here with the reason."""
    past: dict[str, str] = {}
    for path in sorted((ROOT / "studio").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        called = {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}
        if "savings" in called or ("optimise" in called and "COUNTERS" not in source):
            past[path.name] = "savings" if "savings" in called else "optimise"
    assert past == {}
