"""From an answer in prose to the value of a key, where the answer says one thing and leaves nothing open.

A key's type decides how its answer is read. Doubt is never settled here: another value in the same answer, a "not", an
"or", a condition, a "later", a version that is a range all make the value unclear, with the reason.

Invariant: a value that is read is one that the key's type accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from twice.specification.adoption.labels import COLUMNS, LABELS, LETTERS, WORDS
from twice.specification.adoption.prose import Answer, Prose, Table, normalize_label, read_prose
from twice.specification.front_matter import Cell, HeadEntry, Row, Scalar, Value
from twice.specification.schema import (
    UNKNOWN,
    Item,
    SheetSchema,
    TableColumn,
    count_unknown,
    find_faults,
)

_CODE: Final = re.compile(r"`([^`]+)`")
_LEAD_END: Final = re.compile(r"[.;:!?](?=\s|$)| [—\u2013-] ")
_TURNING: Final = re.compile(
    r"\b(?:not|no|never|without|none|neither|nor|cannot|instead of|rather than|if|when|where|while|until)\b|n't\b"
    # "only" restricts in front of a place or at an end; "the only input" restricts nothing.
    r"|\bonly(?= (?:in|on|for|with|under|at|by|within)\b|\s*(?:$|[,.;)]))",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:but|except|unless|tbd|todo|to be decided|undecided|not decided|not yet|for now|later|probably|maybe|"
    r"perhaps|might|somehow|unclear|unknown|planned|eventually)\b|\?\?|\?$",
    re.IGNORECASE,
)
_OPEN_TEXT: Final = re.compile(
    r"\b(?:tbd|todo|to be decided|undecided|not decided|somehow|unclear|unknown)\b|^[\s?.…—\u2013-]*$|\?\?",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"(?<![\w.^/-])(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w^]|\.\d|[ ]*[%\u00d7*^⁻/]|,\d)"
)
_DIGIT: Final = re.compile(r"\d")
_UNIT: Final = re.compile(r"\s*(?:$|[,.;:()]|(?:max|abs|rel|ulp|in|or less)\b)", re.IGNORECASE)
_EXACT_VERSION: Final = re.compile(r"v?(\d+(?:\.\d+)+(?:[.+-]?\w+)*)")
_PINNED: Final = re.compile(
    r"(?P<library>[A-Za-z][\w.-]*?)\s*(?:(?P<mark>[=<>~!^]+|@)\s*|\s)(?P<version>\S.*)"
)
_PROGRAM: Final = re.compile(r"[\w./-]+:[A-Za-z_][\w.]*")
_LETTER: Final = re.compile(r"([A-C])(?=\s*(?:$|[(:,.—\u2013-]))")
_EVERY: Final = re.compile(r"\bevery (\d+) ticks?\b", re.IGNORECASE)
_ALL: Final = re.compile(r"\b(?:full canonical state|all components)\b", re.IGNORECASE)


class Unclear(Exception):
    """An answer that does not say one thing; ``says_nothing`` where it does not speak of the value at all."""

    def __init__(self, why: str, *, says_nothing: bool = False) -> None:
        super().__init__(why)
        self.says_nothing = says_nothing


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
    read = _READERS.get(item.key) or _choose_reader(item)
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
            why = f"line {line} says {_show(value)} and line {at} {_show(other)}"
            return Reading(item.key, UNKNOWN, line, why)
    return Reading(item.key, value, line, "")


def _accept(item: Item, value: Value) -> Value:
    for _, what, expected in find_faults(item, HeadEntry(value, 1, 1)):
        raise Unclear(f"{what}. {expected}")
    return value


def _show(value: object) -> str:
    said = value if isinstance(value, str) else repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."


def _join(answer: Answer) -> str:
    """Return all text of an answer without its marks; words in code count where there is nothing else."""
    text = " ".join([*answer.texts, *answer.items])
    plain = _CODE.sub(" ", text)
    text = plain if re.search(r"[A-Za-z]{2}", plain) else text
    return " ".join(re.sub(r"[*_`]{1,3}(?=\W|$)|(?<!\w)[*_`]{1,3}", "", text).split())


def _lead(text: str) -> str:
    """Return the words before the first stop, which are the answer; an explanation follows them."""
    return _LEAD_END.split(text, maxsplit=1)[0]


def _refuse_doubt(text: str, turning: re.Pattern[str] | None = _TURNING) -> None:
    found = _OPEN.search(text) or (turning and turning.search(_lead(text)))
    if found:
        raise Unclear(f"{found[0]!r} leaves it open: {_show(text)}")


def _find_values(text: str, values: Sequence[str], key: str = "") -> tuple[list[str], str]:
    """Return which of some closed values a text names, in its order, each once, and the text without their names."""
    phrases = {
        phrase if phrase.isupper() else phrase.replace("-", " "): value
        for value in values
        for phrase in (value, *WORDS.get(value, ()))
    }
    letters = LETTERS.get(key, {})
    letter = _LETTER.match(text)
    found = [letters[letter[1]]] if letter and letter[1] in letters else []
    # Capitals alone are letters of a list: "s" is no tier.
    longest = sorted(phrases, key=lambda each: (-len(each), each))
    either = "|".join(re.escape(e) if e.isupper() else f"(?i:{re.escape(e)})" for e in longest)
    pattern, plain = (
        re.compile(rf"(?<![\w'\u2019])(?:{either})(?=s?(?!\w))"),
        text.replace("-", " "),
    )
    found += [phrases.get(each) or phrases[each.lower()] for each in pattern.findall(plain)]
    return [*dict.fromkeys(found)], pattern.sub("", plain)


def _read_word(text: str, values: Sequence[str], key: str) -> str:
    found, rest = _find_values(text, values, key)
    if not found:
        raise Unclear(f"it says none of {', '.join(values)}: {_show(text)}", says_nothing=True)
    if len(found) > 1:
        raise Unclear(f"it says {' and '.join(found)}: {_show(text)}")
    _refuse_doubt(rest)
    if not _find_values(_lead(text), values, key)[0] or re.search(r"\bor\b", _lead(rest)):
        raise Unclear(f"it says {found[0]} beside something else: {_show(text)}")
    return found[0]


def _read_flag(text: str) -> bool:
    said = re.match(r"(?:(yes|true)|(no|false))\b", text, re.IGNORECASE)
    if said is None:
        raise Unclear(f"it says neither yes nor no: {_show(text)}", says_nothing=True)
    _refuse_doubt(text[said.end() :], _TURNING if said[1] else None)
    return bool(said[1])


def _read_numbers(text: str) -> list[str]:
    """Return the numbers in the lead of an answer, if every digit in it belongs to one."""
    lead = re.split(
        r"[;:!?](?=\s|$)|\.(?=\s|$)| [—\u2013] ", text.replace("\u2212", "-"), maxsplit=1
    )[0]
    _refuse_doubt(text)
    found = _NUMBER.findall(lead)
    if not found or _DIGIT.search(_NUMBER.sub(" ", lead)):
        raise Unclear(f"it has no number that can only be read in one way: {_show(text)}")
    return [*dict.fromkeys(found)]


def _read_one_number(text: str) -> str:
    numbers = _read_numbers(text)
    if len(numbers) > 1:
        raise Unclear(f"it says {' and '.join(numbers)}: {_show(text)}")
    return numbers[0]


def _read_whole(text: str) -> int:
    said = _read_one_number(text)
    if not said.isdecimal():
        raise Unclear(f"{said} is no whole number")
    return int(said)


def _read_text(answer: Answer) -> str:
    if len(answer.texts) != 1 or answer.items or answer.tables or answer.has_code:
        raise Unclear("the answer has several parts, and the key holds one text")
    text = answer.texts[0]
    if found := _OPEN_TEXT.search(text):
        raise Unclear(f"{found[0]!r} leaves it open: {_show(text)}")
    return text


def _read_codes(answer: Answer) -> list[Scalar]:
    text = " ".join([*answer.texts, *answer.items])
    found = _CODE.findall(text)
    if not found:
        raise Unclear(f"it names nothing in backticks: {_show(text)}", says_nothing=True)
    _refuse_doubt(_CODE.sub("", text))
    return [*dict.fromkeys(found)]


def _read_config(answer: Answer) -> list[Scalar]:
    found = _read_codes(answer)
    for each in found:
        if not re.fullmatch(r"[^=\s]+=.+", str(each)):
            raise Unclear(f"{_show(each)} is no key=value")
    return found


def _read_items(answer: Answer) -> list[Scalar]:
    if not answer.items:
        raise Unclear("it is no list", says_nothing=True)
    for each in answer.items:
        if found := _OPEN_TEXT.search(each):
            raise Unclear(f"{found[0]!r} leaves it open: {_show(each)}")
    return [*answer.items]


def _make_code_reader(pattern: re.Pattern[str]) -> Callable[[Answer], str]:
    def read(answer: Answer) -> str:
        text = " ".join(answer.texts)
        named: list[str] = _CODE.findall(text) or [text.strip()]
        found = [each for each in named if pattern.fullmatch(each)]
        if len(found) != 1:
            raise Unclear(f"it does not name one: {_show(text)}")
        return found[0]

    return read


def _read_own_words(_: Answer) -> str:
    raise Unclear("twice words this sentence itself, once class and scope are decided")


def _read_cadence(answer: Answer) -> str:
    text = _join(answer)
    every = _EVERY.findall(text)
    words, _ = _find_values(_EVERY.sub(" ", text), ("tick", "decision", "episode", "none"))
    if len(every) + len(words) > 1:
        raise Unclear(f"it says several: {_show(text)}")
    if every:
        _refuse_doubt(text)
        return f"every={every[0]}"
    return _read_word(text, ("tick", "decision", "episode", "none"), "cadence")


def _read_projection(answer: Answer) -> list[Scalar]:
    text = _join(answer)
    if _ALL.search(text):
        _refuse_doubt(text)
        return ["*"]
    return _read_codes(answer)


def _read_threads(answer: Answer) -> int:
    caps = [
        *dict.fromkeys(
            re.findall(r"_NUM_THREADS`?\s*=\s*(\d+)", " ".join([*answer.texts, *answer.items]))
        )
    ]
    if len(caps) == 1:
        return int(caps[0])
    if caps:
        raise Unclear(f"it says {' and '.join(caps)}")
    return _read_whole(_join(answer))


def _read_percent(answer: Answer) -> int:
    text = _join(answer)
    _refuse_doubt(text)
    found = re.fullmatch(r"(?:at most )?(\d+) ?(?:%|percent)\.?", text)
    if found is None:
        raise Unclear(f"it is no percentage alone: {_show(text)}")
    return int(found[1])


def _read_epsilon(answer: Answer) -> str:
    text = _join(answer)
    said = _read_one_number(text)
    after = text.replace("\u2212", "-").partition(said)[2]
    if not _UNIT.match(after):
        raise Unclear(f"it may have a unit: {_show(text)}")
    return said


def _read_version(answer: Answer) -> str:
    text = _join(answer)
    found = re.fullmatch(r"v?(\d+\.\d+\.\d+)", text)
    if found is None:
        raise Unclear(f"it is no version of three numbers: {_show(text)}")
    return found[1]


_READERS: Final[Mapping[str, Callable[[Answer], Value]]] = {
    "program": _make_code_reader(_PROGRAM),
    "summary": _make_code_reader(re.compile(r"[\w./-]+")),
    "vector": _make_code_reader(re.compile(r"\S+\.twice")),
    "database": _make_code_reader(re.compile(r"[\w./-]+")),
    "audit_encoding": _make_code_reader(re.compile(r"\S+")),
    "config": _read_config,
    "predicate": _read_own_words,
    "goals": _read_items,
    "out_of_scope": _read_items,
    "cadence": _read_cadence,
    "projection": _read_projection,
    "threads": _read_threads,
    "budget_percent": _read_percent,
    "epsilon": _read_epsilon,
    "version": _read_version,
}
"""Keys whose answers are not read by their type alone."""


def _choose_reader(item: Item) -> Callable[[Answer], Value]:
    held = item.type
    words = held.words
    if isinstance(held.example, bool):
        return lambda answer: _read_flag(_join(answer))
    if isinstance(held.example, int):
        return lambda answer: _read_whole(_join(answer))
    if held.is_list and words:
        return lambda answer: _read_word_list(_join(answer), words)
    if held.is_list:
        return _read_codes
    if words:
        return lambda answer: _read_word(_join(answer), words, item.key)
    if held.accepts("1e-6") and not held.accepts("in words"):
        return lambda answer: _read_one_number(_join(answer))
    return _read_text


def _read_word_list(text: str, values: Sequence[str]) -> list[Scalar]:
    found, rest = _find_values(text, values)
    if not found:
        raise Unclear(f"it says none of {', '.join(values)}: {_show(text)}", says_nothing=True)
    _refuse_doubt(rest)
    return [*found]


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
    if _OPEN_TEXT.search(text):
        raise Unclear(f"nothing is said: {_show(text)}")
    if isinstance(held.example, bool):
        value = _read_flag(text)
    elif isinstance(held.example, int):
        value = _read_whole(text)
    elif held.is_list:
        value = [*(_CODE.findall(said) or [each.strip() for each in text.split(",")])]
    elif words:
        value = _read_word(text, words, column.name)
    elif column.name == "version":
        exact = _EXACT_VERSION.fullmatch(text)
        if exact is None:
            raise Unclear(f"{_show(text)} is no exact version")
        value = exact[1]
    if not held.accepts(value):
        raise Unclear(f"{_show(text)} is not {held.expected}")
    return value


def _read_listed(item: Item, answer: Answer) -> Iterator[Row]:
    """Yield rows of pins (``numpy==2.2.0``) and of switches (``name=value``) that stand in a list."""
    codes = [each for said in (*answer.texts, *answer.items) for each in _CODE.findall(said)]
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
