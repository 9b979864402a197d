"""How alike a prompt and its shorter form are for a model of sentence embeddings, where the owner named one: a hint, never a judge."""

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from engines.errors import FusionError
from engines.prompts.optimise import Optimised
from engines.prompts.vocabulary import has_cjk

if TYPE_CHECKING:
    from engines.sentences import Sentences

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Likeness:
    """Attributes:
    state: "off": no model is named; "opening": it isn't ready yet; "fault": it can't be opened, and why; "known".
    value: the cosine, -1..1. warns: whether it is lower than what rewrites come to that lose nothing.
    """

    state: Literal["off", "opening", "fault", "known"]
    value: float = 0.0
    warns: bool = False
    fault: FusionError | None = None


class Likenesses:
    """The page's. The model is opened on a thread of its own when it is first asked for, so that no keystroke waits for it.

    Args:
        where: see `engines.sentences.opened`; "" = none.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._model: Sentences | None = None
        self._fault: FusionError | None = None
        self._opening: threading.Thread | None = None
        self._lock = threading.Lock()

    def of(self, found: Optimised) -> Likeness:
        """Of a prompt and what became of it."""
        if not self._where:
            return Likeness("off")
        with self._lock:
            if self._opening is None:
                self._opening = threading.Thread(target=self._open, name="sentences", daemon=True)
                self._opening.start()
        if self._fault is not None:
            return Likeness("fault", fault=self._fault)
        return Likeness("opening") if self._model is None else likeness(self._model, found)

    def wait(self) -> None:
        """Until the model is open, or can't be."""
        if self._opening is not None:
            self._opening.join()

    def _open(self) -> None:
        from engines import sentences

        try:
            self._model = sentences.opened(self._where)
        except FusionError as fault:
            self._fault = fault
        except Exception:  # the thread's end: without this the page would say "opening" for ever
            log.exception("the sentence model could not be opened")
            self._fault = FusionError()


def likeness(model: "Sentences", found: Optimised) -> Likeness:
    """With what went to the negative prompt said again as "no …": it isn't lost."""
    from engines.sentences import WARN_BELOW

    no = "没有" if has_cjk(found.negative) else "no "
    absent = [f"{no}{part.strip()}" for part in found.negative.split(",") if part.strip()]
    value = model.similarity(found.source, ", ".join([found.text, *absent]))
    return Likeness("known", value, value < WARN_BELOW)
