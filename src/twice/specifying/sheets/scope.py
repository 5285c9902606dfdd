"""00: what is specified, what for, and what the system has."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, Flag, Many, OneOf, Rows, Text, Whole
from twice.specifying.schema import Item, Sheet
from twice.specifying.tiers import Tier, Trait

TIERS: Final = OneOf(tuple(Tier))

SHEET: Final = Sheet(
    "00",
    "scope-and-goals",
    "Scope and goals",
    "Which system is meant, what its past has to be recoverable for, and what it has that could part two runs.",
    (
        Item("tier", TIERS, "how far replay reaches; the same as in 01"),
        Item("program", Text(), "what is executed: file.py:function or module:function"),
        Item("seed", Whole(), "the master seed of the runs that the gate makes"),
        Item(
            "config",
            Many(),
            'its configuration, as key=value, for example "n=100"',
            None,
            like=["n=100"],
        ),
        Item(
            "sources",
            Many(least=1),
            "folders and files of the code, from the project's root",
            like=["src"],
        ),
        Item("goals", Many(Text(), 1), "what the past has to be recoverable for"),
        Item("out_of_scope", Many(), "what is not promised, in words", None),
        Item(
            "traits",
            Rows(
                (
                    Column("name", OneOf(tuple(Trait))),
                    Column("here", Flag()),
                    Column("why", Text(), like="looked at: no threads, no processes"),
                ),
                least=len(Trait),
                unique="name",
            ),
            "what the system has; what it has not makes sheets and checks unnecessary, for the reason given",
        ),
    ),
)
