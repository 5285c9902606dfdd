"""What is left of a schedule is needed, also after its steps were put in other words."""

from __future__ import annotations

from collections.abc import Mapping

from twice.schedules.shrink import Ordering, StepPlace, describe_orderings, shrink
from twice.simulation.trace import TracedStep
from twice.simulation.waits import SourceLine

ARRIVALS = {"a#0": 3, "a!told#0": 4, "x#0": 1, "y#0": 2}
"""Of each step, in the order in which they were made: when it became ready."""


def test_a_constraint_that_other_words_make_needless_is_dropped():
    steps = [TracedStep(key, key, arrival, 0, None) for key, arrival in ARRIVALS.items()]

    def fails(after: Mapping[str, str]) -> bool:
        return after.get("x#0") == "a#0" or set(after) == {"x#0", "y#0"}

    shrunk = shrink(steps, fails)

    assert shrunk is not None
    assert (dict(shrunk.after), shrunk.is_minimal) == ({"x#0": "a#0"}, True)


def make_ordering(first: str, then: str, *, callback: str = "", line: int | None = 7) -> Ordering:
    place = None if line is None else SourceLine("/a/app.py", line, "")
    return Ordering(
        StepPlace(first, place, callback), StepPlace(then, SourceLine("/a/app.py", 9, ""))
    )


def test_orders_that_would_read_the_same_name_their_tasks():
    orderings = [make_ordering("main/stop", "main/load"), make_ordering("main/stop", "main/load:1")]

    assert describe_orderings(orderings) == [
        "stop() app.py:7 of main/stop ran before load() app.py:9 of main/load",
        "stop() app.py:7 of main/stop ran before load() app.py:9 of main/load:1",
    ]


def test_an_order_between_several_steps_of_two_tasks_is_said_once():
    again = [make_ordering("main/stop", "main/load")] * 3

    assert describe_orderings(again) == [
        "stop() app.py:7 of main/stop ran before load() app.py:9 of main/load, 3 times"
    ]


def test_steps_of_the_network_and_of_libraries_are_said_in_words_of_the_program():
    arrival = make_ordering("main/ask:1", "main/load", callback="SimulatedTransport._deliver")
    library = make_ordering("main/ask:1/Lock.acquire", "main/load", line=None)

    assert [str(arrival), str(library)] == [
        "an arrival of data of ask() app.py:7 ran before load() app.py:9",
        "Lock.acquire() of ask ran before load() app.py:9",
    ]
