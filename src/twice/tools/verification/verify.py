"""Try to prove the declarations of a registry wrong, tool by tool, and say what was seen.

All first runs, then all reruns, then what is perturbed, then the laws: so one process serves many
tools, and time passes between a run and its rerun.

Not for: tools that promise nothing; they are named and left alone.

Invariant: this process never loads the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from twice.errors import UsageError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.tools.cases import Case
from twice.tools.determinism import Determinism, Level
from twice.tools.registry import BUILT_IN
from twice.tools.verification.attempts import Attempt
from twice.tools.verification.certificates import (
    Certificate,
    There,
    host_of,
    read_certificates,
)
from twice.tools.verification.choosing import cases_for, read_cases
from twice.tools.verification.describing import Described
from twice.tools.verification.examining import Examination
from twice.tools.verification.exposure import ANOTHER_HOST, Exposure
from twice.tools.verification.laboratory import Laboratory, Progress
from twice.tools.verification.perturbations import NAMES
from twice.tools.verification.reading import read_source, suspicions_in
from twice.tools.verification.result import (
    Suspicion,
    ToolVerification,
    Tried,
    Verdict,
    Verification,
)

LIMIT_S: Final = 60.0
_OTHERS_MAX: Final = 3
Checker = Callable[[str, int, int], Sequence[Suspicion]]
"""Finds suspicious places in a file: its path, and the first and last line that count."""


def verify_tools(
    registry: str,
    tool: str | None = None,
    *,
    cases: Path | None = None,
    certificates: Path | None = None,
    python: str = "",
    limit_s: float = LIMIT_S,
    checker: Checker | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Try the declarations of a registry's tools.

    Args:
        registry: its name: built in, ``module:name`` or ``file.py:name``.
        tool: one of them; all when None.
        cases: a file of cases.
        certificates: a folder whose certificates of other hosts are repeated, if it is there.
        python: the interpreter that the tools run in; empty for this one.
        limit_s: how long one trial may take, in seconds.
        checker: finds suspicious places in a source; without one no tool gets beyond ``declared``
            by its source, and its runs count all the same.
        progress: told what is being done.

    Raises:
        UsageError: E-USE-001, for a tool or a case that there is not.
        RegistryRefused: E-TOOL-002, when there is no such registry.
    """
    doing = progress or (lambda _: None)
    there, said = _there(certificates)
    with Laboratory(_absolute(registry), python=python, limit_s=limit_s, progress=doing) as made:
        told = made.describe()
        every = [Described.from_json(each) for each in told["tools"]]
        chosen = [each for each in every if tool in (None, each.name)]
        if tool is not None and not chosen:
            raise _no_tool(tool, registry, [each.name for each in every])
        given = {} if cases is None else read_cases(cases, [each.name for each in every])
        examinations = {each.name: _examinations(each, given, made) for each in chosen}
        _examine([each for several in examinations.values() for each in several], doing)
        here = There.told(told)
        counted = [each for each in there if not each.counts_as_nothing(here)]
        concluding = _Concluding(counted, host_of(told["environment"]), made.skipped, checker)
        return Verification(
            registry,
            told["fingerprint"],
            told["backend"],
            told["profile"],
            told["environment"],
            told["sources"],
            [concluding.tool(each, examinations[each.name], given) for each in chosen],
            said,
            made.starts,
            made.starting_s,
        )


def session_levels(
    registry: str, folder: Path, *, python: str = ""
) -> tuple[dict[str, Level], list[str]]:
    """Return the levels that a folder's certificates give a registry, and the reasons against others.

    Raises:
        UsageError: E-USE-001. RegistryRefused: E-TOOL-002.
    """
    from twice.tools.verification.certificates import levels

    found, said = read_certificates(folder)
    with Laboratory(_absolute(registry), python=python, limit_s=LIMIT_S, progress=_silent) as made:
        told = made.describe()
    given, more = levels(found, There.told(told))
    return given, [*said, *more]


def _silent(_: str) -> None:
    """Nobody is told."""


def _examinations(
    tool: Described, given: Mapping[str, Any], laboratory: Laboratory
) -> list[Examination]:
    if tool.determinism is Determinism.NONDETERMINISTIC:
        return []
    origin, cases, _ = cases_for(tool, given)
    return [
        Examination(
            tool, Attempt(tool.name, each, others=_others(cases, at)), origin, laboratory, NAMES
        )
        for at, each in enumerate(cases)
    ]


def _others(cases: Sequence[Case], at: int) -> tuple[Case, ...]:
    """Return a few other cases, for a process that has a past."""
    return (*cases[at + 1 :], *cases[:at])[:_OTHERS_MAX]


def _examine(examinations: Sequence[Examination], doing: Progress) -> None:
    stages: tuple[tuple[str, Callable[[Examination], None]], ...] = (
        ("running", Examination.run_first),
        ("running again", Examination.run_again),
        ("perturbing", Examination.run_perturbed),
        ("running once more", Examination.run_plainly),
        *((f"perturbing the {name}", partial(_with_factor, name)) for name in NAMES),
        ("perturbing fewer", Examination.run_together),
        ("trying laws", Examination.run_laws),
    )
    for words, stage in stages:
        for each in examinations:
            doing(f"{words}: {each.tool.name}")
            stage(each)


