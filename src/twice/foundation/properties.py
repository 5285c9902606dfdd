"""The seven laws that a system can be held to, and which of them a tier asks for: words and a table.

Invariant: a higher tier asks for whatever a lower one does.

Sources: check 16 of the consistency gate in the specification's seed document; its check 3 for the seed that matters.
"""

from __future__ import annotations

from typing import Final

REPLAY_EQUIVALENCE: Final = "replay-equivalence"
SEED_MATTERS: Final = "seed-matters"
SEED_ISOLATION: Final = "seed-isolation"
SNAPSHOT_ROUND_TRIP: Final = "snapshot-round-trip"
RESTORE_IDEMPOTENCE: Final = "restore-idempotence"
FORK_AND_CONVERGE: Final = "fork-and-converge"
SCHEDULE_INDEPENDENCE: Final = "schedule-independence"

PROPERTIES: Final = (
    REPLAY_EQUIVALENCE,
    SEED_MATTERS,
    SEED_ISOLATION,
    SNAPSHOT_ROUND_TRIP,
    RESTORE_IDEMPOTENCE,
    FORK_AND_CONVERGE,
    SCHEDULE_INDEPENDENCE,
)
_ALWAYS: Final = {"XS": (), "S": (SEED_MATTERS,)}


def required_properties(tier: str, *, branching: bool, scheduled: bool) -> tuple[str, ...]:
    """Return the properties that a system must have, in order; () at tier XS.

    Args:
        tier: XS, S, M, L or XL.
        branching: whether runs branch.
        scheduled: whether something runs at once without its schedule being recorded.
    """
    if tier in _ALWAYS:
        return _ALWAYS[tier]
    return (
        *PROPERTIES[:5],
        *((FORK_AND_CONVERGE,) if branching else ()),
        *((SCHEDULE_INDEPENDENCE,) if scheduled else ()),
    )
