"""How often each operation was read, and how a manifest prints it.

Invariant: operations come in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from twice.recorder.effects.ops import FACTS, OPS


def count(numbers: Sequence[int], counts: dict[int, int]) -> None:
    """Add reads to a tally."""
    for number in sorted(set(numbers)):
        counts[number] = counts.get(number, 0) + numbers.count(number)


def select_cursor_numbers(numbers: Sequence[int], *, is_main: bool) -> Sequence[int]:
    """Return which of an actor's library reads a snapshot's cursors count: the main program's, and all facts."""
    return numbers if is_main else [number for number in numbers if number in FACTS]


def named(counts: dict[int, int]) -> dict[str, int]:
    """Name the operations of a tally."""
    return {OPS[number].name: counts[number] for number in sorted(counts) if number in OPS}
