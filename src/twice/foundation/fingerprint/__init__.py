"""The environment of a run as a value, and how two of them differ.

A fingerprint holds what decides the bits of a computation besides its inputs: interpreter, system,
processor, library versions, BLAS kernels and threads, variables, and *probes*: short computations
whose result bits tell machines apart. ``value`` says what it is, ``differences`` compares two. What
is not here: measuring (``twice.recording.environment``), and whether a session may start.

Invariant: a probe's name stands for one computation for ever; a changed one gets a new name.
"""

from __future__ import annotations

from twice.foundation.fingerprint.differences import (
    Affects,
    EnvironmentDifference,
    differences,
    probes_that_matter,
)
from twice.foundation.fingerprint.value import (
    FORMAT,
    BlasFacts,
    CpuFacts,
    Fingerprint,
    OsFacts,
    PythonFacts,
)

__all__ = [
    "FORMAT",
    "Affects",
    "BlasFacts",
    "CpuFacts",
    "EnvironmentDifference",
    "Fingerprint",
    "OsFacts",
    "PythonFacts",
    "differences",
    "probes_that_matter",
]
