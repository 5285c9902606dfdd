"""A module run in a process of its own, because it may crash or never return.

Invariant: what happens to that process is an answer here, and no exception.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence


def run_apart(module: str, arguments: Sequence[str], timeout_s: float) -> bytes | None:
    """Run ``python -m module`` that may crash or never return.

    Returns:
        What it printed; None where it failed, or did not end within ``timeout_s`` seconds.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
