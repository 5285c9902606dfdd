"""The snapshot test: restore at each kept snapshot in a fresh process, run on, compare with the record.

This is what finds state that influences the future and is not in ``state()``: a run that is put
back from a snapshot and goes another way left something out, or restoring did something besides.

Invariant: every restore starts in a process of its own, so nothing that one pollutes helps another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from twice.errors import ProgramFailed, RestoreRefused, SnapshotMissing, StreamStateRefused
from twice.foundation.difference import FieldDifference, differences
from twice.foundation.encoding import decode
from twice.recording.runrecord import RunRecord
from twice.replaying.starting import (
    find_files_read_back,
    job_for,
    require_rerunnable,
    require_same_code,
    restorable_snapshot,
    start_child,
)

RESTORES_MAX = 16
_FIELDS_MAX = 16
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class FailedRestore:
    """A snapshot from which the run does not go on as it did.

    Attributes:
        snapshot: its number.
        tick: the tick before which it stands.
        point: index of the compare-point that differs, or -1 when restoring itself was refused.
        at_tick: tick of that point.
        component: the first component that differs.
        fields: typed differences of its state there, smallest first.
        reason: what happened, in a sentence.
    """

    snapshot: int
    tick: int
    point: int
    at_tick: int
    component: str
    fields: tuple[FieldDifference, ...]
    reason: str

    def to_json(self) -> dict[str, object]:
        """As an entry of ``restores.failed``."""
        return {
            "tick": self.tick,
            "component": self.component,
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
    """Restore at kept snapshots, each in a fresh process, run on and compare with the record.

    Args:
        path: the record.
        every: at every snapshot instead of at most 16, first and last among them.
        informational: go on although the code differs.
        progress: called with (restores done, restores in all).

    Returns:
        ``{"tested": n, "failed": [...], "ticks": [...]}`` as in a verification; the ticks are those before which
        the snapshots stand.

    Raises:
        SnapshotMissing: E-SNAPSHOT-002, when the record keeps none, or a component cannot be put
            back.
    """
    with RunRecord.open(path) as record:
        require_rerunnable(record)
        require_same_code(record, informational=informational)
        _require_restorable(record)
        numbers = chosen(len(record.reader.snapshots), every=every)
        failed = []
        for done, number in enumerate(numbers):
            found = _restore(record, number)
            if found is not None:
                failed.append(found)
            if progress is not None:
                progress(done + 1, len(numbers))
        ticks = [record.reader.snapshots[number].tick for number in numbers]
    return {
        "tested": len(numbers),
        "failed": [found.to_json() for found in failed],
        "ticks": ticks,
    }


def chosen(count: int, *, every: bool) -> list[int]:
    """Which of the snapshots are restored: all, or 16 spread evenly with first and last."""
    if every or count <= RESTORES_MAX:
        return list(range(count))
    step = (count - 1) / (RESTORES_MAX - 1)
    return sorted({round(place * step) for place in range(RESTORES_MAX)})


def _require_restorable(record: RunRecord) -> None:
    if record.setup.program.whole:
        raise SnapshotMissing(
            f"{record.path} is a run of a whole program, whose state is in no snapshot.",
            "Expected a function of a run, with components that can be put back.",
            "Without restores: twice verify RECORD; or write def main(run): ... and record that.",
        )
    if not record.reader.snapshots:
        raise SnapshotMissing(
            f"{record.path} keeps no snapshot.",
            "Expected snapshots to restore from.",
            "Record with --snapshots every=N, and not with --strategy event-sourced.",
        )
    if read_back := find_files_read_back(record):
        raise SnapshotMissing(
            f"The run reads {read_back[0]} after code other than Python has written it, and a snapshot holds "
            "no files.",
            "Expected a run whose components hold everything that it goes on from.",
            f"Verify it from the top: twice verify {record.path}",
        )
    if restorable_snapshot(record, record.ticks) is None:
        forms = (record.ending or {}).get("components", {})
        names = ", ".join(name for name, form in forms.items() if form == "state only")
        raise SnapshotMissing(
            f"{names} cannot be put back: it has state() and no restore().",
            "Expected every component to have both.",
            "Add restore(state); until then seeking and branching execute from the start.",
        )


def _restore(record: RunRecord, number: int) -> FailedRestore | None:
    entry = record.reader.snapshots[number]
    try:
        message = _run(record, number, capture=None)
    except (RestoreRefused, StreamStateRefused) as error:
        name = str(error.fields.get("name", ""))
        return FailedRestore(number, entry.tick, -1, entry.tick, name, (), error.happened)
    except ProgramFailed as error:
        return FailedRestore(number, entry.tick, -1, entry.tick, "", (), error.happened)
    if message["kind"] == "ended":
        return _ended_early(record, number, message)
    index = message["index"]
    component = message["columns"][0]
    fields = _fields(record, number, index)
    if fields:
        component = next((name for name in message["columns"] if name in fields), component)
    return FailedRestore(
        number,
        entry.tick,
        index,
        message["tick"],
        component,
        tuple(fields.get(component, ())[:_FIELDS_MAX]),
        f"restored before tick {entry.tick}, the run differs at {message['name']} of tick "
        f"{message['tick']}: {', '.join(message['columns'])}",
    )


def _ended_early(
    record: RunRecord, number: int, message: Mapping[str, Any]
) -> FailedRestore | None:
    """A restored run that agreed to its end must have reached the record's end."""
    entry = record.reader.snapshots[number]
    missing = len(record.reader.points) - entry.point - message["evaluated"]
    if not missing or not record.complete:
        return None
    reason = f"restored before tick {entry.tick}, the run ended {missing} compare-points early"
    return FailedRestore(number, entry.tick, -1, record.ticks - 1, "", (), reason)


def _fields(record: RunRecord, number: int, index: int) -> dict[str, list[FieldDifference]]:
    """Typed differences between the run from its top and the restored one, by component."""
    try:
        straight = _run(record, None, capture=index)
        restored = _run(record, number, capture=index)
    except (ProgramFailed, RestoreRefused, StreamStateRefused):
        return {}
    one, two = straight.get("state", {}), restored.get("state", {})
    found = {}
    for name in sorted({*one} & {*two}):
        if one[name] != two[name]:
            found[name] = differences(decode(one[name]), decode(two[name]), component=name)
    return found


def _run(record: RunRecord, number: int | None, *, capture: int | None) -> Mapping[str, Any]:
    """Execute from a snapshot (or the top) to the end, or to the point whose state is wanted."""
    job = job_for(
        record,
        "verify",
        predicate=record.setup.predicate.to_json(),
        snapshot=number,
        last=capture if record.complete or capture is not None else len(record.reader.points) - 1,
        capture=capture,
        lines_from=None,
    )
    state: Mapping[str, Any] = {}
    with start_child(record) as child:
        message = child.ask(job)
        while message["kind"] not in {"failure", "ended"}:
            if message["kind"] == "state":
                state = message["state"]
            message = child.answer()
    return {**message, "state": message.get("state", state)}
