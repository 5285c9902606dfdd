"""01: when two runs count as the same."""

from __future__ import annotations

from typing import Final

from twice.foundation.determinism_class import Axis, DeterminismClass, Scope
from twice.specifying.kinds import DIGEST, Column, Flag, Many, Number, OneOf, Rows, Text, Whole
from twice.specifying.schema import Item, Sheet
from twice.specifying.sheets.scope import TIERS
from twice.specifying.tiers import ALWAYS, Condition

CLASSES: Final = OneOf(tuple(DeterminismClass))

SHEET: Final = Sheet(
    "01",
    "determinism-class",
    "Determinism class",
    "One sentence that a newcomer can apply: two runs are equivalent iff ... It drives everything else.",
    (
        Item("tier", TIERS, "the same as in 00"),
        Item("class", CLASSES, "bit-exact, logical or statistical"),
        Item("scope", OneOf(tuple(Scope)), "how far the promise reaches"),
        Item("axis", OneOf(tuple(Axis)), "determinism on this machine, reproducibility on others"),
        Item(
            "predicate",
            Text(),
            'the sentence, as twice words it: "two runs are equivalent iff ..."',
        ),
        Item(
            "contested",
            Flag(),
            "whether people still disagree; true stops the sheets after 01",
            like=False,
        ),
        Item(
            "measure",
            OneOf(("exact", "abs", "rel", "ulp", "quantum")),
            "how decisions are compared",
            Condition(classes=("logical",)),
        ),
        Item("epsilon", Number(), "within how much", Condition(classes=("logical", "statistical"))),
        Item(
            "summary",
            Text(),
            "the number that runs are compared by",
            Condition(classes=("statistical",)),
        ),
        Item(
            "test",
            OneOf(("mean", "ks", "multiset")),
            "how two samples are compared",
            Condition(classes=("statistical",)),
        ),
        Item(
            "seeds",
            Whole(2),
            "how many runs a sample has",
            Condition(classes=("statistical",)),
            like=30,
        ),
        Item(
            "power",
            Number(),
            "chance of passing two equal systems",
            Condition(classes=("statistical",)),
            like="0.8",
        ),
        Item(
            "subsystems",
            Rows((Column("name", like="swarm"), Column("class", CLASSES)), unique="name"),
            "components that have a class of their own",
            None,
        ),
        Item(
            "vector",
            Text(),
            "a record that every run of this code and seed has to reproduce",
            ALWAYS,
        ),
        # Evidence, not a promise: it moves whenever the program is changed and recorded anew.
        Item(
            "vector_digest",
            DIGEST,
            "where that record's chain of compare-points ends",
            decides=False,
        ),
        Item(
            "tolerates",
            Many(),
            "changes that do not break the class",
            None,
            like=["text", "04.retention"],
        ),
        Item(
            "closed_world", Flag(), "whether every effect can be recorded; false caps the tier at S"
        ),
    ),
)
