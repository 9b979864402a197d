"""The public endpoints: `fuse`, `faces`, `mask`, `compare`, `tokens`, `verify`, for `gradio_client` and plain HTTP.

A caller may turn what a visitor of the page may turn, and nothing else: limits, safety and the mark are the owner's.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import gradio as gr
from gradio.components.api_component import Api

from engines.errors import FusionError, InvalidOption, UnreadableImage
from engines.options import Beard, EnhanceMode, FuseOptions, Mode
from engines.picture_tokens import count
from engines.provenance.output import Format
from engines.timing import Run
from engines.tokens import prices as price_table
from engines.tokens.savings import SIZE
from engines.tokens.visual import chosen, load
from studio.context import Context, visitor_of
from studio.media import MEDIA_TYPES, Gone, stem_of
from studio.options import options_of
from studio.presenters import face_facts, refused_facts, verification_lines
from studio.tabs.swap import PIPELINE

if TYPE_CHECKING:
    from engines.pipeline import Studio

T = TypeVar("T")
DEFAULTS = FuseOptions()


class Endpoints:
    """Each method is one endpoint; its docstring is what API pages show."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    async def fuse(
        self,
        source: dict,  # type: ignore[type-arg]  # gradio_client's file value; a parametrised dict loses its schema
        target: dict,  # type: ignore[type-arg]
        request: gr.Request,
        face: int | None = None,
        source_face: int | None = None,
        strength: float = 1.0,
        enhance: EnhanceMode = "none",
        shape: float = DEFAULTS.shape,
        colour: float = DEFAULTS.colour,
        texture: float = DEFAULTS.texture,
        feather: float = DEFAULTS.feather,
        keep_eyes: bool = False,
        keep_mouth: bool = False,
        beard: Beard = "target",
        marks: bool = True,
        glasses: bool = False,
        mode: Mode = "best",
        model: str = DEFAULTS.model,
        boost: int = DEFAULTS.boost,
        restore: str = DEFAULTS.restore,
        restore_share: float = DEFAULTS.restore_share,
        fidelity: float = DEFAULTS.fidelity,
        points: list[list[float]] | None = None,
        source_points: list[list[float]] | None = None,
        mask: dict | None = None,  # type: ignore[type-arg]
        paint: dict | None = None,  # type: ignore[type-arg]
        label: bool = False,
        format: Format = "png",
        quality: int | None = None,
    ) -> tuple[dict, dict]:  # type: ignore[type-arg]
        """Gives the target's face the source's identity. Answers with the marked file and the facts about it.

        source, target: files; the source a picture or a persona. face, source_face: numbers from left to right, from 0. strength: 0 to 1.
        enhance: none, fast or full.
        shape, colour, texture, feather: 0 to 1. keep_eyes, keep_mouth: the target's own stay. beard: target or source. marks: the source's
        moles and make-up come along. glasses: the source's come along. mode: best or live. model: mesh, or a swapper that the owner added.
        boost: 1, 2 or 4, a swapper's detail. restore: a restorer that the owner added. restore_share, fidelity: 0 to 1, of it.
        points, source_points: the face's five points by hand, [[x, y], …] in pixels: image-left eye, image-right eye, nose, image-left
        and image-right corner of the mouth.
        mask: where the fusion may show, {"areas": ["outline"], "leave_out": ["eyes"], "padding": [0, 0, 0, 0], "grow": 0,
        "occlusion": true}; what isn't named is the standard.
        paint: a picture of the target's proportions, white = fuse here too, black = keep the target here, grey or transparent = neither.
        label: words that people see in a corner of the picture, also where the owner's region doesn't ask for them.
        format: png, jpg, webp, avif or tiff. quality: 40 to 100, of jpg, webp and avif.
        """
        files = self._file(source, request), self._file(target, request)
        brush = self._file(paint, request) if paint else None
        visitor = visitor_of(request.cookies)
        given = {
            "face": face, "source_face": source_face, "strength": strength, "enhance": enhance, "shape": shape, "colour": colour,
            "texture": texture, "feather": feather, "keep_eyes": keep_eyes, "keep_mouth": keep_mouth, "beard": beard, "marks": marks,
            "glasses": glasses, "mode": mode, "model": model, "boost": boost, "restore": restore, "restore_share": restore_share,
            "fidelity": fidelity, "points": points, "source_points": source_points, "mask": mask,
        }  # fmt: skip

        def work(run: Run) -> tuple[dict[str, Any], dict[str, Any]]:
            studio = self._ctx.studio
            known = studio.source(files[0].read_bytes(), files[0].name, run)
            changed = studio.read(files[1].read_bytes(), files[1].name, run)
            options = options_of(**given)
            if brush is not None:
                options = _painted(studio, options, brush, run)
            done = studio.fuse(known, changed, options, run, label)
            encoded = done.encode(format, quality, run)
            name = f"{stem_of(files[1].name)}-fused.{format}"
            item = self._ctx.shelf.add(visitor, encoded.data, name, MEDIA_TYPES[encoded.format])
            facts = done.as_dict(timings=run.timings()) | {"output": name, "bytes": len(encoded.data), "format": encoded.format}
            return _file_value(item.path, name), facts

        return await self._answer(request, work)

    async def faces(self, image: dict, request: gr.Request) -> dict:  # type: ignore[type-arg]
        """Lists the faces of a picture, from left to right: box, score, points, pose, and whether it can be fused.

        `refused`: what looked like a face and is none, with both scores and the reason.
        """
        path = self._file(image, request)

        def work(run: Run) -> dict[str, Any]:
            found = self._ctx.studio.faces(path.read_bytes(), path.name, run)
            notes = [{"key": key, **dict(facts)} for key, facts in found.frame.origin.notes]
            faces = [face_facts(face, "en") for face in found.faces]
            refused = [refused_facts(one, "en") for one in found.refused]
            return {"width": found.frame.width, "height": found.frame.height, "notes": notes, "faces": faces, "refused": refused}

        return await self._answer(request, work)

    async def mask(
        self,
        target: dict,  # type: ignore[type-arg]
        request: gr.Request,
        face: int | None = None,
        points: list[list[float]] | None = None,
        mask: dict | None = None,  # type: ignore[type-arg]
        paint: dict | None = None,  # type: ignore[type-arg]
        feather: float = DEFAULTS.feather,
        mode: Mode = "best",
        model: str = DEFAULTS.model,
        format: Format = "png",
        quality: int | None = None,
    ) -> tuple[dict, dict]:  # type: ignore[type-arg]
        """Shows where in the target a fusion with these options may show: the part tinted, before there is a source.

        All as `fuse` has it. Answers with the marked file, and with the mask in full.
        """
        path, brush, visitor = self._file(target, request), self._file(paint, request) if paint else None, visitor_of(request.cookies)

        def work(run: Run) -> tuple[dict[str, Any], dict[str, Any]]:
            studio = self._ctx.studio
            options = options_of(face=face, points=points, mask=mask, feather=feather, mode=mode, model=model)
            if brush is not None:
                options = _painted(studio, options, brush, run)
            frame = studio.read(path.read_bytes(), path.name, run)
            encoded = studio.encode(studio.mask(frame, options, run), format, quality, run)
            name = f"{stem_of(path.name)}-mask.{format}"
            item = self._ctx.shelf.add(visitor, encoded.data, name, MEDIA_TYPES[encoded.format])
            return _file_value(item.path, name), {"mask": options.mask.as_dict(), "width": frame.width, "height": frame.height}

        return await self._answer(request, work)

    async def compare(
        self,
        source: dict,  # type: ignore[type-arg]
        target: dict,  # type: ignore[type-arg]
        request: gr.Request,
        models: list[str] | None = None,
        face: int | None = None,
        source_face: int | None = None,
        strength: float = 1.0,
        enhance: EnhanceMode = "none",
        mode: Mode = "best",
        format: Format = "png",
    ) -> dict:  # type: ignore[type-arg]
        """Fuses the same pair by several models: for each its file, similarity, time, memory and licence, or why it made nothing.

        models: mesh, and names of swappers; all that are listed unless some are named, installed or not. The rest as `fuse` has it.
        memory_mb: MiB above an empty process, of that fusion in a process of its own; peak_mb: of the whole process.
        """
        files, visitor = (self._file(source, request), self._file(target, request)), visitor_of(request.cookies)

        def work(run: Run) -> dict[str, Any]:
            studio = self._ctx.studio
            known = studio.source(files[0].read_bytes(), files[0].name, run)
            changed = studio.read(files[1].read_bytes(), files[1].name, run)
            options = options_of(face=face, source_face=source_face, strength=strength, enhance=enhance, mode=mode)
            rows = []
            for one in studio.compare(known, changed, models, options, run):
                file = None
                if one.result is not None:
                    encoded, name = one.result.encode(format, run=run), f"{stem_of(files[1].name)}-{one.name}.{format}"
                    file = _file_value(self._ctx.shelf.add(visitor, encoded.data, name, MEDIA_TYPES[encoded.format]).path, name)
                rows.append(one.as_dict() | {"output": file})
            return {"models": rows}

        return await self._answer(request, work)

    async def tokens(self, image: dict, request: gr.Request, crop: int = SIZE, face: int | None = None, model: str | None = None) -> dict:  # type: ignore[type-arg]
        """Counts what multimodal models spend on a picture, on the picture shrunk until its face has the crop's pixels, and on the crop.

        crop: 112, 224, 256 or 512. face: its number from left to right, from 0; the largest usable one unless it is named. model: one
        model's name; all unless it is named. Savings are shares: 0.996 is 99.6 % fewer tokens, -0.3 is 30 % more.
        """
        path = self._file(image, request)

        def work(run: Run) -> dict[str, Any]:
            data_dir = self._ctx.settings.data_dir
            models = chosen(load(data_dir), [model] if model else None)
            found = self._ctx.studio.faces(path.read_bytes(), path.name, run)
            return count(found, models, face, crop, price_table.load(data_dir)).as_dict(path.name)

        return await self._answer(request, work)

    async def verify(self, file: dict, request: gr.Request) -> dict:  # type: ignore[type-arg]
        """Tells what a file says about itself: this studio's mark, labels of others, or nothing."""
        path = self._file(file, request)

        def work(run: Run) -> dict[str, Any]:
            found = self._ctx.studio.verify(path.read_bytes(), path.name, run)
            return found.as_dict() | {"text": verification_lines(found, "en")}

        return await self._answer(request, work)

    def _file(self, value: Any, request: gr.Request) -> Path:
        """The caller's own upload. Never a path of ours, somebody else's file, or an address to fetch."""
        path = value.get("path") if isinstance(value, dict) else None
        try:
            return self._ctx.shelf.find(visitor_of(request.cookies), Path(str(path))).path
        except Gone as gone:
            raise _told(UnreadableImage("missing", name=Path(str(path)).name)) from gone

    async def _answer(self, request: gr.Request, work: Callable[[Run], T]) -> T:
        """Runs it on the desk. A client's cancel reaches this coroutine as a cancellation, which stops the work."""
        try:
            return await self._ctx.desk.run(str(request.session_hash), work)
        except FusionError as fault:
            raise _told(fault) from fault
        except asyncio.CancelledError:
            self._ctx.desk.cancel(str(request.session_hash))
            raise


