"""The picture half of the Tokens tab: what each model spends on a photo, on the shrunk photo and on the crop of a face."""

import datetime
from typing import Any

import gradio as gr

from engines.errors import FusionError
from engines.picture_tokens import count_size, place_of
from engines.timing import Run
from engines.tokens import prices as price_table
from engines.tokens.prices import Price
from engines.tokens.processor import MOST_BYTES, of_file
from engines.tokens.savings import SIZE, SIZES, FacePlace, Row
from engines.tokens.visual import VisualModel, load
from engines.vision import geometry
from engines.vision.complexity import complexity
from studio import pictures, remembered, token_panels, token_report
from studio.cells import cells
from studio.context import Context, visitor_of
from studio.i18n import both, mark, say
from studio.media import MEDIA_TYPES, Gone, Item, stem_of
from studio.tabs.answers import fault_panel
from studio.tabs.swap import PIPELINE
from studio.widgets import blank, panel, picture_box

SHOWN = "qwen2_5_vl"  # whose grid is drawn at first: it saves the most
OWN = "own"  # the model of the file that was dropped
EMPTY = "visual.empty"

Value = dict[str, Any]
Typed = dict[str, float]  # prices that were typed in, by the model's name


def build(ctx: Context, page: gr.Blocks, aligned: gr.HTML, count: gr.Button, tabs: gr.Tabs) -> tuple[gr.HTML, gr.Radio, gr.BrowserState]:
    """Adds the section to the open tab, and gives its photo, its crop's size and the prices that were typed.

    Args: as `studio.tabs.tokens.build`.
    """
    models, prices = load(ctx.settings.data_dir), price_table.load(ctx.settings.data_dir)
    choices = [(model.title, name) for name, model in models.items()]
    with gr.Row(elem_id="visual", elem_classes="fs-grid fs-two"):
        with gr.Column(elem_classes="fs-area-photo", min_width=0):
            photo = picture_box("counted", "visual.photo_box", "visual.photo_hint", "layers")
        with gr.Column(elem_classes="fs-area-face", min_width=0):
            with gr.Row(elem_classes="fs-options"):
                shown = gr.Dropdown(choices, value=SHOWN, label=mark("visual.shown"), elem_id="visual-model", min_width=0)
                price = gr.Number(
                    label=mark("visual.price_field"), value=_known(prices, SHOWN), minimum=0, elem_id="visual-price", min_width=0
                )
            with gr.Row(elem_classes="fs-line fs-kept"):
                kept = panel("visual-kept")
                reset = gr.Button(mark("remembered.list"), elem_id="visual-reset", size="sm", min_width=112, scale=0)
            size = gr.Radio(
                [(str(side), side) for side in SIZES], value=SIZE, label=mark("visual.size"), elem_id="visual-size", min_width=0
            )
            crop = panel("visual-crop", "visual.crop_empty")
            dropped = picture_box("processor", "visual.own_file", "visual.own_hint", "file")
    answer = panel("visual-result", EMPTY)
    typed = remembered.state("prices", {})

    handlers = PictureHandlers(ctx)
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    queued: dict[str, Any] = {**private, "concurrency_id": PIPELINE, "concurrency_limit": 1, "trigger_mode": "always_last"}
    given, shows = [photo, shown, size, typed, dropped], [photo, crop, answer]
    photo.upload(handlers.look, given, shows, **queued)
    photo.select(handlers.look, given, shows, **queued)
    photo.clear(handlers.clear, None, [crop, answer], queue=False, **private)
    size.input(handlers.again, given, shows, **queued)
    shown.input(handlers.price_of, [shown, typed], price, queue=False, **private).then(handlers.again, given, shows, **queued)
    price.input(handlers.type_price, [shown, price, typed], [typed, kept], queue=False, **private).then(
        handlers.again, given, shows, **queued
    )
    page.load(handlers.restore, [shown, typed], [typed, price, kept], queue=False, **private)
    reset.click(handlers.restore, shown, [typed, price, kept], queue=False, **private).then(handlers.again, given, shows, **queued)
    carried = count.click(handlers.carry, aligned, [photo, tabs], queue=False, **private)
    carried.then(None, None, None, js="() => fusionStudio.tab('tokens')").then(handlers.look, given, shows, **queued)
    for event in (dropped.upload, dropped.clear):
        event(handlers.drop, [dropped, shown], [dropped, shown, crop], queue=False, **private).then(handlers.again, given, shows, **queued)
    return photo, size, typed


