"""What lies over a source's face, judged: what is said to the person, and from where on it can't serve."""

from collections.abc import Iterable

from engines.faces.occlusion.glasses import WORN
from engines.types import Note, Verdict

# Shares of the painted face under something solid (`Occlusion.found`, "lumps"). Up to the first the other half fills what is hidden
# (a fringe .09); from the second on both halves are (a cap over the brows .38, a half in black shadow .21, a curtain of hair .22).
SAY, REFUSE = 0.12, 0.16


def judge(found: Iterable[tuple[str, float]]) -> tuple[Verdict, tuple[Note, ...]]:
    """Verdict and notes on a source, from `PreparedSource.found`; a source that was made of several photos has none."""
    measures = dict(found)
    share = measures.get("lumps", 0.0)
    facts = (("percent", round(100 * share)), ("limit", round(100 * REFUSE)))
    if share > REFUSE:
        return Verdict("hidden", facts), ()
    notes: list[Note] = []
    if share > SAY:
        notes.append(("source_covered", facts))
    if measures.get("glasses", 0.0) > WORN:
        notes.append(("source_glasses", ()))
    return Verdict(), tuple(notes)
