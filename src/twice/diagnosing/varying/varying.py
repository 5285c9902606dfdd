"""Vary the surroundings of a program and name the factors that break its class.

The program is recorded twice as it is. When those two agree, it is recorded once with all factors
varied; only when that run differs is the list halved, again and again, down to single factors. A
factor that differs on its own is diagnosed against the run that was not varied, so that it comes with
the first differing operation. Factors that only differ together are named together.

Not for: proof. A factor that left this run the same may move another one.

Invariant: every run is a recording in a process of its own, in a temporary folder.
"""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from twice.diagnosing.diagnosing import diagnose
from twice.diagnosing.divergence import Divergence
from twice.diagnosing.together import together
from twice.diagnosing.varying.factors import FACTORS, Factor, Here, Tried, varied
from twice.diagnosing.varying.variation import BASELINE, FactorResult, Variation
from twice.errors import ProgramFailed, TwiceError, UsageError
from twice.foundation.seeds import Seed
from twice.recording.program import Program
from twice.recording.recorder import as_program, master_seed, record_program
from twice.recording.runrecord import RunRecord
from twice.recording.setup import Setup
from twice.recording.surroundings import Surroundings, for_recording
from twice.replaying.starting import require_rerunnable, require_same_code

Progress = Callable[[str], None]
_NOT_TRIED = "the program differs from itself, so nothing could be told"


def vary(
    program: str | os.PathLike[str] | Program | Callable[..., object],
    *,
    seed: int | Seed | None = None,
    config: Mapping[str, Any] | None = None,
    factors: Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    **policies: Any,
) -> Variation:
    """Record a program in other surroundings and say which of them its result depends on.

    Args:
        program: as ``twice.record`` takes it, or the path of a record: then its program, seed,
            configuration, class and surroundings are taken from it.
        seed: master seed; the variable TWICE_SEED when None. Not with a record.
        config: plain values for ``run.config``. Not with a record.
        factors: names of factors to vary; all when None.
        env: environment variables of every run.
        progress: called with what is being done.
        **policies: fields of ``Setup``, as ``twice.record`` takes them. Not with a record.

    Returns:
        The result. A factor that breaks the class is a result, never an exception.

    Raises:
        UsageError: E-USE-001, for a factor that there is not.
        ProgramFailed: E-PROGRAM-003, when the program fails though nothing is varied.
        SeedMissing: E-SEED-001. ProgramNotFound: E-PROGRAM-001. ProgramChanged: E-PROGRAM-004.
    """
    chosen = chosen_factors(factors)
    if isinstance(program, str | os.PathLike) and _is_record(program):
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
            base = Surroundings.from_json(record.identity["surroundings"])
    else:
        found = as_program(os.fspath(program) if isinstance(program, os.PathLike) else program)
        setup = Setup(found, master_seed(seed), dict(config or {}), **policies)
        base = for_recording(os.environ, explicit=dict(env or {}))
    doing = progress or (lambda _: None)
    with tempfile.TemporaryDirectory(prefix="twice-vary-") as folder:
        return _Experiment(setup, base, Path(folder).resolve(), doing).run(chosen)


