"""The commands. Each answers in sentences, or with `--json` in one JSON object; exit status 1 is an error of the tree, 2 a usage error."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engines import __version__
from engines.errors import TestsMissing
from engines.options import FuseOptions
from studio import (
    batch_commands,
    compare_commands,
    key_commands,
    ledger_commands,
    mask_commands,
    persona_commands,
    prompt_commands,
    text_commands,
    token_commands,
    verify_commands,
)
from studio import fuse_options as given
from studio.fuse_options import help_of as _help
from studio.terminal import Terminal

if TYPE_CHECKING:
    from engines.pipeline import Studio

DEFAULTS = FuseOptions()


app = typer.Typer(name="fusion-studio", help=_help("app"), add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
models = typer.Typer(help=_help("models"), no_args_is_help=True)
app.add_typer(models, name="models")
app.add_typer(persona_commands.app, name="persona")
app.add_typer(ledger_commands.app, name="ledger")
app.add_typer(key_commands.app, name="keys")

Json = given.Json
Provider = given.Provider


app.command("batch", help=_help("batch"))(batch_commands.batch)
app.command("tokens", help=_help("tokens"))(token_commands.tokens)
app.command("steps", help=_help("steps"))(token_commands.steps)
app.command("text", help=_help("text"))(text_commands.text)
app.command("prompt", help=_help("prompt"))(prompt_commands.prompt)
app.command("compare", help=_help("compare"))(compare_commands.compare)
app.command("mask", help=_help("mask_preview"))(mask_commands.mask)
app.command("verify", help=_help("verify"))(verify_commands.verify)


@app.command(help=_help("fuse"))
def fuse(
    context: typer.Context,
    pictures: Annotated[list[Path], typer.Argument(metavar="SOURCE… TARGET", help=_help("pictures"))],
    output: Annotated[Path, typer.Option("--output", "-o", help=_help("output"))],
    preset: given.Preset = None,
    face: given.Face = None,
    source_face: given.SourceFace = None,
    face_map: given.FaceMap = None,
    order: given.Order = None,
    match: given.Match = None,
    threshold: given.Threshold = 0.5,
    strength: given.Strength = 1.0,
    enhance: given.Enhance = "none",
    shape: given.Shape = DEFAULTS.shape,
    colour: given.Colour = DEFAULTS.colour,
    texture: given.Texture = DEFAULTS.texture,
    feather: given.Feather = DEFAULTS.feather,
    keep_eyes: given.KeepEyes = False,
    keep_mouth: given.KeepMouth = False,
    beard: given.Beard = DEFAULTS.beard,
    marks: given.Marks = True,
    glasses: given.Glasses = False,
    mode: given.Mode = DEFAULTS.mode,
    model: given.Model = DEFAULTS.model,
    boost: given.Boost = DEFAULTS.boost,
    restore: given.Restore = DEFAULTS.restore,
    restore_share: given.RestoreShare = DEFAULTS.restore_share,
    fidelity: given.Fidelity = DEFAULTS.fidelity,
    mask: given.Mask = None,
    leave_out: given.LeaveOut = None,
    grow: given.Grow = 0.0,
    padding: given.Padding = None,
    occlusion: given.Occlusion = True,
    paint: given.Paint = None,
    points: given.Points = None,
    source_points: given.SourcePoints = None,
    label: given.Label = False,
    provider: given.Provider = None,
    format: given.Format = None,
    quality: given.Quality = None,
    overwrite: given.Overwrite = False,
    as_json: given.Json = False,
) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.provenance.save import check_writable
        from studio.presenters import fusion_lines
        from studio.wishes import wishes_of

        *sources, target = pictures
        options = given.options_given(
            context, preset,
            face=face, source_face=source_face, strength=strength, enhance=enhance, shape=shape, colour=colour, texture=texture,
            feather=feather, keep_eyes=keep_eyes, keep_mouth=keep_mouth, beard=beard, marks=marks, glasses=glasses, mode=mode,
            model=model, boost=boost, restore=restore, restore_share=restore_share, fidelity=fidelity,
            mask=mask, leave_out=leave_out, grow=grow, padding=padding, occlusion=occlusion,
            points=points, source_points=source_points,
        )  # fmt: skip
        wishes = wishes_of(sources, face_map or (), order, match or (), threshold)
        with _open(terminal, provider) as studio:
            check_writable(output, format, overwrite)  # before the work, not after it
            run = terminal.run()
            options = given.painted(studio, options, paint)
            known = wishes.admitted(studio, options, run)
            frame = studio.read(target, run=run)
            result = studio.fuse_faces(wishes.of(studio, known, frame, options, run), frame, run, label)
            saved = result.save(output, format, quality, overwrite, run)
        timings = run.timings()
        lines = fusion_lines(result, saved, timings, terminal.language)
        terminal.answer(result.as_dict(saved, timings), lines)


@app.command(help=_help("faces"))
def faces(
    image: Annotated[Path, typer.Argument(help=_help("image"))],
    crops: Annotated[Path | None, typer.Option(help=_help("crops"))] = None,
    size: Annotated[int, typer.Option(help=_help("size"))] = 112,
    overwrite: Annotated[bool, typer.Option("--overwrite", help=_help("overwrite"))] = False,
    provider: Provider = None,
    as_json: Json = False,
) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from studio.crops import save_crops
        from studio.presenters import face_facts, placed, refused_facts, verdict_sentence

        with _open(terminal, provider) as studio:
            found = studio.faces(image, run=terminal.run())
            saved = save_crops(studio, found, crops, size, image.stem, overwrite) if crops is not None else {}
        rows = [face_facts(face, terminal.language) | ({"crop": saved[face.index]} if saved else {}) for face in found.faces]
        lines = [] if found.faces else [terminal.say("faces_none")]
        for face, row in zip(found.faces, rows, strict=True):
            x, y, width, height = row["box"]
            measures = {"score": face.detection.score, "sharpness": face.sharpness, "verdict": verdict_sentence(face, terminal.language)}
            lines.append(terminal.say("face_line", index=face.index, x=x, y=y, width=width, height=height, **row["pose"], **measures))
            lines += [terminal.say("crop_line", path=row["crop"]["path"])] if saved else []
        refused = [refused_facts(one, terminal.language) for one in found.refused]
        for row in refused:
            lines.append(terminal.say("refused_line", score=row["score"], why=row["why"], **placed(row)))
        notes = [{"key": key, **dict(facts)} for key, facts in found.frame.origin.notes]
        values = {"image": str(image), "width": found.frame.width, "height": found.frame.height, "notes": notes}
        values |= {"faces": rows, "refused": refused}
        terminal.answer(values, lines)


@app.command(help=_help("presets"))
def presets(
    wanted: Annotated[str | None, typer.Argument(metavar="[PRESET]", help=_help("preset_file"))] = None, as_json: Json = False
) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.presets import built_in, preset

        terminal.settings()
        found = [preset(wanted)] if wanted else list(built_in().values())
        lines = [f"{one.name}: {', '.join(f'{name} {value}' for name, value in one.options.items()) or '–'}" for one in found]
        terminal.answer({"presets": [{"name": one.name, "options": one.options} for one in found]}, lines)


@models.command("list", help=_help("models_list"))
def models_list(as_json: Json = False) -> None:
    _models(as_json, hashed=False)


@models.command("check", help=_help("models_check"))
def models_check(as_json: Json = False) -> None:
    _models(as_json, hashed=True)


def _models(as_json: bool, hashed: bool) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.manifest import Manifest

        states = Manifest.load(terminal.settings()).check(hashed=hashed)
        lines = [
            terminal.say(
                "model_line",
                name=state.entry.name,
                state=terminal.say(f"model_state.{state.state}"),
                size=state.entry.size / 1e6,
                licence=state.entry.licence,
                use=terminal.say(f"model_use.{state.entry.use}"),
            )
            for state in states
        ]
        terminal.answer({"models": [state.as_dict() for state in states]}, lines)
        if hashed and any(state.state != "present" for state in states if state.entry.pack):
            raise typer.Exit(1)


@models.command("fetch", help=_help("models_fetch"))
def models_fetch(
    names: Annotated[list[str] | None, typer.Argument(help=_help("names"))] = None,
    accept_licence: Annotated[bool, typer.Option("--accept-licence", help=_help("accept_licence"))] = False,
    as_json: Json = False,
) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.manifest import Manifest

        manifest = Manifest.load(terminal.settings())
        given = [each for name in names or () for each in manifest.admit(name, accept_licence)]
        wanted = given or [state.entry.name for state in manifest.check() if state.entry.pack and state.state != "present"]
        fetched = {name: manifest.fetch(name, accept_licence=accept_licence) for name in wanted}
        lines = [terminal.say("fetched", name=name, path=path) for name, path in fetched.items()]
        values = {"fetched": [{"name": name, "path": str(path)} for name, path in fetched.items()]}
        terminal.answer(values, lines or [terminal.say("nothing_to_fetch")])


@app.command(help=_help("doctor"))
def doctor(provider: Provider = None, as_json: Json = False) -> None:
    terminal = Terminal(as_json)
    with terminal.speaking():
        from studio.doctor import examine

        report = examine(terminal.settings(provider=provider))
        terminal.answer(report.as_dict(terminal.language), report.lines(terminal.language))


@app.command(help=_help("test"), context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def test(context: typer.Context, as_json: Json = False) -> None:  # noqa: PT028  # a command, not a test
    import subprocess

    terminal = Terminal(as_json)
    with terminal.speaking():
        root = Path(__file__).resolve().parent.parent
        if not (root / "tests").is_dir() or find_spec("pytest") is None:
            raise TestsMissing()
        output = sys.stderr if as_json else None  # stdout belongs to the one object
        status = subprocess.call([sys.executable, "-m", "pytest", *context.args], cwd=root, stdout=output)
        terminal.answer({"exit_status": status}, [])
        raise typer.Exit(status)


@app.command(help=_help("version"))
def version(as_json: Json = False) -> None:
    Terminal(as_json).answer({"version": __version__}, [f"fusion-studio {__version__}"])


@app.command(help=_help("studio"))
def studio(
    port: Annotated[int | None, typer.Option(help=_help("port"))] = None,
    browser: Annotated[bool, typer.Option(help=_help("browser"))] = True,
    window: Annotated[bool, typer.Option("--window", help=_help("window"))] = False,
    provider: Provider = None,
) -> None:
    terminal = Terminal(as_json=False)
    with terminal.speaking():
        from studio.app import serve

        serve(terminal.settings(port=port, provider=provider), open_browser=browser, window=window)


def _open(terminal: Terminal, provider: str | None) -> "Studio":
    from engines.pipeline import Studio

    return Studio.open(terminal.settings(provider=provider))


def main(arguments: list[str] | None = None) -> Any:
    """The console script. Without a command it opens the studio."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given or (given[0].startswith("-") and given[0] not in ("--help", "-h")):
        given = ["studio", *given]
    return app(given, prog_name="fusion-studio")


if __name__ == "__main__":
    main()
