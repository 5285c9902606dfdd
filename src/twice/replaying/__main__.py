"""The process that executes a recorded program again: ``python -m twice.replaying``.

Invariant: what it does is decided by the one job that it receives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twice.recording.interrupts import ignore
from twice.recording.sealing.namespace import cut_off
from twice.recording.serving import serve
from twice.recording.wire import Channel
from twice.replaying.replaying_child import verify_here
from twice.replaying.session_child import branch_here, replay_here

HANDLERS: dict[str, Callable[[Mapping[str, Any], Channel], None]] = {
    "branch": branch_here,
    "replay": replay_here,
    "verify": verify_here,
}


def handle(job: Mapping[str, Any], channel: Channel) -> None:
    """Dispatch one job, in a network namespace of its own where that can be had."""
    held = bool(job.get("cut_off")) and cut_off()
    HANDLERS[job["action"]]({**job, "held": held}, channel)


if __name__ == "__main__":
    ignore()
    serve(handle)
