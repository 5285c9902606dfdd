"""Three-way merge of texts, line by line: what both sides made of one text.

Lines that both sides left as they were divide the text into chunks. In each chunk the side that
changed wins; where both changed it, and not to the same, that is a conflict and nobody wins.

Invariant: ``merge(base, a, base)`` is a, ``merge(base, a, a)`` is a, and swapping the sides swaps nothing
but the two halves between markers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

_LEFT, _MIDDLE, _RIGHT = "<<<<<<<", "=======", ">>>>>>>"


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge.

    Args:
        text: the merged text; between markers where it conflicts.
        conflicts: how many chunks both sides changed, and not to the same.
    """

    text: str
    conflicts: int


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Lines of the base that both sides kept: where they begin in each text, and how many."""

    base: int
    ours: int
    theirs: int
    length: int


def merge(
    base: str, ours: str, theirs: str, *, names: tuple[str, str] = ("yours", "new")
) -> Merged:
    """Merge two texts that came from one.

    Args:
        base: what both came from.
        ours: the first side.
        theirs: the second side.
        names: what the markers call the sides.

    Returns:
        The merged text, with standard conflict markers, and how many conflicts are in it.
    """
    texts = tuple(each.splitlines(keepends=True) for each in (base, ours, theirs))
    out: list[str] = []
    conflicts = 0
    for chunk in _chunks(*texts):
        before, first, second = chunk
        if second in (first, before):
            out += first
        elif first == before:
            out += second
        else:
            conflicts += 1
            out += _marked(first, second, names)
    return Merged("".join(out), conflicts)


def _marked(first: Sequence[str], second: Sequence[str], names: tuple[str, str]) -> Iterator[str]:
    newline = "\r\n" if any(each.endswith("\r\n") for each in (*first, *second)) else "\n"
    yield f"{_LEFT} {names[0]}{newline}"
    yield from _ended(first, newline)
    yield f"{_MIDDLE}{newline}"
    yield from _ended(second, newline)
    yield f"{_RIGHT} {names[1]}{newline}"


def _ended(lines: Sequence[str], newline: str) -> Iterator[str]:
    """Give lines of which the last ends too: a marker begins a line."""
    for each in lines:
        yield each if each.endswith(("\n", "\r")) else each + newline


def _chunks(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str]]]:
    """Give the texts in pieces: what all three have in common, and what lies between."""
    end = _Stretch(len(base), len(ours), len(theirs), 0)
    for left, right in pairwise((_Stretch(0, 0, 0, 0), *_kept(base, ours, theirs), end)):
        at = (left.base + left.length, left.ours + left.length, left.theirs + left.length)
        between = (
            base[at[0] : right.base], ours[at[1] : right.ours], theirs[at[2] : right.theirs]
        )  # fmt: skip
        if any(between):
            yield between
        same = base[right.base : right.base + right.length]
        if same:
            yield same, same, same


def _kept(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[_Stretch]:
    """Give the stretches of the base that both sides kept, in order."""
    here, there = _same(base, ours), _same(base, theirs)
    one = two = 0
    while one < len(here) and two < len(there):
        (at, in_ours, length), (against, in_theirs, other) = here[one], there[two]
        start, stop = max(at, against), min(at + length, against + other)
        if start < stop:
            yield _Stretch(start, in_ours + start - at, in_theirs + start - against, stop - start)
        if at + length <= against + other:
            one += 1
        else:
            two += 1


def _same(base: Sequence[str], side: Sequence[str]) -> list[tuple[int, int, int]]:
    matcher = SequenceMatcher(None, base, side, autojunk=False)
    return [(each.a, each.b, each.size) for each in matcher.get_matching_blocks() if each.size]


def has_markers(text: str) -> bool:
    """Whether conflict markers stand in a text."""
    return any(line.startswith((f"{_LEFT} ", f"{_RIGHT} ")) for line in text.splitlines())
