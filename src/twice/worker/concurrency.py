"""Calls that do not depend on each other, at the same time.

For: executions, which are processes of their own; the threads here only wait for them.

Invariant: results stand in the order of the calls, whatever finished first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Final, TypeVar

_Result = TypeVar("_Result")
_LOOK_EVERY_S: Final = 0.5


def run_concurrently(calls: Sequence[Callable[[], _Result]]) -> list[_Result]:
    """Return the results of some calls, made at once as far as there are cores.

    The first call that raises, in the order of the calls, raises here; the others end first.
    """
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    workers = min(len(calls), cores)
    if workers < 2:
        return [call() for call in calls]
    pool, interrupted = ThreadPoolExecutor(workers, thread_name_prefix="executing"), False
    try:
        waiting = [pool.submit(call) for call in calls]
        # A wait without a limit does not see an interrupt that the system delivers to another thread.
        while wait(waiting, _LOOK_EVERY_S).not_done:
            pass
        return [each.result() for each in waiting]
    except (KeyboardInterrupt, SystemExit):
        interrupted = True  # the owner of the processes ends them
        raise
    finally:
        pool.shutdown(wait=not interrupted, cancel_futures=True)
