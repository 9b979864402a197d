"""`fusion-studio batch`: many targets, a report, and an end that goes on where it was."""

from pathlib import Path
from typing import Annotated

import typer

from engines.options import FuseOptions
from studio import fuse_options as given
from studio.fuse_options import help_of
from studio.terminal import FAILED, Terminal

DEFAULTS = FuseOptions()


def batch(
    context: typer.Context,
    targets: Annotated[list[Path], typer.Argument(help=help_of("batch_targets"))],
    output: Annotated[Path, typer.Option("--output", "-o", help=help_of("batch_output"))],
    source: Annotated[list[Path] | None, typer.Option("--source", "-s", help=help_of("batch_source"))] = None,
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
    label: given.Label = False,
    provider: given.Provider = None,
    format: Annotated[str, typer.Option(help=help_of("batch_format"))] = "jpg",
    quality: given.Quality = None,
    resume: Annotated[bool, typer.Option("--resume", help=help_of("resume"))] = False,
    overwrite: given.Overwrite = False,
    as_json: given.Json = False,
) -> None:
    """See `cli.help.batch`."""
    terminal = Terminal(as_json)
    with terminal.speaking():
        from engines.batch import Job, jobs_of, work_off
        from engines.errors import OutputUnwritable
        from engines.pipeline import Studio
        from engines.provenance.output import check_writable, format_of
        from engines.results import FusionResult
        from engines.timing import Run
        from studio.wishes import wishes_of

        options = given.options_given(
            context, preset,
            face=face, source_face=source_face, strength=strength, enhance=enhance, shape=shape, colour=colour, texture=texture,
            feather=feather, keep_eyes=keep_eyes, keep_mouth=keep_mouth, beard=beard, marks=marks, glasses=glasses, mode=mode,
            model=model, boost=boost, restore=restore, restore_share=restore_share, fidelity=fidelity,
            mask=mask, leave_out=leave_out, grow=grow, padding=padding, occlusion=occlusion,
        )  # fmt: skip
        wishes = wishes_of(source or (), face_map or (), order, match or (), threshold)
        jobs = jobs_of(targets, output, format_of(format))
        if not output.is_dir():
            raise OutputUnwritable("folder", path=output, detail="")
        with Studio.open(terminal.settings(provider=provider)) as studio:
            options = given.painted(studio, options, paint)
            run = terminal.run()
            sources = wishes.admitted(studio, options, run)

            def fuse(job: Job, one: Run) -> FusionResult:
                check_writable(job.output, overwrite=overwrite)  # before the work, not after it
                frame = studio.read(job.target, run=one)
                result = studio.fuse_faces(wishes.of(studio, sources, frame, options, one), frame, one, label)
                result.save(job.output, quality=quality, overwrite=overwrite, run=one)
                return result

            lines, counts = [], {"fused": 0, "there": 0, "failed": 0}
            for number, done in enumerate(work_off(jobs, fuse, run, resume), 1):
                counts[done.status] += 1
                lines.append(done.as_dict(terminal.language))
                error = lines[-1].get("error", {})
                facts = {"number": number, "count": len(jobs), "target": done.job.target.name, "output": done.job.output.name}
                terminal.tell(terminal.say(f"batch_{done.status}", **facts, message=error.get("message", ""), hint=error.get("hint", "")))
        terminal.answer({**counts, "pictures": lines}, [terminal.say("batch_over", **counts)])
        if counts["failed"]:
            raise typer.Exit(FAILED)
