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
from typing import Any, Final, Self

from twice.errors import NothingJudged, TwiceError
from twice.foundation.determinism_class import Predicate
from twice.testing import checks, counterexamples, strategies
from twice.testing.checks import ExampleTrial, NothingToCompare, Violation
from twice.testing.counterexamples import Example, KeptExample
from twice.testing.executor import Executor, Subject, subject_of
from twice.testing.faults import active
from twice.testing.strategies import hypothesis

Program = str | Callable[..., object] | Subject
Schedule = tuple[str, Callable[[Mapping[str, Any]], int]]

EXAMPLES: Final = 25
SHRINKS_MAX: Final = 40
"""Executions of examples after the first that fails."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A counterexample and how it was confirmed."""

    example: Example
    violation: Violation
    confirmed: tuple[str, ...] = ()  # sentences about its execution in fresh processes
    is_kept: bool = False  # whether the folder had it


class PropertySearch:
    """Looks for a counterexample of one property of one system; arguments as of the functions of ``properties``."""

    def __init__(
        self,
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
    ) -> None:
        self.name, self.needs_one = name, name == "seed_matters"
        self.check = getattr(checks, name)
        self.subject = subject_of(program, predicate=predicate, policies=policies)
        self.vary, self.schedule = tuple(vary), "" if schedule is None else schedule[0]
        # With a fault in it a system breaks its kept examples, too, and what breaks is no news.
        is_kept = examples_in is not None and active() is None
        self.folder = Path(examples_in) if is_kept and examples_in is not None else None
        self.found: Counterexample | None = None
        self.judged, self.is_planted = 0, False
        self._strategy, self._examples = examples_of(config, seeds, inputs, schedule), examples
        self._executor: Executor
        self._error: BaseException | None = None
        self._tried: dict[str, Violation | None] = {}
        self._failing: list[Counterexample] = []
        self._shrinks = 0

    def run(self) -> Self:
        """Search, and raise nothing where there is a counterexample."""
        with Executor(self.vary) as self._executor:
            if self.needs_one:
                self.found = self._find_none_that_holds()
            else:
                self.found = self._try_kept_ones() or self._find_new_one()
            self.is_planted = self._executor.planted
        if self.found is None and self._error is not None:
            raise self._error
        if self.found is None and not self.judged:
            raise NothingJudged(
                f"Not one example of {self.name} could be judged for {self.subject.label}.",
                "Expected at least one run with a tick in it.",
                "Generate other configurations, with one tick or more.",
            )
        return self

    def _find_none_that_holds(self) -> Counterexample | None:
        """Look for one example in which the property holds; without any, the first stands for all."""

        def is_enough(example: Example) -> bool:
            is_fit = not self._fails(example) and self.judged > len(self._failing)
            return is_fit or self._error is not None

        draw_until(is_enough, self._strategy, self._examples, is_fixed=True)
        if self.judged > len(self._failing) or not self._failing:
            return None
        first, said = self._failing[0], f"the same in each of {self.judged} examples"
        return replace(first, confirmed=(*first.confirmed, said))

    def _try_kept_ones(self) -> Counterexample | None:
        """Return the first kept counterexample that still fails."""
        if self.folder is None:
            return None
        for number, kept in enumerate(counterexamples.read(self.folder), 1):
            if kept != self._to_kept(kept.example, self.folder) or self._error is not None:
                continue
            before, fails = self.judged, self._fails(kept.example)
            if self.judged > before:
                counterexamples.replayed[self.folder.resolve()].add(number)
            if fails:
                return replace(self._failing[-1], is_kept=True)
        return None

    def _find_new_one(self) -> Counterexample | None:
        """Let Hypothesis look for one, and keep it."""
        # One that is seen is enough where a fault is planted; CI tries the same ones every time.
        is_planted = active() is not None
        is_fixed = is_planted or bool(os.environ.get("CI"))
        options = {"is_fixed": is_fixed, "shrinks": not is_planted}
        example = draw_until(self._fails, self._strategy, self._examples, **options)
        if example is None:
            return None
        first = self._failing[0]
        smallest = next(each for each in self._failing if each.example.key() == example.key())
        if is_planted:
            return smallest
        said = first.confirmed
        if smallest is not first:
            said = (*said, f"the shrunk one {self._confirm(example)}")
        if self.folder is not None:
            counterexamples.keep(self.folder, self._to_kept(example, self.folder))
        return replace(smallest, confirmed=said)

    def _to_kept(self, example: Example, folder: Path) -> KeptExample:
        subject = counterexamples.subject_in(folder, self.subject.label)
        return KeptExample(self.name, subject, example)

    def _fails(self, example: Example) -> bool:
        """Whether the property is violated in an example, as Hypothesis asks."""
        key = example.key()
        if key in self._tried:
            return self._tried[key] is not None
        if self._error is not None or (self._failing and self._shrinks >= SHRINKS_MAX):
            return False
        self._shrinks += bool(self._failing) and not self.needs_one
        self._tried[key] = None
        try:
            violation = self._check(example)
        except NothingToCompare:
            return False
        except BaseException as error:  # noqa: BLE001  (it ends the search, not an example)
            self._error = error
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
        trial = ExampleTrial(self._executor, self.subject, example, self.schedule)
        found: Violation | None = self.check(trial)
        return found

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
