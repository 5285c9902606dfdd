"""A test of frozen snapshots: a record that old code made, kept in the repository, is restored under the present code.

The test keeps the promise that a changed class still reads old states. It does not compare how the run goes on.

Invariant: the record is only read, and each snapshot is restored in a process of its own.
"""

from __future__ import annotations

import os
from functools import partial

from twice.foundation.encoding import decode, encode
from twice.recorder.states import Migration
from twice.replayer.preconditions import require_restorable, trusting
from twice.replayer.replay_job import restorable_snapshot
from twice.replayer.replay_session import ReplaySession
from twice.replayer.restore_test import chosen


def check_frozen(
    record: str | os.PathLike[str], *, every: bool = False
) -> dict[int, list[Migration]]:
    """Restore the snapshots of an old record under the present code; each state has to come back and encode again.

    The record is executed without further trust: keep it in your repository, beside its program.

    Args:
        record: that old code made.
        every: restore every snapshot, not 16 of them at most.

    Returns:
        The migrated states by the tick of their snapshot; none where no version has changed.

    Raises:
        AssertionError: a restored state does not encode again to the same bytes.
        MigrationRefused: E-TRACK-004, when a state has another version and cannot be migrated.
        RestoreRefused: E-TRACK-003, when a component came back different.
        SnapshotMissing: E-SNAPSHOT-002, when there is nothing to restore.
    """
    migrated = {}
    with trusting(record):
        with ReplaySession(record, informational=True) as session:
            require_restorable(session.record)
            snapshots = session.record.reader.snapshots
            entries = [snapshots[at] for at in chosen(len(snapshots), every=every)]
            # Behind a rollback, no tick is reached from its own snapshot.
            reach = partial(restorable_snapshot, session.record)
            ticks = [each.tick for each in entries if reach(each.tick) == each.number]
        for tick in ticks:
            with ReplaySession(record, at=tick, informational=True) as session:
                for name, state in session.state().items():
                    once = encode(state)
                    assert encode(decode(once)) == once, (
                        f"{name} does not encode again before tick {tick}"
                    )
                migrated[tick] = session.migrated
    return migrated
