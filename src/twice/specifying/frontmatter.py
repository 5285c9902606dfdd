"""The head of a sheet: a strict subset of YAML in which nothing is guessed.

Between two lines ``---`` stand keys of lower-case letters, digits and underscores. A value is a text in double
quotes, a whole number, ``true`` or ``false``, a list of those in one line (``["a", "b"]``) or
below the key (``- "a"``), or a list of maps one level deep (``- name: "a"``). Lines that begin with ``#``
are comments. Whatever is accepted means the same to every reader of YAML 1.1 and 1.2.

Invariant: a key's lines can be replaced without touching any other byte of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from twice.errors import SheetRefused
from twice.specifying.refusing import together

Scalar = str | int | bool
Row = dict[str, Scalar | list[Scalar]]
Value = Scalar | list[Scalar] | list[Row]

# Words that YAML 1.1 reads as truths or as nothing, even as keys, are none.
_KEY: Final = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null):)([a-z][a-z0-9_]*):(?:[ \t]+(.*))?"
)
_ITEM: Final = re.compile(r"  - (.*)")
_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_ESCAPED: Final = re.compile(r'\\(?:(["\\nt])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))')
_TEXT: Final = re.compile(
    r'"(?:[^"\\]|\\(?:["\\nt]|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]{5}|10[0-9a-fA-F]{4})))*"'
)
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_MEANT: Final = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_TOO_LONG: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a head.

    Args:
        value: what it says.
        line: its line in the file, from 1.
        end_line: the line after its last.
        rows: for a list of maps, the line of each column of each row.
    """

    value: Value
    line: int
    end_line: int
    rows: tuple[Mapping[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a sheet.

    Args:
        entries: by key, in the file's order.
        end_line: the line of the closing ``---``, from 1.
    """

    entries: Mapping[str, Entry]
    end_line: int


@dataclass(slots=True)
class _Reading:
    """Lines being read, and the entry that is open."""

    name: str
    lines: Sequence[str]
    entries: dict[str, Entry] = field(default_factory=dict)

    def refuse(self, line: int, happened: str, expected: str, remedy: str) -> SheetRefused:
        return SheetRefused(
            f"{self.name}:{line}: {happened}", expected, remedy, path=self.name, line=line
        )


def read_head(text: str, name: str) -> Head:
    """Read the head of a sheet's text.

    Args:
        text: the whole file, lines ended by newlines alone.
        name: what errors call the file.

    Raises:
        SheetRefused: E-SPEC-001, with the lines, for whatever is not in the subset.
    """
    head, refused = look_at_head(text, name)
    if refused:
        raise together(refused)
    return head


def look_at_head(text: str, name: str) -> tuple[Head, list[SheetRefused]]:
    """Read the head of a sheet's text as far as it can be, and give what is refused of it, key by key.

    Raises:
        SheetRefused: E-SPEC-001: there is no head, or it has no end.
    """
    lines = text.split("\n")
    reading = _Reading(name, lines)
    if lines[0] != "---":
        raise reading.refuse(
            1,
            f"the first line is {_short(lines[0])}, so there is no head.",
            'Expected a line "---", then keys, then "---" again.',
            f"Put the head in front; see: twice spec show --template {name.rpartition('/')[2][:2]}",
        )
    end = next((at for at, line in enumerate(lines[1:], 2) if line == "---"), None)
    if end is None:
        raise reading.refuse(
            len(lines),
            'the head that begins in line 1 has no end: no second line "---" follows.',
            'Expected "---" alone on the line after the last key.',
            "Close the head; what follows it is text for people.",
        )
    at, refused = 2, []
    while at < end:
        try:
            at = _entry(reading, at, end)
        except SheetRefused as error:
            refused.append(error)
            at = next((each for each in range(at + 1, end) if _is_outside(lines[each - 1])), end)
    return Head(reading.entries, end), refused


def _is_outside(line: str) -> bool:
    """Whether a line is no part of what began above it."""
    return not (line.startswith(" ") or _is_nothing(line))


def _entry(reading: _Reading, at: int, end: int) -> int:
    """Read what begins at a line; the next line."""
    line = reading.lines[at - 1]
    if _is_nothing(line):
        return at + 1
    match = _KEY.fullmatch(line)
    if match is None or len(line) > _TOO_LONG:
        raise reading.refuse(
            at,
            f"{_short(line)} is no key with a value.",
            'Expected one like this: owner: "simulation team"',
            "Keys are lower-case and begin the line; texts stand in double quotes.",
        )
    key, rest = match[1], match[2] or ""
    if key in reading.entries:
        raise reading.refuse(
            at,
            f"the key {key!r} stands in line {reading.entries[key].line} already.",
            "Expected each key once.",
            "Remove one of the two.",
        )
    if rest and not rest.startswith("#"):
        reading.entries[key] = Entry(_value(reading, at, rest), at, at + 1)
        return at + 1
    stop = at + 1
    while stop < end and (
        reading.lines[stop - 1].startswith(" ") or _is_nothing(reading.lines[stop - 1])
    ):
        stop += 1
    while stop > at + 1 and _is_nothing(reading.lines[stop - 2]):
        stop -= 1
    reading.entries[key] = _block(reading, key, at, stop)
    return stop


def _is_nothing(line: str) -> bool:
    stripped = line.lstrip(" ")
    return not stripped or stripped.startswith("#")


def _block(reading: _Reading, key: str, at: int, stop: int) -> Entry:
    """Read the list below a key."""
    scalars: list[Scalar] = []
    rows: list[Row] = []
    places: list[dict[str, int]] = []
    for number in range(at + 1, stop):
        line = reading.lines[number - 1]
        if _is_nothing(line):
            continue
        item = _ITEM.fullmatch(line)
        column = _KEY.fullmatch(item[1] if item else line.removeprefix("    "))
        if item and column is None:
            scalars.append(_scalar(reading, number, _without_comment(item[1])))
        elif column is not None and (item or (rows and line.startswith("    "))):
            if item:
                rows.append({})
                places.append({})
            _column(reading, number, column, rows[-1], places[-1])
        else:
            raise reading.refuse(
                number,
                f"{_short(line)} belongs to no item of {key!r}.",
                'Expected items that begin with "  - ", and further columns of a map four spaces in.',
                "Indent it as the lines around it; tabs do not count.",
            )
    if scalars and rows:
        raise reading.refuse(
            at,
            f"{key!r} holds both maps and plain values.",
            "Expected one kind.",
            "Make them alike.",
        )
    if not scalars and not rows:
        raise reading.refuse(
            at,
            f"{key!r} has no value.",
            'Expected a value after the colon, or items that begin with "  - " below it.',
            'Write [] for an empty list, "?" for what is not known yet.',
        )
    return Entry(scalars or rows, at, stop, tuple(places))


def _column(
    reading: _Reading, number: int, match: re.Match[str], row: Row, places: dict[str, int]
) -> None:
    name, rest = match[1], match[2] or ""
    if name in row or not rest:
        what = "stands twice in one item" if name in row else "has no value"
        raise reading.refuse(
            number,
            f"{name!r} {what}.",
            "Expected each column of an item once, with its value after the colon.",
            "Lists inside of an item are written in one line.",
        )
    value = _value(reading, number, rest)
    assert not isinstance(value, list) or not any(isinstance(each, dict) for each in value), (
        "a value in one line holds no maps"
    )
    row[name] = value  # type: ignore[assignment]
    places[name] = number


def _value(reading: _Reading, number: int, text: str) -> Value:
    """Read a value that stands in one line."""
    said = _without_comment(text)
    if not said.startswith("["):
        return _scalar(reading, number, said)
    if not said.endswith("]"):
        raise reading.refuse(
            number,
            f"the list {_short(said)} does not end in its line.",
            'Expected "]" at the end, or one item a line below the key.',
            'For example: names: ["a", "b"]',
        )
    inside = said[1:-1].strip(" ")
    found: list[Scalar] = []
    while inside:
        match = _TEXT.match(inside)
        end = match.end() if match else (inside.index(",") if "," in inside else len(inside))
        found.append(_scalar(reading, number, inside[:end].strip(" ")))
        rest = inside[end:].lstrip(" ")
        if rest and not rest.startswith(","):
            raise reading.refuse(
                number,
                f"{_short(rest)} follows an item without a comma.",
                "Expected items with commas between them.",
                'For example: names: ["a", "b"]',
            )
        inside = rest[1:].lstrip(" ")
        if rest and not inside:
            raise reading.refuse(
                number, "the list ends with a comma.", "Expected an item after it.", "Remove it."
            )
    return found


def _without_comment(text: str) -> str:
    """Cut a comment at the end off; one inside of quotes is text."""
    at = 0
    while at < len(text):
        if text[at] == '"':
            match = _TEXT.match(text, at)
            if match is None:
                break
            at = match.end()
        elif text[at] == "#" and at and text[at - 1] in " \t":
            return text[:at].rstrip(" \t")
        else:
            at += 1
    return text.rstrip(" \t")


def _scalar(reading: _Reading, number: int, said: str) -> Scalar:
    if said in {"true", "false"}:
        return said == "true"
    if _WHOLE.fullmatch(said):
        return int(said)
    if _TEXT.fullmatch(said) and said.isprintable():
        text = _ESCAPED.sub(_unescaped, said[1:-1])
        if not any("\ud800" <= each <= "\udfff" for each in text):
            return text
    raise reading.refuse(
        number,
        f"{_short(said)} is not a value that can be read without guessing.",
        'Expected a text in double quotes, a whole number, true, false, or a list such as ["a", "b"].',
        f"If it is text, write it so: {in_line(said.strip(chr(39)))[:80]}",
    )


def _unescaped(match: re.Match[str]) -> str:
    short, four, eight = match.groups()
    return _MEANT[short] if short else chr(int(four or eight, 16))


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def written(key: str, value: Value) -> str:
    """Write one key as it stands in a head, newline included."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        lines = [f"{key}:"]
        for row in value:
            assert isinstance(row, dict), "a list holds maps or plain values, not both"
            pairs = [f"{name}: {in_line(each)}" for name, each in row.items()]
            lines.append(f"  - {pairs[0]}")
            lines += [f"    {pair}" for pair in pairs[1:]]
        return "\n".join(lines) + "\n"
    line = f"{key}: {in_line(value)}\n"
    if isinstance(value, list) and len(line) > 100:
        return f"{key}:\n" + "".join(f"  - {in_line(each)}\n" for each in value)
    return line


def in_line(value: object) -> str:
    """Write a value as it stands behind its key, when it stands in one line."""
    if isinstance(value, list):
        return "[" + ", ".join(in_line(each) for each in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    assert isinstance(value, str), "a head holds texts, whole numbers and truths"
    return '"' + "".join(_ESCAPES.get(each) or _character(each) for each in value) + '"'


def _character(each: str) -> str:
    if each.isprintable():
        return each
    return f"\\u{ord(each):04x}" if ord(each) < 0x10000 else f"\\U{ord(each):08x}"


def values(texts: Sequence[str]) -> Value:
    """Give texts as the value of a key."""
    found: list[Scalar] = [*texts]
    return found


def replaced(text: str, head: Head, key: str, value: Value) -> str:
    """Give a sheet's text with one key said anew; a new key goes to the end of the head."""
    lines = text.split("\n")
    new = written(key, value).removesuffix("\n").split("\n")
    entry = head.entries.get(key)
    first, last = (entry.line - 1, entry.end_line - 1) if entry else (head.end_line - 1,) * 2
    return "\n".join([*lines[:first], *new, *lines[last:]])
