"""What sheets say of a run, as the values that it is recorded, varied and judged by.

What a sheet leaves open, or says in words that mean nothing to twice, gets twice's own default here; the
check that judges the sheet tells of it.

Invariant: pure, and what is recorded here is what the scaffold's commands record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

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
from twice.foundation.sample_size import require_decidable
from twice.recorder.cadence import parse_cadence, parse_granularity, parse_strategy
from twice.recorder.config import parse_settings
from twice.recorder.environment.surroundings import THREAD_CAPS
from twice.recorder.setup import parse_profile
from twice.simulation.order import Order
from twice.specification.sheet import Sheet
from twice.specification.tiers import Trait
from twice.specification.workspace import Workspace

T = TypeVar("T")
SCHEDULES: Final = ("task order", "switch interval")
THREADS: Final = "threads"
INSTRUCTIONS: Final = ("blas kernels", "cpu features", "aten", "mkl", "libm")
HELD_BY_VARYING: Final = frozenset({"lockstep", "schedule-independent"})
"""Strategies by which no schedule decides; that of a recorded schedule says that one does."""
RECORDED_SCHEDULE: Final = "recorded-schedule"
ASYNCIO: Final = "asyncio"
"""The name of the subsystem whose order a record can have, in sheet 07 and in a verification."""
FIXED_ORDERS: Final = frozenset({"sequential", "kahan", "pairwise"})
"""Orders of sums that do not hang on the number of threads."""
_WORD: Final = re.compile(r"[a-z0-9_]+")
_STEP: Final = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+)\]|\['([^']*)'\]")


def plan_recording(workspace: Workspace) -> dict[str, Any]:
    """Return what ``record`` is told besides program and seed.

    Raises:
        ConfigError: for a configuration that cannot be read.
    """
    text = workspace.text
    return {
        "config": parse_settings(workspace.strings("00", "config")),
        "env": pin_threads(workspace),
        "predicate": read_predicate(workspace),
        "algorithm": find_algorithm(text("05", "hash")) or DEFAULT,
        "granularity": _parse_or(parse_granularity, text("05", "granularity"), "tick"),
        "cadence": _parse_or(parse_cadence, text("04", "cadence"), "tick"),
        "strategy": _parse_or(parse_strategy, text("04", "strategy"), "hybrid"),
        "float_profile": _parse_or(parse_profile, text("08", "profile"), ""),
        "order": Order() if _has_recorded_order(workspace) else None,
    }


def _has_recorded_order(workspace: Workspace) -> bool:
    """Return whether 07 says that the order of asyncio's tasks is recorded: a simulated loop does so."""
    return any(
        (row.get("name"), row.get("strategy")) == (ASYNCIO, RECORDED_SCHEDULE)
        for row in workspace.rows("07", "subsystems")
    )


def _parse_or(parse: Callable[[str], T], text: str, otherwise: str) -> T:
    try:
        return parse(text or otherwise)
    except TwiceError:
        return parse(otherwise)


def pin_threads(workspace: Workspace) -> dict[str, str]:
    """Return the variables that hold numerical libraries to the threads of sheet 08, as the scaffold's runs have them."""
    threads = workspace.value("08", "threads")
    is_said = type(threads) is int and threads > 0
    return dict.fromkeys(THREAD_CAPS, str(threads)) if is_said else {}


def find_algorithm(text: str) -> Algorithm | None:
    """Return the digest that a text names; None when it names none, or several."""
    named = {each for each in Algorithm if each.value in _WORD.findall(text.lower())}
    return named.pop() if len(named) == 1 else None


def list_sources(workspace: Workspace) -> list[str]:
    """Return the folders and files of code that sheets name, sorted."""
    named = (workspace.strings(number, key) for number, key in (("00", "sources"), ("02", "audit"), ("10", "audit")))  # fmt: skip
    return sorted({each for several in named for each in several})


def list_varied(workspace: Workspace) -> Iterator[str]:
    """Yield what is varied, by the names of ``twice vary``, because 07 or 08 says that the result does not hang on it.

    Schedules for 07; for 08 threads, and instructions where other hosts give the same.
    """
    traits = workspace.situation().traits
    strategies = {*workspace.column("07", "subsystems", "strategy")}
    # Below the tier that asks for 07 no strategy is named, and the run alone can tell.
    unnamed = workspace.get("07") is None and traits.get(Trait.CONCURRENCY) is True
    if unnamed or (traits.get(Trait.CONCURRENCY) is not False and strategies & HELD_BY_VARYING):
        yield from SCHEDULES
    if workspace.get("08") is not None and traits.get(Trait.FLOATING_POINT) is not False:
        if workspace.text("08", "reductions") in FIXED_ORDERS:
            yield THREADS
        if read_predicate(workspace).scope is Scope.CROSS_HOST:
            yield from INSTRUCTIONS


def read_predicate(workspace: Workspace) -> Predicate:
    """Return the predicate, or the strictest one where none can be made: check 2 tells of that."""
    promise = workspace.get("01")
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
    sample, seeds, summary = None, promise.get("seeds"), promise.text("summary")
    sampled = Predicate(kind, subsystems=own).sampled_parts
    if sampled:
        if len(sampled) > 1:
            raise refuse_class("statistical " + " and ".join(sampled), "One summary judges one.")
        if not summary or not isinstance(seeds, int):
            lacks = "It names a summary, and how many seeds a sample has."
            raise refuse_class(f"statistical {sampled[0] or 'class'}", lacks)
        test = SampleTest(promise.text("test") or "mean")
        margin, power = float(promise.text("epsilon") or 0), float(promise.text("power") or "0.8")
        alpha = float(promise.text("alpha") or "0.05")
        sample = Summary(summary, test, margin, seeds, power, alpha)
        require_decidable(sample)
    decisions: Tolerance = Exact()
    measure, within = promise.text("measure") or "exact", promise.text("epsilon")
    # Sheet 08 wants an epsilon beside an exact class as well: 0.
    if kind is DeterminismClass.LOGICAL and measure != "exact":
        if sampled:
            raise refuse_class(
                f"measure {measure} beside the statistical {sampled[0]}",
                "One epsilon is a tolerance, or a margin of samples.",
            )
        decisions = tolerance_of(measure, float(within) if within else None)
    return Predicate(kind, parse_scope(promise.text("scope")), own, decisions, sample)


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
