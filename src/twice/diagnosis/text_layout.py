"""How a verdict is laid out for people: in 80 columns, and in 25 lines at most.

For: folding sentences, setting two values side by side or below each other, leaving out what matters least.

Not for: what a verdict says (``divergence``).

Invariant: no name, path or number is broken; what was left out is said in the last line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from twice.foundation.printable import printable

WIDTH = 80
LINES_MAX = 25
MORE = "more: what else was found stands in --json"


@dataclass(frozen=True)
class Block:
    """Lines that stand or fall together.

    Attributes:
        lines: as they are printed.
        rank: 0 for what always stays; the highest goes first where there is no room.
    """

    lines: Sequence[str]
    rank: int = 0


def fold(text: str) -> list[str]:
    """One sentence in as many lines as it takes, those after the first set in."""
    told = printable(text)
    if len(told) <= WIDTH:
        return [told]
    indent = " " * (len(told) - len(told.lstrip()))
    return wrap(
        told.lstrip(),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def cut(text: str) -> str:
    """One line of code or of a value, cut at the last column."""
    told = printable(text)
    return told if len(told) <= WIDTH else f"{told[: WIDTH - 3]}..."


def set_values(label: str, a: str, b: str) -> list[str]:
    """Two values behind their name, or below it where they are long."""
    told = printable(f"{label}: {a} / {b}")
    if len(told) <= WIDTH:
        return [told]
    indent = " " * (len(label) - len(label.lstrip()) + 2)
    return [*fold(f"{label}:"), cut(f"{indent}a: {a}"), cut(f"{indent}b: {b}")]


def name_place(file: str, line: int) -> str:
    """``file:line``, the file as seen from the current folder where it lies below it."""
    try:
        here = f"{Path.cwd()}{os.sep}"
    except FileNotFoundError:  # the folder was removed
        here = ""
    return f"{file.removeprefix(here)}:{line}"


def join_blocks(blocks: Iterable[Block]) -> str:
    """All blocks as text, without those that matter least where they are too many."""
    kept = list(blocks)
    while sum(len(block.lines) for block in kept) > LINES_MAX:
        rank = max(block.rank for block in kept)
        if rank == 0:
            break
        # Of equally unimportant blocks the last goes first: the first ones answer.
        last = max(at for at, block in enumerate(kept) if block.rank == rank)
        kept[last] = Block([])
        if not any(block.lines == [MORE] for block in kept):
            kept.append(Block([MORE]))
    return "\n".join(line for block in kept for line in block.lines)
