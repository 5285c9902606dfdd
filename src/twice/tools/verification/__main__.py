"""The process that carries out trials: ``python -m twice.tools.verification``.

It loads the registry once, in its surroundings, and forks for every trial; where it cannot fork, a
process carries out one trial. Every trial begins in an empty folder, and what tools print is dropped.

Invariant: it answers once and ends.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from twice.recorder.child import serve, serve_forks
from twice.recorder.environment.fingerprint import measure, settings_at_start
from twice.recorder.interrupts import ignore
from twice.tools.errors import CallRefused
from twice.tools.registry import Registry, find_registry
from twice.tools.verification.attempts import Attempt
from twice.tools.verification.describing import described
from twice.tools.verification.trial import refused, try_once
from twice.worker.channel import Channel
from twice.worker.fork_server import ACTION


def handle(job: Mapping[str, Any], channel: Channel) -> None:
    """Load the registry, then fork for jobs or do the one that came."""
    settings = settings_at_start()
    if job["folder"] not in sys.path:
        sys.path.insert(0, job["folder"])
    registry = find_registry(job["registry"])
    if job["action"] == ACTION:
        serve_forks(channel, lambda one, line: _do(registry, settings, one, line))
    else:
        _do(registry, settings, job, channel)


def _do(
    registry: Registry, settings: Mapping[str, str], job: Mapping[str, Any], channel: Channel
) -> None:
    if job["action"] == "describe":
        channel.send({"kind": "described", **described(registry)})
    elif job["action"] == "surroundings":
        environment = measure(probes=False).to_json() if job["whole"] else None
        channel.send(
            {"kind": "surroundings", "settings": dict(settings), "environment": environment}
        )
    else:
        channel.send({"kind": "tried", "outcome": _tried(registry, Attempt.from_json(job))})


def _tried(registry: Registry, attempt: Attempt) -> dict[str, Any]:
    try:
        return try_once(registry, attempt)
    except CallRefused as error:
        return refused(error)


if __name__ == "__main__":
    ignore()
    serve(handle)
