"""What a benchmark runs: methods, seeds, and what each run is told."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from devcem.config import assignments, checked, differences, merged
from devcem.errors import UserError
from devcem.files import make_folder, write_text
from devcem.labels import Dataset
from devcem.methods import describe, names
from devcem.training.settings import PRESETS, PUBLISHED, TrainSettings, preset

NOTE = "benchmark.json"


@dataclass(frozen=True)
class Plan:
    """Methods and seeds can grow from call to call: what is there already is not run again."""

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    preset: str = "fast"
    words: tuple[str, ...] = ()  # key=value, over the preset, for every method
    split: str = "test"

    def settings(self, method: str, seed: int, window: int | None = None) -> TrainSettings:
        """As `devcem train` would have them. A preset that a method lacks is `fast` for it."""
        if self.preset == PUBLISHED and not describe(method).published:
            layer = PRESETS["fast"]
        else:
            layer = preset(self.preset, method)
        base = {} if window is None else {"data": {"window": window}}
        own = assignments(self.words)
        if describe(method).kind == "classical":  # which learns from features, whatever the others do
            own = merged(own, {"encoder": {"train": False}})
        return checked(TrainSettings, merged(base, layer, own, {"method": method, "seed": seed}))

    @property
    def end_to_end(self) -> bool:
        return any(self.settings(method, 0).encoder.train for method in self.methods)

    @property
    def jobs(self) -> list[tuple[str, int]]:
        """Seed by seed, so that a benchmark cut short has every method once."""
        return [(method, seed) for seed in self.seeds for method in self.methods]


def chosen(words: list[str]) -> tuple[str, ...]:
    """Names of methods; `all`, `deep` and `classical` stand for many. A wrong one is refused by name."""
    groups = {"all": names(), "deep": names("deep"), "classical": names("classical")}
    found: dict[str, None] = {}
    for word in (part.strip() for words_ in words for part in words_.split(",")):
        for name in groups.get(word) or [describe(word).name]:
            found[name] = None
    return tuple(found)


def begin(out: Path, plan: Plan, data: Dataset) -> None:
    """Write down what the folder's runs have in common, or refuse to mix them with others."""
    common: dict[str, Any] = {
        "dataset": data.name,
        "classes": list(data.classes),
        "segments": _digest(data),
        "split": plan.split,
        "preset": plan.preset,
        "set": list(plan.words),
    }
    note = out / NOTE
    if note.is_file():
        before = json.loads(note.read_text(encoding="utf-8"))
        if changed := differences(before, common):
            remedy = "choose another --out, or ask for what it was begun with"
            raise UserError(f"the folder holds another benchmark: {'; '.join(changed)}", out, remedy)
        return
    if out.is_dir() and any(not path.name.startswith(".") for path in out.iterdir()):
        raise UserError("the folder holds something that is no benchmark", out, "choose another --out")
    make_folder(out)
    write_text(note, json.dumps(common, indent=1))


def _digest(data: Dataset) -> str:
    """Changes with any segment, split or label: figures of before and after must not stand in one table."""
    rows = [asdict(segment) for segment in data.segments]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
