"""`fusion-studio keys init|rotate|list`: the secrets that mark and read. No secret is ever shown."""

from pathlib import Path

import typer

from engines.provenance.keys import KEY_FILE, list_keys, load_key
from engines.provenance.keys import rotate as new_key
from studio.fuse_options import Json, help_of
from studio.terminal import Terminal

app = typer.Typer(help=help_of("keys"), no_args_is_help=True)


@app.command(help=help_of("keys_init"))
def init(as_json: Json = False) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        path = _path(terminal)
        made = not path.exists()
        load_key(path)
        _answer(terminal, path, [terminal.say("key_made" if made else "key_there", path=path)], made)


@app.command(help=help_of("keys_rotate"))
def rotate(as_json: Json = False) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        path = _path(terminal)
        key = new_key(path)
        _answer(terminal, path, [terminal.say("key_rotated", name=key.name, older=len(key.older))], True)


@app.command("list", help=help_of("keys_list"))
def show(as_json: Json = False) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        path = _path(terminal)
        lines = [
            terminal.say("key_current" if key.current else "key_older", name=key.name, since=f"{key.since:%Y-%m-%d}", path=key.path)
            for key in list_keys(path)
        ]
        _answer(terminal, path, lines or [terminal.say("key_none")], False)


def _path(terminal: Terminal) -> Path:
    return terminal.settings().data_dir / KEY_FILE


def _answer(terminal: Terminal, path: Path, lines: list[str], made: bool) -> None:
    keys = [
        {"name": key.name, "path": str(key.path), "since": f"{key.since:%Y-%m-%dT%H:%M:%SZ}", "current": key.current}
        for key in list_keys(path)
    ]
    terminal.answer({"made": made, "keys": keys}, lines)
