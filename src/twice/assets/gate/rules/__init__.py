"""The rules of the gate: one file for each group, every rule a pure function from facts to rows.

``PER_ASSET`` are asked for each asset with a readable log, ``PER_SET`` for all of them together. The ids of
checks are in ``CHECKS`` and never change their meaning.

Invariant: a field that is missing or wrong has its one row in ``completeness``; other rules leave it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from twice.assets.gate.facts import Facts
from twice.assets.gate.row import Row
from twice.assets.gate.rules import (
    completeness,
    evidence,
    integrity,
    measured,
    promises,
    recipes,
    seeds,
    sets,
    versions,
)

PER_ASSET: Final[tuple[Callable[[Facts], Iterator[Row]], ...]] = (
    integrity.judge,
    completeness.judge,
    promises.judge,
    seeds.judge,
    evidence.judge,
    versions.judge,
    recipes.judge,
    measured.judge,
)
PER_SET: Final[tuple[Callable[[Sequence[Facts]], Iterator[Row]], ...]] = (sets.judge,)

CHECKS: Final = {
    **integrity.CHECKS,
    **completeness.CHECKS,
    **promises.CHECKS,
    **seeds.CHECKS,
    **evidence.CHECKS,
    **versions.CHECKS,
    **recipes.CHECKS,
    **measured.CHECKS,
    **sets.CHECKS,
}
"""What each check asks, by its id."""
