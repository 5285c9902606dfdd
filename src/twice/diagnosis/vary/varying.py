"""Vary the surroundings of a program and name the factors that break its class.

The program is recorded twice as it is. When those two agree, it is recorded once with all factors
varied; only when that run differs is it searched which (``searching``). Whatever differed is recorded a
second time, beside one more run that is not varied: a difference that does not come again is not blamed
on anything. A factor that differs on its own is diagnosed against the run that was not varied, so that it
comes with the first differing operation. Factors that only differ together are named together, and a
factor that had no effect is not called the same (``readback``).

Not for: proof. A factor that left this run the same may move another one.

Invariant: every run is a recording in a process of its own, in a temporary folder.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence
from twice.diagnosis.minimal_causes import Group, find_minimal_causes
from twice.diagnosis.vary.experiment import Experiment, Made, Progress
from twice.diagnosis.vary.factor import Factor, Here
from twice.diagnosis.vary.factors import FACTORS
from twice.diagnosis.vary.interpreters import require_interpreter
from twice.diagnosis.vary.readback import why_not
from twice.diagnosis.vary.variation import BASELINE, FactorResult, Variation
from twice.errors import ProgramFailed, TwiceError, UsageError
from twice.foundation.seeds import Seed
from twice.recording.config import in_settings
from twice.recording.naming import is_record
from twice.recording.program import Program
from twice.recording.recorder import as_program, master_seed
from twice.recording.runrecord import RunRecord
from twice.recording.setup import Setup
from twice.recording.surroundings import for_recording
from twice.replayer.preconditions import require_rerunnable, require_same_code
from twice.replayer.replay_job import surroundings_of

_NOT_TRIED = "the program differs from itself, so nothing could be told"
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
    chosen = chosen_factors(factors)
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
        found = as_program(os.fspath(program) if isinstance(program, os.PathLike) else program)
        setup = Setup(found, master_seed(seed), dict(config or {}), **policies)
        base = for_recording(os.environ, explicit=dict(env or {}))
    other = "" if python is None else require_interpreter(python)
    with tempfile.TemporaryDirectory(prefix="twice-vary-") as text:
        folder = Path(text).resolve()
        here = Here(base, folder, setup, other)
        tried = {factor.name: factor.choose(here) for factor in chosen}
        if not skip_unable:
            _require_able({name: choice.skipped for name, choice in tried.items()}, factors or ())
        by_name = {factor.name: factor for factor in chosen}
        doing = progress or (lambda _: None)
        experiment = Experiment(setup, base, folder, doing, by_name, tried)
        return _Search(experiment, chosen, factors or ()).run()


def chosen_factors(names: Sequence[str] | None) -> list[Factor]:
    """Factors by name, in the order of the list; all when ``names`` is None.

    Raises:
        UsageError: E-USE-001, for a name that there is not.
    """
    known = {factor.name: factor for factor in FACTORS}
    for name in names or ():
        if name not in known:
            raise UsageError(
                f"There is no factor {name!r}.",
                f"Factors: {', '.join(known)}.",
                "See: twice vary --list",
                factor=name,
            )
    return [factor for factor in FACTORS if names is None or factor.name in names]


def _require_able(skipped: Mapping[str, str], named: Sequence[str]) -> None:
    """Refuse an experiment in which nothing, or not what was asked for by name, can be varied."""
    unable = [f"{name}: {why}" for name, why in skipped.items() if why]
    if unable and (named or len(unable) == len(skipped)):
        raise UsageError(
            f"What was asked for cannot be varied here: {'; '.join(unable)}.",
            "Expected factors that can.",
            "Choose others; they are listed by: twice vary --list",
        )


@dataclass
class _Search:
    """From the two runs that are not varied to single factors."""

    experiment: Experiment
    chosen: Sequence[Factor]
    named: Sequence[str]

    def run(self) -> Variation:
        """The whole experiment."""
        made = self.experiment
        able = [factor for factor in self.chosen if not made.tried[factor.name].skipped]
        made.progress("recording twice, nothing varied")
        unvaried = made.unvaried(2)
        for each in unvaried:
            if each.failed:
                raise ProgramFailed(
                    f"{made.setup.program} fails though nothing is varied: {each.failed}",
                    "Expected a program that runs.",
                    f"See: {command(made.setup, {}, 'a')}",
                )
        if not made.same(unvaried[1]):
            return self._unsteady(unvaried[1])
        groups = [tuple(factor.name for factor in able if not factor.alone)]
        groups += [(factor.name,) for factor in able if factor.alone]
        found = [
            each for group in groups if group for each in find_minimal_causes(group, made.differ)
        ]
        made.progress("recording once more what differed")
        once_more, *second = [*made.unvaried(1), *made.again(found)] if found else [unvaried[0]]
        if not made.same(once_more):
            return self._unsteady(once_more)
        held = {group: not made.same(again) for group, again in zip(found, second, strict=True)}
        alone = {group[0]: group for group in found if len(group) == 1}
        rows = [
            self._broken(alone[factor.name], held=held[alone[factor.name]])
            if factor.name in alone
            else self._unbroken(factor)
            for factor in self.chosen
        ]
        rows += [self._broken(group, held=held[group]) for group in found if len(group) > 1]
        return self._variation(rows)

    def _unbroken(self, factor: Factor) -> FactorResult:
        """A factor that did not differ: because it did nothing, or because it could do nothing."""
        made, tried = self.experiment, self.experiment.tried[factor.name]
        why = tried.skipped or made.refused.get(factor.name, "")
        if not why and not made.took_effect(factor):
            why = why_not(factor, made.seen(made.baseline))
        if why:
            return FactorResult(factor.name, tried.value, "unavailable", why)
        return FactorResult(factor.name, tried.value, "same")

    def _broken(self, group: Group, *, held: bool) -> FactorResult:
        made, name = self.experiment, " + ".join(group)
        value = "; ".join(made.tried[each].value for each in group)
        if not held:
            return FactorResult(name, value, "could-not-tell", _ONCE)
        run = made.made(group)
        divergence = self._diagnosed(name, run, group)
        where = run.failed or ("" if divergence is None else divergence.headline())
        return FactorResult(name, value, "failed" if run.failed else "differs", where, divergence)

    def _unsteady(self, again: Made) -> Variation:
        divergence = self._diagnosed("nothing varied", again, ())
        where = again.failed or ("" if divergence is None else divergence.headline())
        first = FactorResult(BASELINE, "", "differs", where, divergence)
        rest = [FactorResult(each.name, "", "could-not-tell", _NOT_TRIED) for each in self.chosen]
        return self._variation([first, *rest])

    def _variation(self, rows: Sequence[FactorResult]) -> Variation:
        return Variation(str(self.experiment.setup.program), rows, self.named)

    def _diagnosed(self, name: str, run: Made, group: Group) -> Divergence | None:
        """Where a run parts from the one that was not varied; None when it left no record."""
        made = self.experiment
        made.progress(f"diagnosing {name}")
        python = made.python(group)
        try:
            divergence = diagnose(
                made.baseline.path, run.path, progress=made.progress, python_b=python
            )
        except TwiceError:
            return None
        commands = [
            command(made.setup, {}, "a"),
            command(made.setup, made.variables(group), "b", python),
        ]
        return replace(
            divergence,
            a="nothing varied",
            b=f"{name} varied" if group else "nothing varied, again",
            next=[*commands, "twice diagnose a.twice b.twice"],
        )


def command(setup: Setup, variables: Mapping[str, str], out: str, python: str = "") -> str:
    """The command that makes such a run by hand; policies are not repeated."""
    given = [word for each in in_settings(setup.config) for word in ("--set", each)]
    given += [word for k, v in variables.items() for word in ("--env", f"{k}={v}")]
    twice = [python, "-m", "twice"] if python else ["twice"]
    program = setup.program
    named = ["-m", program.target] if program.kind == "main" else [str(program)]
    words = [*twice, "record", *named, "--seed", str(setup.seed.value), *given]
    own = ["--", *program.arguments] if program.arguments else []
    return shlex.join([*words, "-o", f"{out}.twice", *own])