def _with_factor(name: str, examination: Examination) -> None:
    examination.run_factor(name)


class _Concluding:
    """From what was seen to verdict and level."""

    def __init__(
        self,
        certificates: Sequence[Certificate],
        host: str,
        skipped: Mapping[str, str],
        checker: Checker | None,
    ) -> None:
        self._certificates = [each for each in certificates if each.host != host]
        self._skipped = skipped
        self._checker = checker

    def tool(
        self, tool: Described, seen: Sequence[Examination], given: Mapping[str, Any]
    ) -> ToolVerification:
        """Build the verification of one tool."""
        tried = [_tried(each) for each in seen]
        read, suspicions = self._suspicions(tool)
        found = ToolVerification(
            tool.name,
            tool.fingerprint,
            tool.determinism.value,
            Verdict.NO_DIFFERENCE,
            Level.DECLARED,
            runs=sum(each.runs for each in seen),
            seconds=sum(each.seconds for each in seen),
            cases=tried,
            perturbed=_united(each.perturbed for each in seen),
            laws=_united(each.laws for each in seen),
            exposures=list(dict.fromkeys(e for each in seen for e in each.exposures)),
            suspicions=suspicions,
            read=read,
        )
        found.not_tried = self._not_tried(found, seen)
        if not found.exposures:
            self._hold_against_others(found)
        self._judge(tool, found, seen, given)
        return found

    def _judge(
        self,
        tool: Described,
        found: ToolVerification,
        seen: Sequence[Examination],
        given: Mapping[str, Any],
    ) -> None:
        clean = found.read and not found.suspicions
        found.level = Level.STATIC if clean else Level.DECLARED
        if found.exposures:
            found.verdict, found.level = Verdict.EXPOSED, Level.DECLARED
        elif tool.determinism is Determinism.NONDETERMINISTIC:
            found.verdict = Verdict.PROMISES_NOTHING
        elif not any(each.reran and not each.failure for each in seen):
            found.verdict = Verdict.COULD_NOT_TELL
            why = cases_for(tool, given)[2]
            found.cases = found.cases or [Tried({}, "", "generated", why)]
        elif found.suspicions:
            return
        elif found.hosts:
            found.level = Level.CROSS_HOST
        else:
            found.level = Level.PERTURBED if found.perturbed else Level.RERUN

    def _suspicions(self, tool: Described) -> tuple[bool, list[Suspicion]]:
        if tool.source is None:
            return tool.is_macro, []  # A macro is data: there is no source to find anything in.
        path, first, last = tool.source
        text = read_source(Path(path))
        if text is None or self._checker is None:
            return False, []
        return True, [*suspicions_in(tool, text), *self._checker(path, first, last)]

    def _not_tried(self, found: ToolVerification, seen: Sequence[Examination]) -> dict[str, str]:
        if not seen:
            return {}
        why = {**self._skipped}
        for each in seen:
            why.update(each.not_tried)
        return {name: text for name, text in why.items() if name not in found.perturbed}

    def _hold_against_others(self, found: ToolVerification) -> None:
        """Whether these runs repeat what certificates of other hosts say of the same cases."""
        here = {each.digest: (each.result, each.state) for each in found.cases if each.result}
        for each in self._certificates:
            common = [key for key in here if key in each.outcomes]
            if each.fingerprint != found.fingerprint or each.verdict != Verdict.NO_DIFFERENCE:
                continue
            if not common:
                found.not_tried = {
                    **found.not_tried,
                    ANOTHER_HOST: f"{each.path.name} has no case of these",
                }
            elif all(here[key] == each.outcomes[key] for key in common):
                found.hosts.append(each.host)
            else:
                what = f"{each.path.name} says another result or state for an equal case"
                found.exposures.append(Exposure(ANOTHER_HOST, what))


def _tried(seen: Examination) -> Tried:
    outcome, case = seen.first, seen.attempt.case
    exact = outcome.ok and seen.tool.tolerance is None
    result = str(digest_bytes(outcome.result_bytes(), Algorithm.SHA256)) if exact else ""
    state = outcome.after if outcome.ok else ""
    return Tried(case.to_json(), case.digest, seen.origin, seen.failure, result, state)


def _united(several: Any) -> list[str]:
    order = {name: at for at, name in enumerate(NAMES)}
    names = dict.fromkeys(name for each in several for name in each)
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def _absolute(registry: str) -> str:
    place, colon, name = registry.rpartition(":")
    if registry in BUILT_IN or not colon or not place.endswith(".py"):
        return registry
    return f"{Path(place).resolve()}:{name}"


def _there(folder: Path | None) -> tuple[list[Certificate], list[str]]:
    """Read the certificates of a folder, which may not exist yet."""
    return ([], []) if folder is None or not folder.exists() else read_certificates(folder)


def _no_tool(tool: str, registry: str, names: Sequence[str]) -> UsageError:
    return UsageError(
        f"The registry {registry} has no tool {tool!r:.80}.",
        f"Expected one of: {', '.join(names[:20])}.",
        f"List them: twice tools list {registry}",
    )
