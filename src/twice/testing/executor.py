"""Execute examples: each in a fork of a process that has loaded everything but the user's program.

A fork takes a tenth of what a fresh process does, and has executed nothing before it. The forks of one
process share its addresses, so the second of two executions comes from another process, under another
hash seed: what hangs on either shows. Whoever wants evidence asks for fresh processes.

Invariant: records are written into the executor's own folder, which goes with it.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from twice.diagnosis.vary.factor import VaryContext
from twice.diagnosis.vary.factors import select_factors
from twice.errors import ProgramFailed, ProgramNotFound
from twice.foundation.comparison import FieldDifference, differences
from twice.foundation.determinism_class import Predicate
from twice.foundation.encoding import decode
from twice.foundation.seeds import Seed
from twice.foundation.with_blocks import Closing
from twice.recorder.cadence import parse_cadence
from twice.recorder.environment.surroundings import Surroundings, environ_for_child, for_recording
from twice.recorder.program import Program, name_function, require_runnable
from twice.recorder.program_spec import parse_program
from twice.recorder.record import discard_hidden
from twice.recorder.recorder import build_record_job, refuse_lack_of_copy
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.recorder.trust import remember_record
from twice.replayer.outcome import Replay
from twice.replayer.replay_job import folder_of, stand_ins_of, surroundings_of
from twice.replayer.replay_run import Plan, execute_once
from twice.testing.faults import active
from twice.worker.fork_server import ForkServer
from twice.worker.process import FreshWorker, Worker, refuse_nesting

_CHILD: Final = "twice.testing"
_SERVERS_MAX: Final = 4
_FIELDS_MAX: Final = 8
_OWN: Final = ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT")
"""Variables that say which test runs, and where: no business of what is tested."""

AT_FAILURE: Final = -2
"""In place of a compare-point's index: the one that differs."""

_servers: dict[str, ForkServer] = {}


@dataclass(frozen=True, slots=True)
class Subject:
    """A program under test."""

    program: Program
    label: str
    predicate: Predicate = field(default_factory=Predicate)
    policies: Mapping[str, Any] = field(default_factory=dict)

    def setup(self, config: Mapping[str, Any], seed: int) -> Setup:
        """Return the setup of one example; a snapshot before every tick, so that all can be put back."""
        return Setup(
            self.program,
            Seed(seed),
            dict(config),
            predicate=self.predicate,
            cadence=parse_cadence("tick"),
            **self.policies,
        )


def subject_of(
    thing: str | Callable[..., object] | Subject,
    *,
    predicate: Predicate | None = None,
    policies: Mapping[str, Any] | None = None,
) -> Subject:
    """Understand what a test names: ``"file.py:function"``, ``"module:function"``, or a function of a run."""
    if isinstance(thing, Subject):
        return thing
    if isinstance(thing, str):
        program, label = parse_program(thing), thing
    else:
        program = name_function(thing)
        label = str(program)
        require_runnable(thing, label)
        if not program.rerunnable or "<" in program.function:
            raise ProgramNotFound(
                f"{program.target} is a closure or a lambda: no fresh process can find it.",
                "Expected a function at the top of a file.",
                'Move it there, or name it: "tests/systems.py:main".',
                target=program.target,
            )
    return Subject(program, label, predicate or Predicate(), dict(policies or {}))


def fork_worker(
    surroundings: Surroundings,
    folder: str | None = None,
    stand_ins: Mapping[str, str] | None = None,
    *,
    apart: bool = False,
) -> Worker:
    """Return the fork of a process that is kept, a fresh one where that cannot be.

    Forks ``apart`` are of another process than the others, which has other addresses.
    """
    refuse_nesting()
    here = {name: value for name, value in os.environ.items() if name not in _OWN}
    environ = environ_for_child(here, surroundings, stand_ins=dict(stand_ins or {}))
    where = folder or os.getcwd()  # noqa: PTH109
    key = repr((sorted(environ.items()), where, apart))
    server = _servers.get(key)
    if server is None:
        while len(_servers) >= _SERVERS_MAX:
            _servers.pop(next(iter(_servers))).close()
        server = _servers[key] = ForkServer(_CHILD, environ, cwd=where)
    if server.fit:
        try:
            return server.fork()
        except OSError:
            server.close()
    return FreshWorker(_CHILD, environ, cwd=where)


