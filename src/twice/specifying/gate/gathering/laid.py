"""How what a scaffold laid down stands today.

Invariant: files are read, none is executed.
"""

from __future__ import annotations

from twice.errors import TwiceError
from twice.specifying.gate.facts import Unavailable
from twice.specifying.gate.gathering.bench import Bench, because
from twice.specifying.scaffold.lock import DriftStatus, measure_drift
from twice.specifying.workspace import open_workspace


def gather_laid(bench: Bench) -> tuple[DriftStatus, ...] | Unavailable:
    """Compare every file of the scaffold's lock with the project."""
    try:
        return measure_drift(open_workspace(bench.project))
    except TwiceError as error:
        return Unavailable(because(error))
