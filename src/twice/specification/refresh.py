"""What a specification rests on, brought up to date after the code changed: scaffold, test vector, its digest, costs.

Every step says in one line what it found and did. What a person wrote or changed is listed and left. Only looking
executes nothing; bringing up to date runs the program in a copy of its files, and measures its cost as it was measured before.

Invariant: a run that does not come to its end replaces nothing.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from twice.errors import TwiceError
from twice.foundation.printable import pluralize
from twice.recorder.config import format_settings, parse_settings
from twice.recorder.recorder import record_program
from twice.recorder.runrecord import RunRecord
from twice.replayer.preconditions import trusting
from twice.replayer.replay_job import surroundings_of
from twice.specification.cost.measurement import measure_cost, read_variant
from twice.specification.cost.result import ClockName, write_evidence
from twice.specification.errors import SpecIncomplete
from twice.specification.gate.evidence.context import (
    EvidenceContext,
    MissingEvidence,
    SourceFacts,
)
from twice.specification.gate.evidence.files import gather_costs
from twice.specification.gate.evidence.runs import list_vector_changes
from twice.specification.gate.plan import read_predicate
from twice.specification.gate.staleness import refuse_outside
from twice.specification.record_traits import digest_vector
from twice.specification.scaffold.lock import Layer
from twice.specification.scaffold.lock import read_lock as read_scaffold
from twice.specification.scaffold.plan import Plan, apply_plan, make_plan
from twice.specification.throughput import read_promise
from twice.specification.workspace import Workspace, save
from twice.writing import write

Doing = Callable[[str], None]
StepState = Literal["same", "updated", "stale", "left", "absent"]
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class RefreshStep:
    """What became of one thing that a specification rests on.

    Args:
        what: ``vector``, ``digest``, ``scaffold``, ``costs`` or ``99``.
        state: ``same`` as it should be; ``updated``; ``stale`` where it was only looked at; ``left`` for a person
            to settle; ``absent`` where there is nothing yet that could be brought up to date.
        said: what was found and done, as a clause.
    """

    what: str
    state: StepState
    said: str


def refresh(workspace: Workspace, doing: Doing, *, only_look: bool) -> Iterator[RefreshStep]:
    """Bring a specification's evidence up to date, and yield what became of each part.

    Args:
        workspace: the sheets.
        doing: called with what is being done.
        only_look: say what is stale, execute nothing and write nothing.

    Raises:
        SheetRefused: E-SPEC-001: a sheet names a place outside of the project.
        SpecIncomplete: E-SPEC-005: the sheets name no program or seed, or the run does not reach its end.
        TwiceError: what recording, measuring or the sheets of the scaffold refuse; what is there already stays.
    """
    refuse_outside(workspace)  # the vector and the costs are written where the sheets name them
    refreshed = _Refresh(workspace, doing, only_look=only_look)
    first = refreshed.scaffold()
    if first.state == "updated":
        yield first
    yield from refreshed.vector()
    # Once more, because a generated test names the digest of the vector.
    last = refreshed.scaffold()
    if first.state != "updated" or last.state != "same":
        yield last
    yield refreshed.costs()


class _Refresh:
    """The steps, which share the sheets: one step may change what the next one reads."""

    def __init__(self, workspace: Workspace, doing: Doing, *, only_look: bool) -> None:
        self.workspace, self.doing, self.only_look = workspace, doing, only_look
        self.place = workspace.project / workspace.text("01", "vector")
        self.program = workspace.text("00", "program")
        self.seed = workspace.value("00", "seed")
        self.files: set[str] = set()  # of the project, that the vector's run executed

    def vector(self) -> Iterator[RefreshStep]:
        """Hold the test vector against code and sheets, record it anew, and say its digest in 01."""
        named = self.workspace.text("01", "vector")
        if not named:
            yield RefreshStep("vector", "absent", "01 names none: twice record, twice spec fill")
            return
        why = self._find_vector_faults()
        if why and self.only_look:
            yield RefreshStep("vector", "stale", f"{named}: {why}")
            return
        if why:
            self._record_vector()
        told = f"{named} was recorded anew: {why}" if why else f"{named} is of this code"
        yield RefreshStep("vector", "updated" if why else "same", told)
        with RunRecord.open(self.place) as record:
            now, before = digest_vector(record), self.workspace.text("01", "vector_digest")
            self.files = {*_list_files(record, self.workspace.project)}
        if now == before:
            yield RefreshStep("digest", "same", f"01 says {now}")
        elif self.only_look:
            yield RefreshStep("digest", "stale", f"01 says {before or '?'}, the vector {now}")
        else:
            promise = self.workspace.require("01", "it names the vector")
            sheets = {
                **self.workspace.sheets,
                "01": promise.with_value("vector_digest", now),
            }
            after = replace(self.workspace, sheets=sheets)
            save(self.workspace, after)
            self.workspace = after
            yield RefreshStep("digest", "updated", f"01 says {now}, where it said {before or '?'}")

    def _find_vector_faults(self) -> str:
        """Say why the test vector is not one of this code and these sheets; "" where it is."""
        if not self.place.is_file():
            return "it is not there"
        try:
            with RunRecord.open(self.place) as record:
                changed = list_vector_changes(record, self.workspace.project)
                return _join(changed) or (
                    "" if self._fits(record) else "the sheets say another run"
                )
        except TwiceError as error:
            return error.happened.rstrip(".")

    def _fits(self, record: RunRecord) -> bool:
        """Whether a record is of the program, seed, configuration and class of the sheets."""
        config = format_settings(parse_settings(self.workspace.strings("00", "config")))
        return (
            str(record.setup.program) == self.program
            and record.seed.value == self.seed
            and tuple(format_settings(record.config)) == tuple(config)
            and record.setup.predicate.sentence() == read_predicate(self.workspace).sentence()
        )

    def _record_vector(self) -> None:
        self.doing(f"recording {self.program}")
        with tempfile.TemporaryDirectory(prefix="twice-refresh-") as text:
            scratch = Path(text).resolve()
            context = self._context(scratch)
            out = scratch / "vector.twice"
            if not self._record_as_before(out):
                context.record(context.program(), out.name)
            with RunRecord.open(out) as record:
                ending: dict[str, Any] = dict(record.ending or {})
            if ending.get("exit_code") != 0:
                raise SpecIncomplete(
                    f"{self.program} did not run to its end: {ending.get('how')}.",
                    "Expected a complete run for the test vector. twice kept the old one.",
                    f"See why: twice record {self.program} --seed {self.seed}",
                )
            self.place.parent.mkdir(parents=True, exist_ok=True)
            write(self.place, out.read_bytes())

    def _record_as_before(self, out: Path) -> bool:
        """Record with all that the old vector was told (variables, arguments, allowances), where it is of these sheets."""
        try:
            record = RunRecord.open(self.place)
        except TwiceError:
            return False
        with record:
            if not self._fits(record) or any(one.point < 0 for one in record.redactions()):
                return False
            setup = replace(record.setup, allow=record.recorded_allow)
            record_program(setup, surroundings_of(record), out, in_copy=True)
        return True

    def _context(self, scratch: Path) -> EvidenceContext:
        return EvidenceContext(self.workspace, scratch, lambda *_: SourceFacts(), self.doing)

    def scaffold(self) -> RefreshStep:
        """Generate the files of the scaffold anew that nobody changed."""
        project = self.workspace.project
        lock = read_scaffold(self.workspace.folder)
        if not lock.files:
            return RefreshStep("scaffold", "absent", "none was laid down: twice scaffold NAME")
        layers = sorted(
            {each.layer for each in lock.files.values()} - {Layer.BASE}, key=[*Layer].index
        )
        plan: Plan = make_plan(project, lock.component, layers)
        written = [each.path for each in plan.changes if each.is_written]
        left = [f"{each.path} ({each.why})" for each in plan.changes if each.is_left]
        if not self.only_look:
            apply_plan(plan)
        done = _join(written, most=8)
        if left:
            said = f"{done}; " * bool(done) + f"left as you have it: {_join(left, most=8)}"
            return RefreshStep("scaffold", "left", said)
        if not done:
            return RefreshStep(
                "scaffold",
                "same",
                f"{pluralize(len(lock.files), 'file is', 'files are')} as the sheets say",
            )
        return RefreshStep("scaffold", "stale" if self.only_look else "updated", done)

    def costs(self) -> RefreshStep:
        """Measure what the rules cost again where the figures are of other code."""
        named = self.workspace.text("13", "measured")
        if not (named and (self.workspace.project / named).is_file()):
            return RefreshStep("costs", "absent", "none were measured: twice cost --write")
        try:
            costs = gather_costs(self._context(self.workspace.project))
            why = _join([f"{each} differs" for each in costs.changed])
            why = why or _join(
                [f"{each} was not measured" for each in sorted(self.files - {*costs.code})]
            )
        except MissingEvidence as missing:
            why = str(missing)
        if not why:
            return RefreshStep("costs", "same", f"{named} is of this code")
        if self.only_look or not self.place.is_file():
            return RefreshStep("costs", "stale" if self.only_look else "left", f"{named}: {why}")
        rounds, by = _read_measured(self.workspace.project / named)
        budget = self.workspace.value("13", "budget_percent")
        with RunRecord.open(self.place) as record:
            allow = record.recorded_allow
        # The vector belongs to the project, whose code is executed anyway.
        with trusting(self.place, allow=allow):
            cost = measure_cost(
                read_variant(str(self.place)),
                rounds=rounds,
                budget_percent=budget if isinstance(budget, int) else None,
                by=by,
                project=self.workspace.project,
                progress=self.doing,
                with_replay=read_promise(self.workspace.text("06", "throughput")) is not None,
            )
        write_evidence(self.workspace.project, cost, base=self.workspace.base)
        result = cost.judgement
        return RefreshStep(
            "costs", "updated", f"measured anew, because {why}: {result.result}, {result.why}"
        )


def _read_measured(path: Path) -> tuple[int | None, ClockName]:
    """Return how many rounds and which clock a measurement had; the defaults where its file does not say."""
    try:
        document = json.loads(path.read_bytes())
        rounds, budget = document["rounds"], document["budget"] or {}
        by: ClockName = "cpu" if budget.get("by") == "cpu" else "wall"
        return (rounds if isinstance(rounds, int) and rounds > 1 else None), by
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, "wall"


def _list_files(record: RunRecord, project: Path) -> Iterator[str]:
    """Yield the project's source files that a run executed, from the project on."""
    root = record.setup.program.folder().resolve()
    for name in (*record.identity["code"]["files"], *(record.ending or {}).get("files", ())):
        path = (root / name).resolve()
        if path.is_relative_to(project.resolve()):
            yield path.relative_to(project.resolve()).as_posix()


def _join(many: list[str], most: int = _SHOWN) -> str:
    more = f" and {len(many) - most} more" if len(many) > most else ""
    return ", ".join(many[:most]) + more
