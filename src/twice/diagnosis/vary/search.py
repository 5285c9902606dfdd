"""Vary the surroundings of a program and name the factors that break its class.

The program is recorded twice as it is. When those two agree, it is recorded once with all factors
varied. Only when that run differs are the factors searched (``minimal_causes``). Whatever differed is
recorded a second time, beside one more run that is not varied: a difference that does not come again is
not blamed on anything. A factor that had no effect is not called the same. Not for: proof. A factor that
left this run the same may move another one.

Invariant: every run is a recording in a process of its own, in a temporary folder.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from twice.diagnosis.attribution import READS_CLOCK
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.minimal_causes import Group, find_minimal_causes
from twice.diagnosis.vary.factor import Factor, FactorSetting, VaryContext
from twice.diagnosis.vary.factors import require_able, resolve_interpreter, select_factors
from twice.diagnosis.vary.report import (
    BASELINE,
    FactorResult,
    Outcome,
    Variation,
    format_record_command,
    tell_measurements,
)
from twice.diagnosis.vary.task_orders import FACTOR, try_orders
from twice.diagnosis.vary.thread_race import (
    ONE_THREAD,
    blame_libraries,
    do_libraries_race,
    name_own_threads,
)
from twice.diagnosis.vary.trial_run import TrialRun
from twice.errors import (
    FilesUnprotected,
    ProgramFailed,
    SurroundingsRefused,
    TwiceError,
    UsageError,
)
from twice.foundation.dataclass import dataclass
from twice.foundation.next_step import NextStep
from twice.foundation.seeds import Seed
from twice.recorder.environment.process_start import CHILD_KERNELS
from twice.recorder.environment.surroundings import THREAD_CAPS, Surroundings, for_recording
from twice.recorder.program import Program
from twice.recorder.program_spec import is_record
from twice.recorder.recorder import choose_master_seed, record_program, to_program
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.replayer.notes import list_left_out, note_global_generators
from twice.replayer.preconditions import require_rerunnable, require_same_code
from twice.replayer.replay_job import surroundings_of
from twice.worker.concurrency import run_concurrently

Progress = Callable[[str], None]

_NOT_TRIED = "the program differs from itself, so nothing could be told"
_SEEDED_BY_TWICE = "it draws from generators that twice alone seeds: without twice no run repeats; twice check names the lines"
_CLOCKS = {"clock offset", "time zone"}
"""Factors that a line which reads a clock may depend on."""
_WITHOUT_FILES = (
    "what else it does agrees, so the other factors were tried without the files that it leaves"
)
_ONCE = "the run differed once and not again: something else moves it now and then"


def vary(
    program: str | os.PathLike[str] | Program | Callable[..., object],
    *,
    seed: int | Seed | None = None,
    config: Mapping[str, Any] | None = None,
    factors: Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    python: str | None = None,
    progress: Progress | None = None,
    skip_unable: bool = False,
    **policies: Any,
) -> Variation:
    """Record a program in other surroundings and say which of them its result depends on.

    Args:
        program: as ``twice.record`` takes it, or the path of a record: then its program, seed,
            configuration, class and surroundings are taken from it.
        seed: master seed; the variable TWICE_SEED when None. Not with a record.
        config: plain values for ``run.config``. Not with a record.
        factors: names of factors to vary; all when None. With none the program is only compared with itself.
        env: environment variables of every run.
        python: another interpreter to try, by path or name; the first on PATH that serves when None.
        progress: called with what is being done.
        skip_unable: take a factor that was asked for by name and cannot be varied here as a result, too.
        **policies: fields of ``Setup``, as ``twice.record`` takes them. Not with a record.

    Returns:
        The result. A factor that breaks the class is a result, never an exception.

    Raises:
        UsageError: E-USE-001, for a factor that there is not, one that was asked for by name and cannot be
            varied here, or an interpreter that is not there.
        ProgramFailed: E-PROGRAM-003, when the program fails though nothing is varied.
        SeedMissing: E-SEED-001. ProgramNotFound: E-PROGRAM-001. ProgramChanged: E-PROGRAM-004.
    """
    chosen = select_factors(factors)
    if isinstance(program, str | os.PathLike) and is_record(program):
        if seed is not None or config or policies:
            raise UsageError(
                f"{os.fspath(program)} is a record, and was given a seed, values or policies too.",
                "Expected them to come from the record.",
                "Leave them out, or name the program instead.",
            )
        with RunRecord.open(program) as record:
            require_rerunnable(record)
            require_same_code(record, informational=False)
            setup = record.setup
            base = surroundings_of(record)
    else:
        found = to_program(program)
        setup = Setup(found, choose_master_seed(seed), dict(config or {}), **policies)
        base = for_recording(os.environ, explicit=dict(env or {}))
    # What a profile holds is varied here on purpose.
    base, setup = setup.apply_policies(base), replace(setup, float_profile="", gpu_policy="")
    base = base.with_variables({CHILD_KERNELS: "read"})
    other = "" if python is None else resolve_interpreter(python)
    with tempfile.TemporaryDirectory(prefix="twice-vary-") as text:
        folder = Path(text).resolve()
        context = VaryContext(base, folder, setup, other)
        settings = {factor.name: factor.choose(context) for factor in chosen}
        if not skip_unable:
            require_able(settings, factors or ())
        doing = progress or (lambda _: None)
        search = _FactorSearch(setup, base, folder, doing, chosen, settings)
        rows = search.run()
        caveats = search.list_caveats(setup)
    return Variation(str(setup.program), rows, factors or (), caveats, search.measured)


_Pair = tuple[TrialRun, TrialRun]


@dataclass
class _FactorSearch:
    """From two runs that are not varied to single factors."""

    setup: Setup
    base: Surroundings
    folder: Path
    progress: Progress
    factors: Sequence[Factor]
    settings: Mapping[str, FactorSetting]
    measured: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._paths = (self.folder / f"{number}.twice" for number in count(1))
        self._runs: dict[frozenset[str], TrialRun] = {}
        # Variables of every run, once the program has shown that it races without them.
        self.held: Mapping[str, str] = {}
        # Factors that a child could not give itself, and why: known only once it has tried.
        self._refused: dict[str, str] = {}

    def run(self) -> list[FactorResult]:
        """Return what each factor did, then what groups of factors did only together."""
        itself: FactorResult | None = None
        while isinstance(found := self._try_factors(), tuple):
            itself = itself or self._report_parting((), *found)
            one, other = found
            measured = one.list_measurements(other, self.setup.ignored_output)
            if not measured and self.setup.files != "none" and one.leaves_other_files(other):
                itself = replace(itself, reason=f"{itself.reason}; {_WITHOUT_FILES}")
                self.setup = replace(self.setup, files="none")
                self._runs.clear()
                continue
            if not measured and not self.held and self._do_libraries_race(one, other):
                itself = blame_libraries(itself, one)
                self._hold_one_thread()
                continue
            if not measured:
                itself = itself if self.held else name_own_threads(itself, one)
                found = [
                    FactorResult(each.name, "", "could-not-tell", _NOT_TRIED)
                    for each in self.factors
                ]
                break
            self.measured = (*self.measured, *measured)
            ignored = (*self.setup.ignored_output, *measured)
            self.setup = replace(self.setup, ignored_output=ignored)
            self._runs.clear()
        rows = [self._vary_orders(each) if each.factor == FACTOR else each for each in found]
        return rows if itself is None else [tell_measurements(itself, self.measured), *rows]

    def _do_libraries_race(self, one: TrialRun, other: TrialRun) -> bool:
        counts = {self.base.variables[name].value for name in THREAD_CAPS}
        if counts == {"1"} or one.failed or other.failed:
            return False
        self.progress("recording with one thread, and with several")
        return do_libraries_race(
            (one, other), lambda given: self._record_run(self.setup, next(self._paths), given)
        )

    def _hold_one_thread(self) -> None:
        """Vary the other factors with one thread for each library."""
        self.held, self.base = ONE_THREAD, self.base.with_variables(ONE_THREAD)
        if "threads" in self.settings:
            why = "the program differs from itself with more than one"
            self.settings = {**self.settings, "threads": FactorSetting({}, skipped=why)}
        self._runs.clear()

    def _vary_orders(self, row: FactorResult) -> FactorResult:
        """Vary the order of tasks in a simulated loop too: what differs there has names of steps."""
        if row.result == "could-not-tell" or not self._baseline.has_tasks:
            return row
        found = try_orders(self.setup, self._record_run, self._paths, self.progress)
        if found is None or (found.result == "same" and row.result in {"differs", "failed"}):
            return row
        is_both = found.result == row.result == "same"
        return replace(found, value=f"{row.value}; {found.value}") if is_both else found

    def _try_factors(self) -> list[FactorResult] | _Pair:
        """Return what each factor did, or two runs with equal surroundings that differ."""
        self.progress("recording twice, nothing varied")
        self._baseline, again = self._record([(), ()])
        for each in (self._baseline, again):
            if each.failed:
                raise ProgramFailed(
                    f"{self.setup.program} fails though nothing is varied: {each.failed}",
                    "Expected a program that runs.",
                    f"See: {format_record_command(self.setup, {}, 'a')}",
                )
        if not self._is_same(again):
            return self._baseline, again
        able = [factor for factor in self.factors if not self.settings[factor.name].skipped]
        groups = [tuple(factor.name for factor in able if not factor.alone)]
        groups += [(factor.name,) for factor in able if factor.alone]
        found = [
            each for group in groups if group for each in find_minimal_causes(group, self._differ)
        ]
        if found:
            self.progress("recording once more what differed")
        # The run that is not varied comes again as well: if it has moved, the others prove nothing.
        once_more, *second = self._record([(), *found]) if found else [self._baseline]
        if not self._is_same(once_more):
            return self._baseline, once_more
        moved: dict[Group, FactorResult] = {}
        for group, run in zip(found, second, strict=True):
            first = self._runs[frozenset(group)]
            if self._is_same(run):
                name, value = " + ".join(group), self._combine(group).value
                moved[group] = FactorResult(name, value, "could-not-tell", _ONCE)
            elif self._is_measured_alone(group, first, run):
                return first, run
            else:
                moved[group] = self._judge(group, first)
        rows = [moved.get((each.name,)) or self._report_unmoved(each) for each in self.factors]
        return rows + [row for group, row in moved.items() if len(group) > 1]

    def list_caveats(self, setup: Setup) -> list[str]:
        """List what was not compared by the policies of a run, and the generators that twice seeded in every run."""
        with RunRecord.open(self._baseline.path) as record:
            return [*list_left_out(setup), *note_global_generators(record.ending or {})]

    # -- recordings ----------------------------------------------------------------------------

    def _differ(self, groups: Sequence[Group]) -> list[bool]:
        """Whether runs with these factors varied differ from the one without."""
        self.progress("varying " + " | ".join(", ".join(group) for group in groups))
        for group, run in zip(groups, self._record(groups), strict=True):
            self._runs[frozenset(group)] = run
        return [not self._is_same(self._runs[frozenset(group)]) for group in groups]

    def _is_same(self, run: TrialRun) -> bool:
        """Whether a run holds the class against the one that is not varied, by the logs alone."""
        return self._baseline.is_same(run)

    def _combine(self, group: Group) -> FactorSetting:
        """Merge the settings of a group for its child."""
        settings = [self.settings[name] for name in group]
        variables = {name: value for each in settings for name, value in each.variables.items()}
        python = next((each.python for each in settings if each.python), "")
        value = "; ".join(each.value for each in settings)
        other_seed = any(each.other_seed for each in settings)
        return FactorSetting(variables, value, python=python, other_seed=other_seed)

    def _record(self, groups: Sequence[Group]) -> list[TrialRun]:
        return run_concurrently(
            [partial(self._record_one, group, next(self._paths)) for group in groups]
        )

    def _record_one(self, group: Group, out: Path) -> TrialRun:
        able = tuple(name for name in group if name not in self._refused)
        given = self._combine(able)
        seed = Seed(self.setup.seed.value ^ 1) if given.other_seed else self.setup.seed
        try:
            return self._record_run(
                replace(self.setup, seed=seed), out, given.variables, given.python
            )
        except SurroundingsRefused as error:
            variable = str(error.fields.get("variable"))
            for name in able:
                if variable in self.settings[name].variables:
                    # The others can still be tried, without the factor that the child refused.
                    self._refused[name] = error.happened
                    return self._record_one(group, out)
            return TrialRun(out, error.happened)

    def _record_run(
        self,
        setup: Setup,
        out: Path,
        variables: Mapping[str, str] = MappingProxyType({}),
        python: str = "",
    ) -> TrialRun:
        surroundings = self.base.with_variables(variables)
        try:
            ended = record_program(setup, surroundings, out, python=python, in_copy=True)
        except (FilesUnprotected, SurroundingsRefused):
            raise  # no other surroundings would help; these can be taken back
        except TwiceError as error:
            return TrialRun(out, f"{error.happened} {error.expected}".splitlines()[0])
        if ended["how"] == "interrupted":
            raise KeyboardInterrupt
        if ended["how"] == "exception":
            raised = ended["exception"]
            kind = raised["type"].removeprefix("builtins.")
            return TrialRun(out, f"{kind}: {raised['message']}")
        return TrialRun(out, has_other_seed=setup.seed != self.setup.seed)

    # -- results -------------------------------------------------------------------------------

    def _report_unmoved(self, factor: Factor) -> FactorResult:
        """Of a factor that did not differ: it changed nothing, or it could not be varied at all."""
        setting = self.settings[factor.name]
        why = setting.skipped or self._refused.get(factor.name, "")
        if not why:
            unvaried = self._baseline.settings
            varied = [run.settings for group, run in self._runs.items() if factor.name in group]
            if not any(each and factor.took_effect(unvaried, each) for each in varied):
                why = factor.explain_no_effect(unvaried)
        return FactorResult(factor.name, setting.value, "unavailable" if why else "same", why)

    def _is_measured_alone(self, group: Group, one: TrialRun, other: TrialRun) -> bool:
        """Whether two runs with equal surroundings differ, by measurements alone."""
        is_elsewhere = bool(self._combine(group).python)  # both sides would need that interpreter
        if one.failed or other.failed or is_elsewhere:
            return False
        return bool(one.list_measurements(other, self.setup.ignored_output))

    def _judge(self, group: Group, run: TrialRun) -> FactorResult:
        """Blame a group, unless its run parts where a line reads a clock, which moves without it."""
        row = self._report_parting(group, self._baseline, run)
        own = [each for each in self.factors if each.name in group]
        told = [text for each in own for text in each.list_remedies(run.libraries)]
        if told and row.divergence is not None:
            divergence = replace(row.divergence, remedies=[*told, *row.divergence.remedies])
            row = replace(row, divergence=divergence)
        why = row.divergence.attribution[:1] if row.divergence is not None else ()
        if not _CLOCKS & {*group} and any(READS_CLOCK in each.evidence for each in why):
            return replace(row, result="could-not-tell", reason=f"{row.reason}, {READS_CLOCK}")
        return row

    def _report_parting(self, group: Group, one: TrialRun, run: TrialRun) -> FactorResult:
        """Where a run parts from one that was not varied; no factor means that nothing was."""
        name, given = " + ".join(group), self._combine(group)
        if given.other_seed and not run.failed:
            return FactorResult(name, given.value, "differs", _SEEDED_BY_TWICE)
        self.progress(f"diagnosing {name or 'nothing varied'}")
        try:
            divergence = diagnose(one.path, run.path, progress=self.progress, python_b=given.python)
        except TwiceError:
            divergence = None  # a run that failed may have left no record
        if divergence is not None:
            divergence = replace(
                divergence,
                a="nothing varied",
                b=f"{name} varied" if group else "nothing varied, again",
                next=[
                    NextStep("record a run", format_record_command(self.setup, self.held, "a")),
                    NextStep(
                        "record the varied run",
                        format_record_command(
                            self.setup, {**self.held, **given.variables}, "b", given.python
                        ),
                    ),
                    NextStep("compare both", "twice diagnose a.twice b.twice"),
                ],
            )
        where = run.failed or ("" if divergence is None else divergence.headline())
        outcome: Outcome = "failed" if run.failed else "differs"
        return FactorResult(name or BASELINE, given.value, outcome, where, divergence)
