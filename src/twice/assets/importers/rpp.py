"""REAPER's project text as blocks of lines, within bounds.

A block begins with ``<NAME arguments`` and ends with ``>`` on a line of its own; other lines are words,
quoted with ``"``, ``'`` or a backtick where they hold spaces. What the words mean is for ``reaper``.

Invariant: reading takes one pass over the lines; depth and number of lines are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

LINES_MAX: Final = 8_000_000
DEPTH_MAX: Final = 128
_LINE_MAX: Final = 1 << 20
_WORDS_MAX: Final = 256
_QUOTES: Final = "\"'`"


class RppRefused(ValueError):
    """A text is not a project; the message says why and on which line."""


@dataclass(slots=True)
class Block:
    """A block: its words, and in order its lines (as text) and blocks."""

    words: list[str]
    line: int
    items: list[str | Block] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The first word."""
        return self.words[0]

    def blocks(self, *names: str) -> Iterator[Block]:
        """Give the blocks directly in it, of some names."""
        return (each for each in self.items if isinstance(each, Block) and each.name in names)

    def lines(self, name: str) -> Iterator[list[str]]:
        """Give the lines directly in it that begin with a word."""
        for each in self.items:
            if isinstance(each, str) and each.startswith(name):
                found = words(each)
                if found and found[0] == name:
                    yield found


def words(line: str) -> list[str]:
    """Give the words of a line; at most 256."""
    found: list[str] = []
    at = 0
    while at < len(line) and len(found) < _WORDS_MAX:
        if line[at].isspace():
            at += 1
            continue
        if line[at] in _QUOTES:
            end = line.find(line[at], at + 1)
            end = len(line) if end < 0 else end
            found.append(line[at + 1 : end])
            at = end + 1
            continue
        end = at
        while end < len(line) and not line[end].isspace():
            end += 1
        found.append(line[at:end])
        at = end
    return found


def project(text: str) -> Block:
    """Read a project.

    Raises:
        RppRefused: it does not begin as one, does not end, is too deep or too long.
    """
    root: Block | None = None
    open_: list[Block] = []
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if number > LINES_MAX or len(line) > _LINE_MAX:
            raise RppRefused(f"it is too long, on line {number}")
        if root is None:
            if not line:
                continue
            if not line.startswith("<REAPER_PROJECT"):
                raise RppRefused("it does not begin with <REAPER_PROJECT")
        if line.startswith("<") and len(line) > 1:
            if len(open_) == DEPTH_MAX:
                raise RppRefused(f"it is nested deeper than {DEPTH_MAX}, on line {number}")
            block = Block(words(line[1:]) or [""], number)
            if open_:
                open_[-1].items.append(block)
            elif root is not None:
                raise RppRefused(f"a second project begins, on line {number}")
            root = root or block
            open_.append(block)
        elif line == ">":
            if not open_:
                raise RppRefused(f"a block ends that did not begin, on line {number}")
            open_.pop()
        elif line and open_:
            open_[-1].items.append(line)
    if root is None:
        raise RppRefused("it is empty")
    if open_:
        raise RppRefused(
            f"it is cut off: {open_[-1].name[:40]} of line {open_[-1].line} does not end"
        )
    return root
