"""Strategies for what a run is a function of: configurations, seeds, inputs, orders.

Sizes are small on purpose: an example is executed many times, and what breaks determinism breaks it
for three objects and two ticks as well.

Invariant: what is generated is plain data, so that a counterexample is a command; Hypothesis, an
optional library, is not imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from twice.errors import ExtraMissing

TICKS_MAX = 8
"""Ticks of an example, where nobody says: enough for a difference to show and to spread."""


def hypothesis(part: str = "") -> Any:
    """Return the module ``hypothesis``, or a part of it."""
    try:
        return import_module(f"hypothesis.{part}" if part else "hypothesis")
    except ImportError as error:
        raise ExtraMissing(
            f"Hypothesis is not installed ({error}).",
            "The properties generate their examples with it.",
            "Install the extra: pip install 'twice[testing]'",
        ) from error


def config(**fields: Any) -> Any:
    """Build configurations: a strategy, or one value, for each key.

    Args:
        **fields: by key of ``run.config``; any other value than a strategy is used as it is.

    Returns:
        A strategy of dictionaries.
    """
    made = {name: as_strategy(value) for name, value in fields.items()}
    return hypothesis("strategies").fixed_dictionaries(made)


def seeds() -> Any:
    """Master seeds, 0 to 2**64 - 1, small ones more often; they shrink towards 0."""
    st = hypothesis("strategies")
    return st.one_of(st.integers(0, 7), st.integers(0, 2**64 - 1))


def ticks(most: int = TICKS_MAX) -> Any:
    """How many ticks: 1 to ``most``."""
    return hypothesis("strategies").integers(1, most)


def inputs(**fields: Any) -> Any:
    """Values for inputs, by name: one of a list of 1 to 8 is what a branch puts in place of the recorded one.

    Returns:
        A strategy of dictionaries.
    """
    lists = hypothesis("strategies").lists
    made = {
        name: lists(as_strategy(value), min_size=1, max_size=TICKS_MAX)
        for name, value in fields.items()
    }
    return hypothesis("strategies").fixed_dictionaries(made)


def permutations(count: int) -> Any:
    """Orders of ``count`` tasks, as lists of 0 to ``count - 1``."""
    return hypothesis("strategies").permutations(range(count))


def as_strategy(value: Any) -> Any:
    """Return a strategy as it is, a mapping as one of its values, anything else as the only value."""
    st = hypothesis("strategies")
    if isinstance(value, Mapping):
        return config(**value)
    return value if isinstance(value, st.SearchStrategy) else st.just(value)
