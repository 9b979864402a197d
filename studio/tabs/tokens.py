"""The Tokens tab: what a prompt costs before it is sent."""

from studio.context import Context
from studio.i18n import mark
from studio.tabs import text, token_pictures
from studio.widgets import static


def build(ctx: Context) -> None:
    """Adds the tab to the open `gr.Blocks`: pictures, then text."""
    static(f'<h2 class="fs-section">{mark("visual.title")}</h2>')
    token_pictures.build(ctx)
    static(f'<h2 class="fs-section">{mark("text.title")}</h2>')
    text.build(ctx)
