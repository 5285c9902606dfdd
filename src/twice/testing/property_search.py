"""Look for an example in which a property does not hold: the kept ones first, then Hypothesis.

What it finds is shrunk, executed again in fresh processes, kept, and reported. Shrinking stops after a
number of executions: what is smallest by then is shown.

Invariant: a property that holds was checked in at least one example, and what is drawn for an example is
plain data, by name.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from twice.errors import NothingJudged, TwiceError
from twice.foundation.determinism_class import Predicate
from twice.testing import checks, counterexamples, strategies
from twice.testing.checks import Check, ExampleTrial, NothingToCompare, Violation
from twice.testing.counterexamples import Example, KeptExample
from twice.testing.executor import Executor
from twice.testing.faults import active
from twice.testing.strategies import hypothesis
from twice.testing.subject import Subject, subject_of

Program = str | Callable[..., object] | Subject
Schedule = tuple[str, Callable[[Mapping[str, Any]], int]]

EXAMPLES: Final = 25
SHRINKS_MAX: Final = 40
"""Executions of examples after the first that fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyQuestion:
    """One property of one system."""

    name: str
    check: Check
    subject: Subject
    strategy: Any  # of examples
    examples: int
    folder: Path | None  # where counterexamples are kept; None for nowhere
    vary: tuple[str, ...]  # factors in which the second execution differs
    schedule: str = ""  # configuration key for the order of tasks

    @property
    def needs_one(self) -> bool:
        """Whether one example in which it holds is enough."""
        return self.name == "seed_matters"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A counterexample and how it was confirmed."""

    example: Example
    violation: Violation
    confirmed: tuple[str, ...] = ()  # sentences about its execution in fresh processes
    is_kept: bool = False  # whether the folder had it


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search gave."""

    question: PropertyQuestion
    found: Counterexample | None
    judged: int  # examples that were compared
    planted: bool  # whether the active fault was planted in one of them


def search_property(
    name: str,
    program: Program,
    config: Any = None,
    seeds: Any = None,
    *,
    inputs: Any = None,
    schedule: Schedule | None = None,
    vary: Sequence[str] = ("hash seed",),
    examples: int = EXAMPLES,
    examples_in: str | Path | None = counterexamples.FOLDER,
    predicate: Predicate | None = None,
    policies: Mapping[str, Any] | None = None,
) -> SearchResult:
    """Look for a counterexample of a property by name, and raise nothing when there is one."""
    question = PropertyQuestion(
        name=name,
        check=getattr(checks, name),
        subject=subject_of(program, predicate=predicate, policies=policies),
        strategy=examples_of(config, seeds, inputs, schedule),
        examples=examples,
        # With a fault in it a system breaks its kept examples, too, and what breaks is no news.
        folder=None if examples_in is None or active() is not None else Path(examples_in),
        vary=tuple(vary),
        schedule="" if schedule is None else schedule[0],
    )
    with Executor(question.vary) as executor:
        search = _Search(question, executor)
        if question.needs_one:
            found = search.find_none_that_holds()
        else:
            found = search.try_kept_ones() or search.find_new_one()
        if search.error is not None and found is None:
            raise search.error
        if found is None and not search.judged:
            raise NothingJudged(
                f"Not one example of {question.name} could be judged for {question.subject.label}.",
                "Expected at least one run with a tick in it.",
                "Generate other configurations, with one tick or more.",
            )
        return SearchResult(question, found, search.judged, executor.planted)


def examples_of(
    config: Any, seeds: Any, inputs: Any = None, schedule: Schedule | None = None
) -> Any:
    """Return a strategy of examples."""
    st = hypothesis("strategies")
    configs = strategies.as_strategy({} if config is None else config)
    masters = strategies.seeds() if seeds is None else strategies.as_strategy(seeds)
    if inputs is not None and not isinstance(inputs, st.SearchStrategy):
        inputs = strategies.inputs(**inputs)

    @st.composite  # type: ignore[untyped-decorator, unused-ignore]
    def draw_example(draw: Any) -> Example:
        chosen = draw(configs)
        choices: dict[str, Any] = {"at": draw(st.integers(0, 255))}
        if inputs is not None:
            choices["inputs"] = draw(inputs)
        if schedule is not None:
            choices["order"] = list(draw(strategies.permutations(schedule[1](chosen))))
        return Example(chosen, draw(masters), choices)

    return draw_example()


