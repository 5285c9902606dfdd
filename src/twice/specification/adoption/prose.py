"""Labelled answers and tables of a sheet that was written as prose: where each begins, and what belongs to it.

An answer is a label with text behind it (``**Class:** bit-exact``, ``1. **Cadence** — per tick``), a heading with
its section, a row of a table of two columns, or a sentence such as "The class is logical." Code blocks, comments and
quotations answer nothing: they are mostly examples.

Not for: the meaning of an answer, which ``answers.py`` reads.

Invariant: every answer has the line where a person finds it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

_FENCE: Final = re.compile(r" *(`{3,}|~{3,})")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING: Final = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*")
_ITEM: Final = re.compile(r"( *)(?:[-*+]|\d+[.)])\s+(.*)")
_RULE: Final = re.compile(r"[\s|:-]+")
_CELL: Final = re.compile(r"(?<!\\)\|")
_BOLD: Final = re.compile(r"(\*\*|__)(?P<bold>.+?)\1(?P<rest>.*)")
_PLAIN: Final = re.compile(
    r"(?P<label>[A-Za-z][^:—\u2013]{0,60}?)(?::(?=\s|$)| [—\u2013] )(?P<value>.*)"
)
_DECLARED: Final = re.compile(r"(?:The|Our) (?P<label>[\w -]{3,40}?) is (?P<value>.+)")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")
_ASIDES: Final = re.compile(
    r"\b(?:reject|alternative|example|option|consider|histor|previous|earlier|note)"
)
_NUMBER: Final = re.compile(r"\d+[.)]\s+")
_ASIDE: Final = re.compile(r"\([^)]*\)")


class Kind(Enum):
    """Kinds of blocks; code stands for quotations as well."""

    HEADING = auto()
    PARAGRAPH = auto()
    ITEM = auto()
    TABLE = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its line, the cells of its header, and of each row the line and the cells."""

    line: int
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(slots=True)
class _Block:
    """A piece of a sheet; ``depth`` is the level of a heading, and the indent of everything else."""

    kind: Kind
    depth: int
    line: int
    text: str = ""
    label: str = ""
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a sheet says under one label.

    Args:
        label: in its normal form.
        line: of the label.
        texts: paragraphs, the first one being what stands behind the label.
        items: of lists.
        tables: of it.
        has_code: whether a code block or a quotation belongs to it.
    """

    label: str
    line: int
    texts: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    has_code: bool = False


@dataclass(frozen=True, slots=True)
class Prose:
    """The answers of a sheet, and the tables that are about it as a whole, in order."""

    answers: tuple[Answer, ...]
    tables: tuple[Table, ...]


def normalize_label(text: str) -> str:
    """Return a label as it is compared: lower case, without marks, numbers in front and asides in parentheses."""
    plain = _ASIDE.sub("", _NUMBER.sub("", re.sub(r"[*_`]", "", text.strip()), count=1))
    return " ".join(plain.lower().replace("-", " ").replace("ε", "epsilon").split()).rstrip(" :.")


def read_prose(text: str, labels: Collection[str]) -> Prose:
    """Read a sheet.

    Args:
        text: of the sheet.
        labels: normal forms that are answers without bold type, as headings and in sentences.
    """
    blocks = [*_leave_out_asides(_read_blocks(text, labels))]
    answers = [
        answer for at, block in enumerate(blocks) for answer in _read_answers(blocks, at, labels)
    ]
    answers.sort(key=lambda each: each.line)
    return Prose(tuple(answers), tuple(_list_own_tables(blocks, labels)))


def _leave_out_asides(blocks: Iterable[_Block]) -> Iterator[_Block]:
    """Leave out sections of examples and of what was not chosen."""
    level = 0
    for each in blocks:
        if each.kind is Kind.HEADING and (not level or each.depth <= level):
            level = each.depth if _ASIDES.search(each.label) else 0
        if not level:
            yield each


def _list_own_tables(blocks: Sequence[_Block], labels: Collection[str]) -> Iterator[Table]:
    """Yield the tables that are about the sheet as a whole: below no other heading and no other label."""
    is_own = True
    for each in blocks:
        if each.kind is Kind.HEADING:
            is_own = each.depth == 1
        elif each.table and is_own and not each.depth:
            yield each.table
        elif each.kind in {Kind.ITEM, Kind.PARAGRAPH}:
            is_own = is_own and (not each.label or each.label in labels)


def _split_label(text: str, labels: Collection[str]) -> tuple[str, str] | None:
    """Return a label's normal form and what stands behind it; None where a text has none."""
    if bold := _BOLD.fullmatch(text):
        inside, colon, value = bold["bold"].partition(":")
        rest = bold["rest"] if colon else bold["rest"].lstrip(" :—\u2013-")
        return normalize_label(inside), f"{value}{rest}".strip()
    plain = _PLAIN.fullmatch(text)
    if plain and normalize_label(plain["label"]) in labels:
        return normalize_label(plain["label"]), plain["value"].strip()
    return None


