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

from twice.errors import ClassRefused, TwiceError
from twice.foundation.comparison import Exact, Tolerance, tolerance_of
from twice.foundation.determinism_class import (
    DeterminismClass,
    Predicate,
    SampleTest,
    Scope,
    Summary,
    parse_class,
    parse_scope,
    refuse_class,
)
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
from twice.specification.sheet import Sheet
from twice.specification.tiers import Tier, Trait
from twice.specification.workspace import Workspace

T = TypeVar("T")
SCHEDULES: Final = ("task order", "switch interval")
THREADS: Final = "threads"
INSTRUCTIONS: Final = ("blas kernels", "cpu features", "aten", "mkl", "libm")
HELD_BY_VARYING: Final = frozenset({"lockstep", "schedule-independent"})
"""Strategies by which no schedule decides; that of a recorded schedule says that one does."""
FIXED_ORDERS: Final = frozenset({"sequential", "kahan", "pairwise"})
"""Orders of sums that do not hang on the number of threads."""
_WORD: Final = re.compile(r"[a-z0-9_]+")
_STEP: Final = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+)\]|\['([^']*)'\]")


@dataclass(frozen=True, slots=True)
class GatePlan:
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
        """Return the variables that a run of the specification is given, as the scaffold's runs are."""
        return {} if self.threads is None else dict.fromkeys(THREAD_CAPS, str(self.threads))


def plan_gate(workspace: Workspace) -> GatePlan:
    """Take out of the sheets what is to be run."""
    snapshots = workspace.get("04")
    seed, threads = workspace.value("00", "seed"), workspace.value("08", "threads")
    has_threads = isinstance(threads, int) and not isinstance(threads, bool) and threads > 0
    sources = {
        *workspace.strings("00", "sources"),
        *workspace.strings("02", "audit"),
        *workspace.strings("10", "audit"),
    }
    return GatePlan(
        program=workspace.text("00", "program"),
        seed=seed if isinstance(seed, int) else None,
        config=tuple(workspace.strings("00", "config")),
        predicate=_read_predicate(workspace.get("01")),
        granularity=_parse_or(parse_granularity, workspace.text("05", "granularity"), "tick"),
        cadence=_parse_or(parse_cadence, workspace.text("04", "cadence"), "tick"),
        strategy=_parse_or(parse_strategy, workspace.text("04", "strategy"), "hybrid"),
        algorithm=find_algorithm(workspace.text("05", "hash")) or DEFAULT,
        planted=_find_planted(workspace),
        operations=tuple(sorted({*workspace.column("06", "operations", "operation")})),
        vector=workspace.text("01", "vector"),
        sources=tuple(sorted(sources)),
        tests=tuple(sorted({*workspace.strings("12", "tests")})),
        database=workspace.text("12", "database"),
        measured=workspace.text("13", "measured"),
        reference=workspace.text("04", "audit_encoding"),
        snapshot_text=snapshots.body if snapshots else "",
        varied=tuple(_list_varied(workspace)),
        vectors=tuple(workspace.column("11", "vectors", "value")),
        libraries=tuple(workspace.column("11", "pins", "library")),
        reseeded=workspace.situation().tier >= Tier.S and not workspace.text("02", "seedless"),
        threads=threads if has_threads and isinstance(threads, int) else None,
    )


def find_algorithm(text: str) -> Algorithm | None:
    """Return the digest that a text names; None when it names none, or several."""
    named = {each for each in Algorithm if each.value in _WORD.findall(text.lower())}
    return named.pop() if len(named) == 1 else None


def _parse_or(parse: Callable[[str], T], text: str, otherwise: str) -> T:
    try:
        return parse(text or otherwise)
    except TwiceError:
        return parse(otherwise)


def _list_varied(workspace: Workspace) -> Iterator[str]:
    """Yield what is varied: schedules for 07; for 08 threads, and instructions where other hosts give the same."""
    traits = workspace.situation().traits
    strategies = {*workspace.column("07", "subsystems", "strategy")}
    # Below the tier that asks for 07 no strategy is named, and the run alone can tell.
    unnamed = workspace.get("07") is None and traits.get(Trait.CONCURRENCY) is True
    if unnamed or (traits.get(Trait.CONCURRENCY) is not False and strategies & HELD_BY_VARYING):
        yield from SCHEDULES
    if workspace.get("08") is not None and traits.get(Trait.FLOATING_POINT) is not False:
        if workspace.text("08", "reductions") in FIXED_ORDERS:
            yield THREADS
        if _read_predicate(workspace.get("01")).scope is Scope.CROSS_HOST:
            yield from INSTRUCTIONS


def _find_planted(workspace: Workspace) -> tuple[str, str, int] | None:
    for row in workspace.rows("05", "planted"):
        tick = str(row.get("tick", ""))
        if "component" in row and "field" in row and tick.isdecimal():
            return str(row["component"]), str(row["field"]), int(tick)
    return None


def _read_predicate(promise: Sheet | None) -> Predicate:
    """Return the predicate, or the strictest one where none can be made: check 2 tells of that."""
    try:
        return Predicate() if promise is None else predicate_of(promise)
    except (ClassRefused, ValueError):
        return Predicate()


def predicate_of(promise: Sheet) -> Predicate:
    """Return the predicate of sheet 01: what cannot be executed is no class, whatever its sentence says.

    Raises:
        ClassRefused: E-CLASS-001, when what it says makes no class.
    """
    kind = parse_class(promise.text("class"))
    own = {
        str(row["name"]): parse_class(str(row["class"]))
        for row in promise.rows("subsystems")
        if "name" in row and "class" in row
    }
    sample = _read_sample(promise) if kind is DeterminismClass.STATISTICAL else None
    decisions: Tolerance = Exact()
    measure, within = promise.text("measure") or "exact", promise.text("epsilon")
    # Sheet 08 wants an epsilon beside an exact class as well: 0.
    if kind is DeterminismClass.LOGICAL and measure != "exact":
        decisions = tolerance_of(measure, float(within) if within else None)
    return Predicate(kind, parse_scope(promise.text("scope")), own, decisions, sample)


def _read_sample(promise: Sheet) -> Summary:
    seeds = promise.get("seeds")
    if not promise.text("summary") or not isinstance(seeds, int):
        raise refuse_class(
            "statistical class", "It names a summary, and how many seeds a sample has."
        )
    return Summary(
        promise.text("summary"),
        SampleTest(promise.text("test") or "mean"),
        float(promise.text("epsilon") or 0),
        seeds,
        float(promise.text("power") or "0.8"),
    )


def read_field(field: str) -> list[str | int]:
    """Return the keys of a field without its component: ``places[0]``, ``a.b['c d']``; [] when it is none."""
    found: list[str | int] = []
    at = 0
    while at < len(field):
        match = _STEP.match(field, at)
        if match is None:
            return []
        name, index, quoted = match.groups()
        found.append(int(index) if index is not None else name or quoted)
        at = match.end()
    return found if found and isinstance(found[0], str) else []
