"""99: all of it together, once a fresh gate has passed."""

from __future__ import annotations

from typing import Final

from twice.specifying.schema import DIGEST, VERSION, Column, Item, Many, Rows, Sheet, Text

SHEET: Final = Sheet(
    "99",
    "determinism-and-replay-specification",
    "Determinism and replay",
    "What other documents cite: the versions it stands for, the findings each sheet covers, the report that passed.",
    (
        Item(
            "sheets",
            Rows(
                (Column("id"), Column("version", VERSION), Column("digest", DIGEST)),
                least=1,
                unique="id",
            ),
            "the versions that it consolidates; twice spec consolidate writes them",
        ),
        Item("gate", Text(), "the report of the gate that passed", None, decides=False),
        Item("gate_digest", DIGEST, "that report's digest", None, decides=False),
        Item(
            "findings",
            Rows((Column("sheet"), Column("rules", Many(least=1))), unique="sheet"),
            "which findings of twice check each sheet covers",
            None,
        ),
        Item("rule", Text(), "how versions move"),
    ),
)
