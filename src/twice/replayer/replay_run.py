"""Execute a record's program again, once, as planned.

The preconditions come first: the starting point of the execution, and the compare-points that count.

Invariant: a process that dies gives no outcome, and its death is reported.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from twice.errors import ProgramFailed, RecordOutOfRange
from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import Predicate
from twice.foundation.environment import Fingerprint
from twice.recorder.effects.events import Event, pack
from twice.recorder.runrecord import RunRecord
from twice.replayer.file_report import locate_inside
from twice.replayer.outcome import Replay, SourceChange, read_last_message
from twice.replayer.preconditions import require_rerunnable
from twice.replayer.replay_job import Start, job_for, restorable_snapshot, start_child

Progress = Callable[[int, int], None]
_LINES_POINTS = 64
"""Compare-points before a failure whose reads show how this program usually makes them."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The plan of one replay of a record.

    Attributes:
        predicate: the class that judges.
        snapshot: number of the snapshot to start from; None for the top.
        first: index of the first compare-point that is judged.
        last: index of the last one; None for the end.
        is_segment: whether the user asked for a part of the run.
        changed_code: source files that differ from the recorded ones.
        keep: folder into which the files that the replay writes are copied.
        capture: index of a compare-point at which the states of components are wanted.
        switch_interval: seconds after which Python lets another thread run; None for its own.
        cores: how many cores it may use, at most; None for all.
        seed: another seed than the recorded one, as ``other_seed`` gives it.
        passed_over: columns that are not compared, whatever the class.
        substituted: answers to reads of the main program that are not the recorded ones, by the read's number.
        time_limit_s: how long the execution may take, in seconds; None for no limit.
        added: a further task for a process that does more than verify.
    """

    predicate: Predicate
    snapshot: int | None = None
    first: int = 0
    last: int | None = None
    is_segment: bool = False
    changed_code: tuple[SourceChange, ...] = ()
    keep: Path | None = None
    capture: int | None = None
    switch_interval: float | None = None
    cores: int | None = None
    seed: Mapping[str, Any] | None = None
    passed_over: tuple[str, ...] = ()
    substituted: Mapping[int, Event] = field(default_factory=dict)
    time_limit_s: float | None = None
    added: Mapping[str, Any] = field(default_factory=dict)


def check_preconditions(
    record: RunRecord,
    predicate: Predicate,
    first: int | None = None,
    last: int | None = None,
) -> Plan | str:
    """Return the execution to make, or the reason why nothing of the record can be judged.

    Args:
        record: what is verified.
        predicate: the class that judges.
        first: tick to start at; None for the top.
        last: last tick to judge; None for the end.

    Raises:
        RecordOutOfRange: E-RECORD-006. ProgramNotRerunnable: E-PROGRAM-002. RecordUntrusted: E-TRUST-001.
    """
    require_rerunnable(record)
    points = record.reader.points
    for tick in (first, last):
        if tick is not None and not 0 <= tick < max(record.ticks, 1):
            raise RecordOutOfRange(
                f"Tick {tick} lies outside of {record.path}.",
                f"It holds {record.ticks_held}.",
                f"See: twice show {record.path}",
                tick=tick,
            )
    snapshot = None if first is None else restorable_snapshot(record, first)
    last_index = None if last is None else points.index_of_tick(last)
    if last is not None and last_index is None:
        raise RecordOutOfRange(
            f"Tick {last} of {record.path} has no compare-point of its own.",
            f"Points are taken by {record.setup.granularity}.",
            "Leave --to out, or record with --compare tick.",
            tick=last,
        )
    # A torn record or a signal can end a run anywhere: the replay stops at the last point before.
    judgeable = count_judgeable(record)
    if judgeable < len(points) or record.is_prefix:
        last_index = judgeable - 1 if last_index is None else min(last_index, judgeable - 1)
    if last_index is not None and last_index < 0:
        return "a signal came before its first compare-point"
    return Plan(
        predicate=predicate,
        snapshot=snapshot,
        first=0 if snapshot is None else record.reader.snapshots[snapshot].point,
        last=last_index,
        is_segment=first is not None or last is not None,
    )


def run_replay(
    record: RunRecord,
    plan: Plan,
    progress: Progress | None = None,
    start: Start = start_child,
) -> Replay:
    """Execute as planned, and look where files and reads differ."""
    with tempfile.TemporaryDirectory(prefix="twice-differing-") as differing:
        replay = execute_once(record, plan, progress, start, differing=differing)
        replay = replace(replay, inside=locate_inside(record, replay.kept, Path(differing)))
        if replay.failure is not None and replay.is_extra:
            # Among several equal reads only the lines show which one is extra, and to keep the lines of
            # reads costs more than the reads. So it is executed once more, with lines near the end alone.
            index = replay.failure.index
            near = max(0, index - _LINES_POINTS)
            again = execute_once(record, plan, None, start, differing=differing, lines_from=near)
            if again.is_extra and again.failure is not None and again.failure.index == index:
                replay = replace(replay, failure=again.failure)
    return replay


def execute_once(
    record: RunRecord,
    plan: Plan,
    progress: Progress | None = None,
    start: Start = start_child,
    *,
    differing: str | None = None,
    lines_from: int | None = None,
) -> Replay:
    """Execute a record's program again in one process.

    Args:
        record: the record of the program.
        plan: the start and the end of the execution.
        progress: called with (points judged, points in the record).
        start: starts the process.
        differing: folder into which files that differ are copied.
        lines_from: first compare-point whose reads keep their lines; None for none.

    Raises:
        TwiceError: the process refused, for example a restore.
    """
    job = job_for(
        record,
        "verify",
        predicate=plan.predicate.to_json(),
        snapshot=plan.snapshot,
        last=plan.last,
        capture=plan.capture,
        switch_interval=plan.switch_interval,
        cores=plan.cores,
        seed=plan.seed,
        passed_over=plan.passed_over,
        substituted=[[*plan.substituted], pack([*plan.substituted.values()])],
        added=plan.added,
        lines_from=lines_from,
        keep=None if plan.keep is None else os.fspath(plan.keep),
        differing=differing,
    )
    found: dict[str, Any] = {}
    reached = -1
    ends_at = None if plan.time_limit_s is None else time.monotonic() + plan.time_limit_s

    def seconds_left() -> float | None:
        return None if ends_at is None else max(0.0, ends_at - time.monotonic())

    with closing(start(record)) as child:
        try:
            message = child.ask(job, seconds_left())
            while message["kind"] not in {"failure", "ended"}:
                if message["kind"] == "environment":
                    found["environment"] = Fingerprint.from_json(message["now"])
                    found["held"] = bool(message["held"])
                elif message["kind"] == "state":
                    found["state"] = message["state"]
                else:
                    reached = message["index"]
                    if progress is not None:
                        progress(reached + 1, len(record.reader.points))
                message = child.answer(seconds_left())
            found |= read_last_message(message)
        except ProgramFailed as error:
            # Whatever ended it, a kill from outside among it, may say nothing about the program.
            found["death"] = f"{error.happened.rstrip('.')}, {_place(reached)}. {error.expected}"
        except TimeoutError:
            limit = f"the time limit of {plan.time_limit_s:g} s was reached"
            # Its keeper has not reported yet, and a program that waits for ever would keep it from that.
            return Replay(**found, death=f"{limit}, {_place(reached)}")
        return Replay(**found, kept=child.read_keeper_report())


def _place(reached: int) -> str:
    return f"after compare-point {reached}" if reached >= 0 else "before its first compare-point"


def count_judgeable(record: RunRecord) -> int:
    """Return how many points a replay can repeat: those before an interrupt from outside."""
    interrupted_at = (record.ending or {}).get("interrupted_at_point")
    total = len(record.reader.points)
    return total if interrupted_at is None else min(total, int(interrupted_at))
