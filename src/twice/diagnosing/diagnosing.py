"""Diagnose two runs: the funnel from identity to the first differing operation.

Identity, surroundings, compare-points and components come from the logs alone. Then both sides are
executed again, each in its own recorded surroundings; that counts as evidence only where a side
reproduces its own recorded point. Differing surroundings are swapped one at a time, so that a
harmless one cannot hide the guilty one. Last, the window is traced and the operation located; a
difference that stands there already when the window opens moves the opening back, at last to before
the program is loaded.

Invariant: every step is cheaper than guessing, and what could not be pinned down is said to be so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial

from twice.diagnosing.comparing import (
    Parting,
    PointRef,
    code_differences,
    components_of,
    input_differences,
    is_extra_read_only,
    parting,
    point_ref,
    require_whole,
)
from twice.diagnosing.concluding import (
    blind_spots,
    entering,
    reads_that_differ,
    reseeding,
)
from twice.diagnosing.confirming import steady, try_reads, try_surroundings
from twice.diagnosing.divergence import Divergence, Result
from twice.diagnosing.executions import BEFORE_ALL, CHILD, Side, Window, reproduced
from twice.diagnosing.experiments import (
    factors_between,
    guilty,
    swapped_one_by_one,
    with_factor,
)
from twice.diagnosing.fields import fields_between
from twice.diagnosing.judgement import Found, conclude, conclude_extra_read, verdict_of
from twice.diagnosing.kept_processes import FIRST, SECOND, KeptProcesses
from twice.diagnosing.locating.located import Located, Unlocated
from twice.diagnosing.locating.locating import TraceCall
from twice.diagnosing.opening import Tracer, locate_opening_earlier
from twice.diagnosing.restores.reading import told
from twice.diagnosing.sampled import compare_samples
from twice.diagnosing.time_limit import TimeLimit
from twice.diagnosing.tracing.trace import Plan, Trace
from twice.diagnosing.window import root_of_column
from twice.errors import ProgramFailed, TimeLimitReached, TwiceError
from twice.recording.runrecord import RunRecord
from twice.recording.surroundings import Surroundings
from twice.replayer.outcome import Failure
from twice.replayer.preconditions import require_executable, source_changes
from twice.replayer.record_outcomes import OutcomeDifference, compare_outcomes, name_outcome
from twice.replayer.statistical import samples_alone
from twice.worker.concurrency import run_concurrently

Progress = Callable[[str], None]
_OPENINGS = (1, 4, 32, 256)
_NO_LINE = "every compare-point agreed: no line is looked for behind what a run leaves at its end"


def diagnose(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    *,
    anyway: bool = False,
    confirm: bool = False,
    lines: bool = True,
    progress: Progress | None = None,
    python_b: str = "",
    time_limit_s: float | None = None,
) -> Divergence:
    """Say where two runs part, and why.

    Args:
        a: one record.
        b: another, of the same program with the same seed and configuration.
        anyway: go on although seed, code or configuration differ.
        confirm: try causes by experiment; what they show raises or lowers the channels.
        lines: whether to execute the runs again for fields and lines; False reads logs only.
        progress: called with what is being done.
        python_b: the interpreter that made the second record; empty for this one.
        time_limit_s: how long executing the runs may take, in seconds; what was found by then is told, and that
            the time was over is a caveat.

    Returns:
        The verdict. A divergence is a result, never an exception.

    Raises:
        RecordForeign, RecordCorrupt, RecordUnreadable: E-RECORD-002 to 005.
        RecordUntrusted: E-TRUST-001, unless only logs are read.
    """
    with RunRecord.open(a) as record_a, RunRecord.open(b) as record_b:
        for record in (record_a, record_b):
            if record.complete:
                record.reader.check()
            if lines:
                require_executable(record)
        doing = progress or (lambda _: None)
        with (
            closing(_Funnel(record_a, record_b, doing, confirm, python_b)) as funnel,
            TimeLimit(time_limit_s, funnel.close) as limit,
        ):
            funnel.keep_to(limit)
            return funnel.run(anyway=anyway, lines=lines)


def diagnose_failure(
    path: str | os.PathLike[str], failure: Failure, *, progress: Progress | None = None
) -> Divergence:
    """Say why a record does not verify: its program, executed again, went another way.

    There is no second record to compare with. When two executions of today differ from each other,
    their first difference is the operation; when they agree, what changed lies outside of the
    record: a source of the world that nothing recorded.

    Args:
        path: the record.
        failure: the first difference that a verification found.
        progress: called with what is being done.
    """
    doing = progress or (lambda _: None)
    with (
        RunRecord.open(path) as record,
        closing(_Funnel(record, record, doing)) as funnel,
    ):
        require_executable(record)
        return funnel.run_alone(failure)


class _Funnel:
    """One diagnosis."""

    def __init__(
        self,
        a: RunRecord,
        b: RunRecord,
        progress: Progress,
        confirm: bool = False,
        python_b: str = "",
    ) -> None:
        kept = KeptProcesses(CHILD)
        self._a, self._b = Side("a", a, kept=kept), Side("b", b, python_b, kept)
        self._progress = progress
        self._confirm = confirm

    def keep_to(self, limit: TimeLimit) -> None:
        """Let no execution begin after the end of a time."""
        self._a.limit = self._b.limit = limit

    def close(self) -> None:
        """End the processes that the sides keep."""
        self._a.close()
        self._b.close()

    def run(self, *, anyway: bool, lines: bool) -> Divergence:
        """Identity first, then logs, then executions."""
        a, b = self._a.record, self._b.record
        inputs = input_differences(a, b)
        if inputs and not anyway:
            return verdict_of(self._a, self._b, "not-same-input", inputs=inputs)
        self._progress("comparing the logs")
        alone = samples_alone(a.setup.predicate)
        where = Parting(None, None) if alone else parting(a, b)
        if where.at is None or where.shorter is not None:
            require_whole(a, b)
        if where.at is None:
            sampled = compare_samples(a, b)
            if sampled is not None:
                verdict = verdict_of(self._a, self._b, sampled.result, inputs=inputs)
                return replace(verdict, evidence=sampled.evidence, samples=sampled.samples)
            if where.within:  # what is computed from such values may differ as well
                return verdict_of(self._a, self._b, "within-tolerance", inputs=inputs)
            outcome, caveats = compare_outcomes(a, b)
            result: Result = "unlocalised" if outcome else "same"
            verdict = verdict_of(self._a, self._b, result, inputs=inputs, caveats=caveats)
            return replace(verdict, outcome=outcome)
        why = "" if lines else "the lines were not asked for"
        why = why or self._why_not_executed()
        found = Found(caveats=[why]) if why else self._execute(where)
        if is_extra_read_only(a, b, where) and not compare_outcomes(a, b)[0]:
            return conclude_extra_read(self._a, self._b, where, inputs, found)
        if why:
            return verdict_of(self._a, self._b, "unlocalised", where, inputs, caveats=[why])
        return conclude(self._a, self._b, where, inputs, found)

    def _why_not_executed(self) -> str:
        """Why the runs cannot be executed again, in words; empty when they can."""
        if not all(side.record.setup.program.rerunnable for side in (self._a, self._b)):
            return "a program has no name to start it by"
        changed = [side.label for side in (self._a, self._b) if source_changes(side.record)]
        if changed:
            return f"the code of run {' and '.join(changed)} is not here as it was recorded"
        return ""

    def run_alone(self, failure: Failure) -> Divergence:
        """One run against itself; code that changed is another input, and the first thing to say."""
        record = self._a.record
        if changed := code_differences(record):
            return verdict_of(self._a, self._b, "not-same-input", inputs=changed)
        if failure.name.partition(":")[0] in {"files", "returned", "summary"}:
            what = name_outcome(failure.name)
            row = OutcomeDifference(what, failure.recorded, failure.replayed)
            verdict = verdict_of(self._a, self._b, "unlocalised", caveats=[_NO_LINE])
            return replace(verdict, outcome=[row])
        last = min(failure.index, len(record.reader.points) - 1)
        columns = tuple(name for name in failure.columns if not name.startswith("("))
        where = Parting(
            at=PointRef(last, failure.tick, failure.name),
            last_agreement=None if last < 1 else point_ref(record, last - 1),
            columns=columns or tuple(sorted({*self._components(), "streams"})),
        )
        found = Found()
        window = Window(max(last - 1, BEFORE_ALL), last)
        self._non_reproducing(self._a, window, where, found)
        if found.located is None:
            found.evidence.append(
                f"executed twice today the run agrees with itself: {_since_recorded(failure)}"
            )
        return conclude(self._a, self._b, where, [], found)

    # -- executions -----------------------------------------------------------------------------

    def _execute(self, where: Parting) -> Found:
        found = Found(factors=factors_between(self._a, self._b))
        try:
            return self._execute_both(where, found)
        except TimeLimitReached as error:
            found.caveats.append(error.happened)
            return found

    def _execute_both(self, where: Parting, found: Found) -> Found:
        assert where.at is not None, "there is something to execute for"
        last = where.at.index
        window = Window(max(last - 1, BEFORE_ALL), last)
        try:
            self._progress("executing both runs again")
            (one, one_holds), (two, two_holds) = run_concurrently(
                [partial(reproduced, side, window) for side in (self._a, self._b)]
            )
        except ProgramFailed as error:
            found.caveats.append(f"a run could not be executed again: {error.happened}")
            return found
        found.fields = fields_between(one, two, where.columns)
        if self._a.start is not None or self._b.start is not None:
            found.restores = one.restores
        for side, holds in ((self._a, one_holds), (self._b, two_holds)):
            if not holds:
                return self._non_reproducing(side, window, where, found)
        self._locate(window, where, found)
        return found

    def _locate(self, window: Window, where: Parting, found: Found) -> None:
        pair: Surroundings | None = None
        if len(found.factors) > 1 or (self._confirm and found.factors):
            self._progress("swapping the surroundings one at a time")
            found.factors = swapped_one_by_one(
                self._a, self._b, window, where.columns, found.factors
            )
            culprit = guilty(found.factors)
            if culprit is not None:
                pair = with_factor(self._a, self._b, culprit)
            else:
                found.evidence.append("no differing surrounding moves the parting on its own")
        if self._confirm:
            self._try(window, where, found)
        tracked = self._tracked(where)
        self._take(self._located(window, partial(self._tracer, pair), tracked, 2, found), found)

    def _try(self, window: Window, where: Parting, found: Found) -> None:
        """What differs between the two runs, as causes: surroundings, else what was read."""
        a, b, columns = self._a, self._b, where.columns
        self._progress("trying causes")
        found.experiments = try_surroundings(a, b, window, columns, found.factors)
        if not any(each.outcome == "confirmed" for each in found.experiments):
            differing = reads_that_differ(a.record, b.record, where.at)
            found.experiments += try_reads(a, b, window, columns, differing)

    def _located(
        self,
        window: Window,
        tracer: Tracer,
        tracked: Sequence[str],
        repeats: int,
        found: Found,
    ) -> Located | Unlocated | None:
        """The operation, in a window that opens as early as it takes."""

        def tell(opening: Window) -> None:
            self._progress(f"tracing from after compare-point {opening.first}")

        try:
            return locate_opening_earlier(
                self._openings(window), tracer, tracked=tracked, repeats=repeats, progress=tell
            )
        except TwiceError as error:
            found.caveats.append(f"tracing stopped: {error.happened} {error.expected}")
            return None

    def _openings(self, window: Window) -> list[Window]:
        """The same window, opened earlier and earlier, at last before everything."""
        earliest = max(self._a.earliest, self._b.earliest)
        firsts = [max(window.last - back, earliest) for back in (*_OPENINGS, window.last + 1)]
        return [replace(window, first=first) for first in dict.fromkeys(firsts)]

    def _tracer(self, pair: Surroundings | None, window: Window) -> TraceCall:
        """What ``locate`` calls: one execution of one side under one plan."""

        def trace(side: str, repeat: int, plan: Plan) -> Trace:
            of = self._b if side == "b" and pair is None else self._a
            given = pair if side == "b" else None
            # noise is what differs from another process, not from another fork of one
            executed = of.execute(window, plan, given, fork_of=SECOND if repeat else FIRST)
            assert executed.trace is not None, "an execution under a plan gives a trace"
            return executed.trace

        return trace

    def _tracked(self, where: Parting) -> list[str]:
        """Roots whose difference is to be explained."""
        return [root_of_column(column, self._components()) for column in where.columns]

    def _components(self) -> Sequence[str]:
        return components_of(self._a.record, self._b.record)

    def _take(self, located: Located | Unlocated | None, found: Found) -> None:
        if isinstance(located, Located):
            found.located = entering(located)
            found.located = reseeding(found.located, found.restores)
            found.evidence += located.evidence
            found.caveats += located.caveats
            found.blind_spots = blind_spots(located)
        elif located is not None:
            found.evidence += [located.reason, *located.evidence]
            found.caveats += [*located.caveats]

    def _non_reproducing(self, side: Side, window: Window, where: Parting, found: Found) -> Found:
        """A side that does not reproduce itself is compared with itself."""
        found.non_reproducing = side.label
        found.evidence.append(
            f"run {side.label}, executed again in its own surroundings, does not reproduce its "
            f"compare-point {window.last}"
        )

        def tracer(opening: Window) -> TraceCall:
            def trace(label: str, _: int, plan: Plan) -> Trace:
                executed = side.execute(opening, plan, fork_of=FIRST if label == "a" else SECOND)
                assert executed.trace is not None, "an execution under a plan gives a trace"
                return executed.trace

            return trace

        self._progress(f"comparing run {side.label} with itself")
        located = self._located(window, tracer, self._tracked(where), 1, found)
        self._take(located, found)
        self._read_twice(side, where, found)
        if self._confirm and not found.unsteady:
            self._progress("holding one thing still at a time")
            found.experiments = steady(side, window, where.columns)
        return found

    def _read_twice(self, side: Side, where: Parting, found: Found) -> None:
        """Whether reading a state is what keeps the run from reproducing itself."""
        assert where.at is not None, "there is something to explain"
        self._progress(f"reading the states of run {side.label} twice")
        with suppress(TwiceError):  # a run that does not come to the tick again has no more to say
            found.unsteady = side.unsteady(max(where.at.tick, 0))
        found.evidence += [told(name, entry) for name, entry in found.unsteady.items()]
        if any(entry["again"] for name, entry in found.unsteady.items() if name in where.columns):
            found.located = None  # the line that is named only reads what is never the same


def _since_recorded(failure: Failure) -> str:
    """What may have changed since a run was recorded that agrees with itself now."""
    if failure.name != "effect":
        return (
            "what differs from the record was not recorded (what a library or C code reads by itself, "
            "another library, the machine)"
        )
    where = f" at {failure.at}" if failure.at else ""
    return (
        f"what it does with the world is other than it was{where}: recorded {failure.recorded}, now "
        f"{failure.replayed}"
    )
