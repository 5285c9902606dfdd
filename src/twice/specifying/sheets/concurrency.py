"""07: what runs at the same time, and why that does not matter."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, Many, OneOf, Rows, Text
from twice.specifying.schema import Item, Sheet
from twice.specifying.tiers import ALWAYS

STRATEGIES: Final = ("lockstep", "recorded-schedule", "schedule-independent")

SHEET: Final = Sheet(
    "07",
    "concurrency-determinism-spec",
    "Concurrency",
    "A strategy for each subsystem that runs beside others: A lockstep, B recorded schedule, C schedule-independent.",
    (
        Item(
            "model",
            Many(OneOf(("threads", "processes", "tasks", "actors")), 1),
            "what runs at once",
        ),
        Item(
            "subsystems",
            Rows(
                (
                    Column("name", like="workers"),
                    Column("strategy", OneOf(STRATEGIES)),
                    Column("how", Text(), like="all wait for each other after every tick"),
                ),
                least=1,
                unique="name",
            ),
            "one strategy each",
        ),
        Item(
            "sensitive",
            Rows(
                (
                    Column("operation", like="messages arrive"),
                    Column("ordered_by", Text(), like="sender and number"),
                ),
                least=1,
                unique="operation",
            ),
            "operations whose result depends on the schedule, and what orders them",
        ),
        Item(
            "trace_format",
            Text(),
            "the form of a recorded schedule; none where no strategy is B",
            None,
        ),
        Item("distributed", Text(), "how workers are counted, seeded and ordered", ALWAYS),
    ),
)
