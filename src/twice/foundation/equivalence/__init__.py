"""What "the same" means for one value, and for many: tolerances and two-sample tests.

``measures`` are the tolerances, ``distances`` how far two numbers are apart, ``walking`` how a
nested value is compared leaf by leaf, ``samples`` what the statistical class compares.

Invariant: the record is the reference; a tolerance is never chained from one point to the next.
"""

from twice.foundation.equivalence.measures import (
    Abs,
    Equivalence,
    Exact,
    Quantum,
    Rel,
    Ulp,
    equivalence_from_json,
    parse_equivalence,
)
from twice.foundation.equivalence.samples import (
    SampleVerdict,
    ks_distance,
    ks_within,
    means_within,
    multisets_same,
    sample_size_needed,
)
from twice.foundation.equivalence.walking import Verdict

__all__ = [
    "Abs",
    "Equivalence",
    "Exact",
    "Quantum",
    "Rel",
    "SampleVerdict",
    "Ulp",
    "Verdict",
    "equivalence_from_json",
    "ks_distance",
    "ks_within",
    "means_within",
    "multisets_same",
    "parse_equivalence",
    "sample_size_needed",
]
