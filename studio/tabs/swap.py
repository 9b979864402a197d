"""The Swap tab: a source, a target, and the picture that comes of them."""

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr

from engines.errors import Cancelled, FusionError
from engines.provenance.visible import label_of
from engines.text import text
from engines.timing import Progress, Run
from engines.types import FuseOptions
from studio import history, panels, pictures
from studio.batches import MOST
from studio.comparing import shown_value
from studio.context import Context, visitor_of
from studio.face_maps import Row, wishes_of_rows
from studio.i18n import both, mark
from studio.jobs import Finished
from studio.media import MEDIA_TYPES, Gone, Item, stem_of
from studio.options import options_of_page
from studio.painting import brush_of, with_brush
from studio.presenters import error_lines, notice_lines
from studio.routes import EXAMPLES
from studio.tabs.batch import BatchHandlers
from studio.tabs.faces import FaceMapHandlers
from studio.tabs.given import MissingPicture, source_of, targets_of, wanted
from studio.tabs.masks import MaskHandlers
from studio.tabs.people import PeopleHandlers
from studio.widgets import face_map as face_map_of_page
from studio.widgets import mask_layer, options_panel, panel, picture_box, static

if TYPE_CHECKING:
    from engines.pipeline import Studio
    from engines.provenance.mark import MarkedImage
    from engines.provenance.save import EncodedImage

PIPELINE = "pipeline"  # the concurrency_id that all events on the models share
LIVE_MS = 400.0  # a fusion faster than this follows the sliders by itself
FORMATS = (("PNG", "png"), ("JPEG", "jpg"), ("WebP", "webp"))
PAIRS = {
    "good": ("portrait_1.jpg", "portrait_2.jpg"),
    "hard": ("portrait_2.jpg", "portrait_turned.jpg"),
    "refused": ("portrait_2.jpg", "cat.jpg"),
}

Value = dict[str, Any]


def build(ctx: Context) -> gr.HTML:
    """Adds the tab to the open `gr.Blocks`; gives the source's box, for other tabs to fill."""
    with gr.Row(elem_id="swap", elem_classes="fs-grid"):
        with gr.Column(elem_classes="fs-area-source", min_width=0):
            source = picture_box("source", "swap.source", "swap.source_hint", "faces", points=True, people=True)
        with gr.Column(elem_classes="fs-area-target", min_width=0):
            target = picture_box("target", "swap.target", "swap.target_hint", "faces", points=True, many=MOST)
            mapped = face_map_of_page()
        with gr.Column(elem_classes="fs-area-controls", min_width=0):
            with gr.Row(elem_classes="fs-options"):
                strength = gr.Slider(
                    0, 100, 100, step=1, label=mark("swap.strength"), info=mark("swap.strength_info"), elem_id="strength", min_width=0
                )
                choices = [(mark(f"swap.enhance_{mode}"), mode) for mode in ("none", "fast", "full")]
                enhance = gr.Radio(
                    choices, value="none", label=mark("swap.enhance"), info=mark("swap.enhance_info"), elem_id="enhance", min_width=0
                )
                ruled = label_of(ctx.settings) is not None  # then nobody at the page can leave it out
                label = gr.Checkbox(
                    ruled, label=mark("swap.label"), info=mark("swap.label_info"), elem_id="label", min_width=0, interactive=not ruled
                )
            with gr.Row(elem_classes="fs-actions"):
                fuse = gr.Button(mark("swap.fuse"), variant="primary", elem_id="fuse", min_width=0)
                stop = gr.Button(mark("swap.stop"), elem_id="stop", min_width=0, interactive=False)  # the page opens it while a job runs
            options = options_panel(ctx.models_of_others())  # below the button, which stays where it is when the panel opens
            layer = mask_layer()
            static("", "fusionStudio.labels(element)")
            example = _examples()
        with gr.Column(elem_classes="fs-area-result", min_width=0):
            static(f'<header class="fs-head"><h2>{mark("swap.result")}</h2></header>')
            progress = panel("swap-progress")
            result = panel("swap-result", "swap.result_empty")
            static("", "fusionStudio.history(element)", "history")

    handlers = SwapHandlers(ctx)
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    queued: dict[str, Any] = {**private, "concurrency_id": PIPELINE, "concurrency_limit": 1}
    source.upload(handlers.look_source, source, source, trigger_mode="always_last", **queued)
    source.edit(handlers.people.gather, source, source, trigger_mode="always_last", **queued)
    source.submit(handlers.people.persona, source, source, **queued)
    target.upload(handlers.look, target, target, trigger_mode="always_last", **queued)
    for box in (source, target):
        box.release(handlers.look, box, box, trigger_mode="always_last", **queued)
    mapped.submit(FaceMapHandlers(ctx).match, mapped, mapped, trigger_mode="always_last", **queued)
    options.select(MaskHandlers(ctx).show, [options, target], layer, trigger_mode="always_last", **queued)
    example.select(handlers.example, example, [source, target], **queued)
    job = fuse.click(handlers.fuse, [source, target, strength, enhance, options, mapped, label], [progress, result], **queued)
    stop.click(handlers.stop, None, [progress, result], cancels=[job], queue=False, **private)
    return source


