"""What C code keeps is read without being advanced, and no user code runs for it."""

from __future__ import annotations

import asyncio
import collections
import contextvars
import functools
import hashlib
import io
import itertools
import re
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from twice.diagnosis.object_digest.carriers import list_items_ahead
from twice.diagnosis.object_digest.graphdigest import digest_layers
from twice.foundation.object_attributes import class_facts


def digest(value: object) -> tuple[bytes, ...]:
    """Return the digests of one object, and of the objects that it refers to."""
    return tuple(digest_layers([{"r": [value]}]).digests.values())


def waiting(held: object) -> Iterator[object]:
    """Make a generator that waits with a value in a local."""

    def make() -> Iterator[object]:
        kept = held
        yield 0
        yield kept

    made = make()
    next(made)
    return made


def cached(answer: object, maxsize: int | None) -> Any:
    """Make a cache that was asked twice."""
    answers = {1: answer, 2: "the same"}

    @functools.lru_cache(maxsize=maxsize)
    def ask(number: int) -> object:
        return answers.get(number)

    ask(1), ask(2)
    answers.clear()
    return ask


def advanced(made: Iterator[object], steps: int = 1) -> Iterator[object]:
    """Advance an iterator by some steps."""
    for _ in range(steps):
        next(made)
    return made


def done(result: object) -> Any:
    """Make a future of asyncio with a result."""
    loop = asyncio.new_event_loop()
    try:
        future = loop.create_future()
        future.set_result(result)
        return future
    finally:
        loop.close()


async def sleeper(held: object) -> object:
    """Sleep for one round of the loop, with an argument."""
    await asyncio.sleep(0)
    return held


def coroutine(held: object) -> Any:
    """Start a coroutine that waits."""
    made = sleeper(held)
    made.send(None)
    return made


def variable(held: object) -> contextvars.ContextVar[object]:
    """Make a context variable with a value."""
    made: contextvars.ContextVar[object] = contextvars.ContextVar("v")
    made.set(held)
    return made


KEPT: list[set[object]] = []


def reference(held: object) -> Any:
    """Make a weak reference to an object that is alive."""
    KEPT.append({held})
    return weakref.ref(KEPT[-1])


MADE: dict[str, Callable[[Any], object]] = {
    "generator": waiting,
    "coroutine": coroutine,
    "cache without a bound": lambda held: cached(held, None),
    "cache with a bound": lambda held: cached(held, 8),
    "list iterator": lambda held: iter([1, held]),
    "reversed list": lambda held: reversed([1, held]),
    "dict items": lambda held: iter({1: held}.items()),
    "set iterator": lambda held: iter({held}),
    "deque iterator": lambda held: iter(collections.deque([held])),
    "enumerate": lambda held: enumerate([held]),
    "zip": lambda held: zip([1], [held], strict=True),
    "map": lambda held: map(str, [held]),
    "chain": lambda held: itertools.chain([1], [held]),
    "islice": lambda held: itertools.islice([1, held], 2),
    "count": lambda held: itertools.count(held),
    "text in memory": lambda held: io.StringIO(str(held)),
    "bytes in memory": lambda held: io.BytesIO(str(held).encode()),
    "hash": lambda held: hashlib.sha256(str(held).encode()),
    "blake2": lambda held: hashlib.blake2b(str(held).encode()),
    "match": lambda held: re.match(".*", str(held)),
    "view of a dict": lambda held: {1: held}.values(),
    "future": done,
    "context variable": variable,
    "weak reference": reference,
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.filterwarnings("ignore:coroutine")
def test_what_it_holds_shows(name: str) -> None:
    one, again, two = (MADE[name](held) for held in (10, 10, 11))

    assert digest(one) == digest(again)
    assert digest(one) != digest(two)


@pytest.mark.parametrize("made", [iter, enumerate, lambda held: map(str, held), reversed])
def test_how_far_an_iterator_is_shows_and_looking_takes_nothing_from_it(
    made: Callable[[list[int]], Iterator[object]],
) -> None:
    one, two = made([5, 5, 5]), advanced(made([5, 5, 5]))

    assert digest(one) != digest(two)
    assert len(list(one)) == 3
    assert len(list(two)) == 2


def test_looking_at_a_generator_does_not_run_it() -> None:
    made = waiting(7)

    digest(made)

    assert next(made) == 7


def test_methods_of_a_subclass_are_not_called() -> None:
    class Hostile(enumerate):  # type: ignore[type-arg]
        def __reduce__(self) -> Any:
            raise AssertionError("user code ran")

    class Text(io.StringIO):
        def getvalue(self) -> str:
            raise AssertionError("user code ran")

    assert digest(Hostile([1])) != digest(Hostile([2]))
    assert digest(Text("a")) != digest(Text("b"))


def test_an_iterator_over_what_was_changed_meanwhile_is_still_read() -> None:
    held = {1: 2}
    made = iter(held)
    held[3] = 4

    assert digest(made)


def test_what_hangs_on_a_path_and_belongs_to_another_is_a_reference() -> None:
    items = [1, 2]

    graph = digest_layers([{"items": items}, {"ahead": iter(items)}])

    assert graph.references == {"ahead": ("items",)}


@pytest.mark.parametrize("made", [iter([1, 2]), iter((1, 2)), iter({1: 0, 2: 0})])
def test_the_items_ahead_are_shown_in_order(made: Iterator[int]) -> None:
    assert list_items_ahead(made, class_facts(type(made))) == [1, 2]
    next(made)
    assert list_items_ahead(made, class_facts(type(made))) == [2]
