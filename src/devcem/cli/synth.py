"""`devcem synth dataset` and `devcem synth exam`: video whose truth is known, without a patient."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from devcem.cli.app import RESEARCH_USE, app, emit

synth = typer.Typer(no_args_is_help=True, help="Render synthetic capsule endoscopy with known truth.")
app.add_typer(synth, name="synth", epilog="Example: devcem synth dataset gut --preset demo")


class Preset(StrEnum):
    demo = "demo"
    paper = "paper"


class Offset(StrEnum):
    random = "random"
    centre = "centre"


class Format(StrEnum):
    avi = "avi"
    mp4 = "mp4"
    jpg = "jpg"


Out = Annotated[Path, typer.Argument(help="Folder to write; it appears when all of it is there.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same bytes.")]
Size = Annotated[int, typer.Option(min=32, max=2048, help="Side of a frame in pixels, even.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes; 0 takes all cores.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the folder once the new one is whole.")]


@synth.command(epilog="Example: devcem synth dataset gut --preset paper --seed 1")
def dataset(
    out: Out,
    preset: Annotated[
        Preset, typer.Option(help="paper: 40 patients, 455 segments as in the paper's Table 1.")
    ] = Preset.demo,
    offset: Annotated[
        Offset, typer.Option(help="Where a segment holds its tagged frame; a centred tag teaches position.")
    ] = Offset.random,
    seed: Seed = 0,
    size: Size = 256,
    format: Annotated[Format, typer.Option(help="Motion JPEG, H.264, or folders of pictures.")] = Format.avi,
    cameras: Annotated[int, typer.Option(min=1, max=2, help="2 films each stretch from both ends.")] = 1,
    segments: Annotated[int | None, typer.Option(min=1, help="Another number than the preset's.")] = None,
    patients: Annotated[int | None, typer.Option(min=1, help="Another number than the preset's.")] = None,
    workers: Workers = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Render a collection of tagged segments: a dataset folder with media, tags and frame truth."""
    from devcem.parallel import cores
    from devcem.synthetic import Order, write_collection

    order = Order(preset.value, offset.value, seed, _even(size), format.value, cameras, segments, patients)
    made = write_collection(out, order, workers or cores(), overwrite)
    summary = {
        "folder": str(out),
        "synthetic": True,
        "segments": len(made.segments),
        "frames": sum(map(len, made.segments)),
        "patients": len({segment.patient for segment in made.segments}),
    }
    if as_json:
        return emit(summary)
    print(f"{out}: {summary['segments']} synthetic segments, {summary['frames']} frames, ", end="")
    print(f"{summary['patients']} patients. {RESEARCH_USE}")
    print(f"Look at it: devcem data stats {out}")


@synth.command(epilog="Example: devcem synth exam exam1 --frames 50000 --seed 1")
def exam(
    out: Out,
    frames: Annotated[int, typer.Option(min=100, help="Real exams have about 50,000.")] = 50_000,
    seed: Seed = 0,
    size: Size = 512,
    format: Annotated[Format, typer.Option(help="H.264, Motion JPEG, or a folder of pictures.")] = Format.mp4,
    workers: Workers = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Render a whole exam with landmarks, events like those of real exams, and frame truth."""
    from devcem.parallel import cores
    from devcem.synthetic import ExamOrder, write_exam

    order = ExamOrder(frames, seed, _even(size), format.value)
    shown = write_exam(out, order, workers or cores(), overwrite)
    if as_json:
        return emit({"folder": str(out), "synthetic": True, **asdict(shown)})
    print(f"{out}: a synthetic exam of {shown.frames} frames. {RESEARCH_USE}")
    print(
        f"Disease in {shown.pathological:.1%} of the frames, in {shown.events} events: median length ", end=""
    )
    print(f"{shown.median_length:g}, longest {shown.longest}, {shown.four_to_eight:.0%} of 4 to 8 frames.")


def _even(size: int) -> int:
    if size % 2:
        raise typer.BadParameter("must be even: the video codecs want it", param_hint="--size")
    return size
