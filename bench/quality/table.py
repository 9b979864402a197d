"""The figures as a table: for the terminal, and for the docs."""

from collections.abc import Sequence
from typing import Any

COLUMNS = (
    ("identity", ("identity_before", "identity_after"), "{:.2f} → {:.2f}"),
    ("expression %", ("expression_percent",), "{:.1f}"),
    ("pose °", ("pose_deg",), "{:.1f}"),
    ("seam", ("seam_ratio",), "{:.2f}"),
    ("band step", ("band_step_de",), "{:.1f}"),
    ("cast p95", ("cast_p95_de",), "{:.1f}"),
    ("neck", ("neck_de",), "{:+.1f}"),
    ("sharp", ("sharpness_ratio",), "{:.2f}"),
    ("grain", ("grain_ratio",), "{:.2f}"),
    ("lids", ("lid_left", "lid_right"), "{:.2f} {:.2f}"),
    ("teeth", ("tooth_ratio",), "{:.2f}"),
    ("whites", ("white_ratio",), "{:.2f}"),
    ("occluder", ("occluder_kept",), "{:.0%}"),
    ("painted", ("painted_share",), "{:.0%}"),
    ("outside", ("outside_changed",), "{:.0f}"),
)
MEDIANS = ("expression_percent", "pose_deg", "seam_ratio", "band_step_de", "cast_p95_de", "neck_de", "sharpness_ratio", "grain_ratio")
MEDIANS += ("feature_ratio", "lid_change", "tooth_ratio", "white_ratio", "occluder_kept", "painted_share", "seconds")


def rows(pairs: Sequence[dict[str, Any]]) -> list[list[str]]:
    """A heading, then a line a pair, cells as text; with a prototype's figures, "its → ours" in each cell."""
    out = [["pair", *(name for name, _, _ in COLUMNS)]]
    for pair in pairs:
        first = pair.get("prototype")
        name = f"{pair['source']} → {pair['target']}" + (f" #{pair['face']}" if pair.get("face") is not None else "")
        if first is None:
            out.append([name, *_cells(pair)])
        else:
            cells = [a if a == b else f"{a} / {b}" for a, b in zip(_cells(first), _cells(pair), strict=True)]
            out.append([name, *cells])
    return out


def text(pairs: Sequence[dict[str, Any]], summary: dict[str, Any]) -> str:
    """For the terminal."""
    lines = rows(pairs)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    told = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    told.insert(1, "-" * len(told[0]))
    return "\n".join([*told, "", *("  ".join(line) for line in medians(summary))])


def markdown(pairs: Sequence[dict[str, Any]], summary: dict[str, Any]) -> str:
    """Both tables for a page of the docs."""
    return "\n\n".join(_table(lines) for lines in (medians(summary), rows(pairs))) + "\n"


def medians(summary: dict[str, Any]) -> list[list[str]]:
    """A heading, then the median of each figure, the prototype's first where there is one."""
    both = any(name.startswith("prototype_") for name in summary)
    names = ["identity_before", "identity_after_far", "identity_gain", *MEDIANS]
    out = [["median", *(["prototype"] if both else []), "now"]]
    for name in names:
        keys = ([f"prototype_{name}_median"] if both else []) + [f"{name}_median"]
        out.append([name, *(f"{summary[key]:.2f}" if key in summary else "–" for key in keys)])
    keys = (["prototype_fused"] if both else []) + ["fused"]
    return [*out, ["pairs fused", *(str(summary.get(key, 0)) for key in keys)]]


def _cells(pair: dict[str, Any]) -> list[str]:
    if pair["verdict"] != "fused":
        return [pair["verdict"], *[""] * (len(COLUMNS) - 1)]
    return ["–" if any(pair.get(n) is None for n in names) else form.format(*(pair[n] for n in names)) for _, names, form in COLUMNS]


def _table(lines: Sequence[Sequence[str]]) -> str:
    told = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([told[0], "|" + " --- |" * len(lines[0]), *told[1:]])


def headline(pair: dict[str, Any]) -> str:
    """One pair's figures in a line."""
    if pair["verdict"] != "fused":
        return f"not fused: {pair['verdict']}"
    return ", ".join(f"{name} {cell}" for (name, _, _), cell in zip(COLUMNS, _cells(pair), strict=True))
