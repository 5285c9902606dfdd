"""Verify a record: execute its program again in a fresh process and hold it against every point.

The result is a statement: PASS (every point was proved again), PARTIAL (what was judged agrees, but
it was not the whole run), FAIL (with the first place that differs), or UNKNOWN (could not tell,
with the form that could). It is written next to the record and never overwritten.

What a PASS does not say: that other seeds, inputs or machines behave; that state outside the
tracked components is the same; that sources which the effects layer does not cover stay quiet.

Invariant: nothing but compared points makes a PASS; a torn or damaged record never gives one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from twice.errors import ClassRefused, OutputExists, ProgramFailed, RecordOutOfRange, UsageError
from twice.foundation.classes import Predicate
from twice.foundation.fingerprint import Fingerprint
from twice.recording.redaction.redaction import Redaction
from twice.recording.runrecord import RunRecord
from twice.replaying.checking import Failure
from twice.replaying.conclusion import conclude, is_whole, leave_open, list_subsystems
from twice.replaying.endings import describe_ending
from twice.replaying.file_details import locate_inside
from twice.replaying.file_judgement import judge_files
from twice.replaying.sampling import with_sample
from twice.replaying.starting import (
    Start,
    job_for,
    require_rerunnable,
    require_same_code,
    restorable_snapshot,
    start_child,
)
from twice.replaying.statement import Verification
from twice.replaying.verdict import judgeable_points
from twice.writing import make_folder

Progress = Callable[[int, int], None]
_LINES_POINTS = 64
"""Compare-points before a failure whose reads show how this program usually makes them."""


def verify(
    path: str | os.PathLike[str],
    *,
    first: int | None = None,
    last: int | None = None,
    predicate: Predicate | None = None,
    informational: bool = False,
    progress: Progress | None = None,
    start: Start = start_child,
    keep: str | os.PathLike[str] | None = None,
) -> Verification:
    """Verify a record, whole or in part.

    Args:
        path: the record.
        first: tick to start at (from the latest snapshot at or before it); None for the top.
        last: last tick to judge; None for the end.
        predicate: a class to judge by instead of the recorded one.
        informational: go on although the code differs; the result is then never PASS.
        progress: called with (points judged, points in the record).
        start: gives a process to execute in; a fresh one of the record's surroundings by default.
        keep: folder into which the files that the replay writes are copied; it is made, or is empty.

    Raises:
        ProgramChanged: E-PROGRAM-004. RecordCorrupt: E-RECORD-004. RecordOutOfRange: E-RECORD-006.
        ClassRefused: E-CLASS-001. UsageError: E-USE-001, when the segment ends before it begins.
    """
    with RunRecord.open(path) as record:
        if record.complete:
            record.reader.check()
        judge = predicate or record.setup.predicate
        if predicate is not None:
            require_known(predicate, record)
        if first is not None and last is not None and last < first:
            raise UsageError(
                f"The segment from tick {first} to tick {last} holds nothing.",
                "Expected a last tick at or after the first.",
                f"For example: twice verify {path} --from {last} --to {first}",
            )
        program = record.setup.program
        if not program.rerunnable:
            return leave_open(
                record,
                judge,
                f"{program.target} cannot be started again: it is not a function that a fresh "
                "process can find",
                "move the code into a function of a run and record that: twice record FILE.py:main",
            )
        if not len(record.reader.points):
            return leave_open(record, judge, "the record holds no compare-point to judge")
        kept_in = None if keep is None else _make_empty(Path(keep))
        changes = require_same_code(record, informational=informational)
        statement = with_sample(
            record,
            judge,
            leave_open(record, judge),
            lambda: _execute(
                record, judge, first, last, progress, start, kept_in, has_same_code=not changes
            ),
            progress,
        )
    if changes:
        names = ", ".join(change.path for change in changes)
        statement = statement.marked_informational(
            f"the code differs from the recorded one: {names}"
        )
    return statement


def require_known(predicate: Predicate, record: RunRecord) -> None:
    """Refuse a class for a component that the run does not have.

    Raises:
        ClassRefused: E-CLASS-001; a class for nobody would be no class at all.
    """
    known = sorted({*list_subsystems(record), *record.reader.points.columns()})
    for name in predicate.subsystems:
        if not any(one == name or one.startswith(f"{name}/") for one in known):
            raise ClassRefused(
                f"A class was given for {name!r}, which {record.path} does not have.",
                f"Expected one of {', '.join(known)}, or the beginning of its path.",
                "Correct the name: --class NAME=CLASS.",
                component=name,
            )


def _make_empty(folder: Path) -> Path:
    """Make a folder, or take one that is empty; return its absolute path.

    Raises:
        OutputExists: E-OUTPUT-001, when something is in it. OutputUnwritable: E-OUTPUT-002.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputExists(
            f"{folder} is there already, and is not an empty folder.",
            "Expected a path that is free, or an empty folder.",
            "Choose another folder to keep the replay's files in.",
            path=str(folder),
        )
    return make_folder(folder).absolute()


