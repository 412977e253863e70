"""Tables in four formats, figures in two, and one page with all of them."""

from __future__ import annotations

import html
from pathlib import Path

from devcem.benchmark.collecting import collect
from devcem.benchmark.figures import write_figures
from devcem.benchmark.plan import Plan
from devcem.benchmark.sheet import Sheet
from devcem.benchmark.tables import tables
from devcem.errors import UserError
from devcem.files import make_folder, write_text
from devcem.labels import Dataset

PAGE, TABLES, FIGURES = "report.html", "tables", "figures"
NOTICE = "Research use only, not a medical device."
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 78rem; margin: 2rem auto }
table { border-collapse: collapse; margin: 1.5rem 0; font-variant-numeric: tabular-nums; font-size: 13px }
caption { text-align: left; padding-bottom: .4rem; max-width: 60rem }
th, td { padding: .25rem .6rem; text-align: right; white-space: nowrap }
th { border-bottom: 1px solid #444 }
th:first-child, td:first-child { text-align: left }
.grey { color: #888 }
.rule td { border-top: 1px solid #bbb }
.notice { background: #fff4e0; border-left: 4px solid #e08e45; padding: .5rem 1rem }
.wide { overflow-x: auto }
img { max-width: 100%; height: auto; border: 1px solid #eee }
"""


def write_report(data: Dataset, out: Path, plan: Plan, cache: Path | None = None) -> Path:
    """Made anew from what the runs said: no run is needed for it."""
    results = collect(data, out, plan, cache)
    if not results.runs:
        raise UserError("no run of this benchmark is finished", out, "run devcem benchmark without --report")
    sheets = tables(results)
    folder = out / TABLES
    make_folder(folder)
    for name, sheet in sheets.items():
        sheet.write(folder / name)
    make_folder(out / FIGURES)
    drawn = write_figures(results, out / FIGURES)
    write_text(out / PAGE, _page(data.name, results.notices, sheets, drawn))
    return out / PAGE


def _page(name: str, notices: tuple[str, ...], sheets: dict[str, Sheet], drawn: list[Path]) -> str:
    said = " ".join((*notices, NOTICE))
    body = "\n".join(f'<div class="wide" id="{key}">{sheet.html()}</div>' for key, sheet in sheets.items())
    pictures = "\n".join(_shown(path) for path in drawn)
    title = f"Benchmark on {html.escape(name)}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body><h1>{title}</h1>"
        f'<p class="notice">{html.escape(said)}</p>{body}{pictures}</body></html>\n'
    )


def _shown(path: Path) -> str:
    """Beside the page, so that it can be moved with its folder; a picture is shown once, from its PNG."""
    place = f"{FIGURES}/{path.name}"
    if path.suffix == ".png":
        vector = f"{FIGURES}/{path.stem}.svg"
        return f'<p><a href="{vector}"><img src="{place}" alt="{html.escape(path.stem)}"></a></p>'
    return f'<p><a href="{place}">{path.name}</a></p>' if path.suffix in (".mp4", ".avi") else ""
