"""How much of what this process counted was of use, and how far it was compressed: counters for whoever shows metrics.

    context use = Σ useful tokens ÷ Σ all tokens, over the counts of which the useful ones are known
    compression = Σ tokens before ÷ Σ tokens after

Sums over counts and then one quotient: a large picture weighs more than a small one, as it does on the bill. By what was counted:

    photo   useful: patches that overlap the outline of the face's mesh
    crop    the same of its crop; before: the photo, after: the crop
    prompt  useful: what stays when fillers and doubles are out, the negative prompt among it; before and after: likewise
    text    all tokens, as sent; of what is useful nothing is known

A text that is counted while it is typed is one count a keystroke.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from engines.tokens.savings import Count, Savings, rounded

Kind = Literal["photo", "crop", "prompt", "text"]
Key = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Figures:
    """Sums over counts.

    Attributes:
        counts, tokens: how many, and all that they came to. useful, of: of those whose useful tokens are known, these and all.
        before, after: of those that were compressed.
    """

    counts: int = 0
    tokens: float = 0
    useful: float = 0
    of: float = 0
    before: float = 0
    after: float = 0

    @property
    def context_use(self) -> float | None:
        """See this module; None before the first count that tells."""
        return self.useful / self.of if self.of else None

    @property
    def compression(self) -> float | None:
        """See this module; None before the first."""
        return self.before / self.after if self.after else None

    def as_dict(self) -> dict[str, float | None]:
        return {
            "counts": self.counts,
            "tokens": self.tokens,
            "context_use": rounded(self.context_use),
            "compression": rounded(self.compression),
        }


class Counters:
    """May be written and read by several threads at once."""

    def __init__(self) -> None:
        self._figures: dict[Key, Figures] = {}
        self._lock = threading.Lock()

    def picture(self, found: Savings) -> None:
        """A picture that was counted, by each model that takes it."""
        for row in found.rows:
            name, photo, crop = row.model.name, row.photo, row.crop
            self._use("photo", name, photo)
            self._use("crop", name, crop)
            if photo.tokens is not None and crop.tokens:
                self._add("crop", name, before=photo.tokens, after=crop.tokens)

    def prompt(self, tokens: Mapping[str, tuple[int, int]]) -> None:
        """A prompt that was said shorter: tokens before and after by the tokenizer's name."""
        for name, (before, after) in tokens.items():
            self._add("prompt", name, counts=1, tokens=before, useful=min(before, after), of=before, before=before, after=after)

    def text(self, name: str, tokens: int) -> None:
        """A text that was counted by the tokenizer of that name."""
        self._add("text", name, counts=1, tokens=tokens)

    def read(self) -> dict[Key, Figures]:
        """All figures at one moment, by what was counted and the model's or tokenizer's name."""
        with self._lock:
            return dict(self._figures)

    def as_dict(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """`{"crop": {"claude": {"counts", "tokens", "context_use", "compression"}, …}, …}`"""
        told: dict[str, dict[str, dict[str, float | None]]] = {}
        for (kind, name), figures in self.read().items():
            told.setdefault(kind, {})[name] = figures.as_dict()
        return told

    def _use(self, kind: Kind, name: str, count: Count) -> None:
        if count.tokens is None:
            return
        known = {} if count.useful is None else {"useful": count.useful, "of": count.tokens}
        self._add(kind, name, counts=1, tokens=count.tokens, **known)

    def _add(self, kind: Kind, name: str, **more: float) -> None:
        with self._lock:
            now = self._figures.get((kind, name), Figures())
            self._figures[kind, name] = replace(now, **{key: getattr(now, key) + value for key, value in more.items()})


COUNTERS = Counters()  # of this process
