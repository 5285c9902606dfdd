"""What a sheet's keys hold, what they are for and when they are needed, and what is wrong with a value.

The fifteen sheets are data, in ``sheets/*.yaml``: each key with its type, an example and the condition under which it
is needed. ``"?"`` stands for what is not known yet: it is always allowed, and never counts as an answer.

Invariant: a type either accepts a value or says in one sentence what it expects, and accepts its own example.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final, cast

import yaml

from twice.foundation.determinism_class import Axis, DeterminismClass, Scope
from twice.foundation.printable import pluralize
from twice.foundation.properties import PROPERTIES
from twice.specification.front_matter import (
    LOADER,
    Cell,
    HeadEntry,
    Row,
    Scalar,
    Value,
    format_value,
)
from twice.specification.tiers import Requirement, StateKind, Tier, Trait

UNKNOWN: Final = "?"
VERSION: Final = "twice.sheet/1"
"""The form of front matter, under the key ``schema``."""
FORMS: Final = (VERSION, "twice.spec/1")
"""What is read: the second is how the form was called when the commands' JSON had the same name."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """What a key or a column may hold: ``expected``, to be read after "Expected", and an example that it accepts.

    It is closed if only some words will do, in all of it or in a part; ``words`` are those of it or of a list's items.
    Lists of maps have ``columns``, in the order in which they are written, of which the values of the ``unique`` one
    differ from row to row. Each row has all columns of exactly one group of ``one_of``.
    """

    expected: str
    example: Value
    accepts: Callable[[object], bool]
    is_closed: bool = False
    is_list: bool = False
    columns: tuple[TableColumn, ...] = ()
    unique: str = ""
    one_of: tuple[tuple[str, ...], ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column of a list of maps: its name, what it holds, whether a row may lack it, an example."""

    name: str
    type: ValueType
    optional: bool
    example: Cell

    @property
    def expected(self) -> str:
        """Return its name, and what it holds unless that is just a text."""
        held = "" if self.type is _TYPES["text"] else f" ({self.type.expected})"
        return f"{self.name}{' (optional)' * self.optional}{held}"


@dataclass(frozen=True, slots=True)
class Item:
    """One key of a sheet: what it holds and is for, when it has to be said (None for never), an example.

    ``decides`` says whether a change of it is a change of the promise. ``asked`` says when ``spec status`` asks for a key
    that no check needs.
    """

    key: str
    type: ValueType
    says: str
    needed: Requirement | None
    decides: bool
    example: Value
    asked: Requirement | None = None

    @property
    def asks(self) -> str:
        """Return what it is for, and what it accepts where only some words will do."""
        return f"{self.says}; {self.type.expected}" if self.type.is_closed else self.says

    @property
    def is_text(self) -> bool:
        """Return whether any text will do."""
        return self.type is _TYPES["text"]


@dataclass(frozen=True, slots=True)
class SheetSchema:
    """What a sheet has to say: two digits, the file's name, a title, what it settles, and its own keys in order."""

    number: str
    name: str
    title: str
    about: str
    items: tuple[Item, ...]

    @property
    def file_name(self) -> str:
        """Return the name of its file."""
        return f"{self.number}-{self.name}.md"

    def item(self, key: str) -> Item | None:
        """Return an item by its key, common ones included."""
        return next((each for each in (*COMMON, *self.items) if each.key == key), None)