class PictureHandlers:
    """What the section's events do."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def look(
        self, value: Value | None, shown: str, size: int, typed: Typed, dropped: Value | None, request: gr.Request
    ) -> tuple[Any, Any, Any]:
        """A new photo, or another face: everything."""
        if not (value or {}).get("token"):
            return gr.skip(), gr.skip(), gr.skip()
        return await self._counted(value, shown, int(size), typed, dropped, request, fresh=True)

    async def again(
        self, value: Value | None, shown: str, size: int, typed: Typed, dropped: Value | None, request: gr.Request
    ) -> tuple[Any, Any, Any]:
        """Another model, size or price for the same photo: its preview stays."""
        if not (value or {}).get("token"):
            return gr.skip(), gr.skip(), gr.skip()
        return await self._counted(value, shown, int(size), typed, dropped, request, fresh=False)

    def carry(self, value: Value | None) -> tuple[Any, Any]:
        """The Align tab's photo, with the face that is chosen there."""
        carried = pictures.carried(value)
        return (carried, gr.Tabs(selected="tokens")) if carried else (gr.skip(), gr.skip())

    def clear(self) -> tuple[Value, Value]:
        return blank("visual.crop_empty"), blank(EMPTY)

    def price_of(self, shown: str, typed: Typed) -> float:
        """The price of the model that is shown, for its field: what was typed, or the table's."""
        return typed.get(shown, _known(price_table.load(self._ctx.settings.data_dir), shown))

    def type_price(self, shown: str, price: float | None, typed: Typed) -> tuple[Typed, Value]:
        """Keeps a price that was typed; an emptied field, or 0, goes back to the table's."""
        kept = {name: value for name, value in typed.items() if name != shown} | ({shown: price} if price else {})
        return kept, _told(kept)

    def restore(self, shown: str, typed: Any = None) -> tuple[Typed, float, Value]:
        """The prices that the browser kept, or none; the one of the model that is shown, and what there is of them, in words."""
        kept = remembered.cleaned_prices(typed)
        return kept, self.price_of(shown, kept), _told(kept)

    def drop(self, dropped: Value | None, shown: str, request: gr.Request) -> tuple[Any, Any, Any]:
        """A model's configuration was given or taken away: the box, the choice of models, and why it can't be used."""
        token, name = str((dropped or {}).get("token", "")), str((dropped or {}).get("name", ""))
        models = load(self._ctx.settings.data_dir)
        choices = [(model.title, key) for key, model in models.items()]
        try:
            own = self._own(dropped, request)
        except Gone:
            return pictures.gone_value(), gr.Dropdown(choices, value=SHOWN if shown == OWN else shown), gr.skip()
        except FusionError as fault:
            stays = SHOWN if shown == OWN else shown
            return pictures.fault_value(token, name, fault), gr.Dropdown(choices, value=stays), gr.skip()
        if own is None:
            return gr.skip(), gr.Dropdown(choices, value=SHOWN if shown == OWN else shown), gr.skip()
        return {**pictures.empty(), "token": token, "name": name}, gr.Dropdown([*choices, (own.title, OWN)], value=OWN), gr.skip()

    async def _counted(
        self, value: Value | None, shown: str, size: int, typed: Typed, dropped: Value | None, request: gr.Request, fresh: bool
    ) -> tuple[Any, Any, Any]:
        token, name = str((value or {}).get("token", "")), str((value or {}).get("name", ""))
        ctx, visitor = self._ctx, visitor_of(request.cookies)
        try:
            item = ctx.shelf.get(visitor, token)
        except Gone:
            return pictures.gone_value(), *self.clear()

        def work(run: Run) -> tuple[Any, Any, Any]:
            models = load(ctx.settings.data_dir)
            try:
                own = self._own(dropped, request)
            except (Gone, FusionError):  # told where it was dropped
                own = None
            models |= {OWN: own} if own else {}
            model = models.get(shown) or models[SHOWN]
            prices = price_table.load(ctx.settings.data_dir, typed)
            seen = pictures.look(ctx.studio, item, value, run)
            frame, place = seen.found.frame, place_of(seen.faces, seen.chosen)
            with run.stage("count"):
                busy = complexity(frame.pixels)
                found = count_size(frame.width, frame.height, list(models.values()), place, size, prices)
            row = next(each for each in found.rows if each.model.name == model.name)
            shows = pictures.seen_value(ctx.studio, ctx.shelf, visitor, item, seen, layers=False) if fresh else dict(value or {})
            shows["layers"] = _over_photo(row, frame.width, frame.height, place)
            group = f"{request.session_hash}:tokens"
            ctx.shelf.clear(visitor, group)
            cut = self._crop(seen, row, place, visitor, group) if place is not None else blank("visual.crop_empty")
            files = {language: self._files(found, item, visitor, group, language) for language in ("en", "zh-CN")}
            panels = both(lambda language: token_panels.savings_panel(found, model.name, files[language], language, busy))
            return pictures.answer(shows, value), cut, panels

        try:
            return await ctx.desk.run(str(request.session_hash), work)
        except FusionError as fault:
            if fresh:
                return pictures.answer(pictures.fault_value(token, name, fault), value), *self.clear()
            return gr.skip(), gr.skip(), fault_panel(fault)

    def _crop(self, seen: pictures.Seen, row: Row, place: FacePlace, visitor: str, group: str) -> Value:
        studio = self._ctx.studio
        aligned = geometry.align(seen.found.frame.pixels, place.points, row.size)
        data = studio.encode(studio.mark(aligned.pixels, "crop", of=seen.found.frame), "png").data
        picture = self._ctx.shelf.add(visitor, data, f"crop-{row.size}.png", MEDIA_TYPES["png"], group)
        outline = geometry.apply(aligned.matrix, place.outline)
        drawn = cells(row.crop.layout, row.size, row.size, outline) if row.crop.layout else ""
        return both(lambda language: token_panels.crop_figure(row, picture, drawn, language))

    def _files(self, found: Any, item: Item, visitor: str, group: str, language: str) -> dict[str, Item]:
        stem, shelf = stem_of(item.name), self._ctx.shelf
        page = token_report.report(found, item.name, datetime.date.today().isoformat(), language)
        return {
            "report": shelf.add(visitor, page.encode(), f"{stem}-tokens.html", MEDIA_TYPES["html"], group),
            "csv": shelf.add(visitor, token_report.as_csv(found).encode(), f"{stem}-tokens.csv", MEDIA_TYPES["csv"], group),
        }

    def _own(self, dropped: Value | None, request: gr.Request) -> VisualModel | None:
        """The visitor's own model, None without one. Raises `Gone`, `ProcessorUnusable`."""
        token = str((dropped or {}).get("token", ""))
        if not token:
            return None
        item = self._ctx.shelf.get(visitor_of(request.cookies), token)
        with item.path.open("rb") as file:
            return of_file(file.read(MOST_BYTES + 1), OWN, item.name, datetime.date.today().isoformat())


def _over_photo(row: Row, width: int, height: int, place: FacePlace | None) -> str:
    if row.photo.layout is None:
        return f'<svg class="fs-overlay" viewBox="0 0 {width} {height}" aria-hidden="true"></svg>'
    return cells(row.photo.layout, width, height, place.outline if place else None)


def _told(typed: Typed) -> Value:
    """How many prices are the visitor's own, and where they are kept."""
    return both(lambda language: f'<p class="fs-hint">{say("remembered.prices", language, count=len(typed))}</p>')


def _known(prices: dict[str, Price], name: str) -> float:
    """A model's price for its field; 0 where none is known."""
    return prices[name].input if name in prices else 0
