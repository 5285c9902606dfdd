"""What is left of a schedule is needed, also after its steps were put in other words."""

from __future__ import annotations

from collections.abc import Mapping

from twice.schedules.shrink import shrink
from twice.simulation.trace import TracedStep

ARRIVALS = {"a#0": 3, "a!told#0": 4, "x#0": 1, "y#0": 2}
"""Of each step, in the order in which they were made: when it became ready."""


def test_a_constraint_that_other_words_make_needless_is_dropped():
    steps = [TracedStep(key, key, arrival, 0, None) for key, arrival in ARRIVALS.items()]

    def fails(after: Mapping[str, str]) -> bool:
        return after.get("x#0") == "a#0" or set(after) == {"x#0", "y#0"}

    shrunk = shrink(steps, fails)

    assert shrunk is not None
    assert (dict(shrunk.after), shrunk.is_minimal) == ({"x#0": "a#0"}, True)
