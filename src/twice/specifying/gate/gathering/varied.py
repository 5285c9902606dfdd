"""The trial in other surroundings: schedules for what runs at once, threads and instructions for sums.

Invariant: a factor that changed nothing which the run could see is told as such, never as one that holds.
"""

from __future__ import annotations

from twice.diagnosis.vary.report import FactorResult
from twice.diagnosis.vary.search import vary
from twice.errors import TwiceError
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench, because
from twice.specifying.gate.machine import Varied


def gather_varied(bench: Bench) -> Varied | Unavailable:
    """Vary what the sheets say that the result does not hang on."""
    factors = bench.plan.varied
    if not factors:
        return Varied({})
    try:
        trial = bench.trial()
        bench.doing(f"running it with other {', '.join(factors)}")
        found = vary(trial, factors=factors, skip_unable=True)
    except TwiceError as error:
        return Unavailable(because(error))
    return Varied({each.factor: (each.result, _told(each)) for each in found.factors})


def _told(each: FactorResult) -> str:
    if each.divergence is not None:
        return each.divergence.to_text().partition("\n")[0]
    return each.reason or each.value
