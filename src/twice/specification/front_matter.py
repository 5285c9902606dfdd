"""Front matter of a sheet: a strict subset of YAML in which nothing is guessed.

Between two lines ``---`` stand keys of lower-case letters, digits and underscores. A value is a text in double
quotes, a whole number, ``true``, ``false``, a list of those, or a list of maps one level deep. Anchors,
aliases, tags and plain texts are refused, so whatever is accepted means the same to every reader of YAML 1.1 and 1.2.

PyYAML composes each key for itself: one that cannot be read hides no fault of another.

Invariant: a key's lines can be replaced without touching any other byte of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Final

import yaml

from twice.foundation.printable import pluralize
from twice.specification.errors import SheetRefused

Scalar = str | int | bool
Cell = Scalar | list[Scalar]
Row = dict[str, Cell]
Value = Scalar | list[Scalar] | list[Row]

# Words that YAML 1.1 reads as booleans or null are no keys.
_KEY: Final = r"(?!(?:y|n|yes|no|on|off|true|false|null)\b)[a-z][a-z0-9_]*"
_FIRST_LINE: Final = re.compile(rf"{_KEY}:(?: .*)?")
_WHOLE: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
# YAML 1.1 lacks \/ and 1.2 has it; other escapes are refused with it because nobody needs them.
_TEXT: Final = re.compile(
    r'"(?:[^"\\]|\\(?:["\\nt]|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]{5}|10[0-9a-fA-F]{4})))*"'
)
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_TOO_LONG: Final = 64 * 1024
_TOO_DEEP: Final = 16
_DEEP_LINE: Final = re.compile(r"^[ ?:-]{64}", re.MULTILINE)
_TEXT_OR_COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|#.*')
LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser in C, where PyYAML was built with it."""


