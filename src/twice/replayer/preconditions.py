"""The conditions for executing a recorded program again.

The code must be the recorded one, the behaviour numbers known, the configuration unchanged, the
program findable, the record trusted. If a condition fails, the start is refused, or goes on and is marked as
informational. A different environment is reported, never refused.

Invariant: an execution that is not informational runs the recorded source, byte for byte. The trust of a ``with``
block ends with the block.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from twice.errors import (
    ProgramChanged,
    ProgramNotRerunnable,
    SnapshotMissing,
)
from twice.recorder.program import Program
from twice.recorder.runrecord import RunRecord
from twice.recorder.trust import grant_for_block, require_trusted
from twice.recorder.user_code import digest_sources
from twice.replayer.outcome import SourceChange
from twice.replayer.replay_job import find_files_read_back, find_lost_connections


def source_changes(record: RunRecord) -> list[SourceChange]:
    """Return files of the recorded program that differ from their recorded digests, sorted by path."""
    recorded: dict[str, str] = dict(record.identity["code"]["files"])
    if record.ending is not None:
        recorded.update(record.ending.get("files", {}))
    named = record.identity["setup"]["program"]["target"]
    if named in recorded:  # a record that travelled finds its program beside it, by its bare name
        recorded[record.setup.program.target] = recorded.pop(named)
    root = record.setup.program.folder()
    now = digest_sources([root / name for name in recorded], root)
    return [
        SourceChange(name, recorded[name], now.get(name))
        for name in sorted(recorded)
        if now.get(name) != recorded[name]
    ]


def require_executable(record: RunRecord) -> None:
    """Refuse a record from elsewhere that the caller did not trust.

    Raises:
        RecordUntrusted: E-TRUST-001.
    """
    program = record.setup.program
    words = f" -- {shlex.join(program.arguments)}" if program.arguments else ""
    require_trusted(record.path, record.digest, f"{program}{words}")


def require_rerunnable(record: RunRecord) -> Program:
    """Return the record's program, if it can be started again.

    Raises:
        ProgramNotRerunnable: E-PROGRAM-002, for inline code. RecordUntrusted: E-TRUST-001.
    """
    program = record.setup.program
    if not program.rerunnable:
        raise ProgramNotRerunnable(
            f"{record.path} was recorded from {program.target}, which has no name to start it by.",
            "Expected file.py:function, module:function or a script.",
            "Move the code into a function of a run, and record it: twice record FILE.py:main",
        )
    require_executable(record)
    return program


def require_same_code(record: RunRecord, *, informational: bool) -> list[SourceChange]:
    """Refuse to execute other code than was recorded, unless it is only for information.

    Raises:
        RecordUntrusted: E-TRUST-001. ProgramChanged: E-PROGRAM-004. ProgramNotFound: E-PROGRAM-001, when it
            is gone.
    """
    require_executable(record)
    changes = source_changes(record)
    if changes and not informational:
        first = changes[0]
        also = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
        now = "is gone" if first.now is None else f"is now {first.now}"
        commit = record.identity["code"]["commit"]
        where = f"git checkout {commit}" if commit else "bring the recorded source back"
        other = record.other_checkout()
        place = "" if other is None else f" in the current folder, which counts before {other}"
        if other is not None:
            where = f"verify from {other}"
        raise ProgramChanged(
            f"{first.path}{also} differs from the recorded program{place}: it {now}.",
            f"Expected {first.recorded}.",
            f"Either {where}, or go on for information only: --informational",
            path=first.path,
        )
    if record.setup.program.kind in {"function", "script"}:
        record.setup.program.path()
    return changes


def require_restorable(record: RunRecord) -> None:
    """Refuse a record whose run cannot be put back at a snapshot.

    Raises:
        SnapshotMissing: E-SNAPSHOT-002.
    """
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
    forms = (record.ending or {}).get("components", {})
    if names := ", ".join(name for name, form in forms.items() if form == "state only"):
        raise SnapshotMissing(
            f"{names} cannot be put back: it has state() and no restore().",
            "Expected every component to have both.",
            "Add restore(state); until then seeking and branching execute from the start.",
        )
    if all(find_lost_connections(record, entry.number) for entry in record.reader.snapshots):
        lost = find_lost_connections(record, 0)[0]
        raise SnapshotMissing(
            f"At every snapshot of {record.path} a connection stands open that a restored run does not make "
            f"again: {lost} at the first.",
            "Expected connections that are made before the first tick, or that end with their tick.",
            f"Verify it from the top: twice verify {record.path}",
        )


@contextmanager
def trusting(path: str | os.PathLike[str], *, allow: Sequence[str] = ()) -> Iterator[None]:
    """Trust a record for as long as the block runs, whoever made it: it may be executed.

    Args:
        path: of the record.
        allow: sources of the world that it may use although they are not recorded, as ``record`` takes them;
            those that it was recorded with count only for a record that this account made.

    Raises:
        RecordForeign, RecordVersion, RecordUnreadable, RecordCorrupt: E-RECORD-001 to 005.
    """
    with RunRecord.open(path) as record:
        digest = record.digest
    with grant_for_block(digest, allow):
        yield
