"""What a prose sheet says of each key of this schema: a value with its line, or "?" with the reason.

An answer belongs to a key by its label, a table by its label or by its columns. Two answers that differ are none.

Invariant: a value that is read is one that the key's type accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from twice.specification.adoption.labels import COLUMNS, LABELS
from twice.specification.adoption.prose import Answer, Prose, Table, normalize_label, read_prose
from twice.specification.adoption.readers import (
    CODE,
    OPEN_TEXT,
    Unclear,
    choose_reader,
    read_flag,
    read_whole,
    read_word,
    shorten,
)
from twice.specification.front_matter import Cell, HeadEntry, Row, Value
from twice.specification.schema import (
    UNKNOWN,
    Item,
    SheetSchema,
    TableColumn,
    count_unknown,
    find_faults,
)

_EXACT_VERSION: Final = re.compile(r"v?(\d+(?:\.\d+)+(?:[.+-]?\w+)*)")
_PINNED: Final = re.compile(
    r"(?P<library>[A-Za-z][\w.-]*?)\s*(?:(?P<mark>[=<>~!^]+|@)\s*|\s)(?P<version>\S.*)"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sheet says of a key: a value with its line, or "?" with the reason; both where a table has open cells."""

    key: str
    value: Value
    line: int
    why: str


def read_sheet_answers(text: str, schema: SheetSchema) -> Iterator[Reading]:
    """Yield what a prose sheet says of each of its keys; keys of which it says nothing are left out."""
    labels = LABELS[schema.number]
    known = frozenset(each for every in labels.values() for each in every)
    prose = read_prose(text, known)
    for key, mine in labels.items():
        item = schema.item(key)
        assert item is not None, "labels are for keys of the schema"
        answers = [each for each in prose.answers if each.label in mine]
        if item.type.columns:
            reading = _read_table_key(item, schema, answers, prose)
        else:
            reading = _read_key(item, answers)
        if reading is not None:
            yield reading


def _read_key(item: Item, answers: Sequence[Answer]) -> Reading | None:
    read = choose_reader(item)
    clear: list[tuple[Value, int]] = []
    doubts: list[tuple[str, int, bool]] = []
    for each in answers:
        try:
            clear.append((_accept(item, read(each)), each.line))
        except Unclear as error:
            doubts.append((str(error), each.line, error.says_nothing))
    for why, line, says_nothing in doubts:
        if not (says_nothing and clear):
            return Reading(item.key, UNKNOWN, line, why)
    if not clear:
        return None
    (value, line), *others = clear
    for other, at in others:
        if other != value:
            why = f"line {line} says {shorten(value)} and line {at} {shorten(other)}"
            return Reading(item.key, UNKNOWN, line, why)
    return Reading(item.key, value, line, "")


def _accept(item: Item, value: Value) -> Value:
    for _, what, expected in find_faults(item, HeadEntry(value, 1, 1)):
        raise Unclear(f"{what}. {expected}")
    return value


def _read_table_key(
    item: Item, schema: SheetSchema, answers: Sequence[Answer], prose: Prose
) -> Reading | None:
    """Read a list of maps from the one table that has its columns, or from a list of pins or settings."""
    tables = [each for answer in answers for each in answer.tables]
    if not tables:
        others = [each for each in schema.items if each.type.columns and each is not item]
        tables = [
            each
            for each in prose.tables
            if _fits(item, each) and not any(_fits(other, each) for other in others)
        ]
    if len(tables) > 1:
        why = f"the tables of lines {tables[0].line} and {tables[1].line} both speak of it"
        return Reading(item.key, UNKNOWN, tables[0].line, why)
    if tables:
        return _read_rows(item, tables[0])
    for answer in answers:
        rows = [*_read_listed(item, answer)]
        if rows:
            doubts = [
                f"{row['library']} has no exact version" for row in rows if UNKNOWN in row.values()
            ]
            return _conclude(item, rows, answer.line, doubts)
        why = "it is no table, and the key holds one"
        return Reading(item.key, UNKNOWN, answer.line, why)
    return None


def _fits(item: Item, table: Table) -> bool:
    columns = _match_columns(item, table)
    return all(each.name in columns for each in item.type.columns if not each.optional)


