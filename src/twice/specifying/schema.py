"""What a sheet's keys are for and when they are needed, and what is wrong with a value.

Which items a sheet has stands in ``sheets``, what a value may be in ``kinds``. ``"?"`` stands for what is not known
yet: it is always allowed, and never counts as said.

Invariant: every fault names the place and what would have been taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from twice.specifying.frontmatter import Scalar, Value, in_line
from twice.specifying.kinds import (
    DIGEST,
    UNKNOWN,
    VERSION,
    Column,
    Day,
    Flag,
    Kind,
    Many,
    Name,
    OneOf,
    Rows,
    Text,
    Whole,
    is_closed,
)
from twice.specifying.tiers import ALWAYS, Condition


@dataclass(frozen=True, slots=True)
class Item:
    """One key of a sheet.

    Args:
        key: as it stands in the head.
        kind: what it holds.
        says: what it is for, in one line: a comment in templates.
        needed: when it has to be said; None for never.
        decides: whether a change of it is a change of the promise.
        like: an example that says more than the kind's own; None for that one.
    """

    key: str
    kind: Kind
    says: str
    needed: Condition | None = ALWAYS
    decides: bool = True
    like: Scalar | Sequence[Scalar] | None = None

    @property
    def example(self) -> Value:
        """Give a value that it takes; of a list of maps one item."""
        if self.like is None:
            return self.kind.example
        return self.like if isinstance(self.like, Scalar) else list(self.like)

    @property
    def asks(self) -> str:
        """Say what it is for, and what it takes where only some words will do."""
        return f"{self.says}; {self.kind.expected}" if is_closed(self.kind) else self.says


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
        such = f"; for example {in_line(item.example)}" if isinstance(item.kind, Many) else ""
        yield Fault(f"{item.key} is {_shown(value)}", f"Expected {item.kind.expected}{such}.")
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
    Item("depends_on", Many(), "numbers of other sheets that it rests on", None, like=["02"]),
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
