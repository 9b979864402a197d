"""What all tabs are given: opened once, told of faults, closed with everything of the visitors'."""

import os
import threading
import time
from pathlib import Path

import pytest

from engines.errors import FusionError, KeyUnusable
from engines.settings import Settings
from studio.context import Context


def warmed(context: Context) -> None:
    """Runs the warming thread until it has said what it found."""
    context.start()
    end = time.monotonic() + 60
    while not context.ready and context.fault is None and time.monotonic() < end:
        time.sleep(0.02)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, provider="cpu")


def test_the_models_are_opened_behind_the_page(settings: Settings) -> None:
    context = Context(settings)
    assert not context.ready
    warmed(context)
    assert context.ready
    assert context.provider == "cpu"
    assert context.studio is context.studio
    context.close()


def test_a_fault_is_kept_to_be_told(settings: Settings) -> None:
    key = settings.data_dir / "keys" / "mark.key"
    key.parent.mkdir(parents=True)
    key.write_text("not a key")
    key.chmod(0o600)
    context = Context(settings)
    warmed(context)
    assert isinstance(context.fault, KeyUnusable)
    assert not context.ready
    with pytest.raises(KeyUnusable):  # and each job meets it again
        _ = context.studio
    context.close()


def test_a_fault_of_our_own_is_told_too(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Context) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Context, "studio", property(broken))
    context = Context(settings)
    warmed(context)
    assert type(context.fault) is FusionError
    context.close()


def test_closing_deletes_the_visitors_files_and_leaves_no_thread(settings: Settings) -> None:
    context = Context(settings)
    context.start()
    item = context.shelf.add("anna", b"x", "x.png", "image/png")
    context.close()
    assert not item.path.exists()
    assert list((settings.data_dir / "sessions").iterdir()) == []
    assert not {"warm", "pipeline_0"} & {thread.name for thread in threading.enumerate()}


def test_what_a_killed_studio_left_goes_at_the_next_start(settings: Settings) -> None:
    left = settings.data_dir / "sessions" / "left"
    left.mkdir(parents=True)
    (left / "picture").write_bytes(b"x")
    os.utime(left, (time.time() - 2 * settings.keep_seconds,) * 2)
    Context(settings).close()
    assert not left.exists()
