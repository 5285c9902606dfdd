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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from twice.errors import NothingJudged, TwiceError
from twice.foundation.determinism_class import Predicate
from twice.testing import checks, strategies
from twice.testing import examples as kept_examples
from twice.testing.checks import Bench, Broken, Check, Unfit
from twice.testing.examples import Example, Kept
from twice.testing.faults import active
from twice.testing.laboratory import Laboratory
from twice.testing.strategies import hypothesis
from twice.testing.subject import Subject, subject_of

Program = str | Callable[..., object] | Subject
Schedule = tuple[str, Callable[[Mapping[str, Any]], int]]

EXAMPLES = 25
SHRINKS_MAX = 40
"""Executions of examples after the first that fails."""


@dataclass(frozen=True, slots=True)
class PropertyQuestion:
    """One property of one system.

    Attributes:
        name: of the property, as it is spelled in ``properties``.
        check: what decides one example.
        subject: what is tested.
        strategy: of examples, as dictionaries with ``config``, ``seed`` and ``choices``.
        examples: how many are tried at most.
        folder: where counterexamples are kept; None for nowhere.
        vary: factors in which the second execution differs.
        schedule: configuration key for the order of tasks.
        once: whether one example in which it holds is enough.
    """

    name: str
    check: Check
    subject: Subject
    strategy: Any
    examples: int
    folder: Path | None
    vary: tuple[str, ...]
    schedule: str = ""
    once: bool = False


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A counterexample and how it was confirmed.

    Attributes:
        example: the smallest that was found.
        broken: what does not hold.
        confirmed: sentences about its execution in fresh processes.
        from_file: whether it is one that was kept.
    """

    example: Example
    broken: Broken
    confirmed: tuple[str, ...]
    from_file: bool


@dataclass
class SearchResult:
    """What a search gave.

    Attributes:
        found: a counterexample, or None.
        judged: examples that were compared.
        planted: whether the active fault was planted in one of them.
        refused: why a fault could not be planted; empty when it could.
    """

    found: Counterexample | None = None
    judged: int = 0
    planted: bool = False
    refused: str = ""


@dataclass
class _Search:
    question: PropertyQuestion
    bench: Bench
    tried: dict[str, Broken | None] = field(default_factory=dict)
    unfit: set[str] = field(default_factory=set)
    failing: list[tuple[Example, Broken]] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    judged: int = 0
    after: int = 0
    error: BaseException | None = None

    def fails(self, drawn: Mapping[str, Any]) -> bool:
        """Whether the property is broken in an example, as ``hypothesis.find`` asks."""
        example = Example(drawn["config"], drawn["seed"], drawn["choices"])
        key = example.key()
        if key in self.tried:
            return self.tried[key] is not None
        if self.error is not None or (self.failing and self.after >= SHRINKS_MAX):
            return False
        self.after += bool(self.failing) and not self.question.once
        try:
            broken = self.question.check(self.bench, example)
        except Unfit:
            self.tried[key] = None
            self.unfit.add(key)
            return False
        except BaseException as error:  # noqa: BLE001  (it ends the search, not an example)
            self.error = error
            return False
        self.judged += 1
        self.tried[key] = broken
        if broken is None:
            return False
        if not self.failing and active() is None:
            self.confirmed.append(f"the first failing example {self.again(example)}")
        self.failing.append((example, broken))
        return True

    def again(self, example: Example) -> str:
        """What fresh processes say to an example."""
        with self.bench.lab.only_fresh():
            try:
                broken = self.question.check(self.bench, example)
            except TwiceError as error:
                return f"is refused in fresh processes: {error.happened}"
        if broken is None:
            return "holds in fresh processes: what breaks it does not happen every time"
        return "was confirmed in fresh processes"


def ask(
    name: str,
    program: Program,
    config: Any = None,
    seeds: Any = None,
    *,
    inputs: Any = None,
    schedule: Schedule | None = None,
    vary: Sequence[str] = ("hash seed",),
    examples: int = EXAMPLES,
    examples_in: str | Path | None = kept_examples.FOLDER,
    predicate: Predicate | None = None,
    policies: Mapping[str, Any] | None = None,
) -> tuple[PropertyQuestion, SearchResult]:
    """Look for a counterexample of a property by name, and raise nothing when there is one."""
    subject = subject_of(program, predicate=predicate, policies=policies)
    question = PropertyQuestion(
        name=name,
        check=getattr(checks, name),
        subject=subject,
        strategy=examples_of(config, seeds, inputs, schedule),
        examples=examples,
        folder=None if examples_in is None else Path(examples_in),
        vary=tuple(vary),
        schedule="" if schedule is None else schedule[0],
        once=name == "seed_matters",
    )
    return question, search(question)


def examples_of(
    config: Any, seeds: Any, inputs: Any = None, schedule: Schedule | None = None
) -> Any:
    """A strategy of examples, as dictionaries."""
    st = hypothesis("strategies")
    configs = strategies.as_strategy({} if config is None else config)
    masters = strategies.seeds() if seeds is None else strategies.as_strategy(seeds)
    if inputs is not None and not isinstance(inputs, st.SearchStrategy):
        inputs = strategies.inputs(**inputs)

    @st.composite  # type: ignore[untyped-decorator, unused-ignore]
    def drawn(draw: Any) -> dict[str, Any]:
        chosen = draw(configs)
        choices: dict[str, Any] = {"at": draw(st.integers(0, 255))}
        if inputs is not None:
            choices["inputs"] = draw(inputs)
        if schedule is not None:
            choices["order"] = list(draw(strategies.permutations(schedule[1](chosen))))
        return {"config": chosen, "seed": draw(masters), "choices": choices}

    return drawn()


def search(question: PropertyQuestion) -> SearchResult:
    """Look for a counterexample.

    Raises:
        NothingJudged: E-TESTING-004, when no example could be compared.
        TwiceError: what an execution refused.
    """
    planted = active() is not None
    folder = None if planted else question.folder
    with Laboratory(question.vary) as lab:
        bench = Bench(lab, question.subject, question.schedule)
        searching = _Search(question, bench)
        if question.once:
            found = _find_none_that_holds(searching)
        else:
            found = _kept_one(searching, folder) or _new_one(searching, folder)
        if searching.error is not None and found is None:
            raise searching.error
        if found is None and not searching.judged:
            raise NothingJudged(
                f"Not one example of {question.name} could be judged for {question.subject.label}.",
                "Expected at least one run with a tick in it.",
                "Generate other configurations, with one tick or more.",
            )
        return SearchResult(found, searching.judged, bench.planted)


def _kept_one(searching: _Search, folder: Path | None) -> Counterexample | None:
    """The first kept counterexample that still fails."""
    question = searching.question
    if folder is None:
        return None
    named = kept_examples.subject_in(folder, question.subject.label)
    kept_examples.asked(folder)
    for number, kept in enumerate(kept_examples.read(folder), 1):
        kept_examples.require_askable(folder, number, kept)
        if (kept.property, kept.subject) != (question.name, named):
            continue
        example = kept.example
        drawn = {"config": example.config, "seed": example.seed, "choices": example.choices}
        broke = searching.fails(drawn)
        if searching.error is None and example.key() not in searching.unfit:
            kept_examples.asked(folder, number)
        if broke:
            broken = searching.failing[-1][1]
            return Counterexample(example, broken, tuple(searching.confirmed), from_file=True)
        if searching.error is not None:
            return None
    return None


def _new_one(searching: _Search, folder: Path | None) -> Counterexample | None:
    """Let Hypothesis look for one, and keep it."""
    if searching.error is not None:
        return None
    question = searching.question
    library, errors = hypothesis(), hypothesis("errors")
    store = None
    if folder is not None:
        store = hypothesis("database").DirectoryBasedExampleDatabase(folder / kept_examples.FOUND)
    settings = library.settings(
        max_examples=question.examples, deadline=None, database=store, derandomize=False
    )
    if active() is not None:  # one that is seen is enough
        settings = library.settings(settings, phases=[library.Phase.generate])
    label = question.subject.label
    named = label if folder is None else kept_examples.subject_in(folder, label)
    key = f"twice.testing/1 {question.name} {named}".encode()
    # Given a generator, Hypothesis leaves its database alone; what is kept in the file is replayed.
    fixed = active() is not None or bool(os.environ.get("CI"))
    chosen = random.Random(0) if fixed else None  # noqa: S311  (which examples, not a secret)
    try:
        library.find(
            question.strategy, searching.fails, settings=settings, random=chosen, database_key=key
        )
    except errors.NoSuchExample:
        pass
    except errors.HypothesisException:
        if not searching.failing:
            raise
    if not searching.failing:
        return None
    example, broken = min(searching.failing, key=lambda each: _size(each[0]))
    if active() is None:
        if len(searching.failing) > 1:
            searching.confirmed.append(f"the shrunk one {searching.again(example)}")
        if folder is not None:
            named = kept_examples.subject_in(folder, question.subject.label)
            kept_examples.keep(folder, Kept(question.name, named, example))
    return Counterexample(example, broken, tuple(searching.confirmed), from_file=False)


def _find_none_that_holds(searching: _Search) -> Counterexample | None:
    """Look for one example in which the property holds; without any, the smallest stands for all."""
    question, library = searching.question, hypothesis()

    def holds(drawn: Mapping[str, Any]) -> bool:
        return not searching.fails(drawn) and searching.judged > len(searching.failing)

    settings = library.settings(
        max_examples=question.examples,
        deadline=None,
        database=None,
        phases=[library.Phase.generate],
    )
    with suppress(hypothesis("errors").NoSuchExample):
        library.find(
            question.strategy,
            lambda drawn: holds(drawn) or searching.error is not None,
            settings=settings,
            random=random.Random(0),  # noqa: S311  (which examples, not a secret)
        )
    if searching.judged > len(searching.failing) or not searching.failing:
        return None
    example, broken = min(searching.failing, key=lambda each: _size(each[0]))
    said = f"the same in each of {searching.judged} examples"
    return Counterexample(example, broken, (*searching.confirmed, said), from_file=False)


def _size(example: Example) -> tuple[int, int, str]:
    key = example.key()
    return _magnitude(example.config) + example.seed.bit_length(), len(key), key


def _magnitude(value: Any) -> int:
    """How large a configuration is, for choosing the smallest."""
    if isinstance(value, bool | None):
        return int(bool(value))
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, float):
        return 1 + int(min(abs(value), 1e9))
    if isinstance(value, Mapping):
        return sum(map(_magnitude, value.values()))
    if isinstance(value, list | tuple):
        return len(value) + sum(map(_magnitude, value))
    return len(str(value))
