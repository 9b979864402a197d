"""Results and errors in the reader's words: plain values and sentences, for the page, the commands and the API alike."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from engines.errors import FusionError
from engines.faces.landmarks import to_68
from engines.text import LANGUAGES, has, text
from engines.timing import Timings
from engines.types import Face, Floats, Pose, RefusedFace
from studio.ledger_words import alike_rows, ledger_rows
from studio.notes import note_sentences
from studio.options import value_words

if TYPE_CHECKING:
    from engines.presets import Preset
    from engines.provenance.labels import FoundLabels
    from engines.provenance.save import Saved
    from engines.provenance.verify import Verification
    from engines.results import FusionResult

PROVIDERS = {"cpu": "CPU", "cuda": "CUDA", "tensorrt": "TensorRT", "coreml": "Core ML", "directml": "DirectML", "openvino": "OpenVINO"}


def verdict_sentence(face: Face, language: str) -> str:
    """Why a face can't be fused ("it is turned 41°, at most 30° work"), or that it can."""
    return text(f"verdicts.{face.verdict.reason or 'usable'}", language, **dict(face.verdict.facts))


def verdict_caption(face: Face, language: str) -> str:
    """The same in two or three words, for a thumbnail."""
    return text(f"page.verdict.{face.verdict.reason or 'usable'}", language, **dict(face.verdict.facts))


def verdict_colour(face: Face) -> str:
    """`good`, `warn` (another picture of the same person would do) or `bad` (there isn't enough of the face)."""
    if face.verdict.usable:
        return "good"
    return "bad" if face.verdict.reason == "too_small" else "warn"


def pose_facts(pose: Pose) -> dict[str, float]:
    """Degrees, to one decimal place."""
    return {"yaw": round(pose.yaw, 1), "pitch": round(pose.pitch, 1), "roll": round(pose.roll, 1)}


def rounded(points: Floats) -> list[list[float]]:
    """(N, 2) points as JSON has them, to a tenth of a pixel."""
    return [[round(float(x), 1), round(float(y), 1)] for x, y in points]


def face_facts(face: Face, language: str) -> dict[str, Any]:
    """A face in JSON's terms: box in pixels, pose in degrees, and its verdict as a word and as a sentence."""
    return {
        "index": face.index,
        "box": face.box.as_ints(),
        "score": round(face.detection.score, 3),
        "points5": rounded(face.detection.points),
        "points68": rounded(to_68(face.mesh)),
        "pose": pose_facts(face.mesh.pose),
        "size": round(face.mesh.size, 1),
        "sharpness": round(face.sharpness, 1),
        "usable": face.verdict.usable,
        "verdict": face.verdict.reason or "usable",
        "why": verdict_sentence(face, language),
    }


def count_sentence(count: int, language: str) -> str:
    """ "3 faces"."""
    key = {0: "count_none", 1: "count_one"}.get(count, "count")
    return text(f"page.face.{key}", language, count=count)


def refused_facts(one: RefusedFace, language: str) -> dict[str, Any]:
    """What looked like a face and is none, in JSON's terms."""
    why = text(f"refusals.{one.reason}", language, **dict(one.facts))
    return {"box": one.box.as_ints(), "score": round(one.score, 3), "look": round(one.look, 3), "reason": one.reason, "why": why}


def refused_lines(refused: Sequence[RefusedFace], language: str) -> list[str]:
    """ "2 places refused: no faces, or too small to tell", then a line each: score, place, reason. Empty where none was."""
    if not refused:
        return []
    head = text("page.face.refused_one" if len(refused) == 1 else "page.face.refused", language, count=len(refused))
    rows = [refused_facts(one, language) for one in refused]
    return [head, *(text("page.face.refused_row", language, score=row["score"], why=row["why"], **placed(row)) for row in rows)]


def placed(row: dict[str, Any]) -> dict[str, int]:
    """A row's box by the names of its sides."""
    return dict(zip(("x", "y", "width", "height"), row["box"], strict=True))


