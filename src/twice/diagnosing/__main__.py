"""The process that executes one window of a run: ``python -m twice.diagnosing``.

As a zygote it forks one such process whenever it is asked to.

Interrupts are its parent's to act on: it dies with the line to it, not in the middle of an answer.

Invariant: it sends one answer, a traced window or what was seen before a tick, and ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from twice.diagnosing import zygote
from twice.diagnosing.restores.reading import unsteady
from twice.diagnosing.tracing.trace import plan_from_json
from twice.diagnosing.window import (
    InspectControl,
    WindowControl,
    inspected_session,
    leaves_of,
    resume_for,
    window_session,
)
from twice.recording.executing import execute
from twice.recording.interrupts import ignore
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.namespace import cut_off
from twice.recording.serving import serve
from twice.recording.wire import Channel
from twice.replaying.trusting import open_job_record


def trace_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute one window under one plan."""
    plan = None if job["plan"] is None else plan_from_json(job["plan"])
    with open_job_record(job) as record:
        control = WindowControl(channel, job["first"], job["last"], plan, holds=job["holds"])
        resume = resume_for(record, job["snapshot"])
        if job["lent"] is None:
            session = window_session(record, control, resume, job["changed"])
        else:
            path, ops = job["lent"]
            with RunRecord.open(path) as lender:  # all that is lent is read at once
                session = window_session(record, control, resume, job["changed"], (lender, ops))
        execute(
            session, dict, begin=lambda: control.begin(session), leave=lambda _: control.missed()
        )
        control.missed()


def inspect_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute up to one tick and open what hangs on the tracked objects."""
    with open_job_record(job) as record:
        control = InspectControl(channel, job["tick"], leaves_of)
        session = inspected_session(record, control, resume_for(record, job["snapshot"]))
        execute(session, dict)


def reading_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute up to one tick and read every state twice."""
    with open_job_record(job) as record:
        control = InspectControl(channel, job["tick"], unsteady)
        session = inspected_session(record, control, resume_for(record, job["snapshot"]))
        execute(session, dict)


def zygote_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Fork for every job that follows."""
    del job
    zygote.serve_forks(channel, handle)


HANDLERS: dict[str, Callable[[Mapping[str, Any], Channel], None]] = {
    "inspect": inspect_here,
    "reading": reading_here,
    "trace": trace_here,
    zygote.ACTION: zygote_here,
}


def handle(job: Mapping[str, Any], channel: Channel) -> None:
    """Dispatch one job, in a network namespace of its own where that can be had."""
    held = bool(job.get("cut_off")) and cut_off()
    HANDLERS[job["action"]]({**job, "held": held}, channel)


if __name__ == "__main__":
    ignore()
    serve(handle)
