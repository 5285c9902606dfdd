"""The process that executes one window of a run: ``python -m twice.diagnosing``.

As a zygote it forks one such process whenever it is asked to.

Invariant: it sends one answer, a traced window or the leaves before a tick, and ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twice.diagnosing import zygote
from twice.diagnosing.tracing.trace import plan_from_json
from twice.diagnosing.window import (
    InspectControl,
    WindowControl,
    inspected_session,
    resume_for,
    window_session,
)
from twice.recording.executing import execute
from twice.recording.runrecord import RunRecord
from twice.recording.serving import serve
from twice.recording.wire import Channel


def trace_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute one window under one plan."""
    plan = None if job["plan"] is None else plan_from_json(job["plan"])
    with RunRecord.open(job["record"]) as record:
        control = WindowControl(channel, job["first"], job["last"], plan)
        session = window_session(record, control, resume_for(record, job["snapshot"]))
        execute(session, dict, begin=lambda: control.begin(session))
        control.missed()


def inspect_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute up to one tick and open what hangs on the tracked objects."""
    with RunRecord.open(job["record"]) as record:
        control = InspectControl(channel, job["tick"])
        session = inspected_session(record, control, resume_for(record, job["snapshot"]))
        execute(session, dict)


def zygote_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Fork for every job that follows."""
    del job
    zygote.serve_forks(channel, handle)


HANDLERS: dict[str, Callable[[Mapping[str, Any], Channel], None]] = {
    "inspect": inspect_here,
    "trace": trace_here,
    zygote.ACTION: zygote_here,
}


def handle(job: Mapping[str, Any], channel: Channel) -> None:
    """Dispatch one job."""
    HANDLERS[job["action"]](job, channel)


if __name__ == "__main__":
    serve(handle)
