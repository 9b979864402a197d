"""Pictures that are zoomed and moved together: the HTML that assets/theme/lens.js works on."""

from studio.i18n import say
from studio.media import Item


def compare(shown: tuple[Item, Item], width: int, height: int, at: float, language: str) -> str:
    """Before and after on one spot, as assets/theme/lens.js takes them: one zoom for both, a divider that the keyboard moves as well.

    Args:
        at: through which part of the picture the divider goes at first, in percent of the width.
    """
    before, after = shown
    panes = [pane(after, "after", width, height, language), pane(before, "before", width, height, language)]
    label = say("result.compare", language)
    divider = '<span class="fs-divider" aria-hidden="true"></span>'
    slide = f'<input class="fs-slide" type="range" min="0" max="100" step="0.5" value="50" data-at="{at:.1f}" aria-label="{label}">'
    return lens(f"{''.join(panes)}{divider}{slide}", language)


def pane(shown: Item, side: str, width: int, height: int, language: str) -> str:
    """One picture in a lens. `side`: before or after."""
    return (
        f'<figure class="fs-pane fs-{side}" data-side="{side}" data-w="{width}" data-h="{height}">'
        f'<img src="{shown.address}" alt="{say(f"result.alt_{side}", language)}" draggable="false">'
        f'<figcaption class="fs-tag">{say(f"result.{side}", language)}</figcaption></figure>'
    )


def lens(inside: str, language: str) -> str:
    """Panes that are zoomed and moved together, with the buttons for it."""
    steps = (("out", "−"), ("fit", say("lens.fit", language)), ("1", "100 %"), ("2", "200 %"), ("in", "+"))
    buttons = "".join(f'<button type="button" data-zoom="{step}"{_named_step(step, language)}>{words}</button>' for step, words in steps)
    return (
        '<div class="fs-stage fs-result fs-lens">'
        f'<div class="fs-compare" tabindex="0" role="group" aria-label="{say("lens.keys", language)}">'
        f'{inside}</div><div class="fs-zoom" role="group" aria-label="{say("result.zoom", language)}">'
        f'<output class="fs-scale"></output>{buttons}</div></div>'
    )


def _named_step(step: str, language: str) -> str:
    """Two have a sign alone to show; the others are pressed or not."""
    return f' aria-label="{say(f"lens.{step}", language)}"' if step in ("in", "out") else ' aria-pressed="false"'
