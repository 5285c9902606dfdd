"""How a verdict is laid out for people: in 80 columns, and in 25 lines at most.

For: folding sentences, setting two values side by side or below each other, leaving out what matters least.

Not for: what a verdict says (``divergence``).

Invariant: no name, path or number is broken; what was left out is said in the last line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import wrap

from twice.diagnosis.log_comparison import PointRef
from twice.diagnosis.tracing.paths import OBJECT
from twice.foundation.comparison import FieldDifference
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize, printable
from twice.replayer.record_outcomes import OutcomeDifference

WIDTH = 80
LINES_MAX = 25
_BEFORE = 16
"""Characters that two long values have in common and that are shown before their first difference."""
_ULPS_MAX = 1_000_000
"""Values further apart than this many steps of their type are read without a count of them."""
MORE = "more: the rest is in --json"


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
    a, b = (_from_difference(printable(one), printable(two)) for one, two in ((a, b), (b, a)))
    return [*fold(f"{label}:"), cut(f"{indent}a: {a}"), cut(f"{indent}b: {b}")]


def _from_difference(value: str, other: str) -> str:
    """Cut a value to its first difference from another, if its beginning would not show it."""
    first = next((at for at, one in enumerate(value) if other[at : at + 1] != one), len(value))
    if first < WIDTH // 2 or value == other:
        return value
    return f"...{value[first - _BEFORE :]}"


def describe_outcome(difference: OutcomeDifference) -> list[str]:
    """Show what two runs leave otherwise."""
    where = f" ({difference.where})" if difference.where else ""
    return set_values(f"  {difference.what}{where}", difference.a, difference.b)


def label_field(difference: FieldDifference) -> str:
    """Name a field that differs, with its kind and how far apart its values are."""
    count = f", {difference.differing} of {difference.of}" if difference.of > 1 else ""
    ulps = ""
    if difference.ulps is not None and difference.ulps <= _ULPS_MAX:
        ulps = f", {pluralize(difference.ulps, 'ulp')}"
    return f"{difference.path} ({difference.kind}{count}{ulps})"


def describe_field(difference: FieldDifference) -> list[str]:
    """Show a field that differs, and both values."""
    return set_values(f"  field: {label_field(difference)}", difference.a, difference.b)


def spell_paths(text: str) -> str:
    """Write the paths of a trace in a sentence as a person does: ``self.cache in Map.route``."""
    return _TRACED.sub(_spell, _ROOT.sub("", text))


def _spell(found: re.Match[str]) -> str:
    function, path = found.groups()
    if path.startswith("("):
        return f"what {function} returns{path.removeprefix('(returned)')}"
    return f"{path} in {function}"


_ROOT = re.compile(rf"(?<!\w){OBJECT}(?=[^\W\d])")
# A function's name may hold angle brackets of its own: <1 f.<locals>.<listcomp>>x
_TRACED = re.compile(r"<\d+ ((?:[^<>\s]|<\w+>)+)>((?:\(returned\)|\w)[^\s:;,]*)")


def name_place(file: str, line: int) -> str:
    """``file:line``, the file as seen from the current folder where it lies below it."""
    try:
        here = f"{Path.cwd()}{os.sep}"
    except FileNotFoundError:  # the folder was removed
        here = ""
    return f"{file.removeprefix(here)}:{line}"


def name_point(point: PointRef) -> str:
    """Name a compare-point by number and tick, and by its name if a tick has several."""
    if point.tick < 0:
        return f"{point.index} ({name_tick(point.tick)})"
    name = "" if point.name == "tick" else f"{point.name}, "
    return f"{point.index} ({name}tick {point.tick})"


def name_interval(point: PointRef | None, agreed: PointRef | None) -> str:
    """When runs part, as a sentence ends: at a tick, or after the last compare-point at which they agreed."""
    if point is None:
        return ""
    if agreed is not None and point.tick - agreed.tick > 1:
        return f" between ticks {agreed.tick + 1} and {point.tick}"
    return f" {name_tick(point.tick)}"


def name_tick(tick: int) -> str:
    """When a compare-point is taken, as a sentence ends."""
    return "before the first tick" if tick < 0 else f"at tick {tick}"


def rank_sentences(texts: Sequence[str], first: int, rest: int) -> list[Block]:
    """Sentences of which the first matters more than the others; what reads the same is said once."""
    told = dict.fromkeys(map(spell_paths, texts))
    return [Block(fold(text), rest if at else first) for at, text in enumerate(told)]


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
