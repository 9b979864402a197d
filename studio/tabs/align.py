"""The Align tab: what the pipeline sees in a photo, and the crops that it cuts from it."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gradio as gr

from engines.errors import FusionError
from engines.results import FoundFaces
from engines.timing import Run
from engines.types import Face
from engines.vision.geometry import CROP_SIZES
from studio import overlay, panels, pictures
from studio.context import Context, visitor_of
from studio.i18n import both, mark
from studio.media import MEDIA_TYPES, Gone, Item, stem_of
from studio.presenters import face_facts
from studio.tabs.answers import fault_panel
from studio.tabs.swap import PIPELINE
from studio.widgets import blank, overlay_switches, panel, picture_box, static

SIZE = 112  # what recognition networks take; the others are for people and generators
SWITCHED_ON = ("box", "points", "mesh")
TEMPLATE_VIEW = 224  # side of the template's drawing, in its own units

Value = dict[str, Any]


def build(ctx: Context, source: gr.HTML, tabs: gr.Tabs) -> tuple[gr.HTML, gr.Button]:
    """Adds the tab to the open `gr.Blocks`.

    Args:
        source: the Swap tab's source box, for "use as source".
        tabs: to open the Swap tab then.

    Returns:
        The photo's box, and the button that carries it to where its tokens are counted.
    """
    with gr.Row(elem_id="align", elem_classes="fs-grid fs-two"):
        with gr.Column(elem_classes="fs-area-photo", min_width=0):
            photo = picture_box("photo", "align.photo", "align.photo_hint", "layers", points=True)
            overlay_switches(overlay.LAYERS, SWITCHED_ON)
        with gr.Column(elem_classes="fs-area-face", min_width=0):
            with gr.Row(elem_classes="fs-options"):
                size = gr.Radio(
                    [(str(side), side) for side in CROP_SIZES], value=SIZE, label=mark("align.size"), elem_id="size", min_width=0
                )
                with gr.Row(elem_classes="fs-carry"):
                    use = gr.Button(mark("align.use_source"), elem_id="use-source", min_width=0)
                    count = gr.Button(mark("align.count_tokens"), elem_id="count-tokens", min_width=0)
            face = panel("align-face", "align.face_empty")
            static("")

    handlers = AlignHandlers(ctx)
    private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    queued: dict[str, Any] = {**private, "concurrency_id": PIPELINE, "concurrency_limit": 1}
    photo.upload(handlers.look, [photo, size], [photo, face], trigger_mode="always_last", **queued)
    photo.select(handlers.look, [photo, size], [photo, face], trigger_mode="always_last", **queued)
    photo.clear(handlers.clear, None, face, queue=False, **private)
    size.input(handlers.cut, [photo, size], face, trigger_mode="always_last", **queued)
    use.click(handlers.use, photo, [source, tabs], **queued).then(None, None, None, js="() => fusionStudio.tab('swap')")
    return photo, count


class AlignHandlers:
    """What the tab's events do."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def look(self, value: Value | None, size: int, request: gr.Request) -> tuple[Value, Value]:
        """Finds the faces, draws them, and cuts the chosen one."""
        token, name = str((value or {}).get("token", "")), str((value or {}).get("name", ""))
        visitor = visitor_of(request.cookies)
        try:
            item = self._ctx.shelf.get(visitor, token)
        except Gone:
            return pictures.gone_value(), blank("align.face_empty")

        def work(run: Run) -> tuple[Value, Value]:
            studio = self._ctx.studio
            seen = pictures.look(studio, item, value, run)
            photo = pictures.answer(pictures.seen_value(studio, self._ctx.shelf, visitor, item, seen, layers=True), value)
            return photo, self._face(seen, int(size), item, visitor, f"{request.session_hash}:align")

        try:
            return await self._ctx.desk.run(str(request.session_hash), work)
        except FusionError as fault:
            return pictures.answer(pictures.fault_value(token, name, fault), value), blank("align.face_empty")

    async def cut(self, value: Value | None, size: int, request: gr.Request) -> Value:
        """The same face at another size."""
        visitor = visitor_of(request.cookies)
        try:
            item = self._ctx.shelf.get(visitor, str((value or {}).get("token", "")))
        except Gone:
            return blank("align.face_empty")

        def work(run: Run) -> Value:
            seen = pictures.look(self._ctx.studio, item, value, run)
            return self._face(seen, int(size), item, visitor, f"{request.session_hash}:align")

        try:
            return await self._ctx.desk.run(str(request.session_hash), work)
        except FusionError as fault:
            return fault_panel(fault)

    def clear(self) -> Value:
        return blank("align.face_empty")

    async def use(self, value: Value | None, request: gr.Request) -> tuple[Any, Any]:
        """Carries the photo, with the chosen face, to the Swap tab."""
        carried = pictures.carried(value)
        return (carried, gr.Tabs(selected="swap")) if carried else (gr.skip(), gr.skip())

    def _face(self, seen: pictures.Seen, size: int, item: Item, visitor: str, group: str) -> Value:
        if seen.chosen is None:
            return blank("align.face_empty")
        studio, shelf = self._ctx.studio, self._ctx.shelf
        found = replace(seen.found, faces=seen.faces)
        face, stem = seen.faces[seen.chosen], stem_of(item.name)
        aligned = studio.crop(found.frame, face, size)
        encoded = studio.encode(studio.mark(aligned.pixels, "crop", of=found.frame), "png")
        shelf.clear(visitor, group)
        png = shelf.add(visitor, encoded.data, f"{stem}-face{face.index}-{size}.png", MEDIA_TYPES["png"], group)
        archive = shelf.promise(
            visitor, f"{stem}-crops.zip", MEDIA_TYPES["zip"], group, self._archive(found, stem), found.frame.pixels.nbytes
        )
        view = studio.crop(found.frame, face, SIZE)
        scaled = view.matrix * (TEMPLATE_VIEW / SIZE)
        template = overlay.template_layers(scaled, face.detection.points, TEMPLATE_VIEW)
        return both(lambda language: panels.face_panel(face, len(found.faces), (aligned, png), template, png, archive, language))

    def _archive(self, found: FoundFaces, stem: str) -> Callable[[], bytes]:
        """All faces at all sizes and `crops.json` with their matrices, made when it is asked for."""

        def made() -> bytes:
            from engines.provenance.archive import bundle

            studio = self._ctx.studio
            named, told = [], []
            for face in found.faces:
                for size in CROP_SIZES:
                    aligned = studio.crop(found.frame, face, size)
                    name = f"{stem}-face{face.index}-{size}.png"
                    named.append((name, studio.encode(studio.mark(aligned.pixels, "crop", of=found.frame), "png")))
                    told.append(
                        {
                            "file": name,
                            "face": face.index,
                            "size": size,
                            "matrix": aligned.matrix.tolist(),
                            "inverse": aligned.inverse.tolist(),
                        }
                    )
            values = {
                "template": "arcface",
                "width": found.frame.width,
                "height": found.frame.height,
                "faces": [_facts(f) for f in found.faces],
                "crops": told,
            }
            archive: bytes = bundle(named, {"crops.json": json.dumps(values, ensure_ascii=False, indent=1)})
            return archive

        return made


def _facts(face: Face) -> Value:
    return face_facts(face, "en")
