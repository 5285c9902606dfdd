"""08: what keeps arithmetic the same."""

from __future__ import annotations

from typing import Final

from twice.specifying.kinds import Column, Number, OneOf, Rows, Text, Whole
from twice.specifying.schema import Item, Sheet
from twice.specifying.tiers import Condition

SHEET: Final = Sheet(
    "08",
    "floating-point-policy",
    "Floating point",
    "Which libraries, how many threads, which order of sums: what is pinned before the first operation, and asserted.",
    (
        Item("implication", Text(), "what the declared class means for numbers"),
        Item(
            "pins",
            Rows(
                (Column("library", like="numpy"), Column("version", like="2.2.0")),
                least=1,
                unique="library",
            ),
            "libraries whose bits are relied on: NumPy, its BLAS, and the C library for libm",
        ),
        Item(
            "reductions",
            OneOf(("sequential", "kahan", "pairwise", "fixed-threads")),
            "the order of sums",
        ),
        Item("fma", OneOf(("allowed", "forbidden", "as-compiled")), "fused multiply-add"),
        Item("threads", Whole(1, 1024), "threads of BLAS and OpenMP"),
        Item("denormals", OneOf(("kept", "flushed")), "what becomes of subnormal numbers"),
        Item("epsilon", Number(), "within how much", Condition(classes=("logical", "statistical"))),
        Item("hash_policy", Text(), "what of a number is hashed: all bits, or a quantum"),
    ),
)