def error_lines(fault: BaseException, language: str) -> tuple[str, str]:
    """What happened, and what to do. Anything that isn't of the tree gets the studio's own two lines, never its text."""
    if isinstance(fault, FusionError):
        return fault.message(language), fault.hint(language)
    return notice_lines("fault", language)


def told(fault: BaseException) -> dict[str, tuple[str, str]]:
    """`error_lines` in each language."""
    return {language: error_lines(fault, language) for language in LANGUAGES}


def notice_lines(name: str, language: str, **facts: object) -> tuple[str, str]:
    """The two lines of something that only the page can meet (`page.notice.<name>`)."""
    return text(f"page.notice.{name}.message", language, **facts), text(f"page.notice.{name}.hint", language, **facts)


def provider_name(provider: str) -> str:
    """ "CPU" for "cpu"."""
    return PROVIDERS.get(provider, provider)


def model_name(name: str, language: str) -> str:
    """A model's name as people say it, where we have one for it."""
    key = f"page.header.{name}"
    return text(key, language) if has(key, language) else name


def stage_rows(timings: Timings, language: str) -> list[tuple[str, str, float]]:
    """(stage, its name, milliseconds) in the order in which they ran; what no stage claims comes last, so that the sum is the total."""
    rows = [(name, _stage_name(name, language), ms) for name, ms in timings.stages]
    rest = timings.total - sum(ms for _, _, ms in rows)
    if rest >= 0.5:
        rows.append(("other", _stage_name("other", language), rest))
    return rows


def _stage_name(name: str, language: str) -> str:
    return text(f"page.stage_name.{name}", language)


def fusion_lines(result: "FusionResult", saved: "Saved", timings: Timings, language: str) -> list[str]:
    """What the command says of a fusion that was saved: the file, each face, the mark, what one should know, the time."""
    kind = "marked" if saved.mark.kind == "watermark" else "labelled"
    stages = " · ".join(f"{name} {ms:.0f}" for name, ms in timings.stages)
    return [
        text("cli.fused", language, path=saved.path, width=saved.width, height=saved.height),
        *(text("cli.fused_face", language, face=face) for face in result.faces),
        text(f"cli.{kind}", language, id=saved.mark.id, labels=", ".join(saved.labels.names())),
        *note_sentences((*result.notes, *saved.notes), language),
        *([] if result.model.commercial else [text("cli.bound", language, licence=result.model.licence)]),
        text("cli.ran_on", language, model=result.model.name, provider=result.provider, total=timings.total, stages=stages),
    ]


def verification_lines(found: "Verification", language: str) -> list[str]:
    """A verdict for a person: the sentence, then what it rests on, layer by layer."""
    lines = [verdict_of(found, language)]
    for title, rows in layers(found, language):
        lines += [f"{title}:", *(f"  {name}: {value}" if name else f"  {value}" for name, value in rows)]
    return [*lines, text("provenance.note", language)]


