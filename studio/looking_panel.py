"""The HTML of the visual cache: whether a crop was known, the time with and without the cache, and what it did so far."""

from typing import TYPE_CHECKING

from engines.text import text
from studio.i18n import say
from studio.panels import facts_table

if TYPE_CHECKING:
    from engines.visual_cache.model import Looked, VisionModel

STORE_BYTES = 64 << 20  # of each visitor, in memory alone: from features a model can tell what was in the picture


def looking_panel(done: "Looked", vision: "VisionModel", size: int, language: str) -> str:
    """Args: size: of the crop, in pixels."""

    def said(key: str, **facts: object) -> str:
        return text(f"page.look.{key}", language, **facts)

    def shared(key: str, **facts: object) -> str:
        return text(f"page.encode.{key}", language, **facts)

    now, (tokens, width) = done.counters, done.shape
    hits = now.memory + now.disk
    name = vision.name or said("seeded_name")
    rows = [
        (shared("model"), shared("model_value", name=name, millions=vision.parameters / 1e6, device=str(vision.device).upper())),
        (said("crop"), said("hit" if done.hit else "miss", size=size, tokens=tokens, width=width)),
        (shared("with"), shared("ms", value=done.cached)),
        (shared("without"), shared("ms", value=done.plain)),
        (shared("speedup"), shared("times", value=done.plain / done.cached)),
        (shared("difference"), f"{done.difference:.1e}" if done.difference else "0"),
        (said("rate"), said("rate_value", hits=hits, misses=now.misses, rate=hits / max(1, hits + now.misses))),
        (said("saved"), shared("ms", value=1000 * now.saved)),
        (shared("bytes"), shared("bytes_value", value=done.nbytes / 2**20, most=STORE_BYTES >> 20, evicted=now.evicted)),
    ]
    told = f'<div class="fs-aside" role="status"><p>{say("look.seeded", language)}</p></div>' if vision.seeded else ""
    return f'<div class="fs-text-answer">{told}{facts_table(rows)}<p class="fs-hint">{say("look.formula", language)}</p></div>'
