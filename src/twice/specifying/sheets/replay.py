"""06: what can be done with a record, and with how much proof."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, OneOf, Rows, Text, Whole
from twice.specifying.schema import Item, Sheet

OPERATIONS: Final = (
    "start", "step", "seek", "observe", "end", "branch", "step-with", "rollback", "verify", "rerun",
)  # fmt: skip

SHEET: Final = Sheet(
    "06",
    "replay-infrastructure-spec",
    "Replay infrastructure",
    "Two machines that are never one: replay that only looks, and branches that leave the record.",
    (
        Item(
            "operations",
            Rows(
                (
                    Column("kind", OneOf(("read-only", "branching"))),
                    Column("operation", OneOf(OPERATIONS)),
                    Column("workload", Text(), like="debugging"),
                ),
                least=1,
            ),
            "what is promised to work, and for whom",
        ),
        Item("lifecycle", Text(), "who opens sessions and how they end"),
        Item("validation", Text(), "what has to hold before a session starts"),
        Item("replay_or_rerun", Text(), "when a record is replayed and when it is run afresh"),
        Item("throughput", Text(), "how fast replay has to be beside recording"),
        Item("branches", Whole(0, 1000), "how many branches may be open at once", like=4),
        Item("processes", Text(), "how replay is bounded in memory and in time"),
    ),
)
