"""The tiers of what a session sees and holds below Python, by name.

Each is tried in a process that is thrown away before it is used. ``TWICE_WITHOUT=world,number`` leaves
tiers out, as a system that refuses them would.

Invariant: a name that is no tier is an error, never ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from twice.errors import UsageError

SUPERVISOR: Final = "supervisor"
WORLD: Final = "world"
NUMBER: Final = "number"
NETWORK: Final = "network"
REFUSAL: Final = "refusal"
TIERS: Final = (SUPERVISOR, WORLD, NUMBER, NETWORK, REFUSAL)
VARIABLE: Final = "TWICE_WITHOUT"


def tiers_left_out(environ: Mapping[str, str]) -> frozenset[str]:
    """Return the tiers that the user asked to do without.

    Raises:
        UsageError: E-USE-001, for a name that is none.
    """
    names = [name.strip() for name in environ.get(VARIABLE, "").split(",") if name.strip()]
    for name in names:
        if name not in TIERS:
            raise UsageError(
                f"{VARIABLE} names {name!r}, which is not a tier.",
                f"Expected some of {', '.join(TIERS)}, with commas between.",
                f"For example: {VARIABLE}=world",
                name=name,
            )
    return frozenset(names)
