"""Where two surroundings differ, by factor, and one with a single factor of the other.

A factor is what an experiment varies as one thing: a hash seed, all thread caps together, one other
variable. Running the experiment lives in ``diagnosis``.

Invariant: swapping every factor of ``differences(a, b)`` into ``a`` gives surroundings equal to
``b`` in what a child sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from twice.errors import UsageError
from twice.foundation.dataclass import dataclass
from twice.recorder.environment.surroundings import Surroundings, Variable

WORKING_DIRECTORY: Final = "working directory"

_FACTORS: Final = {
    "hash seed": ("PYTHONHASHSEED",),
    "threads": (
        "*_NUM_THREADS", "*_MAXIMUM_THREADS", "*_DYNAMIC", "*_MAX_THREADS", "OMP_THREAD_LIMIT",
    ),
    "cpu dispatch": (
        "OPENBLAS_CORETYPE", "NPY_*_CPU_FEATURES", "GLIBC_TUNABLES", "ATEN_CPU_CAPABILITY",
        "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS",
    ),
    "locale": ("LANG", "LANGUAGE", "LC_*"),
    "time zone": ("TZ",),
    "user and home": ("HOME", "USER", "LOGNAME"),
    "memory layout": ("PYTHONMALLOC",),
    "garbage collection": ("TWICE_CHILD_GC",),
    "switch interval": ("TWICE_CHILD_SWITCH_INTERVAL",),
    "umask": ("TWICE_CHILD_UMASK",),
    "processors": ("TWICE_CHILD_CPUS",),
    "folder": ("TWICE_CHILD_FOLDER",),
    "clock offset": ("TWICE_CHILD_CLOCK_OFFSET",),
    "listing order": ("TWICE_CHILD_LISTINGS",),
    "task order": ("TWICE_CHILD_TASKS",),
    "addresses": ("TWICE_CHILD_ADDRESSES",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SurroundingsDifference:
    """One factor in which two surroundings differ.

    Args:
        factor: its name, as ``swap`` takes it.
        a: the factor's variables on one side, as ``NAME=value`` in order; empty when undecided.
        b: the same on the other side.
    """

    factor: str
    a: str
    b: str


def differences(a: Surroundings, b: Surroundings) -> list[SurroundingsDifference]:
    """Return the factors in which two surroundings differ, in a fixed order; the source does not count."""
    found = []
    for factor, names in _by_factor(a, b).items():
        apart = [name for name in names if not _same(a.variables.get(name), b.variables.get(name))]
        if apart:
            found.append(SurroundingsDifference(factor, _shown(a, apart), _shown(b, apart)))
    if a.cwd != b.cwd:
        found.append(SurroundingsDifference(WORKING_DIRECTORY, a.cwd, b.cwd))
    return found


def swap(a: Surroundings, b: Surroundings, factor: str) -> Surroundings:
    """Copy ``a`` with one factor taken from ``b``, its undecided variables included.

    Raises:
        UsageError: E-USE-001, when neither side knows the factor.
    """
    if factor == WORKING_DIRECTORY:
        return replace(a, cwd=b.cwd)
    names = _by_factor(a, b).get(factor)
    if names is None:
        raise UsageError(
            f"There is no factor {factor!r} in these surroundings.",
            f"Known here: {', '.join((*_by_factor(a, b), WORKING_DIRECTORY))}.",
            "Name one of them.",
            factor=factor,
        )
    kept = {name: value for name, value in a.variables.items() if name not in names}
    taken = {name: b.variables[name] for name in names if name in b.variables}
    return replace(a, variables={**kept, **taken})


def factor_of(name: str) -> str:
    """Return the factor that a variable belongs to; ``env NAME`` if it belongs to none."""
    for factor, patterns in _FACTORS.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return factor
    return f"env {name}"


def _by_factor(a: Surroundings, b: Surroundings) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {factor: [] for factor in _FACTORS}
    for name in sorted({**a.variables, **b.variables}):
        grouped.setdefault(factor_of(name), []).append(name)
    return {factor: names for factor, names in grouped.items() if names}


def _same(a: Variable | None, b: Variable | None) -> bool:
    return a is b or (a is not None and b is not None and a.same_as(b))


def _shown(side: Surroundings, names: list[str]) -> str:
    decided: Mapping[str, Variable] = side.variables
    return " ".join(f"{name}={decided[name].shown}" for name in names if name in decided)