def _match_columns(item: Item, table: Table) -> dict[str, int]:
    """Return where each column of a key stands in a table."""
    header, found = [normalize_label(each) for each in table.header], dict[str, int]()
    for column in item.type.columns:
        names = COLUMNS.get(column.name, (column.name.replace("_", " "),))
        at = next((header.index(each) for each in names if each in header), None)
        if at is not None and at not in found.values():
            found[column.name] = at
    return found


def _read_rows(item: Item, table: Table) -> Reading:
    places, rows, doubts = _match_columns(item, table), list[Row](), list[str]()
    if item.type.unique not in places and item.type.unique:
        why = f"the table has no column for {item.type.unique}"
        return Reading(item.key, UNKNOWN, table.line, why)
    for line, cells in table.rows:
        row: Row = {}
        for column in item.type.columns:
            at = places.get(column.name, len(cells))
            said = cells[at] if at < len(cells) else ""
            if column.optional and not said:
                continue
            try:
                row[column.name] = _read_cell(column, said)
            except Unclear as error:
                row[column.name] = UNKNOWN
                doubts.append(f"line {line}: {column.name}: {error}")
        if item.type.unique and row[item.type.unique] == UNKNOWN:
            continue  # A row without its name could be any.
        rows.append(row)
    return _conclude(item, rows, table.line, doubts)


def _conclude(item: Item, rows: list[Row], line: int, doubts: list[str]) -> Reading:
    """Complete a list of maps, and refuse one that names the same thing twice."""
    name, said = item.type.unique, dict[Cell | None, Row]()
    for row in rows if name else ():
        if str(row[name]) in said:
            return Reading(item.key, UNKNOWN, line, f"{name} {row[name]} stands in two rows")
        said[str(row[name])] = row
    column = next((each for each in item.type.columns if each.name == name), None)
    for word in column.type.words if column else ():
        empty: Row = {each.name: UNKNOWN for each in item.type.columns}
        said.setdefault(word, empty | {name: word})
    if column and column.type.words:
        rows = [said[word] for word in column.type.words]
    if not rows:
        return Reading(item.key, UNKNOWN, line, "; ".join(doubts) or "the table has no row")
    unknown = count_unknown(rows)
    why = "; ".join(doubts[:3]) or ("the rest is not said" if unknown else "")
    return Reading(item.key, rows, line, why if unknown else "")


def _read_cell(column: TableColumn, said: str) -> Cell:
    held, text = column.type, " ".join(said.replace("`", "").split())
    words = held.words
    value: Cell = text
    if OPEN_TEXT.search(text):
        raise Unclear(f"nothing is said: {shorten(text)}")
    if isinstance(held.example, bool):
        value = read_flag(text)
    elif isinstance(held.example, int):
        value = read_whole(text)
    elif held.is_list:
        value = [*(CODE.findall(said) or [each.strip() for each in text.split(",")])]
    elif words:
        value = read_word(text, words, column.name)
    elif column.name == "version":
        exact = _EXACT_VERSION.fullmatch(text)
        if exact is None:
            raise Unclear(f"{shorten(text)} is no exact version")
        value = exact[1]
    if not held.accepts(value):
        raise Unclear(f"{shorten(text)} is not {held.expected}")
    return value


def _read_listed(item: Item, answer: Answer) -> Iterator[Row]:
    """Yield rows of pins (``numpy==2.2.0``) and of switches (``name=value``) that stand in a list."""
    codes = [each for said in (*answer.texts, *answer.items) for each in CODE.findall(said)]
    for each in answer.items or codes:
        said = each.replace("`", "").rstrip(".")
        if item.key == "knobs" and "=" in said and " " not in said:
            name, _, value = said.partition("=")
            yield {"name": name, "value": value}
        elif item.key == "pins" and (pin := _PINNED.fullmatch(said)):
            exact = _EXACT_VERSION.fullmatch(pin["version"])
            is_exact = exact and (pin["mark"] or "==") in {"==", "=", "@"}
            yield {
                "library": pin["library"],
                "version": exact[1] if exact and is_exact else UNKNOWN,
            }
        else:
            return
