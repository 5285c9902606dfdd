"""Whether and where two values differ: by canonical bytes, or under a tolerance.

One walk goes down both values. ``differences`` lists the fields in which canonical forms differ;
``Tolerance.same`` asks whether everything that differs is within a tolerance. Whether two samples
agree is the business of ``two_sample_tests``.

Invariant: two values of one canonical form have no difference, and are the same under every
tolerance.
"""

from __future__ import annotations

from twice.foundation.comparison.field_difference import (
    ABSENT,
    FieldDifference,
    Kind,
    print_value,
    short,
)
from twice.foundation.comparison.tolerance import (
    Abs,
    Exact,
    Quantum,
    Rel,
    Tolerance,
    Ulp,
    Verdict,
    tolerance_from_json,
    tolerance_of,
)
from twice.foundation.comparison.walk import differences

__all__ = [
    "ABSENT",
    "Abs",
    "Exact",
    "FieldDifference",
    "Kind",
    "Quantum",
    "Rel",
    "Tolerance",
    "Ulp",
    "Verdict",
    "differences",
    "print_value",
    "short",
    "tolerance_from_json",
    "tolerance_of",
]
