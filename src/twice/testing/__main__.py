"""The process that executes examples: ``python -m twice.testing``.

As a zygote it measures its environment once and forks for every execution.

Invariant: what it does is decided by the one job that it receives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from twice.diagnosing import zygote
from twice.foundation.fingerprint import Fingerprint
from twice.recording.environment import measure
from twice.recording.interrupts import ignore
from twice.recording.program import user_modules
from twice.recording.sealing.namespace import cut_off
from twice.recording.serving import serve
from twice.recording.wire import Channel
from twice.recording.writing import record_here
from twice.replaying.session_child import branch_here, replay_here


@functools.cache
def _measured() -> Fingerprint:
    return measure()


def _zygote(job: Mapping[str, Any], channel: Channel) -> None:
    """Measure what every execution needs, then fork for every job that follows."""
    del job
    _measured()
    user_modules()  # asks of every loaded file whose it is, and remembers
    zygote.serve_forks(channel, handle)


def _hold(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute an example. What it needs loads numpy, whose threads would keep a process from a world."""
    from twice.testing.executing import hold

    hold(job, channel, _measured())


HANDLERS: dict[str, Callable[[Mapping[str, Any], Channel], None]] = {
    "branch": branch_here,
    "record": lambda job, channel: record_here(job, channel, measured=_measured()),
    "replay": replay_here,
    "verify": _hold,
    zygote.ACTION: _zygote,
}


def handle(job: Mapping[str, Any], channel: Channel) -> None:
    """Dispatch one job, in a network namespace of its own where that can be had."""
    held = bool(job.get("cut_off")) and cut_off()
    HANDLERS[job["action"]]({"added": {}, **job, "held": held}, channel)


if __name__ == "__main__":
    ignore()
    serve(handle)
