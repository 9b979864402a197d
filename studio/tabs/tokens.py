"""The Tokens tab: what a prompt costs before it is sent."""

from studio.context import Context
from studio.tabs import text


def build(ctx: Context) -> None:
    """Adds the tab to the open `gr.Blocks`."""
    text.build(ctx)
