"""Verify a record: execute its program again in a fresh process and compare every point.

``check_preconditions`` decides whether the program can be executed and where it starts. ``run_replay`` executes it,
``gather_evidence`` compares the outcome with the record, and the rules of ``verdict`` decide. The result is a
``Verification``, written next to the record and never overwritten.

Invariant: only compared points make a PASS; a torn or damaged record never gives one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from twice.errors import ClassRefused, OutputExists, UsageError
from twice.foundation.determinism_class import Predicate
from twice.recorder.runrecord import RunRecord
from twice.replayer.evidence import gather_evidence, leave_open, list_subsystems
from twice.replayer.preconditions import require_same_code
from twice.replayer.record_consistency import require_consistent_points
from twice.replayer.replay_job import Start, start_child
from twice.replayer.replay_run import Plan, Progress, check_preconditions, run_replay
from twice.replayer.statistical import judge_sample, judges_samples_alone
from twice.replayer.verification import Verification
from twice.writing import make_folder

if TYPE_CHECKING:
    from twice.worker.executor import Executor


_VARIATIONS = ((1e-6, None), (1e-4, 1), (0.1, None), (1e-6, 1))
"""Switch interval and number of cores of further replays: other orders of threads, if there is any."""


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
    repeat: int = 1,
    time_limit_s: float | None = None,
    mismatches: Sequence[str] = (),
    executor: Executor | None = None,
) -> Verification:
    """Verify a record, whole or in part.

    Args:
        path: the record.
        first: tick to start at (from the latest snapshot at or before it); None for the top.
        last: last tick to judge; None for the end.
        predicate: a class to judge by instead of the recorded one.
        informational: go on although the code differs; the result is then never PASS.
        progress: called with (points judged, points in the record).
        start: starts the process to execute in; by default a fresh one in the record's surroundings.
        keep: folder for copies of the files that the replay writes; it must be new or empty.
        repeat: the number of replays. Those after the first have other switch intervals of threads and fewer
            cores. The first that differs is the result.
        time_limit_s: how long a replay may execute, in seconds; the result is UNKNOWN if it takes longer.
        mismatches: what a specification promises and is not so here; nothing is executed then.
        executor: where the runs of a statistical sample are executed; None for this machine.

    Raises:
        ProgramChanged: E-PROGRAM-004. RecordCorrupt: E-RECORD-004. RecordOutOfRange: E-RECORD-006.
        OutputExists: E-OUTPUT-001, when that folder is not empty. OutputUnwritable: E-OUTPUT-002.
        ClassRefused: E-CLASS-001. UsageError: E-USE-001, when the segment ends before it begins.
    """
    with RunRecord.open(path) as record:
        record.reader.fetch()  # a check reads all of it, and so does the process that replays it
        # Of a torn record the intact prefix was found when it was opened.
        if record.complete:
            record.reader.check()
            require_consistent_points(record)
        judge = predicate or record.setup.predicate
        if predicate is not None:
            require_known(predicate, record)
        _check_arguments(record, judge, first, last, repeat, time_limit_s)
        program = record.setup.program
        if not program.rerunnable:
            why = "it is not a function that a fresh process can find"
            return leave_open(
                record,
                judge,
                f"{program.target} cannot be started again: {why}",
                "move the code into a function of a run and record that: twice record FILE.py:main",
            )
        if not len(record.reader.points):
            return leave_open(record, judge, "the record holds no compare-point to judge")
        if mismatches:
            return leave_open(record, judge, *mismatches)
        # Before anything is executed: a folder that is in use must not cost the user a whole replay.
        kept_in = None if keep is None else Path(keep)
        if kept_in is not None:
            if kept_in.exists() and (not kept_in.is_dir() or any(kept_in.iterdir())):
                raise OutputExists(
                    f"{kept_in} is there already, and is not an empty folder.",
                    "Expected a path that is free, or an empty folder.",
                    "Choose another folder to keep the replay's files in.",
                    path=str(kept_in),
                )
            kept_in = make_folder(kept_in).absolute()
        changes = require_same_code(record, informational=informational)
        changed_code = tuple(changes)
        if judges_samples_alone(judge):
            blank = replace(leave_open(record, judge), changed_code=changed_code)
            return judge_sample(blank, record, progress, executor)
        plan = check_preconditions(record, judge, first, last)
        if isinstance(plan, str):
            found = replace(leave_open(record, judge, plan), changed_code=changed_code)
        else:
            plan = replace(plan, keep=kept_in, changed_code=changed_code, time_limit_s=time_limit_s)
            found = gather_evidence(record, plan, run_replay(record, plan, progress, start))
            found = _repeat(found, record, replace(plan, keep=None), repeat, progress, start)
        return judge_sample(found, record, progress, executor) if judge.sampled_parts else found


def _check_arguments(
    record: RunRecord,
    judge: Predicate,
    first: int | None,
    last: int | None,
    repeat: int,
    time_limit_s: float | None,
) -> None:
    """Refuse arguments that no verification can follow; raises E-USE-001."""
    if repeat < 1:
        raise UsageError(
            f"{repeat} replays verify nothing.",
            "Expected how many replays are made, 1 or more.",
            f"For example: twice verify {record.path} --repeat 5",
        )
    if first is not None and last is not None and last < first:
        raise UsageError(
            f"The segment from tick {first} to tick {last} holds nothing.",
            "Expected a last tick at or after the first.",
            f"For example: twice verify {record.path} --from {last} --to {first}",
        )
    if time_limit_s is not None and judge.sampled_parts:
        raise UsageError(
            f"{record.path} is judged by a sample, and a time limit was given.",
            "Expected one of both: a time limit is that of one replay.",
            f"Verify it without a limit: twice verify {record.path}",
        )


def _repeat(
    found: Verification,
    record: RunRecord,
    plan: Plan,
    repeat: int,
    progress: Progress | None,
    start: Start,
) -> Verification:
    """Replay again, as often as was asked for and as long as nothing differs; the verification that counts."""
    done = 1
    for number in range(2, repeat + 1):
        if found.differs or found.death:
            break
        interval, cores = _VARIATIONS[(number - 2) % len(_VARIATIONS)]
        varied = replace(plan, switch_interval=interval, cores=cores)
        found = gather_evidence(record, varied, run_replay(record, varied, progress, start))
        done = number
    return replace(found, repeats={"planned": repeat, "executed": done}) if repeat > 1 else found


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
