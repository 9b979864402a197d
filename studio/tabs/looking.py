"""The visual cache in the Tokens tab: the crop looked at by a vision model, through the cache and without it."""

import asyncio
from typing import TYPE_CHECKING, Any

import gradio as gr

from engines.errors import FusionError, NoFace
from engines.faces.finder import MINIMUM_SIZE
from engines.picture_tokens import place_of
from engines.pretrained import Once
from engines.timing import Run
from engines.vision import geometry
from studio import pictures
from studio.context import Context, visitor_of
from studio.i18n import both, mark
from studio.looking_panel import STORE_BYTES, looking_panel
from studio.media import Gone
from studio.tabs.answers import fault_panel, notice_panel
from studio.visitors import PerVisitor, whose
from studio.widgets import blank, panel, static

if TYPE_CHECKING:
    from engines.visual_cache.model import VisionModel
    from engines.visual_cache.store import FeatureStore

Value = dict[str, Any]
EMPTY = "look.empty"


def build(ctx: Context, photo: gr.HTML, size: gr.Radio) -> None:
    """Adds the section to the open tab. Args: of the section above: the photo, and the crop's size."""
    static(f'<h2 class="fs-section">{mark("look.title")}</h2><p class="fs-hint">{mark("look.about")}</p>')
    with gr.Row(elem_id="look", elem_classes="fs-line"):
        go = gr.Button(mark("look.go"), elem_id="look-go", min_width=112, scale=0)
        forget = gr.Button(mark("encode.forget"), elem_id="look-forget", min_width=112, scale=0)
    answer = panel("look", EMPTY)
    handlers = LookingHandlers(ctx)
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    queued: dict[str, Any] = {**private, "concurrency_id": "caches", "concurrency_limit": 1}
    go.click(lambda: blank("look.waiting"), None, answer, queue=False, **private).then(handlers.look, [photo, size], answer, **queued)
    forget.click(handlers.forget, None, answer, **queued)


class LookingHandlers:
    """What the section's events do."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._model: Once[VisionModel] = Once(lambda: _opened(ctx.settings.vision_model))
        self._stores: PerVisitor[FeatureStore] = PerVisitor()

    async def look(self, value: Value | None, size: int, request: gr.Request) -> Value:
        """The panel for the crop of the chosen face; at the desk, since models run, but for opening the model."""
        ctx = self._ctx
        try:
            item = ctx.shelf.get(visitor_of(request.cookies), str((value or {}).get("token", "")))
        except Gone:
            return notice_panel("gone") if (value or {}).get("token") else blank(EMPTY)

        def work(run: Run) -> Value:
            from engines.visual_cache.model import look
            from engines.visual_cache.store import FeatureStore

            seen = pictures.look(ctx.studio, item, value, run)
            place = place_of(seen.faces, seen.chosen)
            if place is None:
                raise NoFace(role="target", minimum=MINIMUM_SIZE)
            pixels = geometry.align(seen.found.frame.pixels, place.points, int(size)).pixels
            store = self._stores.of(whose(request), lambda: FeatureStore(None, STORE_BYTES))
            done = look(vision, store, pixels, run)
            return both(lambda language: looking_panel(done, vision, int(size), language))

        try:
            vision = await asyncio.to_thread(self._model.get)
            return await ctx.desk.run(str(request.session_hash), work)
        except FusionError as fault:
            return fault_panel(fault)

    async def forget(self, request: gr.Request) -> Value:
        """Begins the visitor's store and its counters anew."""
        await self._ctx.desk.run(str(request.session_hash), lambda _: self._stores.forget(whose(request)))
        return blank(EMPTY)


def _opened(where: str) -> "VisionModel":
    from engines.visual_cache.model import opened, warm

    model = opened(where)
    warm(model)
    return model
