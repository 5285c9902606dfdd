"""Threads are blamed for a program that differs from itself only by an experiment that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

import pytest

from twice.diagnosis.divergence import Divergence
from twice.diagnosis.vary.report import FactorResult
from twice.diagnosis.vary.thread_race import (
    ONE_THREAD,
    blame_libraries,
    do_libraries_race,
    name_own_threads,
)
from twice.foundation.determinism_class import Predicate


@dataclass
class Run:
    """What the experiment asks of a recording: the records themselves are not what is tested."""

    value: int = 0
    failed: str = ""
    libraries: tuple[str, ...] = ()
    has_threads: bool = False
    reads_chance: bool = False
    given: list[Mapping[str, str]] = field(default_factory=list)

    def is_same(self, other: Run) -> bool:
        return self.value == other.value


def row() -> FactorResult:
    divergence = Divergence("a", "b", "non-reproducing", Predicate(), ())
    return FactorResult("nothing", "", "differs", "they part", divergence)


def test_runs_that_agree_only_with_one_thread_show_a_race() -> None:
    numbers = count(2)

    def record(given: Mapping[str, str]) -> Run:
        return Run(0 if given == ONE_THREAD else next(numbers))

    assert do_libraries_race((Run(0), Run(1)), record)


@pytest.mark.parametrize(
    ("several", "one"),
    [([5, 5], [0, 0, 0, 0]), ([2, 3], [0, 0, 4, 0]), ([1, 2], [0, 0, 0, 0])],
    ids=["two with several agree", "one of one thread differs", "the first repeats"],
)
def test_a_rare_difference_blames_no_thread(several: list[int], one: list[int]) -> None:
    several_left, one_left = iter(several), iter(one)

    def record(given: Mapping[str, str]) -> Run:
        return Run(next(one_left if given else several_left))

    assert not do_libraries_race((Run(0), Run(1)), record)


def test_a_run_that_fails_shows_nothing() -> None:
    assert not do_libraries_race((Run(0), Run(1)), lambda _: Run(failed="no memory"))


def test_the_libraries_that_were_loaded_are_advised_on() -> None:
    said = blame_libraries(row(), Run(libraries=("numpy", "torch")))

    assert said.reason.startswith("threads of its libraries: 4 runs with one thread")
    assert said.divergence is not None
    assert "use_deterministic_algorithms(True)" in said.divergence.remedies[0]
    assert not any("use_threads" in text for text in said.divergence.remedies)


def test_own_threads_are_named_where_nothing_else_explains_the_difference() -> None:
    plain, chance = Run(has_threads=True), Run(has_threads=True, reads_chance=True)

    said = name_own_threads(row(), plain)

    assert "threads of its own" in said.reason
    assert name_own_threads(row(), chance) == row()
    assert name_own_threads(row(), Run()) == row()
