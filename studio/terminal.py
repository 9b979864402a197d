"""What a command answers on the terminal: sentences for a person, or one JSON object for a program."""

import json
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import typer

from engines.errors import Cancelled, FusionError
from engines.settings import Settings
from engines.text import shell_language, text
from engines.timing import Progress, Run

FAILED, STOPPED = 1, 130  # 130 = 128 + SIGINT, what shells expect after Ctrl-C


class Terminal:
    """Answers in one of two forms.

    Args:
        as_json: one object on stdout and nothing else; progress and sentences are left out.
    """

    def __init__(self, as_json: bool) -> None:
        self.as_json, self.language = as_json, shell_language()
        self._live = not as_json and sys.stderr.isatty()

    def settings(self, **overrides: Any) -> Settings:
        """Reads the settings, and speaks the owner's language from here on where they name one. Raises `InvalidOption`."""
        settings = Settings.load(**overrides)
        self.language = settings.language or self.language
        return settings

    def answer(self, values: dict[str, Any], lines: Sequence[str]) -> None:
        """`values` for a program, `lines` for a person."""
        self._clear()
        if self.as_json:
            typer.echo(json.dumps(values, ensure_ascii=False))
        else:
            for line in lines:
                typer.echo(line)

    def tell(self, line: str) -> None:
        """A sentence for a person while the work goes on; a program gets its one object at the end."""
        self._clear()
        if not self.as_json:
            typer.echo(line)

    def say(self, key: str, **facts: object) -> str:
        """The sentence `cli.<key>`."""
        return text(f"cli.{key}", self.language, **facts)

    def run(self) -> Run:
        """A job whose stages are shown on stderr while they last, when somebody is looking."""
        return Run(self._show if self._live else None)

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Turns an error into its answer and the exit status; Ctrl-C and SIGTERM into a clean stop."""
        previous = signal.signal(signal.SIGTERM, _interrupt)
        try:
            yield
        except FusionError as error:
            values = error.as_dict(self.language)
            self._clear()
            if self.as_json:
                typer.echo(json.dumps({"error": values}, ensure_ascii=False))
            else:
                typer.echo(f"{values['message']}\n{values['hint']}", err=True)
            raise typer.Exit(FAILED) from error
        except KeyboardInterrupt as stop:
            self._clear()
            if self.as_json:
                typer.echo(json.dumps({"error": Cancelled().as_dict(self.language)}, ensure_ascii=False))
            else:
                typer.echo(self.say("stopped"), err=True)
            raise typer.Exit(STOPPED) from stop
        finally:
            signal.signal(signal.SIGTERM, previous)

    def _show(self, progress: Progress) -> None:
        stage = text(f"stages.{progress.stage}", self.language, done=progress.done, count=progress.count)
        sys.stderr.write(f"\r\x1b[2K{stage} …")
        sys.stderr.flush()

    def _clear(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
