"""How the page looks: a Gradio theme without a single fetched font, and what goes into `<head>`."""

import gradio as gr
from gradio.themes.utils import sizes
from gradio.themes.utils.colors import Color

# System fonts, then what the three systems call their Chinese; plain strings: Gradio fetches only its `GoogleFont`s.
FONTS = [
    "system-ui",
    "-apple-system",
    "Segoe UI",
    "Roboto",
    "PingFang SC",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "sans-serif",
]
SCRIPTS = (
    "kit",
    "fuse",
    "queue",
    "lens",
    "compare",
    "history",
    "panels",
    "prompt",
    "give",
    "points",
    "brush",
    "mask",
    "presets",
    "options",
    "gather",
    "person",
    "targets",
    "folder",
    "check",
    "picture",
    "map",
    "frame",
)  # in assets/theme, each on those before it
MONO = ["ui-monospace", "SF Mono", "Cascadia Mono", "Consolas", "Liberation Mono", "monospace"]

# One neutral scale and one accent. Pairs that carry text were measured (WCAG 2.2 relative luminance) and stand in
# tests/studio/test_theme.py with their ratios, all ≥ 4.5.
NEUTRAL = Color(
    name="neutral", c50="#f7f7f8", c100="#eeeff1", c200="#dfe1e5", c300="#c6c9d0", c400="#9aa0ab", c500="#6d7480",
    c600="#545b67", c700="#3c424d", c800="#262a32", c900="#1a1d23", c950="#121419",
)  # fmt: skip
ACCENT = Color(
    name="accent", c50="#eef3ff", c100="#dce6ff", c200="#bccfff", c300="#94b2ff", c400="#7a9dff", c500="#4a76ea",
    c600="#2f5bd0", c700="#2549aa", c800="#1e3b86", c900="#1a3068", c950="#101c3f",
)  # fmt: skip


def theme() -> gr.themes.Base:
    return gr.themes.Base(
        primary_hue=ACCENT,
        secondary_hue=ACCENT,
        neutral_hue=NEUTRAL,
        font=FONTS,
        font_mono=MONO,
        radius_size=sizes.radius_md,
        spacing_size=sizes.spacing_md,
        text_size=sizes.text_md,
    ).set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        body_text_color="*neutral_900",
        body_text_color_dark="*neutral_100",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_400",
        block_background_fill="transparent",
        block_background_fill_dark="transparent",
        block_border_width="0px",
        block_padding="0px",
        block_label_text_color="*neutral_600",
        block_label_text_color_dark="*neutral_400",
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_400",
        block_title_text_color="*neutral_900",
        block_title_text_color_dark="*neutral_100",
        input_background_fill="white",
        input_background_fill_dark="*neutral_900",
        input_border_color="*neutral_300",
        input_border_color_dark="*neutral_700",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_dark="*primary_400",
        button_primary_background_fill_hover_dark="*primary_300",
        button_primary_text_color="white",
        button_primary_text_color_dark="*neutral_950",
        button_secondary_background_fill="white",
        button_secondary_background_fill_hover="*neutral_100",
        button_secondary_background_fill_dark="*neutral_800",
        button_secondary_background_fill_hover_dark="*neutral_700",
        button_secondary_text_color="*neutral_900",
        button_secondary_text_color_dark="*neutral_100",
        button_secondary_border_color="*neutral_300",
        button_secondary_border_color_dark="*neutral_700",
        slider_color="*primary_600",
        slider_color_dark="*primary_400",
        color_accent_soft="*primary_50",
        color_accent_soft_dark="*primary_950",
    )


def head(version: str) -> str:
    """What the page's `<head>` gets besides Gradio's own. `version` makes a new release fetch the files again."""
    scripts = "".join(f'<script src="/theme/{name}.js?v={version}"></script>' for name in SCRIPTS)
    sheets = "".join(f'<link rel="stylesheet" href="/theme/{name}.css?v={version}">' for name in ("studio", "compare", "tokens", "mask"))
    return (
        f"{sheets}{scripts}"
        '<link rel="icon" href="/theme/icon.svg" type="image/svg+xml"><link rel="apple-touch-icon" href="/theme/icon-192.png">'
        '<meta name="theme-color" content="#f7f7f8" media="(prefers-color-scheme: light)">'
        '<meta name="theme-color" content="#121419" media="(prefers-color-scheme: dark)">'
    )
