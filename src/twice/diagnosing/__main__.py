"""The process that executes one window of a run: ``python -m twice.diagnosing``.

Invariant: what it sends is one trace, one set of digests and one set of states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.diagnosing.executions import plan_from_message
from twice.diagnosing.window import WindowControl, resume_for, window_session
from twice.recording.executing import execute
from twice.recording.serving import serve
from twice.recording.runrecord import RunRecord
from twice.recording.wire import Channel


def trace_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute one window under one plan."""
    plan = None if job["plan"] is None else plan_from_message(job["plan"])
    with RunRecord.open(job["record"]) as record:
        control = WindowControl(channel, job["first"], job["last"], plan)
        session = window_session(record, control, resume_for(record, job["snapshot"]))
        execute(session, dict, begin=lambda: control.begin(session))
        control.missed()


if __name__ == "__main__":
    serve(trace_here)
