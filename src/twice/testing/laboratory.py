"""Execute examples: each in a fork of a process that has loaded everything but the user's program.

A fork takes a tenth of what a fresh process does, and has executed nothing before it. The forks of one
process share its addresses, so the second of two executions comes from another process, under another
hash seed: what hangs on either shows. Whoever wants evidence asks for fresh processes.

Invariant: records are written into the laboratory's own folder, which goes with it.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from twice.diagnosis.vary.factors import VaryContext, select_factors
from twice.foundation.with_blocks import Closing
from twice.recording.record import discard_hidden
from twice.recording.recorder import record_job, refuse_lack_of_copy
from twice.recording.runrecord import RunRecord
from twice.recording.setup import Setup
from twice.recording.surroundings import Surroundings, environ_for_child, for_recording
from twice.recording.trust import remember_record
from twice.replayer.outcome import Failure
from twice.replayer.replay_job import job_for
from twice.testing.faults import active
from twice.worker.fork_server import ForkServer
from twice.worker.process import FreshWorker, Worker, refuse_nesting

CHILD = "twice.testing"

_SERVERS_MAX = 4
_OWN = ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT")
"""Variables that say which test runs, and where: no business of what is tested."""

_servers: list[tuple[tuple[dict[str, str], str, bool], ForkServer]] = []


def forked(
    surroundings: Surroundings,
    *,
    folder: str | None = None,
    stand_ins: Mapping[str, str] | None = None,
    apart: bool = False,
) -> Worker:
    """A process to execute in: the fork of one that is kept, a fresh one where that cannot be.

    Args:
        surroundings: what it is given.
        folder: its working folder; the current one when None.
        stand_ins: see ``starting.stand_ins_of``.
        apart: from another process than the others, which has other addresses.
    """
    refuse_nesting()
    here = {name: value for name, value in os.environ.items() if name not in _OWN}
    environ = environ_for_child(here, surroundings, stand_ins=dict(stand_ins or {}))
    where = folder or os.getcwd()  # noqa: PTH109
    key = (environ, where, apart)
    server = next((z for given, z in _servers if given == key), None)
    if server is None:
        if not _servers:
            atexit.register(close_servers)
        while len(_servers) >= _SERVERS_MAX:
            _servers.pop(0)[1].close()
        server = ForkServer(CHILD, environ, cwd=where)
        _servers.append((key, server))
    if server.fit:
        try:
            return server.fork()
        except OSError:
            server.close()
    return FreshWorker(CHILD, environ, cwd=where)


def close_servers() -> None:
    """End the processes that are kept."""
    while _servers:
        _servers.pop()[1].close()


@dataclass(frozen=True, slots=True)
class Held:
    """One execution, held against its record.

    Attributes:
        failure: the first difference, or None.
        ended: how the execution ended: ``completed``, ``exception``, ``stopped`` ..., empty after a
            failure.
        message: the last message, with what else it says.
        planted: whether a fault was planted.
    """

    failure: Failure | None
    ended: str
    message: Mapping[str, Any]
    planted: bool


AT_FAILURE = -2
"""In place of a compare-point's index: the one that differs."""


class Laboratory(Closing):
    """Executes the examples of one search; a context manager.

    Args:
        vary: names of the factors in which the second of two executions differs; see
            ``twice vary --list``.

    Attributes:
        fresh: whether every execution gets a process of its own from the start.
        executions: how many there were.
    """

    def __init__(self, vary: Sequence[str] = ("hash seed",)) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="twice-testing-")
        self.folder = Path(self._folder.name)
        self.base = for_recording(os.environ, explicit={})
        self.other, self.variables = self._varied(vary)
        self.fresh = False
        self.executions = 0
        self._records = 0

    def _varied(self, names: Sequence[str]) -> tuple[Surroundings, dict[str, str]]:
        other = self.base
        variables: dict[str, str] = {}
        for factor in select_factors(names):
            tried = factor.choose(VaryContext(self.base, self.folder))
            if not tried.skipped:
                other = other.with_variables(tried.variables)
                variables.update(tried.variables)
        return other, variables

    @contextmanager
    def only_fresh(self) -> Iterator[None]:
        """Execute in fresh processes, as evidence."""
        before, self.fresh = self.fresh, True
        try:
            yield
        finally:
            self.fresh = before

    def start(self, surroundings: Surroundings) -> Worker:
        """A process for one execution."""
        self.executions += 1
        if self.fresh:
            environ = environ_for_child(os.environ, surroundings)
            return FreshWorker(CHILD, environ, cwd=os.getcwd())  # noqa: PTH109
        return forked(surroundings)

    def record(self, setup: Setup, *, other: bool = False) -> Path:
        """Record one run; the path of its record.

        Raises:
            TwiceError: what the process refused. ProgramFailed: E-PROGRAM-003, when it died.
        """
        self._records += 1
        out = self.folder / f"{self._records}.twice"
        surroundings = self.other if other else self.base
        record_into(out, setup, surroundings, self.start(surroundings))
        return out

    def hold(
        self,
        record: RunRecord,
        *,
        other: bool = False,
        snapshot: int | None = None,
        capture: int | None = None,
        **added: Any,
    ) -> Held:
        """Execute a record's program again, with something added, and compare every point.

        Args:
            record: what is compared with.
            other: under the varied surroundings, in another process than the record's.
            snapshot: number of the snapshot to start from; None for the top.
            capture: index of a compare-point whose state is wanted; ``AT_FAILURE`` for the one that differs.
            **added: see ``executing``.

        Raises:
            TwiceError: what the process refused, a restore that failed among them.
        """
        fault = active()
        if fault is not None:
            added["fault"] = fault.to_json()
        process = self.start(self.other if other else self.base)
        return hold_in(process, record, snapshot=snapshot, capture=capture, added=added)

    def discard(self, path: Path) -> None:
        """Remove a record that is not needed any more."""
        path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()


def record_into(
    out: Path, setup: Setup, surroundings: Surroundings, process: Worker
) -> dict[str, Any]:
    """Record one run in a process; the message with which it ended.

    Raises:
        TwiceError: what the process refused. ProgramFailed: E-PROGRAM-003, when it died.
        FilesUnprotected: E-FILE-002, when the program needs a copy of the files, and none can be made here.
    """
    pid = 0
    try:
        with closing(process):
            message = process.ask(record_job(setup, surroundings, out, force=True, in_copy=True))
            while message["kind"] != "ended":
                pid = int(message.get("pid", pid))
                if (made := message.get("record")) is not None:
                    remember_record(made, is_passing=True)
                message = process.answer()
            refuse_lack_of_copy(message, process.read_keeper_report())
    finally:
        discard_hidden(out, pid)
    return message


def hold_in(
    process: Worker,
    record: RunRecord,
    *,
    snapshot: int | None = None,
    capture: int | None = None,
    added: Mapping[str, Any] | None = None,
) -> Held:
    """Execute a record's program again in a process; see ``Laboratory.hold``."""
    job = job_for(
        record,
        "verify",
        predicate=record.setup.predicate.to_json(),
        snapshot=snapshot,
        last=None,
        capture=capture,
        lines_from=None,
        added=dict(added or {}),
    )
    planted = False
    kept: dict[str, Any] = {}
    with closing(process):
        message = process.ask(job)
        while message["kind"] in {"environment", "progress", "state"}:
            planted = planted or bool(message.get("planted"))
            if message["kind"] == "state":
                kept = {"state": message["state"]}
            message = process.answer()
    failure = Failure.from_json(message) if message["kind"] == "failure" else None
    how = "" if failure is not None else str(message["how"])
    return Held(failure, how, {**kept, **message}, planted)
