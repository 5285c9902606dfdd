"""How often each operation was read, and how a manifest prints it.

Invariant: operations come in the order of their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from twice.recording.effects.ops import OPS


def count(numbers: Sequence[int], counts: dict[int, int]) -> None:
    """Add reads to a tally."""
    for number in sorted(set(numbers)):
        counts[number] = counts.get(number, 0) + numbers.count(number)


def named(counts: dict[int, int]) -> dict[str, int]:
    """A tally by names of operations."""
    return {OPS[number].name: counts[number] for number in sorted(counts) if number in OPS}
