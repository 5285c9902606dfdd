"""What is pinned around a child process, as a value.

A session never runs a program in whatever environment its caller happens to have. ``deciding`` says
what a recording's surroundings are, ``value`` is what the record keeps, ``applying`` gives it to a
child, ``handed`` is what the child does to itself, ``factors`` compares two and swaps one factor
for an experiment. What is not here: measuring what came of it (``environment``) and starting the
child.

Invariant: verification and experiments run in recorded surroundings, never in the caller's.
"""

from __future__ import annotations

from twice.recorder.surroundings.applying import environ_for_child
from twice.recorder.surroundings.deciding import THREAD_CAPS, Pins, for_recording
from twice.recorder.surroundings.factor_differences import (
    SurroundingsDifference,
    differences,
    factor_of,
    swap,
)
from twice.recorder.surroundings.value import Surroundings, Variable, WorkingDirectory

__all__ = [
    "THREAD_CAPS",
    "Pins",
    "Surroundings",
    "SurroundingsDifference",
    "Variable",
    "WorkingDirectory",
    "differences",
    "environ_for_child",
    "factor_of",
    "for_recording",
    "swap",
]
