"""Turn what a test says into a question, and ask it.

Invariant: what is drawn for an example is plain data, by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from twice.foundation.determinism_class import Predicate
from twice.testing import checks, strategies
from twice.testing.examples import FOLDER
from twice.testing.extra import hypothesis
from twice.testing.searching import Answer, Question, search
from twice.testing.subject import Subject, subject_of

Program = str | Callable[..., object] | Subject
Schedule = tuple[str, Callable[[Mapping[str, Any]], int]]

EXAMPLES = 25


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
    examples_in: str | Path | None = FOLDER,
    predicate: Predicate | None = None,
    policies: Mapping[str, Any] | None = None,
) -> tuple[Question, Answer]:
    """Look for a counterexample of a property by name, and raise nothing when there is one."""
    subject = subject_of(program, predicate=predicate, policies=policies)
    question = Question(
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
    configs = _as_strategy({} if config is None else config)
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
        return {"config": chosen, "seed": draw(_seeds(seeds)), "choices": choices}

    return drawn()


def _seeds(given: Any) -> Any:
    return strategies.seeds() if given is None else _as_strategy(given)


def _as_strategy(given: Any) -> Any:
    st = hypothesis("strategies")
    return given if isinstance(given, st.SearchStrategy) else st.just(given)
