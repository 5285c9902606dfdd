"""What must hold before a recorded program is executed again.

The code must be the recorded one, the behaviour numbers known, the configuration unchanged, the
program findable. Where something does not hold, the start is refused, or goes on clearly marked as
informational. A difference of environment is never refused here: it is reported.

Invariant: an execution that is not informational runs the recorded source, byte for byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from twice.errors import ProgramChanged, ProgramNotRerunnable
from twice.recording.launch import WORLD, ChildProcess, refuse_nesting
from twice.recording.program import Program, source_digests
from twice.recording.redaction.documents import recorded_placeholders
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.inventory import may_talk
from twice.recording.surroundings import Surroundings, environ_for_child
from twice.recording.trust import GRANT, is_made_here, require_trusted
from twice.recording.world_request import describe_world

_CHILD = "twice.replaying"


class Executor(Protocol):
    """A process that executes one job: fresh, or the fork of one that is kept."""

    def ask(self, message: Mapping[str, object]) -> dict[str, Any]:
        """Send a message and wait for the answer."""
        ...

    def answer(self) -> dict[str, Any]:
        """Wait for the next message."""
        ...

    def read_keeper_report(self) -> Mapping[str, Any]:
        """Return what the keeper of a process in a world reported; empty without one."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


Start = Callable[[RunRecord], Executor]


@dataclass(frozen=True)
class SourceChange:
    """A source file that is not what it was.

    Attributes:
        path: relative to the program's root.
        recorded: labelled digest.
        now: labelled digest, or None when the file is gone.
    """

    path: str
    recorded: str
    now: str | None


def source_changes(record: RunRecord) -> list[SourceChange]:
    """Files of the recorded program that differ from their recorded digests, sorted by path."""
    recorded: dict[str, str] = dict(record.identity["code"]["files"])
    if record.ending is not None:
        recorded.update(record.ending.get("files", {}))
    named = record.identity["setup"]["program"]["target"]
    if named in recorded:  # a record that travelled finds its program beside it, by its bare name
        recorded[record.setup.program.target] = recorded.pop(named)
    root = record.setup.program.folder()
    now = source_digests([root / name for name in recorded], root)
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
    require_trusted(record.path, record.digest, record.setup.program)


def require_rerunnable(record: RunRecord) -> Program:
    """The record's program, when it can be started again.

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


def start_child(
    record: RunRecord,
    *,
    surroundings: Surroundings | None = None,
    show: bool = False,
) -> ChildProcess:
    """Start a process in the record's own surroundings, not the caller's."""
    refuse_nesting()
    pinned = surroundings or surroundings_of(record)
    environ = environ_for_child(os.environ, pinned, stand_ins=stand_ins_of(record))
    return ChildProcess(_CHILD, environ, show=show, cwd=folder_of(record))


def surroundings_of(record: RunRecord) -> Surroundings:
    """Variables for a process that executes a record; of another account's record, harmless ones alone."""
    found = Surroundings.from_json(record.identity["surroundings"])
    return found if is_made_here(record.digest) else found.from_elsewhere()


def stand_ins_of(record: RunRecord) -> dict[str, str]:
    """Stars for the secret variables that the run had, for a replay without them."""
    return recorded_placeholders(record.identity) if is_made_here(record.digest) else {}


def folder_of(record: RunRecord) -> str | None:
    """The folder the program was started in, or the one that it was moved to."""
    root = record.setup.program.folder()
    return str(root) if root.is_dir() else None


def job_for(record: RunRecord, action: str, **fields: Any) -> Mapping[str, Any]:
    """A job for a replaying process, which runs in a copy of the files as they were."""
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
        "record": str(record.path.absolute()),
        GRANT: [record.digest, list(record.setup.allow)],
        "cut_off": cut_off,
        WORLD: world,
        **fields,
    }


def find_files_read_back(record: RunRecord) -> list[str]:
    """Return the files that a run read after code other than Python had changed them.

    A snapshot holds no files, and such code would not be refused one that is missing.
    """
    written = set(record.native_writes())
    return [
        history.path
        for history in record.native_files().histories
        if history.is_read_back and history.path in written
    ]


def restorable_snapshot(record: RunRecord, tick: int) -> int | None:
    """The latest snapshot from which a tick can be reached, or None for the top.

    None when a component cannot be put back, or the run reads back what C code wrote. Where the run was
    rolled back, only snapshots before the first rollback count: what decided on it (a governor's memory,
    say) cannot itself be rolled back, so it stands in no snapshot.
    """
    forms = (record.ending or {}).get("components", {})
    if "state only" in forms.values() or find_files_read_back(record):
        return None
    backs = record.rollbacks()
    last = backs[0].point if backs else len(record.reader.points)
    before = [entry for entry in record.reader.snapshots if entry.point <= last]
    usable = [entry for entry in before if entry.tick <= tick]
    return usable[-1].number if usable else None
