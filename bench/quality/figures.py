"""All figures of one fused pair, and their medians over pairs."""

import statistics
from collections.abc import Sequence
from typing import Any

from bench.quality import measures
from bench.quality.fusing import Fused, Refused
from bench.quality.occluders import drawn
from bench.quality.scene import Scene, cut, own_features
from bench.quality.witness import Witness

# What every pair of the JSON answers, then what is told besides.
FIGURES = (
    *("identity_before", "identity_after", "expression_px", "pose_deg", "seam_ratio", "band_step_de", "cast_p95_de"),
    *("sharpness_ratio", "grain_ratio", "lid_ratio", "occluder_kept", "outside_changed"),
)
FURTHER = (
    *("expression_percent", "cast_mean_de", "neck_de", "feature_ratio", "lid_left", "lid_right", "tooth_ratio", "white_ratio"),
    *("occluder_correlation", "painted_share", "face_px", "detected", "seconds"),
)
FAR = 0.75  # identity distance from which a pair starts far enough apart to count for the aims on identity
ROUND = 4
LINE = 0.035  # of the face's width: how far round a hand-drawn line its edges are looked for


def of(fused: Fused, witness: Witness, stem: str) -> tuple[dict[str, Any], Scene]:
    """The figures of a fusion by name, and the scene that they were measured on. `stem`: the target's."""
    source = witness.look(fused.source, fused.source_box)
    target, result = (witness.look(pixels, fused.target_box) for pixels in (fused.target, fused.result))
    scene = cut(fused.target, fused.result, fused.mask, *(seen.mesh.points.astype("float64") for seen in (target, result)))
    px, percent, turned = measures.expression(scene)
    cast_p95, cast_mean = measures.cast(scene)
    texture, light = measures.texture(scene), measures.brightness(scene)
    left, right = measures.lids(scene)
    lines = drawn(stem, *fused.target.shape[:2], LINE * scene.width)
    kept, correlation = (None, None) if lines is None else measures.occluder_kept(scene, lines[scene.window] & ~own_features(scene))
    found = {
        "identity_before": source.away(target),
        "identity_after": source.away(result),
        "expression_px": px,
        "pose_deg": turned,
        "seam_ratio": measures.seam(scene),
        "band_step_de": measures.band_step(scene),
        "cast_p95_de": cast_p95,
        "sharpness_ratio": texture["sharpness"],
        "grain_ratio": texture["grain"],
        "lid_ratio": max(left, right, key=lambda ratio: abs(ratio - 1)),
        "occluder_kept": kept,
        "outside_changed": measures.outside_changed(fused.target, fused.result, fused.mask),
        "expression_percent": percent,
        "cast_mean_de": cast_mean,
        "neck_de": measures.neck(scene),
        "feature_ratio": texture["features"],
        "lid_left": left,
        "lid_right": right,
        "tooth_ratio": light["teeth"],
        "white_ratio": light["whites"],
        "occluder_correlation": correlation,
        "painted_share": measures.painted_share(scene),
        "face_px": scene.width,
        "detected": result.detected,
        "seconds": fused.seconds,
    }
    return {name: round(value, ROUND) if isinstance(value, float) else value for name, value in found.items()}, scene


def entry(source: str, target: str, found: dict[str, Any] | Refused) -> dict[str, Any]:
    """One pair of the JSON; a refused one has its reason and no figures."""
    names = {"source": source, "target": target}
    if isinstance(found, Refused):
        return names | dict.fromkeys(FIGURES) | {"verdict": found.reason}
    return names | {name: found[name] for name in FIGURES} | {"verdict": "fused"} | {name: found[name] for name in FURTHER}


def summary(pairs: Sequence[dict[str, Any]]) -> dict[str, float | int]:
    """Medians over the fused pairs, each over those that have the figure."""
    fused = [pair for pair in pairs if pair["verdict"] == "fused"]
    out: dict[str, float | int] = {"fused": len(fused), "refused": len(pairs) - len(fused)}
    for name in (*FIGURES, *FURTHER):
        values = [float(pair[name]) for pair in fused if pair.get(name) is not None]
        if values and name != "detected":
            out[f"{name}_median"] = round(statistics.median(values), ROUND)
    far = [pair for pair in fused if pair["identity_before"] > FAR]
    if far:
        gain = [pair["identity_before"] - pair["identity_after"] for pair in far]
        out["identity_gain_median"] = round(statistics.median(gain), ROUND)
        out["identity_after_far_median"] = round(statistics.median(pair["identity_after"] for pair in far), ROUND)
    if fused:
        changes = [statistics.mean(abs(pair[side] - 1) for side in ("lid_left", "lid_right")) for pair in fused]
        out["lid_change_median"] = round(statistics.median(changes), ROUND)
        out["outside_changed_total"] = sum(pair["outside_changed"] for pair in fused)
    return out
