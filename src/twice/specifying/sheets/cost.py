"""13: what determinism costs here, measured."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, Many, Rows, Text, Whole
from twice.specifying.schema import Item, Sheet

SHEET: Final = Sheet(
    "13",
    "cost-of-determinism",
    "Cost of determinism",
    "What each rule costs on this system, why this tier is worth it, and who moves when the budget is broken.",
    (
        Item(
            "rules",
            Rows(
                (
                    Column("rule", like="snapshots"),
                    Column("library", like="none"),
                    Column("refactoring", like="an hour"),
                    Column("operations", like="none"),
                    Column("cognitive", like="low"),
                ),
                least=1,
                unique="rule",
            ),
            "what each rule costs people; what it costs in time and bytes stands in the measured file",
            decides=False,  # Rules come and go with every measurement; what was given up stands in trades.
        ),
        Item("measured", Text(), "the file that twice cost wrote", decides=False),
        Item("justification", Text(), "why this tier and no other"),
        Item(
            "trades",
            Rows(
                (
                    Column("chosen", like="one thread"),
                    Column("instead_of", like="all cores"),
                    Column("why", Text(), like="sums keep their order"),
                ),
                unique="chosen",
            ),
            "libraries and features that were given up",
        ),
        Item(
            "boundary",
            Rows(
                (
                    Column("what", like="prices of the market"),
                    Column("crosses_as", like="effect"),
                    Column("why", Text(), like="a service makes them"),
                ),
                unique="what",
            ),
            "what is outside of the promise, and as what it comes in: an effect or an input",
        ),
        Item("budget_percent", Whole(0, 10_000), "how much slower a recorded run may be", like=50),
        Item("breach", Text(), "what is done when the budget is broken, and which sheet answers"),
        Item(
            "unmeasured",
            Many(),
            "rules of your own that nothing can measure, each with the reason: NAME: why",
            None,
        ),
    ),
)
