"""What the detector took for a face and isn't one, as far as can be told: each place once, with its scores and the reason."""

from collections.abc import Sequence

from engines.faces.detector import suppress
from engines.faces.search import boxes, covers, scores
from engines.faces.trust import FEWEST_PIXELS, SMALL, UNSEEN, Evidence, least_look
from engines.types import RefusedFace

MOST = 32
ONE_PLACE = 0.5  # part of the smaller box within the larger from which both speak of one place


def refusals(refused: Sequence[Evidence], trusted: Sequence[Evidence]) -> tuple[RefusedFace, ...]:
    """The refused places, best score first, at most `MOST`; those on a face that was found aren't among them.

    A place that was looked at several times, close by or turned, has the best of its scores and the reason of that look.
    """
    left = [one for one in refused if not any(covers(face, one.proposal) for face in trusted)]
    if not left:
        return ()
    proposals = [one.proposal for one in left]
    best = suppress(boxes(proposals), scores(proposals), contained=ONE_PLACE)
    return tuple(_told(left[int(i)]) for i in best[:MOST])


def _told(one: Evidence) -> RefusedFace:
    facts: dict[str, tuple[tuple[str, object], ...]] = {
        SMALL: (("size", one.size), ("minimum", FEWEST_PIXELS)),
        UNSEEN: (("look", one.look), ("least", least_look(one.outside))),
    }
    return RefusedFace(one.proposal.box, one.proposal.score, one.look, one.against, facts.get(one.against, ()))
