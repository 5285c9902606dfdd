"""Every kind of evidence, by its name in ``Facts``, in the order in which they are made.

Invariant: what a kind depends on is named: fields of the plan, and the files of the project.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from twice.specifying.gate.gathering.bench import Bench
from twice.specifying.gate.gathering.code import gather_code
from twice.specifying.gate.gathering.costs import gather_costs
from twice.specifying.gate.gathering.encoded import gather_encoded
from twice.specifying.gate.gathering.handoff import gather_handoff
from twice.specifying.gate.gathering.laid import gather_laid
from twice.specifying.gate.gathering.operations import gather_operations
from twice.specifying.gate.gathering.planting import gather_planted
from twice.specifying.gate.gathering.policies import gather_policies
from twice.specifying.gate.gathering.restored import gather_restored
from twice.specifying.gate.gathering.suite import gather_suite
from twice.specifying.gate.gathering.trial import (
    gather_reseeded,
    gather_sealed,
    gather_taken,
    gather_trial,
)
from twice.specifying.gate.gathering.varied import gather_varied
from twice.specifying.gate.gathering.vector import gather_vector

RUN: Final = (
    "program", "seed", "config", "predicate", "granularity", "cadence", "strategy", "algorithm",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of evidence.

    Args:
        gather: makes it.
        reads: the fields of the plan that it depends on.
        executes: whether code of the project is run for it.
    """

    gather: Callable[[Bench], object]
    reads: tuple[str, ...]
    executes: bool = True


KINDS: Final[dict[str, Kind]] = {
    "code": Kind(gather_code, ("sources",), executes=False),
    "taken": Kind(gather_taken, RUN),
    "trial": Kind(gather_trial, RUN),
    "sealed": Kind(gather_sealed, RUN),
    "reseeded": Kind(gather_reseeded, (*RUN, "reseeded")),
    "varied": Kind(gather_varied, (*RUN, "varied")),
    "vector": Kind(gather_vector, ("vector",)),
    "restored": Kind(gather_restored, RUN),
    "planted": Kind(gather_planted, (*RUN, "planted")),
    "operations": Kind(gather_operations, (*RUN, "operations")),
    "policies": Kind(gather_policies, RUN),
    "encoded": Kind(gather_encoded, ("vectors", "libraries"), executes=False),
    "suite": Kind(gather_suite, ("tests", "database")),
    "costs": Kind(gather_costs, ("measured",), executes=False),
    "handoff": Kind(gather_handoff, ("reference", "snapshot_text"), executes=False),
    "laid": Kind(gather_laid, (), executes=False),
}
