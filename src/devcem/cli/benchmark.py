"""`devcem benchmark`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from devcem.cli.app import RESEARCH_USE, Stopped, app, emit
from devcem.cli.train import Preset
from devcem.errors import SOME_FAILED


@app.command(
    epilog="Example: devcem benchmark my-dataset --methods ps-devcem,attention-mil --seeds 3 --out bench"
)
def benchmark(
    dataset: Annotated[Path, typer.Argument(help="A dataset folder with the splits train and test.")],
    out: Annotated[Path, typer.Option(help="Folder for runs, tables, report.html.")],
    methods: Annotated[
        list[str] | None,
        typer.Option(help="all, deep, classical, or names with commas between. Default: all."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs a method: seeds 0, 1, ...")] = 3,
    preset: Annotated[
        Preset, typer.Option(help="As in devcem train; one that a method lacks is fast.")
    ] = Preset.fast,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="key=value for every method; may be repeated.")
    ] = None,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Train the encoder too, where the method can.")
    ] = False,
    split: Annotated[str, typer.Option(help="Which segments judge.")] = "test",
    workers: Annotated[int, typer.Option(min=0, help="Runs at a time; 0: as many as cores.")] = 0,
    cache: Annotated[
        Path | None, typer.Option(help="Folder for features; default: .features in the dataset.")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Train nothing: make tables anew from finished runs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Train and judge many methods; what is finished is not done again, so that it goes on after any kill."""
    from devcem.benchmark import Plan, run_benchmark, write_report
    from devcem.benchmark.plan import chosen
    from devcem.labels import load_dataset
    from devcem.parallel import cores

    words = (*(set_ or ()), *(("encoder.train=true",) if end_to_end else ()))
    plan = Plan(chosen(methods or ["all"]), tuple(range(seeds)), preset.value, words, split)
    try:
        failures = [] if report else run_benchmark(dataset, out, plan, workers or cores(), cache)
    except KeyboardInterrupt:
        raise Stopped(f"the same command goes on with {out}.") from None
    page = write_report(load_dataset(dataset), out, plan, cache)
    if as_json:
        emit({"out": out, "page": page, "failures": [asdict(one) for one in failures]})
    else:
        for one in failures:
            print(f"{one.run} failed: {one.reason} ({one.log})")
        for table in ("table2", "table3"):
            if (path := out / "tables" / f"{table}.md").is_file():
                print(path.read_text(encoding="utf-8"))
        print(f"Open {page}. {RESEARCH_USE}")
    if failures:
        raise typer.Exit(SOME_FAILED)
