"""The snapshot test: restore at each kept snapshot in a process of its own, run on, compare with the record.

The test finds state that influences the future and is missing in ``state()``. If a restored run goes another way,
``state()`` leaves something out, or ``restore`` has a side effect.

Several restores are forks of one process that never loaded the program. They share its addresses, which the recorded
run did not have. To report the fields of the first failure, twice compares states of two fresh processes.

Invariant: each restore starts in its own process, so no restore can affect another.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from twice.errors import RestoreRefused, StreamStateRefused
from twice.foundation.comparison import FieldDifference, differences
from twice.foundation.dataclass import dataclass
from twice.foundation.encoding import decode
from twice.foundation.printable import pluralize
from twice.recorder.runrecord import RunRecord
from twice.recorder.states import Migration
from twice.replayer.preconditions import require_rerunnable, require_restorable, require_same_code
from twice.replayer.replay_job import find_lost_connections, start_child, start_server
from twice.replayer.replay_run import Plan, Progress, execute_once
from twice.worker.concurrency import run_concurrently
from twice.worker.process import FreshWorker, Worker

RESTORES_MAX = 16
_FIELDS_MAX = 16
_Start = Callable[[RunRecord], Worker]


@dataclass(frozen=True)
class RestoredRun:
    """A run that was restored from a snapshot and then differs from the recorded run.

    Attributes:
        snapshot, tick: its number, and the tick that follows it.
        point, at_tick: index of the compare-point that differs, or -1 if ``restore`` itself was refused; its tick.
        columns: the columns that differ there, or the component that was not restored.
        reason: the cause, in a sentence.
        is_judged: whether it was executed. A process that died proves nothing.
        fields: typed differences of the first component that differs, smallest first.
    """

    snapshot: int
    tick: int
    point: int
    at_tick: int
    columns: tuple[str, ...]
    reason: str
    is_judged: bool = True
    fields: tuple[FieldDifference, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the form of an entry of ``restores.failed``."""
        return {
            "tick": self.tick,
            "component": self.columns[0] if self.columns else "",
            "fields": [difference.path for difference in self.fields],
            "differences": [difference.to_json() for difference in self.fields],
            "at_tick": self.at_tick,
            "point": self.point,
            "reason": self.reason,
        }


def restores(
    path: str | os.PathLike[str],
    *,
    every: bool = False,
    informational: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Restore at kept snapshots, each in a process of its own, run on and compare with the record.

    Args:
        path: the record.
        every: at every snapshot instead of at most 16, first and last among them. Those with a connection that a
            restored run does not make again are left out.
        informational: go on although the code differs.
        progress: called with (restores done, restores in all).

    Returns:
        ``{"tested": n, "failed": [...], "ticks": [...]}`` as in a verification; ``ticks`` are the ticks
        that follow the snapshots. The first failure lists its fields. If a process died, ``unjudged`` says how.
        If states were migrated, ``migrated`` has the first of each component.

    Raises:
        MigrationRefused: E-TRACK-004, if a snapshot holds another version of a state, which cannot be migrated.
        SnapshotMissing: E-SNAPSHOT-002, if the record has none, or a component cannot be restored.
    """
    with RunRecord.open(path) as record, ExitStack() as stack:
        require_rerunnable(record)
        require_same_code(record, informational=informational)
        require_restorable(record)
        kept = [
            entry.number
            for entry in record.reader.snapshots
            if not find_lost_connections(record, entry.number)
        ]
        numbers = [kept[at] for at in chosen(len(kept), every=every)]
        # To load everything once and fork pays from the second execution on.
        server = stack.enter_context(start_server(record)) if len(numbers) > 1 else None
        workers: list[FreshWorker] = []
        done = itertools.count(1)

        def start(given: RunRecord) -> Worker:
            if server is not None and server.fit:
                with suppress(BrokenPipeError, ConnectionResetError):
                    return server.fork()
            workers.append(start_child(given))
            return workers[-1]

        def restore(number: int) -> tuple[RestoredRun | None, Sequence[Migration]]:
            found = _restore(record.path, number, start)
            if progress is not None:
                progress(next(done), len(numbers))
            return found

        try:
            results = run_concurrently([partial(restore, number) for number in numbers])
        except KeyboardInterrupt:
            for worker in workers:  # waiting threads would keep this process alive
                worker.kill()
            if server is not None:
                server.close()
            raise
        differing = [each for each, _ in results if each is not None]
        failed = [each for each in differing if each.is_judged]
        if failed and failed[0].point >= 0:
            # Of the first the states are compared: of a run from the top, and of the restored one.
            first = failed[0]
            plan = Plan(predicate=record.setup.predicate, last=first.point, capture=first.point)
            one = execute_once(record, plan).state
            other = execute_once(record, replace(plan, snapshot=first.snapshot)).state
            for name in first.columns:
                if name in one and name in other and one[name] != other[name]:
                    found = differences(decode(one[name]), decode(other[name]), component=name)
                    columns = (name, *(each for each in first.columns if each != name))
                    failed[0] = replace(first, columns=columns, fields=tuple(found[:_FIELDS_MAX]))
                    break
        ticks = [record.reader.snapshots[number].tick for number in numbers]
    result = {"tested": len(numbers), "failed": [each.to_json() for each in failed], "ticks": ticks}
    if unjudged := [each.reason for each in differing if not each.is_judged]:
        result["unjudged"] = unjudged
    first_migrated = {each.component: each for _, states in results[::-1] for each in states}
    if first_migrated:
        result["migrated"] = [each.to_json() for each in first_migrated.values()]
    return result


def chosen(count: int, *, every: bool) -> list[int]:
    """Return which of the snapshots are restored: all, or 16 spread evenly with first and last."""
    if every or count <= RESTORES_MAX:
        return list(range(count))
    step = (count - 1) / (RESTORES_MAX - 1)
    return sorted({round(place * step) for place in range(RESTORES_MAX)})


def _restore(
    path: os.PathLike[str], number: int, start: _Start
) -> tuple[RestoredRun | None, Sequence[Migration]]:
    """Put the run back at one snapshot; return how it goes on otherwise, if it does, and migrated states."""
    with RunRecord.open(path) as record:  # each thread reads a file of its own
        entry, count = record.reader.snapshots[number], len(record.reader.points)
        differs = partial(RestoredRun, number, entry.tick)
        last = None if record.complete else count - 1
        try:
            plan = Plan(predicate=record.setup.predicate, snapshot=number, last=last)
            replay = execute_once(record, plan, start=start)
        except (RestoreRefused, StreamStateRefused) as error:
            name = str(error.fields.get("name", ""))
            return differs(-1, entry.tick, (name,), error.happened), ()
        before = f"restored before tick {entry.tick}, the run"
        if replay.death:
            reason = f"{before} was not judged: {replay.death}"
            return differs(-1, entry.tick, (), reason, False), ()
        failure = replay.failure
        if failure is not None:
            columns = ", ".join(failure.columns)
            reason = f"{before} differs at {failure.name} of tick {failure.tick}: {columns}"
            found = differs(failure.index, failure.tick, failure.columns, reason)
            return found, replay.migrated
        missing = count - entry.point - replay.counts["evaluated"]
        # One that agreed to its end must have reached the record's end.
        if missing and record.complete:
            early = f"{before} ended {pluralize(missing, 'compare-point')} early"
            return differs(-1, record.ticks - 1, (), early), replay.migrated
        return None, replay.migrated