def _read_blocks(text: str, labels: Collection[str]) -> Iterator[_Block]:
    hidden = _COMMENT.sub(lambda found: re.sub(r"[^\n]", "", found[0]), text)
    lines, open_block, at = hidden.split("\n"), None, 0
    while at < len(lines):
        line, number = lines[at], at + 1
        indent = len(line) - len(line.lstrip(" "))
        at += 1
        if fence := _FENCE.match(line):
            while at < len(lines) and not lines[at].lstrip(" ").startswith(fence[1]):
                at += 1
            at += 1
            open_block = _Block(Kind.CODE, indent, number)
        elif heading := _HEADING.fullmatch(line):
            label, value = _split_label(heading[2], labels) or (normalize_label(heading[2]), "")
            open_block = _Block(Kind.HEADING, len(heading[1]), number, value, label)
        elif line.lstrip().startswith("|"):
            end = at
            while end < len(lines) and lines[end].lstrip().startswith("|"):
                end += 1
            table = _read_table(lines[at - 1 : end], number)
            open_block, at = _Block(Kind.TABLE, indent, number, table=table), end
        elif not line.strip():
            open_block = None
            continue
        else:
            item = _ITEM.fullmatch(line)
            said = (item[2] if item else line).strip()
            split = _split_label(said, labels)
            label, value = split or ("", said)
            value = value if label in labels else said
            if said.startswith(">"):
                open_block = _Block(Kind.CODE, indent, number)
            elif item or split or open_block is None or open_block.kind is Kind.HEADING:
                kind = Kind.ITEM if item else Kind.PARAGRAPH
                open_block = _Block(kind, indent, number, value, label)
            else:
                open_block.text = f"{open_block.text} {said}".strip()
                continue
        yield open_block


def _read_table(lines: Sequence[str], first: int) -> Table:
    rows = []
    for number, line in enumerate(lines, first):
        cells = tuple(
            each.strip().replace("\\|", "|") for each in _CELL.split(line.strip().strip("|"))
        )
        if not _RULE.fullmatch(line):
            rows.append((number, cells))
    header = rows[0][1] if rows else ()
    return Table(first, header, tuple(rows[1:]))


def _read_answers(blocks: Sequence[_Block], at: int, labels: Collection[str]) -> Iterator[Answer]:
    """Yield the answers that begin with a block."""
    block = blocks[at]
    if block.table and len(block.table.header) == 2:
        for line, cells in block.table.rows:
            if len(cells) == 2 and normalize_label(cells[0]) in labels:
                yield Answer(normalize_label(cells[0]), line, (cells[1],))
    elif block.label in labels and (block.kind is not Kind.HEADING or block.depth > 1):
        own = [*_list_own(blocks, at)]
        texts = [block.text, *(each.text for each in own if each.kind is Kind.PARAGRAPH)]
        yield Answer(
            block.label,
            block.line,
            tuple(each for each in texts if each),
            tuple(each.text for each in own if each.kind is Kind.ITEM),
            tuple(each.table for each in own if each.table),
            any(each.kind is Kind.CODE for each in own),
        )
    elif block.kind is Kind.PARAGRAPH and not block.label:
        for sentence in _SENTENCE_END.split(block.text):
            said = _DECLARED.fullmatch(sentence)
            if said and normalize_label(said["label"]) in labels:
                yield Answer(normalize_label(said["label"]), block.line, (said["value"],))


def _list_own(blocks: Sequence[_Block], at: int) -> Iterator[_Block]:
    """Yield the blocks that belong to the label of a block."""
    head = blocks[at]
    for each in blocks[at + 1 :]:
        if each.kind is Kind.HEADING:
            if head.kind is not Kind.HEADING or each.depth <= head.depth:
                return
        elif head.kind is Kind.ITEM:
            if each.depth <= head.depth:
                return
        elif head.kind is Kind.PARAGRAPH and (
            each.label or each.kind in {Kind.PARAGRAPH, Kind.CODE}
        ):
            return
        yield each
