"""How the prefix cache keeps things, and what it counts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """How a namespace (a role, a scene's template) is kept.

    Attributes:
        granularity: prefixes are kept and found in multiples of so many tokens: 1 for free text; a template's own length for templates,
            so that what is filled in isn't kept.
        window, threshold: when less than this share of the tokens of the last `window` prompts came from the cache, the tree is begun anew:
            what it holds is of another time. 0 for never.
    """

    granularity: int = 1
    window: int = 0
    threshold: float = 0.0


@dataclass(frozen=True, slots=True)
class Counters:
    """Since the start. hits: prompts found whole; partial: a prefix of them; misses: nothing. reused, computed: in tokens."""

    hits: int = 0
    partial: int = 0
    misses: int = 0
    reused: int = 0
    computed: int = 0
    evicted: int = 0
    rebuilt: int = 0

    @property
    def hit_rate(self) -> float:
        """The share of all tokens that wasn't computed; 0 before the first."""
        return self.reused / max(1, self.reused + self.computed)
