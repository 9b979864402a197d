"""Numbers that a visitor typed, found again after a reload: his browser keeps them, as it keeps his presets; the studio doesn't."""

import math
from collections.abc import Sequence
from typing import Any

import gradio as gr

from engines.tokens.prices import MOST
from studio.i18n import mark
from studio.widgets import static

_SECRET = "fusion-studio"  # Gradio scrambles what it keeps; a fixed word lets a studio that was restarted read it
LARGEST = 1e12  # of a number of calls


def state(slot: str, default: Any) -> gr.BrowserState:
    """What the browser keeps under that name."""
    return gr.BrowserState(default, storage_key=f"fusion:{slot}", secret=_SECRET)


def numbers(page: gr.Blocks, slot: str, fields: Sequence[gr.Number]) -> Any:
    """Keeps the fields' values, and adds a button that sets them back.

    Returns:
        The button's event; what follows from other numbers can be added with `then`.
    """
    standard = [field.value for field in fields]
    kept = state(slot, standard)
    with gr.Row(elem_classes="fs-line fs-kept"):
        static(f'<p class="fs-hint">{mark("remembered.hint")}</p>')
        reset = gr.Button(mark("remembered.reset"), elem_id=f"{slot}-reset", size="sm", min_width=112, scale=0)
    private: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
    for field in fields:
        field.input(lambda *values: list(values), fields, kept, **private)
    page.load(lambda values: cleaned(values, standard), kept, list(fields), **private)
    return reset.click(lambda: [*standard, standard], None, [*fields, kept], **private)


def cleaned(values: Any, standard: Sequence[float]) -> list[float]:
    """Kept numbers as far as they can be true: a browser's store is open to whoever sits before it."""
    given = values if isinstance(values, list) and len(values) == len(standard) else standard
    return [number if _good(number, LARGEST) else usual for number, usual in zip(given, standard, strict=True)]


def cleaned_prices(values: Any) -> dict[str, float]:
    """Kept prices by the model's name likewise."""
    return {str(name): price for name, price in values.items() if price and _good(price, MOST)} if isinstance(values, dict) else {}


def _good(number: Any, most: float) -> bool:
    return type(number) in (int, float) and math.isfinite(number) and 0 <= number <= most
