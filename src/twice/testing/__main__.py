"""The process that executes examples: ``python -m twice.testing``.

As a server it measures its environment once and forks for every execution.

Invariant: what it does is decided by the one job that it receives.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from twice.foundation.environment import Fingerprint
from twice.recorder.child import serve_actions
from twice.recorder.environment.fingerprint import measure
from twice.recorder.record_session import record_here
from twice.recorder.user_code import list_user_modules
from twice.replayer.session_worker import branch_here, replay_here
from twice.worker.channel import Channel


@functools.cache
def _measured() -> Fingerprint:
    return measure()


def _prepare() -> None:
    """Measure what every execution needs."""
    _measured()
    list_user_modules()  # asks of every loaded file whose it is, and remembers


def _execute(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute an example. What it needs loads numpy, whose threads would keep a process from a world."""
    from twice.testing.execution import execute_example

    execute_example(job, channel, _measured())


if __name__ == "__main__":
    actions = {
        "branch": branch_here,
        "record": lambda job, channel: record_here(job, channel, measured=_measured()),
        "replay": replay_here,
        "verify": _execute,
    }
    serve_actions(actions, _prepare)
