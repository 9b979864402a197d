"""What lies over a source's face, judged: what is said to the person, and from where on it can't serve."""

from collections.abc import Iterable

from engines.faces.occlusion.glasses import WORN
from engines.types import Note, Verdict

# Shares of the painted face under something solid (`Occlusion.found`, "lumps"). Up to the first the other half fills what is hidden
# (a fringe .09); from the second on both halves are (a cap over the brows .38, a half in black shadow .21, a curtain of hair .22).
SAY, REFUSE = 0.12, 0.16
# Share of the painted face under a full beard. One of .37 was neither shaved off nor carried whole: on a bare chin its hair stayed as
# patches, lit as skin is; beards that the face's own measure knows (`beard.measure`) read as 0 here.
BEARD = 0.16
# Share of the brows under a frame, or of what lenses show under reflections ("glasses_left"), that can't be filled: thin frames drawn on
# bare faces .03 to .18, and they come off without a trace; thick upper rims and mirroring lenses .28 to .63, and half of them stays.
GLASSES = 0.2


Found = Iterable[tuple[str, float]]


def judge(found: Found) -> tuple[Verdict, tuple[Note, ...]]:
    """Verdict and notes on a source, from `PreparedSource.found`; a source that was made of several photos has none."""
    share, beard = dict(found).get("lumps", 0.0), dict(found).get("beard", 0.0)
    facts = (("percent", round(100 * share)), ("limit", round(100 * REFUSE)))
    if share > REFUSE:
        return Verdict("hidden", facts), ()
    if beard > BEARD:
        return Verdict("bearded", (("percent", round(100 * beard)), ("limit", round(100 * BEARD)))), ()
    return Verdict(), (("source_covered", facts),) if share > SAY else ()


def comes_along(source: Found, target: Found, asked: bool) -> bool:
    """Whether a source's glasses are laid over the target's face: when that is asked for, and when they can't be taken off without traces.

    Args:
        source, target: `found` of both. A target's own glasses stay in front, and no second pair is put behind them.
    """
    mine = dict(source)
    worn = mine.get("glasses", 0.0) > WORN and dict(target).get("glasses", 0.0) <= WORN
    return worn and (asked or mine.get("glasses_left", 0.0) > GLASSES)


def judge_glasses(source: Found, target: Found, asked: bool, layer: bool = True) -> tuple[Verdict, tuple[Note, ...]]:
    """What is said of a source's glasses before one target. See `comes_along`.

    Args:
        layer: whether they can be laid over another face at all: a persona keeps no piece of a photo, so not its glasses.
    """
    mine = dict(source)
    left = mine.get("glasses_left", 0.0)
    if mine.get("glasses", 0.0) <= WORN:
        return Verdict(), (("no_glasses", ()),) if asked else ()
    if not layer:
        return Verdict(), (("persona_glasses" if asked else "source_glasses", ()),)
    if comes_along(source, target, asked):
        return Verdict(), () if asked else (("glasses_kept", ()),)
    if left > GLASSES:
        return Verdict("glasses", (("percent", round(100 * left)), ("limit", round(100 * GLASSES)))), ()
    return Verdict(), (("target_glasses" if asked else "source_glasses", ()),)
