"""A difference planted into the system's own run and searched for; and the operations of sessions, tried.

To plant, a driver, written into a folder of its own, runs the program with one value of one component moved
before one tick. By how much is an input, 0 when it is recorded; a branch replaces it, so that the branch
reads from the world what the recorded run read, and differs in nothing else. Diagnosing is then told
nothing of what was planted.

Each operation is tried in a session of its own kind: reading never changes a record, and a branch has one
of its own whose beginning is proved to be its parent's. An operation worked when what it gave was compared
with something, not when it raised nothing.

Invariant: the project's own files are neither changed nor copied.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence
from twice.errors import SessionMisuse, TwiceError
from twice.foundation.encoding import encode
from twice.recorder.program import Program
from twice.recorder.runrecord import RunRecord
from twice.replayer.branch_session import BranchingSession, branch, prefix_proof
from twice.replayer.replay_session import ReplaySession
from twice.replayer.rerun import rerun
from twice.replayer.verify import verify
from twice.specification.gate.evidence.context import EvidenceContext, MissingEvidence
from twice.specification.gate.plan import read_field

_INPUT: Final = "twice/planted"
_NAME: Final = "planted_driver.py"
_DRIVER: Final = '''\
"""The program, with one value of one component moved before one tick."""

from twice.recorder.program import Program, load


def main(run):
    program = load(Program.from_json({program!r}))
    program(Watched(run))


class Watched:
    def __init__(self, run):
        self._run = run
        self._parts = {{}}

    def __getattr__(self, name):
        return getattr(self._run, name)

    def track(self, name, target, **how):
        self._parts[name] = target
        return self._run.track(name, target, **how)

    def ticks(self, *given, **how):
        for tick in self._run.ticks(*given, **how):
            if tick == {tick!r}:
                plant(self._parts[{component!r}], self._run.input({asked!r}, lambda: 0))
            yield tick


def plant(part, by):
    if hasattr(part, "restore"):
        state = part.state()
        state{path} = state{path} + by
        part.restore(state)
    elif isinstance(part, (dict, list)):
        part{path} = part{path} + by
    else:
        part{held} = part{held} + by
'''


@dataclass(frozen=True, slots=True)
class PlantedDifference:
    """A difference that was planted in a field before the body of a tick, and what diagnosing found."""

    component: str
    field: str
    tick: int
    divergence: Divergence

    @property
    def is_operation_found(self) -> bool:
        """Whether the operation that was named is the one that planted it."""
        operation = self.divergence.operation
        return operation is not None and Path(operation.file).name == _NAME


def gather_planted(context: EvidenceContext) -> PlantedDifference:
    """Plant a difference, and say what diagnosing found of it."""
    trial, program = context.trial(), context.program()
    planned = (
        (str(row["component"]), str(row["field"]), int(str(row["tick"])))
        for row in context.workspace.rows("05", "planted")
        if {"component", "field"} <= row.keys() and str(row.get("tick", "")).isdecimal()
    )
    where = next(planned, None) or choose_number(trial)
    if where is None:
        raise MissingEvidence("no component of the trial holds a number that could be moved")
    component, field, tick = where
    keys = read_field(field)
    if not keys:
        raise MissingEvidence(f"sheet 05 plants a difference in {field!r}, which names no field")
    if program.whole:
        raise MissingEvidence("a whole program has no component that a difference could go into")
    context.doing(f"planting a difference in {component}")
    driver, moved = context.scratch / _NAME, context.scratch / "moved.twice"
    text = _DRIVER.format(
        program=program.to_json(),
        tick=tick,
        component=component,
        asked=_INPUT,
        path=_write_index(keys),
        held=f".{keys[0]}{_write_index(keys[1:])}",
    )
    driver.write_text(text, encoding="utf-8")
    target = os.path.relpath(driver, context.project)
    straight = context.record(
        Program("function", target, "main", str(context.project)), "straight.twice"
    )
    branch(straight, at=tick, inputs={_INPUT: 1}, out=moved).close()
    return PlantedDifference(component, field, tick, diagnose(straight, moved))


def _write_index(keys: Sequence[str | int]) -> str:
    return "".join(f"[{key!r}]" for key in keys)


def choose_number(trial: Path) -> tuple[str, str, int] | None:
    """Return the first number that can be moved in the first snapshot, and a tick in the middle."""
    with RunRecord.open(trial) as record:
        forms: Mapping[str, str] = (record.ending or {}).get("components", {})
        if not record.reader.snapshots or not record.ticks:
            return None
        state = record.state_at(0)
        for component in sorted(forms):
            field = _find_number(state.get(component))
            if field is not None and forms[component] != "state only":
                return component, field, record.ticks // 2
    return None


def _find_number(value: Any, path: str = "") -> str | None:
    """Return the path of the first number below keys that are names, and indices."""
    if isinstance(value, Mapping):
        for key in sorted(each for each in value if isinstance(each, str) and each.isidentifier()):
            found = _find_number(value[key], f"{path}.{key}" if path else key)
            if found is not None:
                return found
        return None
    if not path:
        return None
    if isinstance(value, list) and value:
        return _find_number(value[0], f"{path}[0]")
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.size:
        return f"{path}[0]" if np.issubdtype(value.dtype, np.number) else None
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return path if is_number else None


class OperationTrial(NamedTuple):
    """One operation of a session, tried on the trial: whether it did what it is for, and what was seen."""

    operation: str
    worked: bool
    told: str


def gather_operations(context: EvidenceContext) -> tuple[OperationTrial, ...]:
    """Try every operation that sheet 06 claims."""
    trial = context.trial()
    tried = []
    for operation in sorted({*context.workspace.column("06", "operations", "operation")}):
        context.doing(f"trying {operation}")
        folder = context.scratch / operation
        folder.mkdir(exist_ok=True)
        try_out, told = _OPERATIONS[operation]
        try:
            wrong = try_out(trial, folder)
        except TwiceError as error:
            wrong = context.explain(error)
        tried.append(OperationTrial(operation, not wrong, wrong or told))
    return tuple(tried)


def _start(trial: Path, _: Path) -> str:
    with ReplaySession(trial) as session:
        return "" if session.state() else "the session has no component to look at"


def _step(trial: Path, _: Path) -> str:
    with ReplaySession(trial) as session:
        session.state()
        after = session.step()
        session.state()
    return "" if after == 1 else f"a step from tick 0 stands before tick {after}"


def _seek(trial: Path, _: Path) -> str:
    with ReplaySession(trial) as session:
        near = session.record.ticks // 2
        session.seek(near)
        first = session.state()
        session.seek(session.record.ticks)
        session.state()
        with ReplaySession(trial, at=near) as other:
            same = encode(first) == encode(other.state())
    return "" if same else f"two visits of tick {near} saw different states"


def _observe(trial: Path, _: Path) -> str:
    with ReplaySession(trial) as session:
        entry = next(iter(session.record.reader.snapshots), None)
        if entry is None:
            return "" if session.state() else "there is nothing to look at"
        kept = session.record.state_at(entry.number)
        session.seek(entry.tick)
        seen = session.state()
    same = encode(seen) == encode({name: kept[name] for name in seen if name in kept})
    return (
        "" if same else f"the state before tick {entry.tick} is not the one that the snapshot kept"
    )


def _end(trial: Path, _: Path) -> str:
    session = ReplaySession(trial)
    session.end()
    try:
        session.seek(0)
    except SessionMisuse:
        return ""
    return "a session that has ended goes on"


def _branch(trial: Path, folder: Path) -> str:
    with ReplaySession(trial) as session:
        session.seek(session.record.ticks // 2)
        with session.branch(folder / "branch.twice") as opened, opened.finish() as record:
            is_proved = prefix_proof(record, session.record)
    return "" if is_proved else "what comes before the fork is not the parent's"


def _step_with(trial: Path, folder: Path) -> str:
    with RunRecord.open(trial) as record:
        at = record.ticks // 2
        inputs = {each.name: each.value for each in record.inputs(tick=at)}
        with BranchingSession(record, at, folder / "with.twice") as opened:
            after = opened.step_with(inputs)
    return "" if after == at + 1 else f"a step from tick {at} stands before tick {after}"


def _rollback(trial: Path, folder: Path) -> str:
    states = []
    with RunRecord.open(trial) as record:
        at = record.ticks // 2
        for number in range(2):
            with BranchingSession(record, at, folder / f"back-{number}.twice") as opened:
                states.append(encode(opened.state()))
                opened.step_with()
    same = states[0] == states[1]
    return "" if same else f"after a step was taken back, tick {at} begins from another state"


def _verify(trial: Path, _: Path) -> str:
    result = verify(trial).result
    return "" if result == "PASS" else f"verifying gives {result}"


def _rerun(trial: Path, folder: Path) -> str:
    with rerun(trial, out=folder / "again.twice", in_copy=True) as again:
        how = (again.ending or {}).get("how")
        with RunRecord.open(trial) as record:
            same = again.seed == record.seed and how == "completed"
    return "" if same else f"running it again ended otherwise: {how}"


_OPERATIONS: Final[dict[str, tuple[Callable[[Path, Path], str], str]]] = {
    "start": (_start, "a session starts and shows its components"),
    "step": (_step, "a step leads to the next tick"),
    "seek": (_seek, "a tick that is visited twice shows one state"),
    "observe": (_observe, "what is seen before a tick is what the snapshot kept"),
    "end": (_end, "a session that has ended is of no use any more"),
    "branch": (_branch, "a branch runs to its end, and what comes before the fork is its parent's"),
    "step-with": (_step_with, "a branch takes one step with inputs that were handed in"),
    "rollback": (_rollback, "a step that was taken back leaves no trace"),
    "verify": (_verify, "replaying gives every compare-point again"),
    "rerun": (_rerun, "it runs afresh with the same seed"),
}
"""How each operation is tried: from the trial's record and an empty folder to what went wrong, or ""; and
what is told where it worked."""