def _examples() -> gr.HTML:
    def button(name: str, pair: tuple[str, str]) -> str:
        pictures = "".join(f'<img src="/examples/{file}" alt="" loading="lazy">' for file in pair)
        return (
            f'<button type="button" data-example="{name}" aria-label="{mark(f"swap.example_{name}_alt")}">'
            f'<span class="fs-pair">{pictures}</span><span>{mark(f"swap.example_{name}")}</span></button>'
        )

    buttons = "".join(button(name, pair) for name, pair in PAIRS.items())
    key = f'<span class="fs-key">{mark("swap.examples")}</span>'
    return gr.HTML(
        value={"example": ""},
        html_template=f'<div class="fs-examples">{key}<div class="fs-pairs">{buttons}</div></div>',
        js_on_load="fusionStudio.examples(element, props, trigger)",
        apply_default_css=False,
        elem_id="examples",
    )


class SwapHandlers:
    """What the tab's events do. A value that comes from the page names files by token; whose they are, the cookie says."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.people = PeopleHandlers(ctx)
        self.batch = BatchHandlers(ctx)

    async def look_source(self, value: Value | None, request: gr.Request) -> Value:
        """The same of the source, which may be a persona."""
        person = self.people.persona_of(value, request)
        return await (self.people.show(person, value, request) if person else self.look(value, request))

    async def look(self, value: Value | None, request: gr.Request) -> Value:
        """Finds the faces of a picture that was just given."""
        return pictures.answer(await look_at(self._ctx, value, request), value)

    async def example(self, value: Value | None, request: gr.Request) -> tuple[Value, Value]:
        pair = PAIRS.get(str((value or {}).get("example")), PAIRS["good"])
        looked = [await look_at(self._ctx, _shelved(self._ctx, request, EXAMPLES / name), request) for name in pair]
        return looked[0], looked[1]

    async def fuse(
        self,
        source: Value | None,
        target: Value | None,
        strength: float,
        enhance: str,
        panel: Value | None,
        face_map: Value | None,
        label: bool,
        request: gr.Request,
    ) -> AsyncIterator[tuple[Value, Value]]:
        """Yields (progress, result): each stage as it begins, then the picture or the two lines that say why there is none."""
        ctx, session, visitor = self._ctx, str(request.session_hash), visitor_of(request.cookies)
        try:
            if targets := targets_of(ctx, visitor, target):
                given, options = source_of(ctx, visitor, source), options_of_page(panel, strength, enhance, source, target)
                async with aclosing(self._many(visitor, session, given, targets, options, bool(label))) as lists:
                    async for shown in lists:
                        yield shown
                return
            changed, rows = wanted(ctx, visitor, source, target, face_map)
            if not rows:
                rows = (Row(source_of(ctx, visitor, source), options_of_page(panel, strength, enhance, source, target)),)
            brush = brush_of(panel, target, ctx.shelf, visitor)
        except MissingPicture as missing:
            yield _over(), notice_panel(missing.name)
            return
        except Gone:
            yield _over(), notice_panel("gone")
            return
        except FusionError as fault:
            yield _over(), fault_panel(fault)
            return

        def work(run: Run) -> Value:
            return self._fused(changed, rows, brush, run, visitor, history.new_group(), bool(label))

        try:
            async with aclosing(ctx.desk.follow(session, work)) as steps:
                async for step in steps:
                    if isinstance(step, Finished):
                        yield _over(), step.value
                    else:
                        yield _progress(step), gr.skip()
        except Cancelled:
            yield _over(), notice_panel("stopped", "info")
        except FusionError as fault:
            yield _over(), fault_panel(fault)

    async def _many(
        self, visitor: str, session: str, source: Sequence[Item], targets: Sequence[Item], options: FuseOptions, label: bool
    ) -> AsyncGenerator[tuple[Value, Value]]:
        """The same for several targets: the list of what is done so far, then all of it. Raises `FusionError`, of the source."""
        async with aclosing(self.batch.fuse(session, visitor, source, targets, options, label)) as steps:
            async for name, number, lines in steps:
                yield (_nth(number, len(targets), name) if number else _over()), lines

    async def stop(self, request: gr.Request) -> tuple[Value, Value]:
        session = str(request.session_hash)
        self._ctx.desk.cancel(session)
        lines = await self.batch.stopped(session)
        return _over(), lines or notice_panel("stopped", "info")

    def _fused(self, changed: Item, rows: tuple[Row, ...], brush: Item | None, run: Run, visitor: str, group: str, label: bool) -> Value:
        """On the desk's thread: reads, fuses, encodes what is shown, and promises the rest."""
        ctx = self._ctx
        studio = ctx.studio
        wishes = wishes_of_rows(studio, rows, run)
        if brush is not None:
            wishes = [(one, with_brush(studio, options, brush, run)) for one, options in wishes]
        target = studio.read(changed.path.read_bytes(), changed.name, run)
        done = studio.fuse_faces(wishes, target, run, label)
        whole, first = pictures.shown_whole(done.target.width, done.target.height)
        encoded = done.encode(first, run=run, signed=False)
        timings = run.timings()
        run.check()
        stem = f"{stem_of(changed.name)}-fused"
        ready = ctx.shelf.add(visitor, encoded.data, f"{stem}.{first}", MEDIA_TYPES[first], group)
        held = done.image.pixels.nbytes // (len(FORMATS) - 1)  # the promises share one picture

        def later(suffix: str) -> Item:
            if suffix != first:
                made = _encoder(studio, done.image, suffix)
            elif done.signer is None:
                return ready
            else:  # a slider that is turned waits for no signature; who takes the file gets it
                made = _signing(studio, done.image, encoded)
            return ctx.shelf.promise(visitor, f"{stem}.{suffix}", MEDIA_TYPES[suffix], group, made, held)

        downloads = [(name, later(suffix)) for name, suffix in FORMATS]
        before = pictures.preview(studio, ctx.shelf, visitor, done.target, group)
        after = ready if whole else pictures.fused_preview(studio, ctx.shelf, visitor, done.image, group)
        limit = ctx.settings.safety_limit
        live = timings.total < LIVE_MS
        names = [", ".join(item.name for item in files) for files in dict.fromkeys(row.files for row in rows)], changed.name
        small = pictures.fused_preview(studio, ctx.shelf, visitor, done.image, group, history.THUMB_SIDE)
        history.trim(ctx.shelf, visitor)
        shown = shown_value(done, (before, after), names, timings)
        return both(lambda language: panels.result(done, timings, (before, after), downloads, limit, language)) | {
            "live": live,
            "shown": shown,
            "entry": history.entry_value(done, changed.name, small),
        }