def draw_until(
    is_wanted: Callable[[Example], bool],
    strategy: Any,
    examples: int,
    *,
    is_fixed: bool,
    shrinks: bool = False,
) -> Example | None:
    """Draw examples until one is wanted, and return it, or None."""
    library = hypothesis()
    phases = [library.Phase.generate, *([library.Phase.shrink] if shrinks else ())]
    settings = library.settings(max_examples=examples, deadline=None, database=None, phases=phases)
    chosen = random.Random(0) if is_fixed else None  # noqa: S311  (which examples, not a secret)
    found: Example | None = None
    with suppress(hypothesis("errors").NoSuchExample):
        found = library.find(strategy, is_wanted, settings=settings, random=chosen)
    return found


class _Search:
    """One search: what was tried, and what came of it."""

    def __init__(self, question: PropertyQuestion, executor: Executor) -> None:
        self.question, self._executor = question, executor
        self.judged = 0
        self.error: BaseException | None = None
        self._tried: dict[str, Violation | None] = {}
        self._failing: list[Counterexample] = []
        self._shrinks = 0

    def find_none_that_holds(self) -> Counterexample | None:
        """Look for one example in which the property holds; without any, the first stands for all."""

        def is_enough(example: Example) -> bool:
            is_fit = not self._fails(example) and self.judged > len(self._failing)
            return is_fit or self.error is not None

        question = self.question
        draw_until(is_enough, question.strategy, question.examples, is_fixed=True)
        if self.judged > len(self._failing) or not self._failing:
            return None
        first, said = self._failing[0], f"the same in each of {self.judged} examples"
        return replace(first, confirmed=(*first.confirmed, said))

    def try_kept_ones(self) -> Counterexample | None:
        """Return the first kept counterexample that still fails."""
        folder = self.question.folder
        if folder is None:
            return None
        for number, kept in enumerate(counterexamples.read(folder), 1):
            if kept != self._to_kept(kept.example, folder) or self.error is not None:
                continue
            before, fails = self.judged, self._fails(kept.example)
            if self.judged > before:
                counterexamples.replayed[folder.resolve()].add(number)
            if fails:
                return replace(self._failing[-1], is_kept=True)
        return None

    def find_new_one(self) -> Counterexample | None:
        """Let Hypothesis look for one, and keep it."""
        question = self.question
        # One that is seen is enough where a fault is planted; CI tries the same ones every time.
        is_planted = active() is not None
        is_fixed = is_planted or bool(os.environ.get("CI"))
        options = {"is_fixed": is_fixed, "shrinks": not is_planted}
        example = draw_until(self._fails, question.strategy, question.examples, **options)
        if example is None:
            return None
        first = self._failing[0]
        smallest = next(each for each in self._failing if each.example.key() == example.key())
        if is_planted:
            return smallest
        said = first.confirmed
        if smallest is not first:
            said = (*said, f"the shrunk one {self._confirm(example)}")
        if question.folder is not None:
            counterexamples.keep(question.folder, self._to_kept(example, question.folder))
        return replace(smallest, confirmed=said)

    def _to_kept(self, example: Example, folder: Path) -> KeptExample:
        question = self.question
        subject = counterexamples.subject_in(folder, question.subject.label)
        return KeptExample(question.name, subject, example)

    def _fails(self, example: Example) -> bool:
        """Whether the property is violated in an example, as Hypothesis asks."""
        key = example.key()
        if key in self._tried:
            return self._tried[key] is not None
        if self.error is not None or (self._failing and self._shrinks >= SHRINKS_MAX):
            return False
        self._shrinks += bool(self._failing) and not self.question.needs_one
        self._tried[key] = None
        try:
            violation = self._check(example)
        except NothingToCompare:
            return False
        except BaseException as error:  # noqa: BLE001  (it ends the search, not an example)
            self.error = error
            return False
        self.judged += 1
        self._tried[key] = violation
        if violation is None:
            return False
        said: tuple[str, ...] = ()
        if not self._failing and active() is None:
            said = (f"the first failing example {self._confirm(example)}",)
        self._failing.append(Counterexample(example, violation, said))
        return True

    def _check(self, example: Example) -> Violation | None:
        question = self.question
        return question.check(
            ExampleTrial(self._executor, question.subject, example, question.schedule)
        )

    def _confirm(self, example: Example) -> str:
        """Return what fresh processes say to an example."""
        with self._executor.only_fresh():
            try:
                violation = self._check(example)
            except TwiceError as error:
                return f"is refused in fresh processes: {error.happened}"
        if violation is None:
            return "holds in fresh processes: what breaks it does not happen every time"
        return "was confirmed in fresh processes"