def fork_apart(record: RunRecord) -> Worker:
    """Return a fork in the surroundings of a record, of a process that records nothing."""
    given = surroundings_of(record), folder_of(record), stand_ins_of(record)
    return fork_worker(*given, apart=True)


@atexit.register
def close_servers() -> None:
    """End the processes that are kept."""
    while _servers:
        _servers.popitem()[1].close()


class Executor(Closing):
    """Executes the examples of one search; a context manager."""

    def __init__(self, vary: Sequence[str] = ("hash seed",)) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="twice-testing-")
        self.folder = Path(self._temporary.name)
        self._base = for_recording(os.environ, explicit={})
        self.variables: dict[str, str] = {}
        for factor in select_factors(vary):
            setting = factor.choose(VaryContext(self._base, self.folder))
            self.variables |= {} if setting.skipped else setting.variables
        self._other = self._base.with_variables(self.variables)
        self.planted = False
        self._is_fresh, self._n_records = False, 0

    @contextmanager
    def only_fresh(self) -> Iterator[None]:
        """Execute in fresh processes, as evidence."""
        before, self._is_fresh = self._is_fresh, True
        try:
            yield
        finally:
            self._is_fresh = before

    def start(self, *, other: bool = False) -> Worker:
        """Return a process for one execution, under the varied surroundings where it is the other one."""
        surroundings = self._other if other else self._base
        if self._is_fresh:
            environ = environ_for_child(os.environ, surroundings)
            return FreshWorker(_CHILD, environ, cwd=os.getcwd())  # noqa: PTH109
        return fork_worker(surroundings)

    def record(self, setup: Setup, *, other: bool = False) -> Path:
        """Record one run and return the path of its record; raises as ``record_in``."""
        self._n_records += 1
        out = self.folder / f"{self._n_records}.twice"
        surroundings = self._other if other else self._base
        record_in(self.start(other=other), out, setup, surroundings)
        return out

    def execute(self, record: RunRecord, plan: Plan, *, other: bool = False) -> Replay:
        """Execute a record's program again, with the active fault; raises where its process died."""
        if (fault := active()) is not None:
            plan = replace(plan, added={**plan.added, "fault": asdict(fault)})
        replay = execute_once(record, plan, start=lambda _: self.start(other=other))
        if replay.death:
            remedy = (
                f"Run it by hand: twice record {record.setup.program} --seed {record.seed.value}"
            )
            raise ProgramFailed(replay.death, "Expected an answer from its process.", remedy)
        self.planted = self.planted or bool(replay.added["planted"])
        return replay

    def close(self) -> None:
        """Remove the folder."""
        self._temporary.cleanup()


def record_in(
    process: Worker, out: Path, setup: Setup, surroundings: Surroundings
) -> dict[str, Any]:
    """Record one run in a process; return the message with which it ended."""
    pid = 0
    try:
        with closing(process):
            message = process.ask(
                build_record_job(setup, surroundings, out, force=True, in_copy=True)
            )
            while message["kind"] != "ended":
                pid = int(message.get("pid", pid))
                if (made := message.get("record")) is not None:
                    remember_record(made, is_passing=True)
                message = process.answer()
            refuse_lack_of_copy(message, process.read_keeper_report())
    finally:
        discard_hidden(out, pid)
    return message


def compare_states(
    was: Mapping[str, bytes], now: Mapping[str, bytes]
) -> tuple[FieldDifference, ...]:
    """Return the first few fields in which components differ, from their canonical forms."""
    found: list[FieldDifference] = []
    for name in sorted({*was} & {*now}):
        if was[name] != now[name]:
            found += differences(decode(was[name]), decode(now[name]), component=name)
    return tuple(found[:_FIELDS_MAX])
