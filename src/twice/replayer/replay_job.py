"""The job of a process that executes a recorded program again, and the process itself.

It runs in the surroundings that the record holds, in a copy of the files as they were, from the top or
from a snapshot.

Invariant: nothing of the caller's surroundings enters, but secrets that the record has stars for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from twice.foundation.encoding import decode
from twice.recorder.audit.inventory import may_talk
from twice.recorder.compare_points import is_judged
from twice.recorder.effects.events import ACTOR
from twice.recorder.effects.ops import CONNECTIONS
from twice.recorder.environment.probes import PROBES, read_known_probes
from twice.recorder.environment.surroundings import Surroundings, environ_for_child
from twice.recorder.record_form import reading
from twice.recorder.redaction.redaction import read_placeholders
from twice.recorder.runrecord import RunRecord
from twice.recorder.session_job import WORLD, describe_world, hear
from twice.recorder.snapshots import Cursors, has_others, read_envelope
from twice.recorder.trust import GRANT, grant, is_made_here
from twice.worker.fork_server import ForkServer
from twice.worker.process import FreshWorker, Worker, refuse_nesting

_CHILD = "twice.replayer"


Start = Callable[[RunRecord], Worker]


def start_child(
    record: RunRecord,
    *,
    surroundings: Surroundings | None = None,
    show: bool = False,
) -> FreshWorker:
    """Start a process in the record's own surroundings, not the caller's."""
    environ = _environ_of(record, surroundings)
    # Not the caller's folder: a program reads its data by relative paths.
    return FreshWorker(_CHILD, environ, show=show, cwd=folder_of(record), heard=hear)


def start_server(record: RunRecord) -> ForkServer:
    """Start a process in the record's own surroundings that is forked for every execution."""
    return ForkServer(_CHILD, _environ_of(record), cwd=folder_of(record), heard=hear)


def _environ_of(record: RunRecord, surroundings: Surroundings | None = None) -> dict[str, str]:
    refuse_nesting()
    pinned = surroundings or surroundings_of(record)
    return environ_for_child(os.environ, pinned, stand_ins=stand_ins_of(record))


def surroundings_of(record: RunRecord) -> Surroundings:
    """Return the variables for executing a record; for another account's record, harmless ones alone."""
    found = Surroundings.from_json(record.identity["surroundings"])
    own = found if is_made_here(record.digest) else found.from_elsewhere(os.environ)
    return record.setup.apply_policies(own)


def stand_ins_of(record: RunRecord) -> dict[str, str]:
    """Return stars for the secret variables that the run had, for a replay without them."""
    return read_placeholders(record.identity) if is_made_here(record.digest) else {}


def folder_of(record: RunRecord) -> str | None:
    """Return the folder that the program was started in, or the one that it was moved to."""
    root = record.setup.program.folder()
    return str(root) if root.is_dir() else None


def job_for(record: RunRecord, action: str, **fields: Any) -> Mapping[str, Any]:
    """Build a job for a replaying process, which runs in a copy of the files as they were."""
    cut_off = fields.pop("cut_off", not may_talk(record.setup.allow))
    world = describe_world(
        record,
        has_network=not cut_off,
        compares=action == "verify",
        keep=fields.pop("keep", None),
        differing=fields.pop("differing", None),
        is_recorded=action == "branch",
        shared=fields.pop("shared", ()),
    )
    return {
        "action": action,
        "record": str(record.reader.fetch().absolute()),
        GRANT: [record.digest, list(record.setup.allow)],
        "cut_off": cut_off,
        # Only these measure; the jobs of a diagnosis are many, and equal ones share a process.
        **({PROBES: read_known_probes()} if action in {"branch", "verify"} else {}),
        WORLD: world,
        **fields,
    }


def find_files_read_back(record: RunRecord) -> list[str]:
    """Return the files that a run read after code other than Python had changed them.

    A snapshot holds no files, and such code would not be refused one that is missing.
    """
    # Such code reads through the kernel, where a replay from a snapshot has only files as they are now.
    written = set(record.native_writes())
    return [
        history.path
        for history in record.native_files().histories
        if history.is_read_back and history.path in written
    ]


def find_lost_connections(record: RunRecord, snapshot: int) -> list[str]:
    """Return connections that stood open at a snapshot, and that a run which begins there does not make.

    It makes again what the program connects before its ticks begin, and no client's pool is among the states.
    """
    effects = Cursors.from_json(read_envelope(record.reader, snapshot)).effects
    parts: Any = decode(effects["parts"]) if effects["parts"] else {}  # type: ignore[arg-type]
    stood = [key for key, state in parts.get(CONNECTIONS, {}).items() if state is not None]
    if not stood:
        return []
    named = record.reader.frames(kinds=[ACTOR])
    again = {decode(frame.payload) for frame in named if frame.tick < 0}
    return [key for key in stood if key not in again]


def restorable_snapshot(record: RunRecord, tick: int) -> int | None:
    """Return the latest snapshot from which a tick can be reached, or None for the top.

    None if a component cannot be restored, or the run reads files that C code wrote. One with a connection that is not
    made again does not count, nor one at which a thread, task or job lived: a run that begins there does not go on with
    it. If the run was rolled back, only snapshots before the first rollback count: the state that decided on it (such as
    a governor's memory) is not rolled back, so no snapshot contains it.

    Not covered: what the program keeps elsewhere than in components, such as local variables.
    """
    ending = record.ending or {}
    # One component without restore() would start from its first state, beside others that start here.
    if "state only" in ending.get("components", {}).values() or find_files_read_back(record):
        return None
    backs = record.rollbacks()
    last = backs[0].point if backs else len(record.reader.points)
    may_live = ending.get("lineages") != {}
    with reading("a snapshot", record.path):
        for entry in reversed(record.reader.snapshots):
            if entry.point > last or entry.tick > tick:
                continue
            envelope = read_envelope(record.reader, entry.number)
            if has_others(envelope, otherwise=may_live):
                continue
            if not find_lost_connections(record, entry.number):
                return entry.number
    return None


def exact_snapshot(record: RunRecord, tick: int) -> int | None:
    """Return the latest snapshot from which a tick's state is held against the record, or None for the top.

    A state that was restored lacks what the program keeps elsewhere. That shows where each tick's components are compared,
    and nowhere else.
    """
    judged = partial(is_judged, predicate=record.setup.predicate, tolerances={})
    is_held = record.setup.granularity == "tick" and all(
        map(judged, record.reader.points.components())
    )
    return restorable_snapshot(record, tick) if is_held else None


def open_job_record(job: Mapping[str, Any]) -> RunRecord:
    """Open the record of a job, in a process that was started to execute it."""
    digest, allow = job[GRANT]
    grant(digest, allow)
    return RunRecord.open(job["record"])
