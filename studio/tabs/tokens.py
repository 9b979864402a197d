"""The Tokens tab: what a prompt costs before it is sent."""

import gradio as gr

from studio.context import Context
from studio.i18n import mark
from studio.tabs import folder, looking, text, token_pictures
from studio.widgets import static


def build(ctx: Context, page: gr.Blocks, aligned: gr.HTML, count: gr.Button, tabs: gr.Tabs) -> None:
    """Adds the tab to the open `gr.Blocks`: pictures, the visual cache, many pictures, then text.

    Args:
        page: the open `gr.Blocks`.
        aligned, count: the Align tab's photo, and its button that carries it here. tabs: to open this tab then.
    """
    static(f'<h2 class="fs-section">{mark("visual.title")}</h2>')
    photo, size, typed = token_pictures.build(ctx, page, aligned, count, tabs)
    looking.build(ctx, photo, size)
    folder.build(ctx, size, typed)
    static(f'<h2 class="fs-section">{mark("text.title")}</h2>')
    text.build(ctx, page)
