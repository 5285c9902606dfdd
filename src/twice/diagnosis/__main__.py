"""The process that executes one window of a run: ``python -m twice.diagnosis``.

As a server it forks one such process whenever it is asked to.

Invariant: it sends one answer, a traced window or what was seen before a tick, and ends.
"""

from __future__ import annotations

import gc

if __name__ == "__main__":
    gc.disable()  # until ``serve``: what is imported stays

from collections.abc import Mapping
from functools import partial
from typing import Any

from twice.diagnosis.operations.control import OperationControl
from twice.diagnosis.process_holder import shift_heap
from twice.diagnosis.tracing.trace import plan_from_json
from twice.diagnosis.unsteady_states import find_unsteady
from twice.diagnosis.window import (
    InspectControl,
    Look,
    WindowControl,
    inspected_session,
    leaves_of,
    window_session,
)
from twice.recorder.child import Handler, serve_actions
from twice.recorder.execution import execute
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.replayer.rebuild import resume_at
from twice.replayer.replay_job import open_job_record
from twice.worker.channel import Channel


def trace_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute one window under one plan."""
    shifted = shift_heap() if job["shifts"] else []
    plan = None if job["plan"] is None else plan_from_json(job["plan"])
    with open_job_record(job) as record:
        control = WindowControl(channel, job["first"], job["last"], plan, holds=job["holds"])
        resume = resume_at(record, job["snapshot"])
        if job["lent"] is None:
            session = window_session(record, control, resume, job["changed"])
        else:
            path, ops = job["lent"]
            with RunRecord.open(path) as lender:  # all that is lent is read at once
                session = window_session(record, control, resume, job["changed"], (lender, ops))
        _execute_window(session, control)
    del shifted  # the program's objects are gone


def trace_operations_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute one window and trace the operations of libraries in it."""
    with open_job_record(job) as record:
        control = OperationControl(channel, job["first"], job["last"], job["asked"])
        session = window_session(
            record, control, resume_at(record, job["snapshot"]), job["changed"]
        )
        _execute_window(session, control)


def _execute_window(session: Session, control: WindowControl | OperationControl) -> None:
    execute(
        session,
        dict,
        begin=lambda: control.begin(session),
        leave=lambda _: control.report_missed(),
    )
    control.report_missed()


def inspect_here(look: Look, job: Mapping[str, Any], channel: Channel) -> None:
    """Execute up to one tick and look at the tracked objects."""
    with open_job_record(job) as record:
        control = InspectControl(channel, job["tick"], look)
        session = inspected_session(record, control, resume_at(record, job["snapshot"]))
        execute(session, dict)


ACTIONS: Mapping[str, Handler] = {
    "inspect": partial(inspect_here, leaves_of),
    "operations": trace_operations_here,
    "reading": partial(inspect_here, find_unsteady),
    "trace": trace_here,
}

if __name__ == "__main__":
    serve_actions(ACTIONS)
