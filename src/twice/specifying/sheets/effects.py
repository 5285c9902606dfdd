"""10: what is read from the world, and what stands for it in replay."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, Flag, Many, OneOf, Rows, Text
from twice.specifying.schema import Item, Sheet

SOURCES: Final = (
    "clock", "entropy", "environment", "filesystem", "network", "process", "stdin", "call",
)  # fmt: skip

SHEET: Final = Sheet(
    "10",
    "external-effects-substitution",
    "External effects",
    "Every question to the world, and the one layer it goes through: recorded and replayed, or a function of the run.",
    (
        Item(
            "inventory",
            Rows(
                (
                    Column("source", OneOf(SOURCES)),
                    Column("what", like="time.time"),
                    Column("pattern", OneOf(("record-and-replay", "deterministic-function"))),
                    Column("substitutable", Flag()),
                ),
                least=1,
            ),
            "what is asked, each operation by its name (files.read), and how it is substituted",
        ),
        Item("manifest", Text(), "where the list of what a run touched is kept and compared"),
        Item(
            "audit",
            Many(least=1),
            "folders and files whose questions to the world are audited",
            like=["src"],
        ),
        Item(
            "forbidden",
            Many(),
            "names that code in the core must not call",
            None,
            like=["time.sleep"],
        ),
        Item(
            "accepted",
            Rows(
                (
                    Column("place", like="swarm.py:report"),
                    Column("why", Text(), like="reaches no state"),
                ),
                unique="place",
            ),
            "questions beside the layer that are accepted: file.py:function",
            None,
        ),
    ),
)
