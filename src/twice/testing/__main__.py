"""The process that executes examples: ``python -m twice.testing``.

As a server it measures its environment once and forks for every execution.

Invariant: what it does is decided by the one job that it receives.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from twice.foundation.environment import Fingerprint
from twice.recording.environment import measure
from twice.recording.program import user_modules
from twice.recording.serving import Handler, serve_actions
from twice.recording.writing import record_here
from twice.replayer.session_worker import branch_here, replay_here
from twice.worker.channel import Channel


@functools.cache
def _measured() -> Fingerprint:
    return measure()


def _prepare() -> None:
    """Measure what every execution needs."""
    _measured()
    user_modules()  # asks of every loaded file whose it is, and remembers


def _hold(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute an example. What it needs loads numpy, whose threads would keep a process from a world."""
    from twice.testing.executing import hold

    hold({"added": {}, **job}, channel, _measured())


ACTIONS: dict[str, Handler] = {
    "branch": branch_here,
    "record": lambda job, channel: record_here(job, channel, measured=_measured()),
    "replay": replay_here,
    "verify": _hold,
}

if __name__ == "__main__":
    serve_actions(ACTIONS, _prepare)
