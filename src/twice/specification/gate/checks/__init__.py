"""The seventeen checks, a few of one kind in each file.

A check fails with what is wrong and where, or it names what was seen. Making evidence is not its business,
nor waiving.

Invariant: a check is pure.
"""

from __future__ import annotations

from typing import Final

from twice.specification.gate.checks import (
    concurrency,
    costs,
    documents,
    effects,
    runs,
    surroundings,
)
from twice.specification.gate.model import Check

_ROOMS: Final = (documents, runs, concurrency, surroundings, effects, costs)
_FOUND: Final = [each for room in _ROOMS for each in vars(room).values() if isinstance(each, Check)]
CHECKS: Final = tuple(sorted(_FOUND, key=lambda each: each.id))
