"""Diagnose two runs: the funnel from identity to the first differing operation.

1. *Compare logs.* Identity, surroundings, compare-points and components come from the logs alone.
2. *Reproduce.* Both sides are executed again, each in its own recorded surroundings; that counts as evidence only
   where a side reproduces its own recorded point. One that does not is compared with itself.
3. *Choose the pair.* Differing surroundings are swapped one at a time, so that a harmless one cannot hide the guilty one.
4. *Locate.* The window is traced and the operation located; a difference that stands there already when the
   window opens moves the opening back, at last to before the program is loaded.

Invariant: every step is cheaper than guessing, and what could not be pinned down is said to be so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from twice.diagnosis.attribution import Observations, attribute
from twice.diagnosis.divergence import Divergence, Result
from twice.diagnosis.environment_role import (
    compare_two,
    describe_change_since,
    judge_environment,
    suspect_environment,
)
from twice.diagnosis.executions import BEFORE_ALL, Side, Window, find_obstacle, reproduced
from twice.diagnosis.experiments import hold_still_one_by_one, swap_one_by_one, try_causes
from twice.diagnosis.kept_processes import KeptProcesses
from twice.diagnosis.line_judgement import (
    find_remedies,
    list_blind_spots,
    move_to_first_use,
    move_to_reseeding_line,
    name_lines,
)
from twice.diagnosis.localization.result import Located
from twice.diagnosis.log_comparison import (
    LogDivergence,
    code_differences,
    compare_logs,
    input_differences,
    list_components,
    place_failure,
    require_whole,
    root_of_column,
    substituted_inputs,
)
from twice.diagnosis.next_steps import list_next_steps
from twice.diagnosis.operations.inside import look_inside
from twice.diagnosis.outcome_causes import explain_outcome
from twice.diagnosis.read_comparison import (
    is_extra_read_only,
    list_extra_reads,
    list_library_reads_apart,
    reads_that_differ,
)
from twice.diagnosis.runner import Runner, locate_operation
from twice.diagnosis.sample_comparison import compare_samples
from twice.diagnosis.state_comparison import compare_states
from twice.diagnosis.surroundings_factors import list_differing_factors, swap
from twice.diagnosis.time_limit import TimeLimit
from twice.errors import ProgramFailed, TimeLimitReached, TwiceError
from twice.foundation.environment import EnvironmentDifference
from twice.recorder.runrecord import RunRecord
from twice.replayer.outcome import Failure
from twice.replayer.preconditions import require_executable
from twice.replayer.record_outcomes import OutcomeDifference, compare_outcomes, name_outcome
from twice.replayer.statistical import judges_samples_alone
from twice.worker.concurrency import run_concurrently

Progress = Callable[[str], None]
_TORN = "{} is torn: its intact prefix was compared"
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
            record.reader.fetch()
            if record.complete:
                record.reader.check()
            if lines:
                require_executable(record)
        with (
            closing(_Diagnosis(record_a, record_b, progress, confirm, python_b)) as diagnosis,
            TimeLimit(time_limit_s, diagnosis.close) as limit,
        ):
            diagnosis.a.limit = diagnosis.b.limit = limit
            return diagnosis.run(anyway=anyway, lines=lines)


def diagnose_failure(
    path: str | os.PathLike[str],
    failure: Failure,
    *,
    environment: Sequence[EnvironmentDifference] = (),
    progress: Progress | None = None,
) -> Divergence:
    """Say why a record does not verify: its program, executed again, went another way.

    There is no second record to compare with. When two executions of today differ from each other,
    their first difference is the operation; when they agree, what changed lies outside of the
    record: a source of the world that nothing recorded.

    Args:
        path: the record.
        failure: the first difference that a verification found.
        environment: how the environment of that verification differs from the recorded one.
        progress: called with what is being done.
    """
    with (
        RunRecord.open(path) as record,
        closing(_Diagnosis(record, record, progress)) as diagnosis,
    ):
        require_executable(record)
        diagnosis.environment = environment
        return diagnosis.run_alone(failure)


class _Diagnosis:
    """One diagnosis: the two sides, and what was seen of them so far."""

    def __init__(
        self,
        a: RunRecord,
        b: RunRecord,
        progress: Progress | None,
        confirm: bool = False,
        python_b: str = "",
    ) -> None:
        kept = KeptProcesses()
        self.a, self.b = Side("a", a, kept=kept), Side("b", b, python_b, kept)
        self._progress = progress or (lambda _: None)
        self._confirm = confirm
        self._inputs = input_differences(a, b)
        self._components = list_components(a, b)
        self._where = LogDivergence(None, None)
        self.environment: Sequence[EnvironmentDifference] = compare_two(a, b)
        self._seen = Observations(
            factors=list_differing_factors(self.a.surroundings, self.b.surroundings)
        )

    def close(self) -> None:
        """End the processes that the sides keep."""
        self.a.close()
        self.b.close()

    def run(self, *, anyway: bool, lines: bool) -> Divergence:
        """Identity first, then logs, then executions."""
        a, b = self.a.record, self.b.record
        if self._inputs and not anyway:
            return self._report("not-same-input")
        self._progress("comparing the logs")
        if not judges_samples_alone(a.setup.predicate):
            self._where = compare_logs(a, b)
        if self._where.at is None or self._where.shorter is not None:
            require_whole(a, b)
        why = find_obstacle(self.a, self.b) if lines else "the lines were not asked for"
        if a.setup.order and b.setup.order:
            # Here, because it loads asyncio, which most runs do without.
            from twice.diagnosis.order_experiment import explain_schedule

            found = explain_schedule(self.a, self.b, self._where, self._seen, self._progress, why)
            if found is not None:
                return self._report(**found)
        if self._where.at is None:
            return self._report_agreement(lines=lines)
        if why:
            self._seen.caveats.append(why)
        else:
            try:
                self._execute()
            except TimeLimitReached as error:
                self._seen.caveats.append(error.happened)
        if is_extra_read_only(a, b, self._where) and not compare_outcomes(a, b)[0]:
            reads = list_extra_reads(a, b, self._where, self._seen.located)
            return self._report("extra-read", reads=reads)
        return self._report("unlocalised") if why else self._report_divergence()

    def run_alone(self, failure: Failure) -> Divergence:
        """One run against itself; code that changed is another input, and the first thing to say."""
        record = self.a.record
        if changed := code_differences(record):
            self._inputs = changed
            return self._report("not-same-input")
        if failure.name.partition(":")[0] in {"files", "returned", "summary"}:
            row = OutcomeDifference(name_outcome(failure.name), failure.recorded, failure.replayed)
            self._seen.caveats.append(_NO_LINE)
            return self._report_outcome([row])
        last = min(failure.index, len(record.reader.points) - 1)
        self._where = place_failure(record, failure, last, self._components)
        self._compare_with_itself(self.a, Window(max(last - 1, BEFORE_ALL), last))
        if self._seen.located is None and self._seen.environment.role != "suspected":
            self._seen.evidence.append(
                f"executed twice today the run agrees with itself: {describe_change_since(failure)}"
            )
        return self._report_divergence()

    def _execute(self) -> None:
        """Reproduce both sides, choose the pair, and locate."""
        assert self._where.at is not None, "there is something to execute for"
        seen, last = self._seen, self._where.at.index
        window = Window(max(last - 1, BEFORE_ALL), last)
        try:
            self._progress("executing both runs again")
            (one, one_holds), (two, two_holds) = run_concurrently(
                [partial(reproduced, side, window) for side in (self.a, self.b)]
            )
        except ProgramFailed as error:
            seen.caveats.append(f"a run could not be executed again: {error.happened}")
            return
        seen.fields = compare_states(one, two, self._where.columns)
        if self.a.start is not None or self.b.start is not None:
            seen.restores = one.restores
        for side, holds in ((self.a, one_holds), (self.b, two_holds)):
            if not holds:
                self._compare_with_itself(side, window)
                return
        runner = self._choose_pair(window)
        if self._confirm:
            self._progress("trying causes")
            columns, at = self._where.columns, self._where.at
            seen.experiments = try_causes(self.a, self.b, window, columns, seen.factors, at)
        self._locate(runner, window)
        look_inside(runner, window, seen, self._progress)

    def _choose_pair(self, window: Window) -> Runner:
        """Choose the two runs, or run a and itself with the one decisive surrounding."""
        a, b, seen = self.a, self.b, self._seen
        if len(seen.factors) > 1 or (self._confirm and seen.factors):
            self._progress("swapping the surroundings one at a time")
            seen.factors = swap_one_by_one(a, b, window, self._where.columns, seen.factors)
            for factor in seen.factors:
                if factor.flips:
                    return Runner(a, b, swap(a.surroundings, b.surroundings, factor.name))
            seen.evidence.append("no differing surrounding moves the parting on its own")
        return Runner(a, b)

    def _locate(self, runner: Runner, window: Window) -> None:
        """Name the operation, or say why none could be named."""
        seen = self._seen
        tracked = [root_of_column(each, self._components) for each in self._where.columns]
        try:
            located = locate_operation(runner, window, tracked, self._progress)
        except TwiceError as error:
            seen.caveats.append(f"tracing stopped: {error.happened} {error.expected}")
            return
        if isinstance(located, Located):
            seen.located = move_to_reseeding_line(move_to_first_use(located), seen.restores)
            seen.blind_spots = list_blind_spots(located)
        else:
            seen.evidence.append(located.reason)
            seen.surer = located.surer
        seen.evidence += located.evidence
        seen.caveats += located.caveats

    def _compare_with_itself(self, side: Side, window: Window) -> None:
        """Look for what keeps a side from reproducing itself."""
        assert self._where.at is not None, "there is something to explain"
        seen, columns = self._seen, self._where.columns
        seen.non_reproducing = side.label
        seen.evidence.append(
            f"run {side.label}, executed again in its own surroundings, does not reproduce its "
            f"compare-point {window.last}"
        )
        self._progress(f"comparing run {side.label} with itself")
        self._locate(Runner(side, side), window)
        look_inside(Runner(side, side), window, seen, self._progress)
        self._progress(f"reading the states of run {side.label} twice")
        with suppress(TwiceError):  # a run that does not come to the tick again has no more to say
            seen.unsteady = side.unsteady(max(self._where.at.tick, 0))
        seen.evidence += seen.describe_unsteady()
        if seen.located is None and not any(entry["again"] for entry in seen.unsteady.values()):
            seen.environment = suspect_environment(side)
        if any(entry["again"] for name, entry in seen.unsteady.items() if name in columns):
            seen.located = None  # the line that is named only reads what is never the same
        if self._confirm and not seen.unsteady:
            self._progress("holding one thing still at a time")
            seen.experiments = hold_still_one_by_one(side, window, columns)

    def _report_agreement(self, *, lines: bool) -> Divergence:
        """Of two logs that do not part."""
        a, b = self.a.record, self.b.record
        sampled = compare_samples(a, b)
        if sampled is not None:
            return self._report(sampled.result, evidence=sampled.evidence, samples=sampled.samples)
        if self._where.within:  # what is computed from such values may differ as well
            return self._report("within-tolerance")
        outcome, caveats = compare_outcomes(a, b)
        self._seen.caveats += caveats
        if outcome and lines and not find_obstacle(self.a, self.b):
            return self._report_outcome(outcome)
        return self._report("unlocalised" if outcome else "same", outcome=outcome)

    def _report_outcome(self, rows: list[OutcomeDifference]) -> Divergence:
        """Of runs that differ in what they leave alone: it follows from what they read, or were made on."""
        a, b, seen = self.a, self.b, self._seen
        found = explain_outcome(a, b, rows, seen, self.environment, self._progress)
        result: Result = ("unlocalised", "localised", "candidates")[len(found)]
        lines = {"operation": found[0]} if len(found) == 1 else {"candidates": found}
        seen_too = {"evidence": seen.evidence, "experiments": seen.experiments}
        return self._report(result, outcome=rows, attribution=attribute(seen), **lines, **seen_too)

    def _report_divergence(self) -> Divergence:
        """Of runs that part, with everything that the executions gave."""
        a, b, seen = self.a, self.b, self._seen
        seen.columns = self._where.columns
        seen.resumed = a.start is not None or b.start is not None
        seen.substituted = substituted_inputs(a.record, b.record)
        seen.seeds_differ = a.record.seed != b.record.seed
        seen.clock_policy = a.record.setup.clock != b.record.setup.clock
        seen.reads_differ = reads_that_differ(a.record, b.record, self._where.at)
        seen.library_reads = list_library_reads_apart(a.record, b.record, self._where.at)
        has_read = bool(seen.library_reads)
        named = name_lines(
            seen.located, seen.fields, library_read=has_read, substituted=seen.substituted
        )
        result, operation = named.result, named.operation
        if seen.non_reproducing is not None:  # the line is where it shows, as sure as it says
            result, operation = "non-reproducing", operation or next(iter(named.candidates), None)
        if seen.environment.role == "none":
            seen.environment = judge_environment(self.environment, a, b)
        return self._report(
            result,
            fields=seen.fields,
            operation=operation,
            candidates=() if operation is not None else named.candidates,
            attribution=attribute(seen),
            blind_spots=seen.blind_spots,
            evidence=seen.evidence,
            experiments=seen.experiments,
        )

    def _report(self, result: Result, **found: Any) -> Divergence:
        """Build the verdict from the facts of the records and the other findings."""
        a, b, where = self.a.record, self.b.record, self._where
        if "attribution" in found and "schedule" not in found:
            ranked, program = found["attribution"], a.setup.program
            found["remedies"] = find_remedies(self._seen, ranked, program, self._inputs)
        verdict = Divergence(
            a=str(a.path),
            b=str(b.path),
            result=result,
            predicate=a.setup.predicate,
            subsystems=sorted({*self._components, "output", "streams"}),
            input_differences=self._inputs,
            compare_point=where.at,
            last_agreement=where.last_agreement,
            components=where.columns,
            reconverges=where.reconverges,
            inside=self._seen.inside,
            surroundings=[(factor.name, factor.a, factor.b) for factor in self._seen.factors],
            environment=self.environment,
            caveats=[
                *(_TORN.format(each.path) for each in (a, b) if not each.complete),
                *self._seen.caveats,
            ],
            repeats={side.label: side.repeats for side in (self.a, self.b) if side.repeats},
            **found,
        )
        return replace(verdict, next=list_next_steps(verdict, a, b))