@dataclass(frozen=True, slots=True)
class HeadEntry:
    """One key: its value, its line and the line after its last; of a list of maps the line of each column of each row."""

    value: Value
    line: int
    end_line: int
    rows: tuple[Mapping[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a sheet: entries by key in the file's order, and the line of the closing ``---``."""

    entries: Mapping[str, HeadEntry]
    end_line: int


def parse_front_matter(text: str, name: str) -> tuple[FrontMatter, list[SheetRefused]]:
    """Read the front matter of a sheet's text, and return what is refused of it, key by key; ``name`` is the file.

    Raises:
        SheetRefused: E-SPEC-001: there is no front matter, or it has no end.
    """
    lines = text.split("\n")
    if lines[0] != "---":
        raise refuse_line(
            name,
            1,
            f"the first line is {_shorten(lines[0])}, so there is no head.",
            'Expected a line "---", then keys, then "---" again.',
            f"Put the head in front; see: twice spec add {name.rpartition('/')[2][:2]} --template",
        )
    if "---" not in lines[1:]:
        raise refuse_line(
            name,
            len(lines),
            'the head that begins in line 1 has no end: no second line "---" follows.',
            'Expected "---" alone on the line after the last key.',
            "Close the head; what follows it is text for people.",
        )
    end = lines.index("---", 1)
    starts: list[int] = []
    for at, line in enumerate(lines[1:end], 1):
        if not _is_blank(line) and (line[0] != " " or not starts):
            starts.append(at)
    entries: dict[str, HeadEntry] = {}
    refused: list[SheetRefused] = []
    for start, stop in pairwise([*starts, end]):
        while _is_blank(lines[stop - 1]):
            stop -= 1  # noqa: PLW2901 - blank lines and comments before a key are not of the key above
        try:
            key, entry = _EntryReader(name, start + 1, lines[start:stop]).read()
            if key in entries:
                what = f"the key {key!r} stands in line {entries[key].line} already."
                expected = "Expected each key once."
                raise refuse_line(name, start + 1, what, expected, "Remove one of the two.")
            entries[key] = entry
        except SheetRefused as error:
            refused.append(error)
    return FrontMatter(entries, end + 1), refused


def combine(refused: Sequence[SheetRefused]) -> SheetRefused:
    """Return one refusal that tells several, so that whoever corrects sheets sees all of them at once."""
    if len(refused) == 1:
        return refused[0]
    lines = [f"  {each.happened} {each.expected}" for each in refused]
    return SheetRefused(
        "\n".join([f"{pluralize(len(refused), 'line')} of the sheets cannot be taken:", *lines]),
        "Expected what stands behind each.",
        'Mend these lines, or write "?" for what is not known yet; nothing was changed.',
        places=[each.fields for each in refused],
    )


def refuse_line(
    path: str, line: int, happened: str, expected: str, remedy: str, **fields: object
) -> SheetRefused:
    """Return a refusal that names file and line."""
    told = f"{path}:{line}: {happened}"
    return SheetRefused(told, expected, remedy, path=path, line=line, **fields)


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _is_blank(line: str) -> bool:
    return line.lstrip(" ")[:1] in {"", "#"}


class _EntryReader:
    """Read one key with its value from its lines, of which the first is a line of a file."""

    def __init__(self, name: str, line: int, lines: Sequence[str]) -> None:
        self.name, self.line, self.lines = name, line, lines
        self.source = "\n".join(lines)

    def read(self) -> tuple[str, HeadEntry]:
        if not _FIRST_LINE.fullmatch(self.lines[0]) or len(max(self.lines, key=len)) > _TOO_LONG:
            raise refuse_line(
                self.name,
                self.line,
                f"{_shorten(self.lines[0])} is no key with a value.",
                'Expected one like this: owner: "simulation team"',
                "Keys are lower-case and begin the line; texts stand in double quotes.",
            )
        root = self.compose()
        if len(root.value) != 1:  # A carriage return ends a line for YAML alone.
            raise self.refuse(root)
        key, node = root.value[0]
        value = self.read_value(node, rows_too=True)
        rows = [
            {name.value: self.line_of(name) for name, _ in each.value}
            for each in (node.value if isinstance(value, list) else ())
            if isinstance(each, yaml.MappingNode)
        ]
        return key.value, HeadEntry(value, self.line, self.line + len(self.lines), tuple(rows))

    def compose(self) -> Any:
        """Compose nodes, after refusing nesting that could exhaust the parser's stack."""
        bare = _TEXT_OR_COMMENT.sub("", self.source)
        if "\t" in bare:  # libyaml reads on behind it, and PyYAML's own scanner does not
            raise self.refuse(bare[: bare.index("\t")].count("\n"), "holds a tab")
        depths = accumulate(1 if each in "[{" else -1 for each in re.findall(r"[\[{\]}]", bare))
        if max(depths, default=0) > _TOO_DEEP or _DEEP_LINE.search(bare):
            raise self.refuse(0, "nests too deep")
        try:
            return yaml.compose(self.source, Loader=LOADER)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            at = min(mark.line, len(self.lines) - 1) if mark else 0
            problem = getattr(error, "problem", None) or getattr(error, "reason", "")
            raise self.refuse(at, f"cannot be read: {problem}") from error

    def read_value(self, node: Any, *, rows_too: bool) -> Any:
        if not isinstance(node, yaml.SequenceNode) or self.is_marked(node):
            return self.read_scalar(node)
        if rows_too and node.value and all(isinstance(e, yaml.MappingNode) for e in node.value):
            return [self.read_row(each) for each in node.value]
        return [self.read_scalar(each) for each in node.value]

    def read_row(self, node: Any) -> Row:
        row: Row = {}
        for name, cell in node.value:
            said = self.source_of(name)
            if said in row:
                raise self.refuse(name, "stands twice in one item")
            if not re.fullmatch(_KEY, said):
                raise self.refuse(name, "is no name of a column")
            row[said] = self.read_value(cell, rows_too=False)
        if not row or self.is_marked(node):
            raise self.refuse(node)
        return row

    def read_scalar(self, node: Any) -> Scalar:
        said = self.source_of(node)
        if said in {"true", "false"}:
            return said == "true"
        if _WHOLE.fullmatch(said):
            return int(said)
        # A surrogate is half a character: no reader agrees on what it means.
        if _TEXT.fullmatch(said) and said.isprintable() and not _SURROGATE.search(node.value):
            return str(node.value)
        raise self.refuse(node) if said else self.refuse(node.start_mark.line, "has no value")

    def is_marked(self, node: Any) -> bool:
        """Return whether a node has an anchor or a tag, with which its source begins."""
        return self.source_of(node)[:1] in {"&", "*", "!"}

    def source_of(self, node: Any) -> str:
        return self.source[node.start_mark.index : node.end_mark.index]

    def line_of(self, node: Any) -> int:
        return self.line + int(node.start_mark.line)

    def refuse(
        self, at: Any, why: str = "is not a value that can be read without guessing"
    ) -> SheetRefused:
        """Refuse a node, or a line, by its number among those that are read."""
        said = self.lines[at] if isinstance(at, int) else self.source_of(at).split("\n")[0]
        return refuse_line(
            self.name,
            self.line + at if isinstance(at, int) else self.line_of(at),
            f"{_shorten(said)} {why}.",
            'Expected a text in double quotes, a whole number, true, false, a list such as ["a", "b"], '
            'or items below the key that begin with "  - ".',
            f"If it is text, write it so: {format_value(said.strip(chr(39)))[:80]}; "
            'write "?" for what is not known yet.',
        )


def format_entry(key: str, value: Value) -> str:
    """Return one key as it stands in front matter, newline included."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        lines = [f"{key}:"]
        for row in value:
            assert isinstance(row, dict), "a list holds maps or plain values, not both"
            pairs = [f"{name}: {format_value(each)}" for name, each in row.items()]
            lines.append(f"  - {pairs[0]}")
            lines += [f"    {pair}" for pair in pairs[1:]]
        return "\n".join(lines) + "\n"
    line = f"{key}: {format_value(value)}\n"
    if isinstance(value, list) and len(line) > 100:
        return f"{key}:\n" + "".join(f"  - {format_value(each)}\n" for each in value)
    return line


def format_value(value: object) -> str:
    """Return a value as it stands behind its key, in one line."""
    if isinstance(value, list):
        return "[" + ", ".join(format_value(each) for each in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    assert isinstance(value, str), "front matter holds texts, whole numbers and booleans"
    return f'"{"".join(map(_escape, value))}"'


def _escape(each: str) -> str:
    if each in _ESCAPES or each.isprintable():
        return _ESCAPES.get(each, each)
    return f"\\U{ord(each):08x}" if ord(each) > 0xFFFF else f"\\u{ord(each):04x}"


def replace_entry(text: str, head: FrontMatter, key: str, value: Value) -> str:
    """Return a sheet's text with another value for one key; a new key goes to the end of the head."""
    lines = text.split("\n")
    new = format_entry(key, value).removesuffix("\n").split("\n")
    entry = head.entries.get(key)
    first, last = (entry.line - 1, entry.end_line - 1) if entry else (head.end_line - 1,) * 2
    return "\n".join([*lines[:first], *new, *lines[last:]])
