"""What is perturbed in trials: the surroundings of a process, and what it does to itself.

The surroundings are those of ``twice vary``, without the ones that a contract's profile pins
(processor kernels, libraries, the interpreter). What no surroundings reach is done inside the process:
a past, a start that was made in another order or restored, and no network.

Invariant: no factor changes the state that a tool begins in, as its fingerprint tells.
"""

from __future__ import annotations

from typing import Final

from twice.diagnosis.vary.factor import Factor
from twice.diagnosis.vary.factors import FACTORS
from twice.diagnosis.vary.numeric_factors import NUMERIC_FACTORS

EARLIER_CALLS: Final = "earlier calls"
CREATION_ORDER: Final = "creation order"
RESTORED_START: Final = "restored start"
"""Not varied with the others, which it would undo: a law of its own."""
NETWORK_DENIED: Final = "network denied"

INSIDE: Final[dict[str, str]] = {
    EARLIER_CALLS: "the tool was called before in this process, with this case, others and another seed; then a reset",
    CREATION_ORDER: "the start was made in the opposite order",
    NETWORK_DENIED: "connections and names of hosts are refused",
}
"""What a process does to itself, by name."""

_PROFILE: Final = {*(each.name for each in NUMERIC_FACTORS), "interpreter", "global generators"}

AROUND: Final[dict[str, Factor]] = {
    each.name: each for each in FACTORS if each.name not in _PROFILE
}
"""What is done to the surroundings of a process, by name."""

NAMES: Final = (*AROUND, *INSIDE)
"""Every factor, in the order in which they are named."""