def build(ctx: Context) -> None:
    """Adds the endpoints to the open `gr.Blocks`."""
    endpoints = Endpoints(ctx)
    for function in (endpoints.fuse, endpoints.faces, endpoints.mask, endpoints.compare, endpoints.tokens, endpoints.verify):
        gr.api(function, api_name=function.__name__, concurrency_id=PIPELINE, concurrency_limit=1)
    blocks = gr.context.Context.root_block
    for block in blocks.blocks.values() if blocks else ():
        if isinstance(block, Api):
            # Gradio would fetch an address that a caller names as a file, and copy each file into a folder that all can read.
            block.async_move_resource_to_block_cache = _stays  # type: ignore[method-assign, assignment]


async def _stays(path: Any) -> str:
    if str(path).startswith(("http:", "https:")):
        raise _told(InvalidOption(name="path", value=str(path), allowed="an uploaded file"))
    return str(path)


def _painted(studio: "Studio", options: FuseOptions, brush: Path, run: Run) -> FuseOptions:
    return replace(options, mask=replace(options.mask, paint=studio.paint(brush.read_bytes(), brush.name, run)))


def _told(fault: FusionError) -> gr.Error:
    """The error as a client gets it: JSON with code, message and hint."""
    return gr.Error(json.dumps(fault.as_dict("en"), ensure_ascii=False), print_exception=False)


def _file_value(path: Path, name: str) -> dict[str, Any]:
    return {"path": str(path), "orig_name": name, "meta": {"_type": "gradio.FileData"}}
