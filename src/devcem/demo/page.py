"""index.html: what the demo made, on one page."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pandas as pd

from devcem.demo.learning import Learnt
from devcem.files import write_text
from devcem.labels import Dataset
from devcem.labels.importers import Summary

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
img { max-width: 100%; border: 1px solid #ddd }
table { border-collapse: collapse }
td, th { padding: .15rem .8rem; text-align: right }
td:first-child, th:first-child { text-align: left }
tr:nth-child(even) { background: #f5f5f5 }
.notice { background: #fff3e0; padding: .5rem 1rem }
"""

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>DeVCEM demo</title><style>{style}</style>
<h1>DeVCEM demo</h1>
<p class="notice"><b>Synthetic video. Research use only, not a medical device.</b></p>
<h2>A collection with known truth</h2>
<p>{segments} segments, {frames:,} frames, {patients} patients, in <code>collection/</code>. Each segment
carries tags alone; where each label is seen is kept for scoring.</p>
<img src="segments.jpg" alt="Segments and where their labels are seen">
<h2>What it holds</h2>
<img src="stats/stats.png" alt="Videos a class, and classes that occur together">
<h2>Burnt-in text is masked</h2>
<p>Time, date and id stand outside the lens view. They are gone before a frame is stored or learnt from.</p>
<img src="mask.png" alt="A frame before and after masking">
<h2>From an exam and a reader's tags to a dataset</h2>
<p>{tags} tags of <code>exam/</code> gave {imported} segments of {imported_frames:,} frames in
<code>imported/</code>; {to_review} tags want a look by a person.</p>
{imported_classes}
<h2>A model learnt from the tags</h2>
<p>{method} learnt from the tags of {train} segments ({patients_train} patients); {validation} more chose its
epoch and its thresholds. No truth of frames was opened. All of it lies in <code>run/</code>.</p>
<img src="run/curves.png" alt="Loss and validation by epoch">
<h2>Judged on other patients</h2>
<p>{test} test segments of {patients_test} patients it has not met, from <code>evaluation/</code>. AUROC: 0.5
is chance. A class has very few positive segments here: its figure alone may be luck. Precision, recall
and F1 are at the model's thresholds. The last column asks whether, within a segment, the frames that show the
class score higher than those that do not.</p>
{judged}
<h2>One clip of theirs</h2>
<p><code>{source}</code>, the test segment with the most labels ({labels}), from <code>analysis/</code>.</p>
<img src="analysis/strip.png" alt="Frames of a test clip, attention, scores and truth">
<h2>What features tell</h2>
<p>Linear probes on single frames, judged on patients they have not seen (AUROC; 0.5 is chance). Where colours
alone do as well as a network, the class is a matter of colour in this collection.</p>
<img src="probe.png" alt="AUROC a class and encoder">
{probe}
</html>
"""


def write_page(out: Path, dataset: Dataset, imported: Summary, learnt: Learnt, probe: pd.DataFrame) -> Path:
    """The page, with the pictures that lie beside it."""
    carried = [(name, count) for name, count in imported.segments_by_class.items() if count]
    page, on, judged = out / "index.html", learnt.judged.model.info.trained_on, learnt.judged.summary()
    text = PAGE.format(
        style=STYLE,
        segments=len(dataset.segments),
        frames=sum(map(len, dataset.segments)),
        patients=len({segment.patient for segment in dataset.segments}),
        tags=len(imported.tags),
        imported=imported.segments,
        imported_frames=imported.frames,
        to_review=len(imported.to_review),
        imported_classes=_table(pd.DataFrame(carried, columns=["class", "segments"])),
        method=learnt.judged.model.info.method,
        train=on.segments,
        patients_train=on.patients,
        validation=on.validation_segments,
        test=judged["segments"],
        patients_test=judged["patients"],
        judged=_table(learnt.table),
        source=escape(learnt.clip.source),
        labels=escape(", ".join(learnt.clip.labels)),
        probe=_table(probe),
    )
    write_text(page, text)
    return page


def _table(rows: pd.DataFrame) -> str:
    lines: list[list[object]] = [list(rows.columns), *rows.to_numpy(object).tolist()]
    cells = ["".join(f"<td>{escape(_shown(cell))}</td>" for cell in line) for line in lines]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in cells)}</table>"


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        return "" if cell != cell else f"{cell:.3f}"
    return str(cell)
