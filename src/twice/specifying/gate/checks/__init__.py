"""The seventeen checks, one file each.

Lives here: what each check asks of sheets and evidence. Making evidence does not, nor waiving.

Invariant: a check is pure; it fails with what is wrong and where, or it names what was seen.
"""

from __future__ import annotations

from typing import Final

from twice.specifying.gate.check import Check
from twice.specifying.gate.checks.class_clarity import CHECK as _CLASS
from twice.specifying.gate.checks.concurrency_named import CHECK as _CONCURRENCY
from twice.specifying.gate.checks.cost_record import CHECK as _COST
from twice.specifying.gate.checks.divergence_localisation import CHECK as _DIVERGENCE
from twice.specifying.gate.checks.effects_substituted import CHECK as _EFFECTS
from twice.specifying.gate.checks.encoding import CHECK as _ENCODING
from twice.specifying.gate.checks.floating_point import CHECK as _FLOATING_POINT
from twice.specifying.gate.checks.gpu import CHECK as _GPU
from twice.specifying.gate.checks.handover import CHECK as _HANDOVER
from twice.specifying.gate.checks.known_run import CHECK as _KNOWN_RUN
from twice.specifying.gate.checks.property_tests import CHECK as _PROPERTIES
from twice.specifying.gate.checks.replay_scope import CHECK as _REPLAY
from twice.specifying.gate.checks.seed_lineage import CHECK as _SEEDS
from twice.specifying.gate.checks.snapshot_honesty import CHECK as _SNAPSHOTS
from twice.specifying.gate.checks.stream_isolation import CHECK as _STREAMS
from twice.specifying.gate.checks.tier_coverage import CHECK as _TIERS
from twice.specifying.gate.checks.versioning import CHECK as _VERSIONS

CHECKS: Final[tuple[Check, ...]] = (
    _TIERS, _CLASS, _SEEDS, _STREAMS, _SNAPSHOTS, _DIVERGENCE, _REPLAY, _HANDOVER, _VERSIONS,
    _KNOWN_RUN, _CONCURRENCY, _FLOATING_POINT, _GPU, _EFFECTS, _ENCODING, _PROPERTIES, _COST,
)  # fmt: skip
