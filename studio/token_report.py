"""What goes to people who weren't there: a page to print, and a table for a spreadsheet. No picture and no file's path is in either."""

import csv
import io
from html import escape

from engines import __version__
from engines.tokens.savings import Savings
from studio.i18n import say
from studio.token_chart import chart
from studio.token_panels import savings_table, summary

STYLE = (
    "body{font:14px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif;"
    "max-width:1100px;margin:24px auto;padding:0 16px;color:#1a1d23;background:#fff}"
    "h1{font-size:22px;margin:0 0 8px}table{border-collapse:collapse;width:100%;font-size:11px;font-variant-numeric:tabular-nums}"
    "th,td{padding:3px 6px;border-bottom:1px solid #dfe1e5;text-align:right;font-weight:400}th:first-child,td:last-child{text-align:left}"
    "thead th{color:#545b67}.fs-best{font-weight:600}.fs-best th{font-weight:600}.fs-costs{color:#a14a04}"
    "svg{width:100%;height:auto;break-inside:avoid}"
    "p,figcaption{color:#545b67;font-size:12px}figure{margin:16px 0}tr{break-inside:avoid}@page{size:A4 landscape;margin:12mm}"
)  # fmt: skip


def report(found: Savings, name: str, day: str, language: str) -> str:
    """A page of its own, in one file, that the browser prints or saves as PDF.

    Args:
        name: of the picture, as its owner calls it. day: on which it was made.
    """
    title = say("visual.report_title", language)
    made = say("visual.report_made", language, name=name, day=day, version=__version__)
    prices = "".join(
        f"<li>{escape(row.model.title)}: {row.price.input:g} {row.price.currency} · {escape(row.price.product)} · "
        f"{escape(row.price.source or say('visual.price_typed_short', language))} · {escape(row.price.date)}</li>"
        for row in found.rows
        if row.price is not None
    )
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style></head><body>'
        f"<h1>{title}</h1><p>{made}</p>{summary(found, language)}"
        f"<figure><figcaption>{say('visual.chart', language, size=found.size)}</figcaption>{chart(found, language)}</figure>"
        f"{savings_table(found, language, folded=False)}<p>{say('visual.formula', language)}</p>"
        f"<p>{say('visual.report_prices', language)}</p><ul>{prices}</ul></body></html>"
    )


def as_csv(found: Savings) -> str:
    """A row a model, in plain numbers, under the names of the JSON; UTF-8 with a mark, which spreadsheets need to see."""
    told = found.as_dict(None)
    sides = list(told["rows"][0]["crop"]) if told["rows"] else []
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    heads = ["model", "title", "photo", "shrunk", *(f"crop_{side}" for side in sides), "saving_vs_photo", "saving_vs_shrunk", "compression"]
    heads += [
        "context_use_photo",
        "context_use_crop",
        "window",
        "price_per_million",
        "currency",
        "price_for",
        "price_date",
        "source",
        "date",
    ]
    writer.writerow(heads)
    for row, values in zip(found.rows, told["rows"], strict=True):
        price = values["price"] or {}
        writer.writerow(
            [values["model"], row.model.title, values["photo"], values["shrunk"], *values["crop"].values()]
            + [values[key] for key in ("saving_vs_photo", "saving_vs_shrunk", "compression")]
            + [values["context_use"]["photo"], values["context_use"]["crop"], values["window"]]
            + [price.get(key) for key in ("input_per_million", "currency", "for", "date")]
            + [values["source"], values["date"]]
        )
    return "\ufeff" + stream.getvalue()
