"""A program that differs from itself: do threads of its libraries race, or may its own?

Libraries are tried by experiment, runs with several threads beside runs with one. Of the program's own threads only
their start is known: they are named where nothing else is. Not for: which of several libraries it was.

Invariant: threads of libraries are blamed only if every run with one agrees, and every run with several differs from
the one before it. If chance had no regard for threads, that would come about in at most one of 64 experiments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Final

from twice.diagnosis.vary.numeric_factors import RACES, limit_threads
from twice.diagnosis.vary.report import FactorResult
from twice.diagnosis.vary.trial_run import TrialRun
from twice.worker.concurrency import run_concurrently

_RUNS: Final = 4
_OWN: Final = "it starts threads of its own, and no setting decides which of them comes first"
_OWN_REMEDY: Final = (
    "let no result depend on which thread comes first: give each a generator of its own, "
    "and add results in the order in which they were asked for"
)
ONE_THREAD: Final[Mapping[str, str]] = limit_threads(1)


def do_libraries_race(
    differing: Sequence[TrialRun], record: Callable[[Mapping[str, str]], TrialRun]
) -> bool:
    """Record more runs as they were, and as many with one thread; return whether only these agree."""
    more = [partial(record, {}) for _ in range(_RUNS - len(differing))]
    made = run_concurrently([*more, *[partial(record, ONE_THREAD) for _ in range(_RUNS)]])
    several, one = [*differing, *made[: len(more)]], made[len(more) :]
    if any(each.failed for each in made):
        return False
    return all(a.is_same(b) for a, b in pairwise(one)) and not any(
        a.is_same(b) for a, b in pairwise(several)
    )


def blame_libraries(row: FactorResult, run: TrialRun) -> FactorResult:
    """Say that threads of libraries are why the program differs from itself, and what stops it."""
    reason = (
        f"threads of its libraries: {_RUNS} runs with one thread for each agree, {_RUNS} with several "
        f"differ; {row.reason}; other factors were varied with one thread"
    )
    remedies = [text for library, text in RACES.items() if library in run.libraries]
    remedies.append("or keep one thread: twice record --env OMP_NUM_THREADS=1")
    return _add(replace(row, reason=reason), remedies)


def name_own_threads(row: FactorResult, run: TrialRun) -> FactorResult:
    """Name the program's own threads, where it has some and neither diagnosis nor chance explains the difference."""
    is_explained = row.divergence is None or row.divergence.attribution or run.reads_chance
    if is_explained or not run.has_threads:
        return row
    return _add(replace(row, reason=f"{row.reason}; {_OWN}"), [_OWN_REMEDY])


def _add(row: FactorResult, remedies: Sequence[str]) -> FactorResult:
    if row.divergence is None:
        return row
    divergence = replace(row.divergence, remedies=[*remedies, *row.divergence.remedies])
    return replace(row, divergence=divergence)
