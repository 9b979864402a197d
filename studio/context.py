"""What every tab and endpoint is given: the settings, the pipeline, the desk and the shelf."""

import logging
import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engines.errors import FusionError
from engines.settings import Settings
from studio.jobs import Desk
from studio.media import Shelf
from studio.startup import remove_leftovers

if TYPE_CHECKING:
    from engines.pipeline import Studio

log = logging.getLogger(__name__)

VISITOR = "fusion_visitor"  # the cookie that says whose files are whose
_NAME_BYTES = 18


def new_visitor() -> str:
    return secrets.token_urlsafe(_NAME_BYTES)


def visitor_of(cookies: Mapping[str, str]) -> str:
    """The visitor's name; "" for a client without cookies, or with one that isn't ours."""
    name = cookies.get(VISITOR, "")
    known = len(name) == _NAME_BYTES * 4 // 3 and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if known else ""


class Context:
    """Made once per process; closed at its end, when all visitors' files go.

    Args:
        settings: as read at start; nobody who comes over the network changes them.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        root = settings.data_dir / "sessions"
        remove_leftovers(root, older_than=time.time() - settings.keep_seconds)
        self.shelf = Shelf(self.folder_for(settings), settings.keep_seconds, hold_bytes=settings.cache_mb << 20)
        self.desk = Desk()
        self.started = time.monotonic()
        self._studio: Studio | None = None
        self._fault: FusionError | None = None
        self._provider = ""
        self._opening = threading.Lock()
        self._closing = threading.Event()
        self._warming: threading.Thread | None = None

    @staticmethod
    def folder_for(settings: Settings) -> Path:
        """The folder of this process's visitors: a name that can't be guessed, inside the data folder."""
        return settings.data_dir / "sessions" / secrets.token_urlsafe(12)

    @property
    def studio(self) -> "Studio":
        """The pipeline, opened when it is first needed. Raises what `Studio.open` raises, each time again."""
        with self._opening:
            if self._studio is None:
                from engines.pipeline import Studio

                self._studio = Studio.open(self.settings)
            return self._studio

    @property
    def ready(self) -> bool:
        """Whether the models are in memory."""
        return bool(self._provider)

    @property
    def provider(self) -> str:
        """What really runs the graphs; "" until that is known."""
        return self._provider

    @property
    def fault(self) -> FusionError | None:
        """Why the models could not be opened, where they could not."""
        return self._fault

    def models_of_others(self) -> dict[str, tuple[str, ...]]:
        """What a visitor may choose besides the default pack, for the options `model` and `restore`: what the owner added and accepted."""
        from engines.manifest import Manifest

        try:
            manifest = Manifest.load(self.settings)
        except FusionError:  # told by the doctor and by the first job
            return {}
        return {"model": manifest.usable("swap"), "restore": manifest.usable("restore")}

    def warm(self) -> None:
        """Opens the models, and sweeps the shelf until `close`. Runs on a thread of its own, so that the page is up before."""
        try:
            models = self.studio.models
            models.warm()
            self._provider = models.provider
        except FusionError as fault:
            self._fault = fault  # told on the page; the first job meets it again and says it in full
        except Exception:  # the thread's end: without this the page would wait for the models for ever
            log.exception("the models could not be opened")
            self._fault = FusionError()
        while not self._closing.wait(min(60.0, self.settings.keep_seconds / 4)):
            self.shelf.sweep()

    def start(self) -> None:
        self._warming = threading.Thread(target=self.warm, name="warm", daemon=True)
        self._warming.start()

    def close(self) -> None:
        self._closing.set()
        self.desk.close()
        if self._warming is not None:
            self._warming.join()  # else it would open models after they were closed
        if self._studio is not None:
            self._studio.close()
        self.shelf.close()
