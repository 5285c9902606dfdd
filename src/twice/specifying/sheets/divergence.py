"""05: where two runs are compared, and how the place where they part is found."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, Many, OneOf, Rows, Text
from twice.specifying.schema import Item, Sheet
from twice.specifying.tiers import Condition, Tier

SHEET: Final = Sheet(
    "05",
    "divergence-protocol",
    "Divergence protocol",
    "Compare-points, what is hashed at each, and the way from two runs that disagree to the operation where they part.",
    (
        Item(
            "granularity",
            OneOf(("tick", "decision", "snapshot", "episode")),
            "how dense compare-points are",
        ),
        Item(
            "projection", Many(least=1), 'components that are compared; ["*"] for all', like=["*"]
        ),
        Item("hash", Text(), "the digest over each"),
        Item("emission", Text(), "what emits compare-points, recording and replaying alike"),
        Item(
            "procedure",
            Many(
                OneOf(
                    (
                        "compare-points",
                        "binary-search",
                        "structured-comparison",
                        "re-execution",
                        "operation-tracing",
                    )
                ),
                1,
            ),
            "the steps from two runs to the operation, in order",
            like=["compare-points", "re-execution", "operation-tracing"],
        ),
        Item(
            "planted",
            Rows(
                (
                    Column("component", like="swarm"),
                    Column("field", like="positions"),
                    Column("tick", like="5"),
                )
            ),
            "where the gate plants a difference that has to be found",
            None,
        ),
        Item("retention", Text(), "how long compare-points are kept"),
        Item(
            "cross_process", Text(), "how processes' compare-points are joined", Condition(Tier.M)
        ),
    ),
)