async def look_at(ctx: Context, value: Value | None, request: gr.Request) -> Value:
    """A picture box's value with its faces found; with the two lines instead where that can't be."""
    visitor, token, name = visitor_of(request.cookies), str((value or {}).get("token", "")), str((value or {}).get("name", ""))
    try:
        item = ctx.shelf.get(visitor, token)
    except Gone:
        return pictures.gone_value()

    def work(run: Run) -> Value:
        studio = ctx.studio
        seen = pictures.look(studio, item, value, run)
        return pictures.seen_value(studio, ctx.shelf, visitor, item, seen, layers=False)

    try:
        return await ctx.desk.run(str(request.session_hash), work)
    except FusionError as fault:
        return pictures.fault_value(token, name, fault)


def fault_panel(fault: FusionError) -> Value:
    """The two lines of an error, where the result would stand."""
    return both(lambda language: panels.notice(error_lines(fault, language)))


def notice_panel(name: str, kind: str = "error") -> Value:
    """The two lines of `page.notice.<name>`, where the result would stand."""
    return both(lambda language: panels.notice(notice_lines(name, language), kind))


def _shelved(ctx: Context, request: gr.Request, path: Path) -> Value:
    item = ctx.shelf.add(visitor_of(request.cookies), path.read_bytes(), path.name, MEDIA_TYPES["jpg"])
    return {"token": item.token, "name": item.name}


def _over() -> Value:
    """No progress to show; different each time, since the page hears of changes only."""
    return {"turn": secrets.token_hex(4)}


def _progress(step: Progress) -> Value:
    return _bar(lambda language: text(f"stages.{step.stage}", language, done=step.done, count=step.count))


def _nth(number: int, count: int, name: str) -> Value:
    return _bar(lambda language: text("page.batch.progress", language, number=number, count=count, name=name))


def _bar(sentence: Callable[[str], str]) -> Value:
    return both(lambda language: panels.progress(sentence(language)))


def _encoder(studio: "Studio", image: "MarkedImage", suffix: str) -> Callable[[], bytes]:
    """Holds the marked picture alone, and not what it was made from."""
    return lambda: studio.encode(image, suffix).data


def _signing(studio: "Studio", image: "MarkedImage", encoded: "EncodedImage") -> Callable[[], bytes]:
    """The file that is shown, signed when somebody takes it."""
    return lambda: studio.sign(encoded, image).data
