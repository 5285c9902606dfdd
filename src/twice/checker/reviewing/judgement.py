"""What kind of gap a finding is, and what it risks for whom: two tables, by channel and by rule.

Invariant: every rule has a kind and a risk; a rule that no table names has its channel's.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from twice.checker.rule import Breaks
from twice.foundation.channels import Channel


class Kind(StrEnum):
    """What kind of gap it is."""

    HIDDEN = "hidden-dependency"
    """The result depends on something that no input of the run names."""
    LIBRARY_DEFAULT = "library-default"
    """A library decides, because nobody told it."""
    CHANCE_ORDER = "order-left-to-chance"
    """Something comes in an order that nobody fixed."""
    OUTSIDE_SNAPSHOT = "state-outside-snapshot"
    """What matters for going on is not saved, or is not brought back."""
    WEAK_EVIDENCE = "weak-evidence"
    """What should show a difference cannot."""


class Standing(StrEnum):
    """What the specification has to say of it."""

    NO_SPECIFICATION = "no-specification"
    """There is no workspace at all."""
    UNSPECIFIED = "unspecified-channel"
    """There is one, without the channel's artifact."""
    MISMATCH = "spec-code-mismatch"
    """The channel's artifact is there, and the code does otherwise than any such artifact may allow."""


KINDS: Final[dict[Channel, Kind]] = {
    Channel.SEEDS: Kind.HIDDEN,
    Channel.RNG: Kind.HIDDEN,
    Channel.SNAPSHOT: Kind.OUTSIDE_SNAPSHOT,
    Channel.DIVERGENCE: Kind.WEAK_EVIDENCE,
    Channel.REPLAY: Kind.OUTSIDE_SNAPSHOT,
    Channel.CONCURRENCY: Kind.CHANCE_ORDER,
    Channel.FLOATING_POINT: Kind.LIBRARY_DEFAULT,
    Channel.GPU: Kind.LIBRARY_DEFAULT,
    Channel.EFFECTS: Kind.HIDDEN,
    Channel.ENCODING: Kind.HIDDEN,
}

KINDS_BY_RULE: Final[dict[str, Kind]] = {
    "unseeded-generator": Kind.LIBRARY_DEFAULT,
    "unseeded-global": Kind.LIBRARY_DEFAULT,
}
"""Where a rule is of another kind than its channel."""


class Victim(StrEnum):
    """What no longer works."""

    SEED = "replay from seed"
    RESUME = "resume"
    MACHINES = "another machine"
    COMPARISON = "comparison"


RISKS: Final[dict[Channel, tuple[Victim, str]]] = {
    Channel.SEEDS: (
        Victim.SEED,
        "A run with the same seed is another run: you cannot reproduce a result.",
    ),
    Channel.RNG: (
        Victim.COMPARISON,
        "One more draw anywhere shifts all other random numbers, so you cannot compare two versions.",
    ),
    Channel.SNAPSHOT: (
        Victim.RESUME,
        "A run that continues from a checkpoint differs from a run that was not interrupted.",
    ),
    Channel.DIVERGENCE: (
        Victim.COMPARISON,
        "A regression stays hidden: runs that differ count as the same.",
    ),
    Channel.REPLAY: (
        Victim.RESUME,
        "The restored state is not the saved state: a replay or a branch starts from another state.",
    ),
    Channel.CONCURRENCY: (
        Victim.SEED,
        "The same seed gives another result in the next process, or with other workers.",
    ),
    Channel.FLOATING_POINT: (
        Victim.MACHINES,
        "Another machine, build or thread count changes the last digits, and every decision that depends on them.",
    ),
    Channel.GPU: (
        Victim.SEED,
        "Two runs on the same device differ in their last digits, and soon in everything.",
    ),
    Channel.EFFECTS: (
        Victim.SEED,
        "A replay reads a world that has changed, and acts on other answers.",
    ),
    Channel.ENCODING: (
        Victim.COMPARISON,
        "Equal states get unequal digests or keys: comparisons and caches are useless.",
    ),
}

RISKS_BY_RULE: Final[dict[str, tuple[Victim, str]]] = {
    "cloned-generator-state": (
        Victim.COMPARISON,
        "Two samples that look independent are one: differences between them mean nothing.",
    ),
    "identity-subseed": (
        Victim.SEED,
        "The sub-seed changes with every process, although the seed of the run is the same.",
    ),
    "unsorted-listing": (
        Victim.MACHINES,
        "You cannot reproduce the result from a copy of the same files elsewhere.",
    ),
}
"""Where a rule risks something else than its channel."""

_OTHER_MACHINE: Final = (
    Victim.MACHINES,
    "The result is stable on this machine. Another machine gets other bits from the same seed.",
)


def kind_of(rule: str, channel: Channel) -> Kind:
    """Give the kind of gap that a rule finds."""
    return KINDS_BY_RULE.get(rule, KINDS[channel])


def risk_of(rule: str, channel: Channel, breaks: Breaks) -> tuple[Victim, str]:
    """Give what a rule's findings risk: what no longer works, and one sentence."""
    found = RISKS_BY_RULE.get(rule)
    if found is not None:
        return found
    return _OTHER_MACHINE if breaks is Breaks.CROSS_HOST else RISKS[channel]


def standing_of(artifact: str, present: frozenset[str] | None) -> Standing:
    """Give what the specification says: the numbers of the artifacts that it has, or None without one."""
    if present is None:
        return Standing.NO_SPECIFICATION
    return Standing.MISMATCH if artifact in present else Standing.UNSPECIFIED
