"""How a process ended, in words: its exit code, a signal, or the system for want of memory.

Invariant: memory is named only where the system has counted a process that it ended for want of it meanwhile.
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Final

_COUNTERS: Final = Path("/proc/vmstat")


def count_memory_kills() -> int:
    """Return how many processes the system has ended for lack of memory; 0 if it does not say."""
    try:
        lines = _COUNTERS.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def describe_exit(code: int, memory_kills_before: int) -> str:
    """Describe how a process ended.

    Args:
        code: its exit code, or less than 0 for a signal.
        memory_kills_before: the result of ``count_memory_kills`` before the process started.
    """
    if code >= 0:
        return f"exit code {code}"
    name = next((each.name for each in signal.Signals if each == -code), str(-code))
    if -code == signal.SIGKILL and count_memory_kills() > memory_kills_before:
        return f"signal {name}, while the system ended processes for want of memory"
    return f"signal {name}"
