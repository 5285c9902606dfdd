"""The seventeen checks, a few of one kind in each file.

A check fails with what is wrong and where, or it names what was seen. Making evidence is not its business,
nor waiving.

Invariant: a check is pure.
"""

from __future__ import annotations

from typing import Final

from twice.specification.gate.checks import cost_record, documents, effects, runs, surroundings
from twice.specification.gate.model import Check

CHECKS: Final[tuple[Check, ...]] = (
    documents.check_tier_coverage,
    documents.check_class_clarity,
    runs.check_seed_lineage,
    runs.check_rng_isolation,
    runs.check_snapshot_honesty,
    runs.check_divergence_localisation,
    runs.check_replay_scope,
    documents.check_hand_over,
    documents.check_versioning,
    documents.check_test_vector,
    surroundings.check_concurrency,
    surroundings.check_floating_point,
    surroundings.check_gpu,
    effects.check_external_effects,
    effects.check_encoding,
    effects.check_property_tests,
    cost_record.check_cost_record,
)
