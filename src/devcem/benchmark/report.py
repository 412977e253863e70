"""Tables in four formats, figures in two, and one page with all of them."""

from __future__ import annotations

from pathlib import Path

from devcem.benchmark.collecting import collect
from devcem.benchmark.figures import write_figures
from devcem.benchmark.plan import Plan
from devcem.benchmark.tables import tables
from devcem.errors import UserError
from devcem.evaluation.folder import FIGURES, PAGE, page
from devcem.files import make_folder, write_text
from devcem.labels import Dataset

TABLES = "tables"


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
    write_text(out / PAGE, page(f"Benchmark on {data.name}", results.notices, list(sheets.values()), drawn))
    return out / PAGE
