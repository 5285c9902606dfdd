"""13: what determinism costs here, measured."""

from __future__ import annotations

from typing import Final

from twice.specifying.schema import Column, Item, Many, Rows, Sheet, Text, Whole

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
                    Column("rule"),
                    Column("performance"),
                    Column("storage"),
                    Column("library"),
                    Column("refactoring"),
                    Column("operations"),
                    Column("cognitive"),
                ),
                least=1,
                unique="rule",
            ),
            "each rule's costs; performance and storage as twice cost measured them",
            decides=False,  # Figures move with every measurement; what was given up stands in trades.
        ),
        Item("measured", Text(), "the file that twice cost wrote", decides=False),
        Item("justification", Text(), "why this tier and no other"),
        Item(
            "trades",
            Rows((Column("chosen"), Column("instead_of"), Column("why", Text())), unique="chosen"),
            "libraries and features that were given up",
        ),
        Item(
            "boundary",
            Rows((Column("what"), Column("crosses_as"), Column("why", Text())), unique="what"),
            "what is outside of the promise, and as what it comes in: an effect or an input",
        ),
        Item("budget_percent", Whole(0, 10_000), "how much slower a recorded run may be"),
        Item("breach", Text(), "what is done when the budget is broken, and which sheet answers"),
        Item("unmeasured", Many(), "rules that could not be toggled here, with the reason", None),
    ),
)
