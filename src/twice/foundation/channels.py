"""The ten ways in which two runs can come to differ: a closed list.

Each divergence is attributed to one of them, and one sheet of a specification answers for each. ``diagnosis``
decides which evidence counts for a channel.

Invariant: ten channels, artifacts 02 to 11, one each, in this order.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from twice.foundation.dataclass import dataclass


class Channel(StrEnum):
    """One of ten."""

    SEEDS = "seeds"
    RNG = "rng"
    SNAPSHOT = "snapshot"
    DIVERGENCE = "divergence"
    REPLAY = "replay"
    CONCURRENCY = "concurrency"
    FLOATING_POINT = "floating-point"
    GPU = "gpu"
    EFFECTS = "effects"
    ENCODING = "encoding"

    @property
    def facts(self) -> ChannelFacts:
        """Return the known facts about it."""
        return FACTS[self]

    @property
    def artifact(self) -> str:
        """The number of the artifact that settles it, two digits."""
        return FACTS[self].artifact


@dataclass(frozen=True, slots=True)
class ChannelFacts:
    """A channel, with its sheet and its meaning.

    Attributes:
        artifact: number of the specification sheet that answers for it, two digits.
        sheet: that sheet's file name.
        meaning: how the difference comes in, in one line.
        rule_out: an experiment after which it can be excluded, in one line.
        check: number of the gate's check that judges the sheet.
    """

    artifact: str
    sheet: str
    meaning: str
    rule_out: str
    check: int


FACTS: Final[dict[Channel, ChannelFacts]] = {
    Channel.SEEDS: ChannelFacts(
        "02",
        "seed-governance-spec.md",
        "The runs began from other seeds, or derived them by another rule or name.",
        "Compare the master seed, the derivation rule and the sub-seed map of both records.",
        3,
    ),
    Channel.RNG: ChannelFacts(
        "03",
        "rng-isolation-spec.md",
        "Somebody drew from a stream that is not theirs, or from none that is governed.",
        "Compare the stream positions and draw counts at the last common compare-point.",
        4,
    ),
    Channel.SNAPSHOT: ChannelFacts(
        "04",
        "snapshot-strategy.md",
        "State that matters was not captured, or came back different.",
        "Run from the start instead of from a snapshot; restore and compare at once.",
        5,
    ),
    Channel.DIVERGENCE: ChannelFacts(
        "05",
        "divergence-protocol.md",
        "The runs are the same and the comparison is not: other points, projection or tolerance.",
        "Compare both with the same compare-points, projection and tolerance.",
        6,
    ),
    Channel.REPLAY: ChannelFacts(
        "06",
        "replay-infrastructure-spec.md",
        "The replay did other things than the run: code, config, inputs or order of restoring.",
        "Compare code and config hashes; replay the record on the machine that made it.",
        7,
    ),
    Channel.CONCURRENCY: ChannelFacts(
        "07",
        "concurrency-determinism-spec.md",
        "Threads, tasks or processes met in another order, or a set was walked in another.",
        "Run with one thread, one worker and one task at a time, and sort each set before it is walked.",
        11,
    ),
    Channel.FLOATING_POINT: ChannelFacts(
        "08",
        "floating-point-policy.md",
        "The same arithmetic was done in another order, precision or library.",
        "Pin BLAS and OpenMP to one thread and one kernel; compare the numeric probes.",
        12,
    ),
    Channel.GPU: ChannelFacts(
        "09",
        "gpu-determinism-config.md",
        "A kernel chose another algorithm, or added in the order in which its threads came.",
        "Run on the CPU, or with deterministic kernels only.",
        13,
    ),
    Channel.EFFECTS: ChannelFacts(
        "10",
        "external-effects-substitution.md",
        "The world answered differently: clock, entropy, files, network, environment, hash seed.",
        "Replay with recorded effects in a sealed session, in the surroundings recorded.",
        14,
    ),
    Channel.ENCODING: ChannelFacts(
        "11",
        "canonical-state-encoding.md",
        "Equal state got unequal bytes, or unequal state equal ones.",
        "Compare the decoded values; encode both by the same version.",
        15,
    ),
}