def chosen_factors(names: Sequence[str] | None) -> list[Factor]:
    """Factors by name, in the order of the list; all without names.

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
    return [factor for factor in FACTORS if not names or factor.name in names]


def _is_record(path: str | os.PathLike[str]) -> bool:
    text = os.fspath(path)
    return not text.endswith(".py") and (text.endswith(".twice") or Path(text).is_file())


@dataclass(frozen=True)
class _Made:
    """One recording: where it stands, and what went wrong with it."""

    path: Path
    failed: str = ""


@dataclass
class _Experiment:
    """The recordings of one program."""

    setup: Setup
    base: Surroundings
    folder: Path
    progress: Progress
    made: int = 0

    def run(self, factors: Sequence[Factor]) -> Variation:
        """The experiment, from the two runs that are not varied to single factors."""
        here = Here(self.base, self.folder)
        tried = {factor.name: factor.choose(here) for factor in factors}
        able = [factor for factor in factors if not tried[factor.name].skipped]
        if not able:
            reasons = "; ".join(f"{name}: {choice.skipped}" for name, choice in tried.items())
            raise UsageError(
                f"None of the chosen factors can be varied here: {reasons}.",
                "Expected at least one that can.",
                "Choose others; they are listed by: twice vary --list",
            )
        self.progress("recording twice, nothing varied")
        unvaried = self._record_all([{}, {}])
        for made in unvaried:
            if made.failed:
                raise ProgramFailed(
                    f"{self.setup.program} fails though nothing is varied: {made.failed}",
                    "Expected a program that runs.",
                    f"See: {_command(self.setup, {}, 'a')}",
                )
        self._baseline = unvaried[0].path
        if not self._same(unvaried[1]):
            return self._unsteady(unvaried[1], factors)
        together_ = [factor.name for factor in able if not factor.alone]
        groups = [[factor.name] for factor in able if factor.alone]
        found: dict[tuple[str, ...], _Made] = {}
        for group in (together_, *groups):
            if group:
                found.update(self._guilty(group, tried))
        return self._concluded(factors, tried, found)

    # -- runs -----------------------------------------------------------------------------------

    def _record_all(self, variations: Sequence[Mapping[str, str]]) -> list[_Made]:
        calls = []
        for variables in variations:
            self.made += 1
            calls.append(partial(self._record, variables, self.folder / f"{self.made}.twice"))
        return together(calls)

    def _record(self, variables: Mapping[str, str], out: Path) -> _Made:
        surroundings = varied(self.base, Tried(variables))
        try:
            ended = record_program(self.setup, surroundings, out)
        except TwiceError as error:
            return _Made(out, error.happened)
        if ended["how"] == "interrupted":
            raise KeyboardInterrupt
        if ended["how"] == "exception":
            raised = ended["exception"]
            return _Made(out, f"{raised['type'].removeprefix('builtins.')}: {raised['message']}")
        return _Made(out)

    def _same(self, made: _Made) -> bool:
        """Whether a run holds the class against the one that was not varied; by the logs alone."""
        if made.failed:
            return False
        return diagnose(self._baseline, made.path, lines=False).exit_code == 0

    def _guilty(
        self, names: Sequence[str], tried: Mapping[str, Tried]
    ) -> dict[tuple[str, ...], _Made]:
        """Factors that differ on their own, found by halving; else the least that do together."""
        (made,) = self._try([names], tried)
        return {} if self._same(made) else self._halved(names, made, tried)

    def _halved(
        self, names: Sequence[str], made: _Made, tried: Mapping[str, Tried]
    ) -> dict[tuple[str, ...], _Made]:
        if len(names) == 1:
            return {tuple(names): made}
        middle = len(names) // 2
        halves = (names[:middle], names[middle:])
        found: dict[tuple[str, ...], _Made] = {}
        for half, run in zip(halves, self._try(halves, tried), strict=True):
            if not self._same(run):
                found.update(self._halved(half, run, tried))
        return found or {tuple(names): made}

    def _try(self, groups: Sequence[Sequence[str]], tried: Mapping[str, Tried]) -> list[_Made]:
        self.progress("varying " + " | ".join(", ".join(group) for group in groups))
        return self._record_all(
            [
                {key: value for name in group for key, value in tried[name].variables.items()}
                for group in groups
            ]
        )

    # -- results --------------------------------------------------------------------------------

    def _concluded(
        self,
        factors: Sequence[Factor],
        tried: Mapping[str, Tried],
        found: Mapping[tuple[str, ...], _Made],
    ) -> Variation:
        rows = []
        for factor in factors:
            choice = tried[factor.name]
            made = found.get((factor.name,))
            if choice.skipped:
                rows.append(FactorResult(factor.name, "", "skipped", choice.skipped))
            elif made is None:
                rows.append(FactorResult(factor.name, choice.value, "same"))
            else:
                rows.append(self._broken((factor.name,), tried, made))
        rows += [
            self._broken(names, tried, made) for names, made in found.items() if len(names) > 1
        ]
        return Variation(str(self.setup.program), rows)

    def _broken(
        self, names: Sequence[str], tried: Mapping[str, Tried], made: _Made
    ) -> FactorResult:
        name = " + ".join(names)
        variables = {k: v for each in names for k, v in tried[each].variables.items()}
        divergence = self._diagnosed(name, made, variables)
        where = made.failed or ("" if divergence is None else divergence.headline())
        value = "; ".join(tried[each].value for each in names)
        return FactorResult(name, value, "failed" if made.failed else "differs", where, divergence)

    def _unsteady(self, again: _Made, factors: Sequence[Factor]) -> Variation:
        divergence = self._diagnosed("nothing varied", again, {})
        where = "" if divergence is None else divergence.headline()
        first = FactorResult(BASELINE, "", "differs", where, divergence)
        rest = [FactorResult(factor.name, "", "skipped", _NOT_TRIED) for factor in factors]
        return Variation(str(self.setup.program), [first, *rest])

    def _diagnosed(self, name: str, made: _Made, variables: Mapping[str, str]) -> Divergence | None:
        """Where a run parts from the one that was not varied; None when it left no record."""
        self.progress(f"diagnosing {name}")
        try:
            divergence = diagnose(self._baseline, made.path, progress=self.progress)
        except TwiceError:
            return None
        commands = [_command(self.setup, {}, "a"), _command(self.setup, variables, "b")]
        return replace(
            divergence,
            a="nothing varied",
            b=f"{name} varied" if variables else "nothing varied, again",
            next=[*commands, "twice diagnose a.twice b.twice"],
        )


def _command(setup: Setup, variables: Mapping[str, str], out: str) -> str:
    """The command that makes such a run by hand; policies are not repeated."""
    given = [word for k, v in setup.config.items() for word in ("--set", f"{k}={_as_toml(v)}")]
    given += [word for k, v in variables.items() for word in ("--env", f"{k}={v}")]
    words = ["twice", "record", str(setup.program), "--seed", str(setup.seed.value), *given]
    return shlex.join([*words, "-o", f"{out}.twice"])


def _as_toml(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
