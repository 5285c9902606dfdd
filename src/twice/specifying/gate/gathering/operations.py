"""The operations of sessions, tried one by one on the trial, as a user would.

Each is tried in a session of its own kind: reading never changes a record, and a branch has one of its
own whose beginning is proved to be its parent's.

Invariant: an operation worked when what it gave was compared with something, not when it raised nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from twice.errors import SessionMisuse, TwiceError
from twice.foundation.encoding import encode
from twice.recording.runrecord import RunRecord
from twice.replayer.branch_session import BranchingSession, prefix_proof
from twice.replayer.replay_session import ReplaySession
from twice.replayer.rerun import rerun
from twice.replayer.verify import verify
from twice.specifying.gate.evidence import Tried
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench, because

Trial = Callable[[Path, Path], str | None]
"""From the trial's record and an empty folder to what went wrong; None when it worked."""


def gather_operations(bench: Bench) -> tuple[Tried, ...] | Unavailable:
    """Try every operation that sheet 06 claims."""
    try:
        trial = bench.trial()
    except TwiceError as error:
        return Unavailable(because(error))
    return tuple(_tried(bench, trial, operation) for operation in bench.plan.operations)


def _tried(bench: Bench, trial: Path, operation: str) -> Tried:
    bench.doing(f"trying {operation}")
    folder = bench.scratch / operation
    folder.mkdir(exist_ok=True)
    try:
        wrong = _TRIALS[operation](trial, folder)
    except TwiceError as error:
        wrong = because(error).replace(f"{bench.scratch}/", "")
    return Tried(operation, wrong is None, wrong or _TOLD[operation])


def _start(trial: Path, folder: Path) -> str | None:
    del folder
    with ReplaySession(trial) as session:
        return None if session.state() else "the session has no component to look at"


def _step(trial: Path, folder: Path) -> str | None:
    del folder
    with ReplaySession(trial) as session:
        session.state()
        after = session.step()
        session.state()
        return None if after == 1 else f"a step from tick 0 stands before tick {after}"


def _seek(trial: Path, folder: Path) -> str | None:
    del folder
    with ReplaySession(trial) as session:
        far, near = session.record.ticks, session.record.ticks // 2
        session.seek(near)
        first = session.state()
        session.seek(far)
        session.state()
        with ReplaySession(trial, at=near) as other:
            again = other.state()
    return None if _same(first, again) else f"two visits of tick {near} saw different states"


def _observe(trial: Path, folder: Path) -> str | None:
    del folder
    with ReplaySession(trial) as session:
        record = session.record
        for entry in record.reader.snapshots:
            kept = record.state_at(entry.number)
            session.seek(entry.tick)
            seen = session.state()
            if not _same(seen, {name: kept[name] for name in seen if name in kept}):
                return f"the state before tick {entry.tick} is not the one that the snapshot kept"
            return None
        return None if session.state() else "there is nothing to look at"


def _end(trial: Path, folder: Path) -> str | None:
    del folder
    session = ReplaySession(trial)
    session.end()
    try:
        session.seek(0)
    except SessionMisuse:
        return None
    return "a session that has ended goes on"


def _branch(trial: Path, folder: Path) -> str | None:
    with ReplaySession(trial) as session:
        session.seek(session.record.ticks // 2)
        with session.branch(folder / "branch.twice") as opened, opened.finish() as record:
            if not prefix_proof(record, session.record):
                return "what comes before the fork is not the parent's"
    return None


def _step_with(trial: Path, folder: Path) -> str | None:
    with RunRecord.open(trial) as record:
        at = record.ticks // 2
        inputs = {each.name: each.value for each in record.inputs(tick=at)}
        with BranchingSession(record, at, folder / "with.twice") as opened:
            after = opened.step_with(inputs)
    return None if after == at + 1 else f"a step from tick {at} stands before tick {after}"


def _rollback(trial: Path, folder: Path) -> str | None:
    with RunRecord.open(trial) as record:
        at = record.ticks // 2
        states = []
        for number in range(2):
            with BranchingSession(record, at, folder / f"back-{number}.twice") as opened:
                states.append(opened.state())
                opened.step_with()
    if not _same(*states):
        return f"after a step was taken back, tick {at} begins from another state"
    return None


def _verify(trial: Path, folder: Path) -> str | None:
    del folder
    statement = verify(trial)
    return None if statement.result == "PASS" else f"verifying gives {statement.result}"


def _rerun(trial: Path, folder: Path) -> str | None:
    with (
        RunRecord.open(trial) as record,
        rerun(trial, out=folder / "again.twice", in_copy=True) as again,
    ):
        how = (again.ending or {}).get("how")
        same = again.seed == record.seed and how == "completed"
        return None if same else f"running it again ended otherwise: {how}"


def _same(a: object, b: object) -> bool:
    return encode(a) == encode(b)


_TRIALS: Final[dict[str, Trial]] = {
    "start": _start,
    "step": _step,
    "seek": _seek,
    "observe": _observe,
    "end": _end,
    "branch": _branch,
    "step-with": _step_with,
    "rollback": _rollback,
    "verify": _verify,
    "rerun": _rerun,
}

_TOLD: Final = {
    "start": "a session starts and shows its components",
    "step": "a step leads to the next tick",
    "seek": "a tick that is visited twice shows one state",
    "observe": "what is seen before a tick is what the snapshot kept",
    "end": "a session that has ended is of no use any more",
    "branch": "a branch runs to its end, and what comes before the fork is its parent's",
    "step-with": "a branch takes one step with inputs that were handed in",
    "rollback": "a step that was taken back leaves no trace",
    "verify": "replaying gives every compare-point again",
    "rerun": "it runs afresh with the same seed",
}
