"""99: all of it together, once a fresh gate has passed."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import DIGEST, VERSION, Column, Many, Rows, Text
from twice.specifying.schema import Item, Sheet

SHEET: Final = Sheet(
    "99",
    "determinism-and-replay-specification",
    "Determinism and replay",
    "What other documents cite: the versions it stands for, the findings each sheet covers, the report that passed.",
    (
        Item(
            "sheets",
            Rows(
                (Column("id", like="02"), Column("version", VERSION), Column("digest", DIGEST)),
                least=1,
                unique="id",
            ),
            "the versions that it consolidates; twice spec consolidate writes them",
        ),
        Item("gate", Text(), "the report of the gate that passed", None, decides=False),
        Item("gate_digest", DIGEST, "that report's digest", None, decides=False),
        Item(
            "findings",
            Rows(
                (Column("sheet", like="02"), Column("rules", Many(least=1), like=["literal-seed"])),
                unique="sheet",
            ),
            "which findings of twice check each sheet covers",
            None,
        ),
        Item("rule", Text(), "how versions move"),
    ),
)
