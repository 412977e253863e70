"""Memory that is kept between steps.

glibc gives every large block back to the system as soon as it is freed, and gets it anew, page by page, a
moment later: on a CPU that is a third to a half of an end-to-end step (benchmarks/training_step.py).
"""

from __future__ import annotations

import ctypes
import os
import platform

# mallopt's parameters, and what they are set to
TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
LARGEST, AHEAD = 2**31 - 1, 256 << 20


def keep_freed_memory() -> bool:
    """Ask glibc for it, for this process; False elsewhere, and where the user has set the allocator up."""
    if platform.libc_ver()[0] != "glibc" or any(name.startswith("MALLOC_") for name in os.environ):
        return False
    mallopt = ctypes.CDLL(None).mallopt
    wanted = ((MMAP_THRESHOLD, LARGEST), (TRIM_THRESHOLD, LARGEST), (TOP_PAD, AHEAD))
    return all(mallopt(parameter, value) == 1 for parameter, value in wanted)
