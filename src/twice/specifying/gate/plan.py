"""What is to be run, taken out of the sheets before anything runs.

What a sheet leaves open, or says in words that mean nothing to twice, gets twice's own default here; the
check that judges the sheet tells of it.

Invariant: pure; evidence depends on the plan and the project's files, never on a sheet directly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from twice.errors import TwiceError
from twice.foundation.determinism_class import Predicate, Scope
from twice.foundation.digests import DEFAULT, Algorithm
from twice.recording.cadence import (
    Cadence,
    Granularity,
    Strategy,
    parse_cadence,
    parse_granularity,
    parse_strategy,
)
from twice.recording.surroundings import THREAD_CAPS
from twice.specifying.artifact import Artifact
from twice.specifying.gate.promise import predicate_or_default
from twice.specifying.tiers import Tier, Trait
from twice.specifying.workspace import Workspace

T = TypeVar("T")
SCHEDULES: Final = ("task order", "switch interval")
THREADS: Final = "threads"
INSTRUCTIONS: Final = ("blas kernels", "cpu features", "aten", "mkl", "libm")
HELD_BY_VARYING: Final = frozenset({"lockstep", "schedule-independent"})
"""Strategies by which no schedule decides; that of a recorded schedule says that one does."""
FIXED_ORDERS: Final = frozenset({"sequential", "kahan", "pairwise"})
"""Orders of sums that do not hang on the number of threads."""
_WORD: Final = re.compile(r"[a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run.

    Args:
        program: what is executed; "" when nobody said.
        seed: the master seed; None when nobody said.
        config: ``key=value`` each.
        predicate: the class that judges the trial.
        granularity: where compare-points are taken.
        cadence: where snapshots are taken.
        strategy: how they are stored.
        algorithm: the digest.
        planted: component, field and tick where a difference is planted; None for the gate's own choice.
        operations: which operations of sessions are tried, sorted.
        vector: path of the test vector; "" when nobody said.
        sources: folders and files of the code.
        tests: what pytest runs.
        database: the folder of counterexamples.
        measured: the file that twice cost wrote.
        reference: what sheet 04 says of the audit log's encoding.
        snapshot_text: the text of sheet 04 below its head, in which nothing of that may be copied.
        varied: surroundings that are varied, by the names of ``twice vary``, because 07 or 08 says that the
            result does not hang on them.
        vectors: JSON documents of sheet 11 whose digests are known.
        libraries: libraries that sheet 11 pins.
        reseeded: whether another seed has to give another run: from tier S on, unless 02 says why not.
        threads: of numerical libraries, as sheet 08 states them; None when it states none.
    """

    program: str
    seed: int | None
    config: tuple[str, ...]
    predicate: Predicate
    granularity: Granularity
    cadence: Cadence
    strategy: Strategy
    algorithm: Algorithm
    planted: tuple[str, str, int] | None
    operations: tuple[str, ...]
    vector: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    database: str
    measured: str
    reference: str
    snapshot_text: str
    varied: tuple[str, ...]
    vectors: tuple[str, ...]
    libraries: tuple[str, ...]
    reseeded: bool = False
    threads: int | None = None

    def variables(self) -> dict[str, str]:
        """Give the variables that a run of the specification is given, as the scaffold's runs are."""
        return {} if self.threads is None else dict.fromkeys(THREAD_CAPS, str(self.threads))


def plan_of(workspace: Workspace) -> Plan:
    """Take out of the sheets what is to be run."""
    scope, snapshots, divergence = (workspace.get(number) for number in ("00", "04", "05"))
    said = _Said(workspace)
    seed = scope.get("seed") if scope else None
    sources = said.listed("00", "sources") | said.listed("02", "audit") | said.listed("10", "audit")
    return Plan(
        program=said.text("00", "program"),
        seed=seed if isinstance(seed, int) else None,
        config=tuple(scope.listed("config")) if scope else (),
        predicate=predicate_or_default(workspace.get("01")),
        granularity=_understood(parse_granularity, divergence, "granularity", "tick"),
        cadence=_understood(parse_cadence, snapshots, "cadence", "tick"),
        strategy=_understood(parse_strategy, snapshots, "strategy", "hybrid"),
        algorithm=algorithm_in(said.text("05", "hash")) or DEFAULT,
        planted=_planted(divergence),
        operations=tuple(sorted({str(row["operation"]) for row in said.rows("06", "operations")})),
        vector=said.text("01", "vector"),
        sources=tuple(sorted(sources)),
        tests=tuple(sorted(said.listed("12", "tests"))),
        database=said.text("12", "database"),
        measured=said.text("13", "measured"),
        reference=said.text("04", "audit_encoding"),
        snapshot_text=snapshots.text if snapshots else "",
        varied=tuple(_varied(workspace)),
        vectors=tuple(str(row["value"]) for row in said.rows("11", "vectors", "value")),
        libraries=tuple(str(row["library"]) for row in said.rows("11", "pins", "library")),
        reseeded=workspace.situation().tier >= Tier.S and not said.text("02", "seedless"),
        threads=_threads(workspace),
    )


def algorithm_in(text: str) -> Algorithm | None:
    """Give the digest that a text names; None when it names none, or several."""
    named = {each for each in Algorithm if each.value in _WORD.findall(text.lower())}
    return named.pop() if len(named) == 1 else None


def _threads(workspace: Workspace) -> int | None:
    sheet = workspace.get("08")
    said = sheet.get("threads") if sheet else None
    return said if isinstance(said, int) and not isinstance(said, bool) and said > 0 else None


def _varied(workspace: Workspace) -> Iterator[str]:
    """Give what is varied: schedules for 07; for 08 threads, and instructions where other hosts give the same."""
    traits = workspace.situation().traits
    concurrency, numbers = workspace.get("07"), workspace.get("08")
    if concurrency is not None and traits.get(Trait.CONCURRENCY) is not False:
        strategies = {str(row.get("strategy")) for row in concurrency.rows("subsystems")}
        if strategies & HELD_BY_VARYING:
            yield from SCHEDULES
    if numbers is not None and traits.get(Trait.FLOATING_POINT) is not False:
        if numbers.said("reductions") in FIXED_ORDERS:
            yield THREADS
        if predicate_or_default(workspace.get("01")).scope is Scope.CROSS_HOST:
            yield from INSTRUCTIONS


class _Said:
    """Looks up what sheets say, "" and nothing for those that are not there."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def text(self, number: str, key: str) -> str:
        sheet = self._workspace.get(number)
        return sheet.said(key) if sheet else ""

    def listed(self, number: str, key: str) -> set[str]:
        sheet = self._workspace.get(number)
        return set(sheet.listed(key)) if sheet else set()

    def rows(self, number: str, key: str, column: str = "operation") -> list[dict[str, object]]:
        sheet = self._workspace.get(number)
        return [row for row in (sheet.rows(key) if sheet else []) if column in row]


def _understood(parse: Callable[[str], T], sheet: Artifact | None, key: str, otherwise: str) -> T:
    try:
        return parse((sheet.said(key) if sheet else "") or otherwise)
    except TwiceError:
        return parse(otherwise)


def _planted(divergence: Artifact | None) -> tuple[str, str, int] | None:
    for row in divergence.rows("planted") if divergence else []:
        tick = str(row.get("tick", ""))
        if "component" in row and "field" in row and tick.isdecimal():
            return str(row["component"]), str(row["field"]), int(tick)
    return None
