"""``twice explore``: search for an order of steps in which a program fails, and record the shrunk one.

The program is executed in a process of its own, in a copy of the files. What fails is recorded as any run is, under the
constraints that are left, so that it verifies, replays and branches.

Invariant: a record that is named shows the failure that is named beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from twice.errors import OutputUnwritable, UsageError
from twice.foundation.next_step import NextStep
from twice.foundation.printable import pluralize, printable
from twice.foundation.seeds import Seed
from twice.recorder.environment.surroundings import Surroundings, environ_for_child, for_recording
from twice.recorder.execution import WENT_UNHEARD
from twice.recorder.program import Program
from twice.recorder.recorder import (
    choose_master_seed,
    record_program,
    refuse_existing,
    to_program,
)
from twice.recorder.runrecord import RunRecord
from twice.recorder.session_job import WORLD, describe_copy, hear
from twice.recorder.setup import Setup
from twice.recorder.trust import digest_identity, remember_record
from twice.schedules.trial import ENDLESS_STEP, UNHEARD
from twice.simulation.faults import DECLARED, parse_kinds
from twice.simulation.order import Order
from twice.worker.process import FreshWorker, refuse_nesting

FORMAT: Final = "twice.exploration/1"
_WORKER: Final = "twice.schedules"


@dataclass(frozen=True, slots=True)
class FoundFailure:
    """One failing schedule.

    Attributes:
        record: path of its record; None if it did not fail in one.
        error: type, message, file and line.
        constraints: pairs of steps, each ``first`` and ``then`` with actor, file and line.
        faults: those that happened, each ``fault`` with actor, file and line.
        sentences: both in words.
        runs: executions that it took to shrink.
        schedule: its number in the search; 0 is FIFO order.
        is_minimal: whether each constraint was seen to be needed.
    """

    record: Path | None
    error: Mapping[str, Any]
    constraints: Sequence[Mapping[str, Any]]
    faults: Sequence[Mapping[str, Any]]
    sentences: Sequence[str]
    runs: int
    schedule: int
    is_minimal: bool

    def to_json(self) -> dict[str, object]:
        """Return it as ``twice explore --json`` prints it."""
        return {
            "record": None if self.record is None else str(self.record),
            "error": dict(self.error),
            "constraints": [dict(each) for each in self.constraints],
            "faults": [dict(each) for each in self.faults],
            "runs": self.runs,
            "schedule": self.schedule,
            "minimal": self.is_minimal,
        }


@dataclass(frozen=True, slots=True)
class Exploration:
    """What a search found.

    Attributes:
        strategy: by which the orders were chosen.
        schedules: how many were executed.
        outcomes: how many different values and types of failure came.
        failures: one schedule of each kind of failure.
        unshrunk: errors of schedules that did not fail again when they were traced.
        unreached: names given to ``sometimes`` that never held.
        is_exhausted: whether every schedule within the strategy's bound was executed.
    """

    strategy: str
    schedules: int
    outcomes: int
    failures: Sequence[FoundFailure]
    unshrunk: Sequence[Mapping[str, Any]]
    unreached: Sequence[str]
    is_exhausted: bool

    @property
    def result(self) -> str:
        """``found``, ``none-found``, or ``exhausted``: none found among all schedules within the bound."""
        if self.failures or self.unshrunk:
            return "found"
        return "exhausted" if self.is_exhausted else "none-found"

    def to_json(self) -> dict[str, object]:
        """Return the document that ``twice explore --json`` prints."""
        return {
            "format": FORMAT,
            "result": self.result,
            "strategy": self.strategy,
            "schedules": self.schedules,
            "outcomes": self.outcomes,
            "failures": [each.to_json() for each in self.failures],
            "unshrunk": [dict(each) for each in self.unshrunk],
            "unreached": list(self.unreached),
            "next": [step.to_json() for step in self.list_next_steps()],
        }

    def list_next_steps(self) -> list[NextStep]:
        """Return the commands that follow."""
        return [
            NextStep("replay the failure", command=f"twice verify {each.record}")
            for each in self.failures[:1]
            if each.record is not None
        ]

    def to_text(self) -> str:
        """Say it for people."""
        tried = f"{pluralize(self.schedules, 'schedule')} ({self.strategy})"
        lines = []
        for each in self.failures:
            lines += [
                f"found: {_describe_error(each.error)}, in schedule {each.schedule} of {tried}"
            ]
            lines += [f"  {printable(sentence)}" for sentence in each.sentences]
            if not each.constraints:
                lines.append("  it fails in FIFO order too: no other order is needed")
            needed = ", each of them needed" if each.is_minimal and each.sentences else ""
            lines.append(f"  shrunk in {pluralize(each.runs, 'run')}{needed}")
            if each.record:
                lines.append(f"record: {each.record}")
            elif is_endless(each.error):
                lines.append("  no record: a recording would not end either")
            else:
                lines.append("  a record of it did not fail: it reads something that changes")
        lines += [
            f"found: {_describe_error(each)}, and it did not fail again under the same order: it reads something "
            "that changes"
            for each in self.unshrunk
        ]
        if self.result == "exhausted":
            lines.append(f"exhausted: none of all {tried} within the bound fails")
        elif self.result == "none-found":
            lines.append(
                f"none-found: {tried}, {pluralize(self.outcomes, 'outcome')}. This proves nothing"
            )
        lines += [f"warning: sometimes {each!r} never held in {tried}" for each in self.unreached]
        lines += [f"next: {step.command}" for step in self.list_next_steps()]
        return "\n".join(lines)


def is_endless(error: Mapping[str, Any]) -> bool:
    """Return whether an execution was left because one of its steps did not end."""
    return ENDLESS_STEP in str(error["message"])


def _describe_error(error: Mapping[str, Any]) -> str:
    place = f" at {os.path.basename(error['file'])}:{error['line']}" if error["file"] else ""  # noqa: PTH119
    first = printable(str(error["message"]).partition("\n")[0])
    return printable(error["type"]) + place + (f": {first}" if first else "")


def explore(
    program: str | Program | Callable[..., object],
    *,
    seed: int | Seed | None = None,
    schedules: int = 1000,
    strategy: str = "portfolio",
    out: str | os.PathLike[str],
    force: bool = False,
    config: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    faults: str = ",".join(DECLARED),
    goes_on: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> Exploration:
    """Search for an order of steps in which a program over ``asyncio`` fails.

    Args:
        program: ``"file.py:function"`` with an async function, or what ``twice.record`` takes.
        seed: master seed, of the orders and of the program; the variable TWICE_SEED when None.
        schedules: at most so many executions, at least 1; shrinking takes more.
        strategy: ``portfolio``, ``random``, ``pct``, ``delay-bounded`` or ``fifo``.
        out: the folder for records; made when something is found.
        force: replace records of failures that are in the folder.
        config: plain values for ``run.config``.
        env: environment variables of the program.
        faults: kinds that may happen, with commas between them: ``points`` where the program calls ``fault``, ``crash`` of what it
            starts by ``host``, ``drop``, ``partition``, ``latency``; or ``all``, or ``none``.
        goes_on: whether to go on behind a failure, for others.
        progress: called with executed schedules and their number.

    Raises:
        SeedMissing: E-SEED-001. ProgramNotFound: E-PROGRAM-001. ScheduleRefused: E-SCHEDULE-004, for a strategy or a
            fault that there is not. UsageError: E-USE-001, for no schedules. OutputExists: E-OUTPUT-001, before the search. OutputUnwritable:
            E-OUTPUT-002, before the search.
    """
    if schedules < 1:
        raise UsageError(
            f"{schedules} schedules were asked for.",
            "Expected at least one.",
            "For example: --schedules 2000",
        )
    folder = Path(out)
    _require_room(folder, force=force)
    refuse_nesting()
    order, kinds = Order.from_json(Order(strategy).to_json()), parse_kinds(faults)
    setup = Setup(to_program(program), choose_master_seed(seed), dict(config or {}), order=order)
    surroundings = for_recording(os.environ, explicit=dict(env or {}))
    job = {
        "setup": setup.to_json(),
        "schedules": schedules,
        "kinds": kinds,
        "goes_on": goes_on,
        WORLD: describe_copy(setup.program),
    }
    with FreshWorker(_WORKER, environ_for_child(os.environ, surroundings), heard=hear) as child:
        message = child.ask(job)
        while message["kind"] == "searching":
            progress(message["done"], schedules)
            message = child.answer()
    failures = [
        _record(setup, surroundings, each, folder / f"failure-{number}.twice", force=force)
        for number, each in enumerate(message["found"], 1)
    ]
    return Exploration(
        strategy, message["schedules"], message["outcomes"], failures, message["unshrunk"],
        message["unreached"], message["exhausted"],
    )  # fmt: skip


def _require_room(folder: Path, *, force: bool) -> None:
    """Refuse a folder that cannot take records, before a search is made for them."""
    for path in sorted(folder.glob("failure-*.twice")):
        refuse_existing(path, force=force, is_record=True)
    nearest = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise OutputUnwritable(
            f"{nearest} takes no records: it is {'read-only' if nearest.is_dir() else 'not a folder'}.",
            "Expected the path of a folder that is writable, or one that is free.",
            "Choose another folder with -o.",
            path=str(nearest),
        )


def _shows(ending: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Return whether a record's ending is that of a failure."""
    error, ends = found["error"], found["ends"]
    if ends == UNHEARD:
        said = f"{error['type']} {WENT_UNHEARD}:"
        return any(each.startswith(said) for each in ending.get("caveats", ()))
    if ends == "SystemExit":
        return ending.get("how") == "exit" and bool(ending["exit_code"])
    raised = ending.get("exception") or {}
    return str(raised.get("type", "")).removeprefix("builtins.") == str(ends)


def _record(
    setup: Setup,
    surroundings: Surroundings,
    found: Mapping[str, Any],
    path: Path,
    *,
    force: bool,
) -> FoundFailure:
    """Record a failing schedule that ends, and see that it fails there."""
    is_kept = False
    if not is_endless(found["error"]):
        path.parent.mkdir(parents=True, exist_ok=True)
        own = replace(setup, order=Order.from_json(found["order"]))
        record_program(own, surroundings, path, force=force, in_copy=True)
        with RunRecord.open(path) as record:
            is_kept = _shows(record.ending or {}, found)
            # What runs in a copy is not remembered by itself.
            remember_record(digest_identity(record.identity))
    return FoundFailure(
        path if is_kept else None, found["error"], found["constraints"], found["faults"], found["sentences"], found["runs"],
        found["schedule"], found["minimal"],
    )  # fmt: skip
