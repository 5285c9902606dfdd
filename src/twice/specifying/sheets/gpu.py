"""09: what keeps a GPU's results the same."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, Rows, Text
from twice.specifying.schema import Item, Sheet

SHEET: Final = Sheet(
    "09",
    "gpu-determinism-config",
    "GPU",
    "Every switch of the framework, the driver and the card, set at the start of a run and read back.",
    (
        Item(
            "knobs",
            Rows(
                (Column("name", like="use_deterministic_algorithms"), Column("value", like="true")),
                least=1,
                unique="name",
            ),
            "switches and what they are set to",
        ),
        Item("driver", Text(), "the driver's version"),
        Item("sku", Text(), "the cards on which the promise holds"),
        Item("atomics", Text(), "which kernels add with atomics, and what was decided"),
        Item("multi_gpu", Text(), "how several cards are ordered"),
    ),
)