def find_faults(item: Item, entry: HeadEntry) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong with a value: line, a subject with its verb, and what is expected; "?" is never wrong."""
    value, held = entry.value, item.type
    if value == UNKNOWN:
        return
    if not held.accepts(value):
        such = f"; for example {format_value(item.example)}" if held.is_list else ""
        yield entry.line, f"{item.key} is {_show(value)}", f"Expected {held.expected}{such}."
        return
    expected = f"Expected {held.expected}."
    columns = {each.name: each for each in held.columns}
    seen: dict[object, int] = {}
    for at, row in enumerate(value if columns and isinstance(value, list) else ()):
        assert isinstance(row, dict), "the type accepted a list of maps"
        lines, where = entry.rows[at], f"item {at + 1} of {item.key}"
        for name, cell in row.items():
            column = columns.get(name)
            if column is None:
                yield lines[name], f"{where} has a column {name!r} that is not known", expected
            elif cell != UNKNOWN and not column.type.accepts(cell):
                what = f"{name} in {where} is {_show(cell)}"
                yield lines[name], what, f"Expected {column.type.expected}."
        for column in held.columns:
            if column.name not in row and not column.optional:
                yield min(lines.values()), f"{where} has no {column.name!r}", expected
        begun = [each for each in held.one_of if row.keys() & {*each}]
        if held.one_of and (len(begun) != 1 or not row.keys() >= {*begun[0]}):
            said = [name for group in held.one_of for name in group if name in row]
            ways = ", ".join(" with ".join(group) for group in held.one_of)
            what = f"{where} has {' and '.join(said)}" if said else f"{where} has none of {ways}"
            yield min(lines.values()), what, f"Expected exactly one of: {ways}."
        mark = row.get(held.unique)
        if isinstance(mark, Scalar) and mark != UNKNOWN:
            if mark in seen:
                other = f"stands in item {seen[mark] + 1} too"
                what = f"{held.unique} {_show(mark)} in {where} {other}"
                yield lines[held.unique], what, "Expected each once."
            seen.setdefault(mark, at)


def _show(value: object) -> str:
    said = format_value(value) if isinstance(value, bool) else repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."


def count_unknown(value: object) -> int:
    """Count the "?" in a value."""
    if isinstance(value, list):
        return sum(count_unknown(each) for each in value)
    if isinstance(value, dict):
        return sum(count_unknown(each) for each in value.values())
    return int(value == UNKNOWN)


def _text_if(test: Callable[[str], object]) -> Callable[[object], bool]:
    """Accept a text that passes a test, which may raise ``ValueError`` as well."""

    def accepts(value: object) -> bool:
        try:
            return isinstance(value, str) and bool(test(value))
        except ValueError:
            return False

    return accepts


_NUMBER: Final = r"(0|[1-9]\d{0,8})"
_TYPES: Final = {
    name: ValueType(expected, example, accepts)
    for name, expected, example, accepts in (
        # A text of one letter says nothing, and would pass for an answer; a name may be one letter.
        (
            "text", "a text in double quotes of at least two characters", "in words",
            _text_if(lambda said: len("".join(said.split())) > 1),
        ),
        ("name", "a text in double quotes that is not empty", "in words", _text_if(str.strip)),
        ("flag", "true or false", True, lambda value: isinstance(value, bool)),
        # A text, because readers of YAML read fractions differently.
        (
            "number", 'a number of 0 or more in quotes, such as "1e-6"', "1e-6",
            _text_if(lambda said: 0 <= float(said) < math.inf),
        ),
        (
            "day", 'a day in quotes, such as "2027-01-31"', "2027-01-31",
            _text_if(lambda said: date.fromisoformat(said).isoformat() == said),
        ),
        (
            "version", 'a version in quotes, such as "1.0.0"', "1.0.0",
            _text_if(re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}").fullmatch),
        ),
        (
            "digest", 'a labelled digest in quotes, such as "blake3:9f2c..."',
            "blake3:9f2c4e6a8b0d1f3557799bbddff13557",
            _text_if(re.compile(r"[a-z0-9-]+:[0-9a-f]{16,128}").fullmatch),
        ),
    )
} | {
    "form": ValueType(f'"{VERSION}"', VERSION, lambda value: value in FORMS, is_closed=True)
}  # fmt: skip
# Words that the code knows by name are not written down again in the sheets.
_WORDS: Final[Mapping[str, Sequence[str]]] = {
    "Tier": tuple(Tier),
    "Trait": tuple(Trait),
    "StateKind": tuple(StateKind),
    "DeterminismClass": tuple(DeterminismClass),
    "Scope": tuple(Scope),
    "Axis": tuple(Axis),
    "Property": PROPERTIES,
}


def _read_type(said: Mapping[str, Any], otherwise: str) -> ValueType:
    """Read a type from what a sheet's YAML says of a key or a column."""
    least: int = said.get("least", 0)
    items = f"at least {pluralize(least, 'item')}" if least else "items"
    if "one_of" in said:
        words = said["one_of"]
        allowed = tuple(map(str, _WORDS[words] if isinstance(words, str) else words))
        expected = "one of " + ", ".join(f'"{each}"' for each in allowed)
        return ValueType(
            expected, allowed[0], lambda value: value in allowed, is_closed=True, words=allowed
        )
    if "whole" in said:
        low, high = said["whole"]
        return ValueType(
            f"a whole number from {low} to {high}",
            low,
            lambda value: type(value) is int and low <= value <= high,
        )
    if "list" in said:
        each = _read_type(_as_map(said["list"], "type"), otherwise)
        return ValueType(
            f"a list of {items}, each {each.expected}",
            cast("list[Scalar]", [each.example] * max(least, 1)),
            lambda value: (
                isinstance(value, list)
                and len(value) >= least
                and all(one == UNKNOWN or each.accepts(one) for one in value)
            ),
            is_closed=each.is_closed,
            is_list=True,
            words=each.words,
        )
    if "rows" not in said:
        return _TYPES[said.get("type", otherwise)]
    columns = []
    for name, each in said["rows"].items():
        known = _as_map(each, "type")
        held = _read_type(known, "name")
        like, optional = known.get("like", held.example), known.get("optional", False)
        columns.append(TableColumn(name, held, optional, like))
    example: Row = {each.name: each.example for each in columns}
    return ValueType(
        f"a list of {items} with {', '.join(each.expected for each in columns)}",
        [example],
        lambda value: (
            isinstance(value, list)
            and len(value) >= least
            and all(isinstance(each, dict) for each in value)
        ),
        is_closed=any(each.type.is_closed for each in columns),
        columns=tuple(columns),
        unique=said.get("unique", ""),
        one_of=tuple(map(tuple, said.get("one_of_columns", ()))),
    )


def _as_map(said: Any, key: str) -> Mapping[str, Any]:
    """Return a map; a text alone is the value of one key."""
    return {key: said} if isinstance(said, str) else said


def _read_requirement(said: Any) -> Requirement | None:
    if said == "never":
        return None
    trait = Trait(said["trait"]) if "trait" in said else None
    return Requirement(Tier(said.get("tier", "XS")), trait, tuple(said.get("classes", ())))


def _read_schema(name: str) -> SheetSchema:
    path = Path(__file__).parent / "sheets" / f"{name}.yaml"
    said = yaml.load(path.read_text("utf-8"), Loader=LOADER)  # noqa: S506 - a safe one
    items = []
    for key, each in said["items"].items():
        known = _as_map(each, "says")
        kind = _read_type(known, "text")
        needed = _read_requirement(known.get("needed", {}))
        asked = _read_requirement(known.get("asked", "never"))
        decides, example = known.get("decides", True), known.get("like", kind.example)
        items.append(Item(key, kind, known["says"], needed, decides, example, asked))
    number, _, rest = name.partition("-")
    return SheetSchema(number, rest, said.get("title", ""), said.get("about", ""), tuple(items))


COMMON: Final = _read_schema("common").items
SHEETS: Final = {
    path.stem[:2]: _read_schema(path.stem)
    for path in sorted((Path(__file__).parent / "sheets").glob("[0-9]*.yaml"))
}
