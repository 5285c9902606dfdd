"""Kinds of values that a sheet's keys may hold: texts, words of a list, numbers, lists of them, lists of maps.

What a key is for, and when it is needed, stands in ``schema``.

Invariant: a kind either takes a value or says in one sentence what it would have taken, and takes its own example.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Protocol, cast

from twice.specifying.frontmatter import Row, Scalar, Value

UNKNOWN: Final = "?"
_VERSION: Final = re.compile(r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})")
_DIGEST: Final = re.compile(r"[a-z0-9-]+:[0-9a-f]{16,128}")


class Kind(Protocol):
    """What a value may be."""

    @property
    def expected(self) -> str:
        """Say it, after "Expected"."""

    @property
    def example(self) -> Value:
        """Give a value that it takes."""

    def takes(self, value: object) -> bool:
        """Whether it is such a value."""


@dataclass(frozen=True, slots=True)
class Name:
    """A text that is not empty: a name may be one letter."""

    expected: str = "a text in double quotes that is not empty"
    example: Scalar = "in words"

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and bool(value.strip())


@dataclass(frozen=True, slots=True)
class Text:
    """A text that says something: one letter says nothing, and would pass for an answer."""

    expected: str = "a text in double quotes of at least two characters"
    example: Scalar = "in words"

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and len("".join(value.split())) > 1


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """Say it."""
        return "one of " + ", ".join(f'"{word}"' for word in self.words)

    @property
    def example(self) -> Scalar:
        """Give the first."""
        return str(self.words[0])

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and value in self.words


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    expected: str = "true or false"
    example: Scalar = True

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number in a range, both ends included."""

    lowest: int = 0
    highest: int = 10**12

    @property
    def expected(self) -> str:
        """Say it."""
        return f"a whole number from {self.lowest} to {self.highest}"

    @property
    def example(self) -> Scalar:
        """Give the lowest."""
        return self.lowest

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return type(value) is int and self.lowest <= value <= self.highest


@dataclass(frozen=True, slots=True)
class Number:
    """A number of 0 or more, as text: heads hold no fractions, which readers of YAML read differently."""

    expected: str = 'a number of 0 or more in quotes, such as "1e-6"'
    example: Scalar = "1e-6"

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        try:
            return isinstance(value, str) and 0 <= float(value) < math.inf
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class Shaped:
    """A text of a form: a version, a labelled digest."""

    form: re.Pattern[str]
    expected: str
    example: Scalar

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and self.form.fullmatch(value) is not None


VERSION: Final = Shaped(_VERSION, 'a version in quotes, such as "1.0.0"', "1.0.0")
DIGEST: Final = Shaped(
    _DIGEST,
    'a labelled digest in quotes, such as "blake3:9f2c..."',
    "blake3:9f2c4e6a8b0d1f3557799bbddff13557",
)


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the calendar."""

    expected: str = 'a day in quotes, such as "2027-01-31"'
    example: Scalar = "2027-01-31"

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        try:
            return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class Many:
    """A list of values of a kind.

    Args:
        each: what the items are.
        least: how many there are at least.
    """

    each: Kind = field(default_factory=Name)
    least: int = 0

    @property
    def expected(self) -> str:
        """Say it."""
        least = f"at least {self.least} " if self.least else ""
        return f"a list of {least}items, each {self.each.expected}"

    @property
    def example(self) -> list[Scalar]:
        """Give as many as there have to be."""
        one = self.each.example
        assert isinstance(one, Scalar), "a list holds plain values"
        return [one] * max(self.least, 1)

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return (
            isinstance(value, list)
            and len(value) >= self.least
            and all(each == UNKNOWN or self.each.takes(each) for each in value)
        )


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a list of maps.

    Args:
        name: its key.
        kind: what it holds.
        optional: whether an item may lack it.
        like: an example that says more than the kind's own; "" for that one.
    """

    name: str
    kind: Kind = field(default_factory=Name)
    optional: bool = False
    like: Scalar | Sequence[Scalar] = ""

    @property
    def expected(self) -> str:
        """Say it: its name, and what it holds where that is not just a text."""
        told = "" if isinstance(self.kind, Text) else f" ({self.kind.expected})"
        return f"{self.name}{' (optional)' * self.optional}{told}"

    @property
    def example(self) -> Scalar | list[Scalar]:
        """Give a value that it takes."""
        like = self.like or self.kind.example
        return like if isinstance(like, Scalar) else cast("list[Scalar]", list(like))


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of maps.

    Args:
        columns: what each map holds, in the order in which they are written.
        least: how many there are at least.
        unique: the column whose values differ from item to item; "" for none.
    """

    columns: tuple[Column, ...]
    least: int = 0
    unique: str = ""

    @property
    def expected(self) -> str:
        """Say it."""
        least = f"at least {self.least} " if self.least else ""
        return f"a list of {least}items with {', '.join(each.expected for each in self.columns)}"

    @property
    def example(self) -> list[Row]:
        """Give one item, however many there have to be."""
        return [{each.name: each.example for each in self.columns}]

    def takes(self, value: object) -> bool:
        """Whether it is a list of maps; what is wrong within one is told by ``faults_of_rows``."""
        return (
            isinstance(value, list)
            and len(value) >= self.least
            and all(isinstance(each, dict) for each in value)
        )


def is_closed(kind: Kind) -> bool:
    """Whether only some words will do, in all of it or in a column."""
    if isinstance(kind, Many):
        return is_closed(kind.each)
    if isinstance(kind, Rows):
        return any(is_closed(each.kind) for each in kind.columns)
    return isinstance(kind, OneOf)
