"""`fusion-studio tokens`: what multimodal models spend on a picture, and what a crop of its face saves."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engines.errors import InvalidOption
from studio.fuse_options import Face, Json, Provider, help_of
from studio.tables import table
from studio.terminal import FAILED, Terminal

if TYPE_CHECKING:
    from engines.tokens.visual import VisualModel


def tokens(
    pictures: Annotated[list[Path] | None, typer.Argument(metavar="[IMAGE|FOLDER]…", help=help_of("tokens_pictures"))] = None,
    model: Annotated[list[str] | None, typer.Option("--model", help=help_of("tokens_model"))] = None,
    every: Annotated[bool, typer.Option("--all", help=help_of("tokens_all"))] = False,
    sides: Annotated[str | None, typer.Option("--size", metavar="WxH", help=help_of("tokens_size"))] = None,
    crop: Annotated[int, typer.Option("--crop", help=help_of("tokens_crop"))] = 224,
    face: Face = None,
    faces: Annotated[bool, typer.Option("--faces", help=help_of("tokens_faces"))] = False,
    provider: Provider = None,
    as_json: Json = False,
) -> None:
    """See `cli.help.tokens`."""
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.picture_tokens import count, count_many, count_size
        from engines.pipeline import Studio
        from engines.tokens import prices as price_table
        from engines.tokens.visual import chosen, load

        one = pictures is not None and len(pictures) == 1 and not pictures[0].is_dir()
        if face is not None and not one:
            raise InvalidOption(name="face", value=face, allowed="one IMAGE")
        settings = terminal.settings(provider=provider)
        models, prices = chosen(load(settings.data_dir), None if every else model), price_table.load(settings.data_dir)
        if sides is not None or not pictures:
            if pictures or sides is None:
                raise InvalidOption(name="size", value=sides, allowed="IMAGE, FOLDER, --size WxH")
            found = count_size(*_sides(sides), models, None, crop, prices)
            answer = found.as_dict(None)
            terminal.answer(answer, _lines(terminal, answer, models))
        elif one:
            with Studio.open(settings) as studio:
                found = count(studio.faces(pictures[0], run=terminal.run()), models, face, crop, prices)
            answer = found.as_dict(str(pictures[0]))
            terminal.answer(answer, _lines(terminal, answer, models))
        else:
            run = terminal.run()
            if faces:
                with Studio.open(settings) as studio:
                    folder = count_many(pictures, models, lambda path, one: studio.faces(path, run=one), crop, prices, run)
            else:
                folder = count_many(pictures, models, None, crop, prices, run)
            answer = folder.as_dict(terminal.language)
            terminal.answer(answer, _folder_lines(terminal, answer, models))
            if folder.failed:
                raise typer.Exit(FAILED)


def steps(
    image: Annotated[Path, typer.Argument(help=help_of("image"))],
    as_json: Json = False,
) -> None:
    """See `cli.help.steps`."""
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.vision import io
        from engines.vision.complexity import complexity

        frame = io.read(image, terminal.settings().max_megapixels)
        found = complexity(frame.pixels)
        values = {"image": str(image), "width": frame.width, "height": frame.height, **found.as_dict()}
        terminal.answer(values, [terminal.say("steps_line", **found.as_dict()), terminal.say("steps_formula")])


def _sides(given: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,9})[x×X*](\d{1,9})", given.strip())
    if found is None:
        raise InvalidOption(name="size", value=given, allowed="WxH (1920x1080)")
    return int(found[1]), int(found[2])


def _lines(terminal: Terminal, answer: Mapping[str, Any], models: "Sequence[VisualModel]") -> list[str]:
    """A picture's table, and what it doesn't say by itself."""
    rows = [
        [
            model.title,
            *_numbers(row["photo"], row["shrunk"], *row["crop"].values()),
            *(_percent(row[name]) for name in ("saving_vs_photo", "saving_vs_shrunk")),
            *(_percent(row["context_use"][name]) for name in ("photo", "crop")),
            *(_money(row["price"], name) for name in ("photo", "crop")),
        ]
        for model, row in zip(models, answer["rows"], strict=True)
    ]  # fmt: skip
    heads = ["model", "photo", "shrunk"], ["vs_photo", "vs_shrunk", "use_photo", "use_crop", "price_photo", "price_crop"]
    first, last = ([terminal.say(f"tokens_head.{name}") for name in names] for names in heads)
    sides = next(iter(answer["rows"]))["crop"]
    lines = [terminal.say("tokens_picture", width=answer["width"], height=answer["height"], size=answer["size"])]
    if answer["shrunk"]:
        lines.append(terminal.say("tokens_shrunk", **answer["shrunk"]))
        lines.append(terminal.say("tokens_lost", background=answer["lost"]["background"], faces=answer["lost"]["faces"]))
        lines += [terminal.say("tokens_enlarged", size=answer["size"])] if answer["enlarged"] else []
    else:
        lines.append(terminal.say("tokens_faceless" if answer["image"] else "tokens_sizes"))
    return [*lines, "", *table([[*first, *(f"{side}²" for side in sides), *last], *rows]), "", terminal.say("tokens_meaning")]


def _folder_lines(terminal: Terminal, answer: Mapping[str, Any], models: "Sequence[VisualModel]") -> list[str]:
    size = str(answer["size"])
    rows = [
        [
            model.title,
            *_numbers(*((row["photo"] or {}).get(name) for name in ("total", "min", "median", "p90", "max"))),
            *_numbers((row["shrunk"] or {}).get("total"), row["crop"][size]),
            *(_percent(row[name]) for name in ("saving_vs_photo", "saving_vs_shrunk")),
            *(_money(row["price"], name) for name in ("photo", "crop")),
        ]
        for model, row in zip(models, answer["rows"], strict=True)
    ]  # fmt: skip
    names = ["model", "total", "min", "median", "p90", "max", "shrunk", "crop", "vs_photo", "vs_shrunk", "price_photo", "price_crop"]
    lines = [terminal.say("tokens_folder", pictures=answer["pictures"], size=answer["size"])]
    if answer["faceless"] is None:
        lines.append(terminal.say("tokens_headers"))
    else:
        lines.append(terminal.say("tokens_no_face", count=answer["faceless"]))
    lines += [f"{Path(each['image']).name}: {each['error']['message']} {each['error']['hint']}" for each in answer["failed"]]
    return [*lines, "", *table([[terminal.say(f"tokens_head.{name}") for name in names], *rows])]


def _numbers(*values: int | None) -> list[str]:
    return ["–" if value is None else f"{value:,}" for value in values]


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value + 0.0:.1%}"


def _money(price: Mapping[str, Any] | None, name: str) -> str:
    return "–" if not price or price[name] is None else f"{price[name]:.5f} {price['currency']}"
