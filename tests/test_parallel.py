from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from operator import call
from pathlib import Path

import pytest
import torch

from devcem.parallel import AHEAD, cores, in_parallel


@pytest.mark.parametrize("workers", [1, 2])
def test_in_order_on_one_thread_a_process_and_few_under_way(workers: int) -> None:
    before = torch.get_num_threads()
    drawn = 0

    def jobs() -> Iterator[Callable[[], object]]:
        nonlocal drawn
        for number in range(30):
            drawn += 1
            yield (torch.get_num_threads, os.getpid, partial(math.isqrt, number * number))[number % 3]
        yield partial(math.isqrt, -1)

    results = in_parallel(call, jobs(), workers)
    assert next(results) == 1
    assert drawn <= workers * AHEAD
    assert (next(results) == os.getpid()) == (workers == 1)
    rest = [next(results) for _ in range(28)]
    assert rest[0::3] == [2, 5, 8, 11, 14, 17, 20, 23, 26, 29]
    assert set(rest[1::3]) == {1}
    with pytest.raises(ValueError, match="nonnegative"):
        next(results)
    assert torch.get_num_threads() == before


def test_cores() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)


ORPHANS = """
import os, time
from operator import call
from devcem.parallel import in_parallel
if __name__ == "__main__":
    for process in in_parallel(call, [os.getpid] * 30 + [time.monotonic] * 100_000_000, 2):
        print(process, flush=True)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = {int(parent.stdout.readline()) for _ in range(20)}
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(_alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.1)


def _alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"
