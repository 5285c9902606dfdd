"""No line of the user's code runs while an object is digested, also where its class is made of a library's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from twice.diagnosis.object_digest.graphdigest import digest_roots


def _refuse(*_: object) -> Any:
    raise AssertionError("the user's code ran")


class Shy:
    """Its default text would hold its address."""

    def __init__(self, number: int) -> None:
        self.number = number

    __repr__ = __eq__ = __index__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class Step(int):
    __repr__ = _refuse


class Scalar(np.float64):
    dtype = property(_refuse)
    tobytes = _refuse


class Bits(np.random.PCG64):
    state = property(_refuse)


class Seeds(np.random.SeedSequence):
    entropy = spawn_key = property(_refuse)


@pytest.mark.parametrize(
    "make",
    [
        lambda number: itertools.repeat(Shy(number)),
        lambda number: itertools.repeat("x", number),
        lambda number: itertools.count(number),
        lambda number: itertools.count(0, Step(number)),
        lambda number: itertools.count(0.5, number),
        Scalar,
        Bits,
        Seeds,
    ],
)
def test_it_is_read_by_the_librarys_own_means(make: Callable[[int], object]) -> None:
    one, again, other = (digest_roots({"it": make(number)})["it"] for number in (3, 3, 4))

    assert one == again
    assert one != other


def test_how_often_something_is_repeated_still_is_state() -> None:
    begun = itertools.repeat("x", 3)
    next(begun)

    assert digest_roots({"it": begun}) == digest_roots({"it": itertools.repeat("x", 2)})
    assert digest_roots({"it": begun}) != digest_roots({"it": itertools.repeat("x")})