def layers(found: "Verification", language: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The evidence, from what only this studio's key can make to what anybody can write, and a likeness: (title, [(name, value)])."""
    told = [
        ("mark", [("", sentence) for sentence in (mark_sentence(found, language), *heat_sentence(found, language))]),
        ("signature", credential_rows(found, language)),
        ("ledger", ledger_rows(found.kept, language)),
        ("labels", label_rows(found.labels, language)),
        ("others", others_rows(found, language)),
        *([] if found.video else [("looks", alike_rows(found.kept, language))]),
    ]
    nothing = [("", text("provenance.layer.nothing", language))]
    return [(text(f"provenance.layer.{name}", language), rows or nothing) for name, rows in told]


def verdict_of(found: "Verification", language: str) -> str:
    """The verdict in a sentence. It never says more than was found."""
    said: str = found.verdict
    if said == "made_here" and found.id is None:
        signed = found.credentials is not None and found.credentials.state == "ours"
        said = "signed_here" if signed else "kept_here"
    elif said == "made_here" and found.credentials is not None and found.credentials.state == "tampered":
        said = "changed_since"
    elif found.video:
        said += "_video"
    return text(f"provenance.verdict.{said}", language)


def mark_sentence(found: "Verification", language: str) -> str:
    """The watermark's id and how clearly it was read, or that there is none to read."""
    said = "video" if found.video else "id" if found.id else "none"
    return text(f"provenance.mark.{said}", language, id=found.id, score=found.score)


def heat_sentence(found: "Verification", language: str) -> list[str]:
    """In how much of the picture the watermark answers; [] where it wasn't read."""
    if found.heat is None:
        return []
    return [text("provenance.heat.share", language, warm=round(100 * found.heat.warm), asked=round(100 * found.heat.heard))]


def credential_rows(found: "Verification", language: str) -> list[tuple[str, str]]:
    """What is signed in a file, by whom, and whether it holds; [] where nothing is."""
    signed = found.credentials
    if signed is None:
        return []
    facts = {"signer": signed.signer or "–", "tool": signed.tool or "–"}
    faults = [text(f"provenance.fault.{name}", language) for name in signed.faults]
    rows = [("", " ".join((text(f"provenance.credentials.{signed.state}", language, **facts), *faults)))]
    if signed.broken:
        rows.append((text("provenance.credentials.broken", language), " · ".join(_part_words(part, language) for part in signed.broken)))
    if signed.stamped:
        rows.append((text("provenance.credentials.stamped", language), signed.stamped))
    return [*rows, ("", text("provenance.credentials.algorithmic", language))] if signed.algorithmic else rows


def _part_words(part: str, language: str) -> str:
    """A part of a manifest as people say it, its own name beside it."""
    key = f"provenance.part.{part.partition('__')[0].removesuffix('.v2').removesuffix('.v3')}"
    return f"{text(key, language)} ({part})" if has(key, language) else part


def others_rows(found: "Verification", language: str) -> list[tuple[str, str]]:
    """What other tools left in the file, as what they are: claims."""
    names = [name for name in found.labels.others if found.credentials is None or not name.startswith("c2pa")]
    rows = [("", text(f"provenance.label.{name}", language)) for name in names]
    if found.foreign is not None:
        named = text(f"provenance.foreign.name.{found.foreign.name}", language)
        facts = {"method": found.foreign.method, "right": found.foreign.right, "bits": found.foreign.bits}
        rows.insert(0, ("", text("provenance.foreign.row", language, name=named, **facts)))
    return rows + [(name, value) for name, value in found.labels.texts]


def label_rows(found: "FoundLabels", language: str) -> list[tuple[str, str]]:
    """The labels as (name, value): the standard's own term, and its meaning where we know it."""
    rows = []
    values = found.labels.as_dict()
    values.pop("settings", None)
    for field, value in values.items():
        kept = field == "derived_from" and value == found.labels.id
        meaning = text("provenance.derived.kept", language) if kept else _meaning(field, value, language)
        rows.append((text(f"provenance.field.{field}", language), f"{value} ({meaning})" if meaning else value))
    rows += [(text("provenance.field.settings", language), preset_words(preset, language)) for preset in found.labels.settings]
    return rows


def preset_words(preset: "Preset", language: str) -> str:
    """A preset with what differs in it from the standard: "Gentle: Strength 70 · Marks and make-up: off"."""
    from engines.provenance.recipe import CUSTOM

    kind, _, digest = preset.name.partition("-")
    name = text("provenance.settings.custom", language, digest=digest).rstrip() if kind == CUSTOM else preset.name
    if has(f"page.preset.{preset.name}", language):
        name = text(f"page.preset.{preset.name}", language)
    return text("provenance.settings.of", language, preset=name, options=value_words(preset.options, language)) if preset.options else name


def label_names(names: Iterable[str], language: str) -> str:
    """ "IPTC digital source type, AIGC label (GB 45438)"."""
    return ", ".join(text(f"provenance.label.{name}", language) for name in names)


def _meaning(field: str, value: str, language: str) -> str:
    section = {"digital_source_type": "source_type", "aigc_label": "aigc"}.get(field)
    key = f"provenance.{section}.{value}"
    return text(key, language) if section and has(key, language) else ""