def _execute(
    record: RunRecord,
    predicate: Predicate,
    first: int | None,
    last: int | None,
    progress: Progress | None,
    start_process: Start,
    keep: str | os.PathLike[str] | None,
    *,
    has_same_code: bool,
) -> Verification:
    require_rerunnable(record)
    points = record.reader.points
    snapshot = None if first is None else restorable_snapshot(record, _in_range(record, first))
    last_index = None if last is None else _index_of(record, _in_range(record, last))
    judgeable = judgeable_points(record)
    if judgeable < len(points) or not record.complete:
        last_index = judgeable - 1 if last_index is None else min(last_index, judgeable - 1)
    if last_index is not None and last_index < 0:
        return leave_open(record, predicate, "a signal came before its first compare-point")
    start = 0
    if snapshot is not None:
        start = record.reader.snapshots[snapshot].point
    with tempfile.TemporaryDirectory(prefix="twice-differing-") as differing:
        job = job_for(
            record,
            "verify",
            predicate=predicate.to_json(),
            snapshot=snapshot,
            last=last_index,
            capture=None,
            lines_from=None,
            keep=None if keep is None else os.fspath(keep),
            differing=differing,
        )
        message, now, held, kept = _answer(record, job, progress, start_process)
        inside = locate_inside(record, kept, Path(differing))
        if message.get("extra"):
            # Once more, to see which of several equal reads is the one too many.
            near = {**job, "lines_from": max(0, message["index"] - _LINES_POINTS)}
            again, *_ = _answer(record, near, None, start_process)
            if again.get("extra") and again["index"] == message["index"]:
                message = again
    return conclude(
        record,
        predicate,
        message,
        now,
        start,
        last_index,
        held=held,
        segment=first is not None or last is not None,
        has_same_code=has_same_code,
        files=judge_files(record, kept, inside, whole=is_whole(message) and snapshot is None),
    )


def _answer(
    record: RunRecord, job: Mapping[str, Any], progress: Progress | None, start: Start
) -> tuple[Mapping[str, Any], Fingerprint | None, bool, Mapping[str, Any]]:
    """Execute in a fresh process.

    Returns:
        Its last message, the environment there, whether it was cut off from the network, and what its
        keeper reported.
    """
    now: Fingerprint | None = None
    held = False
    message: Mapping[str, Any]
    with closing(start(record)) as child:
        try:
            message = child.ask(job)
            while message["kind"] in {"environment", "progress"}:
                if message["kind"] == "environment":
                    now, held = Fingerprint.from_json(message["now"]), bool(message["held"])
                elif progress is not None:
                    progress(message["index"] + 1, len(record.reader.points))
                message = child.answer()
        except ProgramFailed as error:
            message = _died(record, error)
        kept = child.read_keeper_report()
    return message, now, held, kept


def _died(record: RunRecord, error: ProgramFailed) -> dict[str, Any]:
    """The process is gone: a difference, unless the recorded one went the same way."""
    redaction = Redaction(record.setup.redaction, os.environ)
    failure = Failure(
        0,
        -1,
        "ending",
        ("(ending)",),
        describe_ending(record.ending),
        str(redaction.value(f"{error.happened} {error.expected}", "message")),
    )
    return {
        "kind": "failure",
        **failure.to_json(),
        "evaluated": 0,
        "passed": 0,
        "failed": 0,
        "within": 0,
    }


def _in_range(record: RunRecord, tick: int) -> int:
    if not 0 <= tick < max(record.ticks, 1):
        raise RecordOutOfRange(
            f"Tick {tick} lies outside of {record.path}.",
            f"It holds {record.ticks_held}.",
            f"See: twice show {record.path}",
            tick=tick,
        )
    return tick


def _index_of(record: RunRecord, tick: int) -> int:
    index = record.reader.points.index_of_tick(tick)
    if index is None:
        raise RecordOutOfRange(
            f"Tick {tick} of {record.path} has no compare-point of its own.",
            f"Points are taken by {record.setup.granularity}.",
            "Leave --to out, or record with --compare tick.",
            tick=tick,
        )
    return index
