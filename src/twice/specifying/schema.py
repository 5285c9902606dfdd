"""What a sheet's keys may hold: kinds of values, and items with the condition under which they are needed.

Which items a sheet has stands in ``sheets``. ``"?"`` stands for what is not known yet: it is
always allowed, and never counts as said.

Invariant: a kind either takes a value or says in one sentence what it would have taken.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Protocol

from twice.specifying.frontmatter import Value
from twice.specifying.tiers import ALWAYS, Condition

UNKNOWN: Final = "?"
_VERSION: Final = re.compile(r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})")
_DIGEST: Final = re.compile(r"[a-z0-9-]+:[0-9a-f]{16,128}")


class Kind(Protocol):
    """What a value may be."""

    @property
    def expected(self) -> str:
        """Say it, after "Expected"."""

    def takes(self, value: object) -> bool:
        """Whether it is such a value."""


@dataclass(frozen=True, slots=True)
class Name:
    """A text that is not empty: a name may be one letter."""

    expected: str = "a text in double quotes that is not empty"

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and bool(value.strip())


@dataclass(frozen=True, slots=True)
class Text:
    """A text that says something: one letter says nothing, and would pass for an answer."""

    expected: str = "a text in double quotes of at least two characters"

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

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and value in self.words


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    expected: str = "true or false"

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

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return type(value) is int and self.lowest <= value <= self.highest


@dataclass(frozen=True, slots=True)
class Number:
    """A number of 0 or more, as text: heads hold no fractions, which readers of YAML read differently."""

    expected: str = 'a number of 0 or more in quotes, such as "1e-6"'

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

    def takes(self, value: object) -> bool:
        """Whether it is one."""
        return isinstance(value, str) and self.form.fullmatch(value) is not None


VERSION: Final = Shaped(_VERSION, 'a version in quotes, such as "1.0.0"')
DIGEST: Final = Shaped(_DIGEST, 'a labelled digest in quotes, such as "blake3:9f2c..."')


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the calendar."""

    expected: str = 'a day in quotes, such as "2027-01-31"'

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
        return f'a list of {least}items, each {self.each.expected}; for example ["a", "b"]'

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
    """

    name: str
    kind: Kind = field(default_factory=Name)
    optional: bool = False


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
        names = ", ".join(f"{each.name}{' (optional)' * each.optional}" for each in self.columns)
        return f"a list of {least}items with {names}"

    def takes(self, value: object) -> bool:
        """Whether it is a list of maps; what is wrong within one is told by ``faults_of_rows``."""
        return (
            isinstance(value, list)
            and len(value) >= self.least
            and all(isinstance(each, dict) for each in value)
        )


@dataclass(frozen=True, slots=True)
class Item:
    """One key of a sheet.

    Args:
        key: as it stands in the head.
        kind: what it holds.
        says: what it is for, in one line: a comment in templates.
        needed: when it has to be said; None for never.
        decides: whether a change of it is a change of the promise.
    """

    key: str
    kind: Kind
    says: str
    needed: Condition | None = ALWAYS
    decides: bool = True


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a sheet of the specification has to say.

    Args:
        number: two digits.
        name: the file's name without number and suffix.
        title: for people.
        about: what it settles, in one or two sentences.
        items: its own keys, in the order in which they are written.
    """

    number: str
    name: str
    title: str
    about: str
    items: tuple[Item, ...]

    @property
    def file_name(self) -> str:
        """The name of its file."""
        return f"{self.number}-{self.name}.md"

    def item(self, key: str) -> Item | None:
        """Give an item by its key, common ones included."""
        return next((each for each in (*COMMON, *self.items) if each.key == key), None)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a value is refused.

    Args:
        what: one sentence's subject and verb: "tier is 'XXL'".
        expected: what would have been taken.
        row: which item of a list of maps, from 0; None for the whole.
        column: which column of it.
    """

    what: str
    expected: str
    row: int | None = None
    column: str = ""


def faults(item: Item, value: Value) -> Iterator[Fault]:
    """Give what is wrong with a value; "?" is never wrong."""
    if value == UNKNOWN:
        return
    if not item.kind.takes(value):
        yield Fault(f"{item.key} is {_shown(value)}", f"Expected {item.kind.expected}.")
    elif isinstance(item.kind, Rows):
        assert isinstance(value, list), "rows are a list"
        rows = [each for each in value if isinstance(each, dict)]
        yield from _faults_of_rows(item.key, item.kind, rows)


def _faults_of_rows(key: str, kind: Rows, rows: Sequence[Mapping[str, object]]) -> Iterator[Fault]:
    known = {each.name: each for each in kind.columns}
    seen: dict[object, int] = {}
    for at, row in enumerate(rows):
        where = f"item {at + 1} of {key}"
        for name, value in row.items():
            column = known.get(name)
            if column is None:
                expected = f"Expected {kind.expected}."
                yield Fault(f"{where} has a column {name!r} that is not known", expected, at, name)
            elif value != UNKNOWN and not column.kind.takes(value):
                expected = f"Expected {column.kind.expected}."
                yield Fault(f"{name} in {where} is {_shown(value)}", expected, at, name)
        for column in kind.columns:
            if column.name not in row and not column.optional:
                yield Fault(f"{where} has no {column.name!r}", f"Expected {kind.expected}.", at)
        mark = row.get(kind.unique)
        if kind.unique and mark is not None and mark != UNKNOWN:
            if mark in seen:
                what = (
                    f"{kind.unique} {_shown(mark)} in {where} stands in item {seen[mark] + 1} too"
                )
                yield Fault(what, "Expected each once.", at, kind.unique)
            seen.setdefault(mark, at)


def _shown(value: object) -> str:
    said = "true" if value is True else "false" if value is False else repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."


def unknowns(value: object) -> int:
    """Count the "?" in a value."""
    if isinstance(value, list):
        return sum(unknowns(each) for each in value)
    if isinstance(value, dict):
        return sum(unknowns(each) for each in value.values())
    return int(value == UNKNOWN)


STATUS: Final = ("draft", "accepted", "memo")

COMMON: Final = (
    Item("schema", OneOf(("twice.spec/1",)), "the form of this head", decides=False),
    Item("id", Text(), "the number of the sheet"),
    Item("title", Text(), "for people", decides=False),
    Item("component", Name(), "the system that is specified"),
    Item("version", VERSION, "major.minor.patch; twice spec bump moves it", decides=False),
    Item(
        "status", OneOf(STATUS), "draft, accepted, or memo: one page where that does", decides=False
    ),
    Item("owner", Text(), "who answers for it", decides=False),
    Item("depends_on", Many(), "numbers of other sheets that it rests on", None),
    Item(
        "class_breaking",
        Rows((Column("change"), Column("breaks", Flag()), Column("why", Text())), unique="change"),
        "changes of this sheet that break the class or do not; these go before the table",
        None,
    ),
    Item(
        "waivers",
        Rows(
            (
                Column("check", Whole(1, 17)),
                Column("owner"),
                Column("reason", Text()),
                Column("permits", Text()),
                Column("reactivate", Text()),
                Column("until", Day()),
                Column("digest", DIGEST),
            ),
            unique="check",
        ),
        "checks of the gate that may fail for now",
        None,
        decides=False,
    ),
)
