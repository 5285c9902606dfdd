"""Where the surroundings of two runs differ, by factor, and one with a single factor of the other.

A factor is what an experiment varies as one thing: a hash seed, all thread counts together, one other variable.

Invariant: swapping every factor of ``list_differing_factors(a, b)`` into ``a`` gives surroundings equal to ``b`` in
what a child sees.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from twice.errors import UsageError
from twice.foundation.dataclass import dataclass
from twice.recorder.environment import process_start as child
from twice.recorder.environment.surroundings import Surroundings, Variable

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
    "garbage collection": (child.CHILD_GC,),
    "switch interval": (child.CHILD_SWITCH,),
    "umask": (child.CHILD_UMASK,),
    "processors": (child.CHILD_CPUS,),
    "folder": (child.CHILD_FOLDER,),
    "clock offset": (child.CHILD_CLOCK_OFFSET,),
    "listing order": (child.CHILD_LISTINGS,),
    "task order": (child.CHILD_TASKS,),
    "addresses": (child.CHILD_ADDRESSES,),
}  # fmt: skip


@dataclass(frozen=True)
class DifferingFactor:
    """One factor in which the surroundings of two runs differ, and what swapping it did.

    Attributes:
        name: ``hash seed``, ``threads``, ``env NAME`` ...
        a: its variables on side a, as ``NAME=value`` in order; empty when undecided.
        b: the same on side b.
        flips: whether side a with this factor of b leaves side a's record; None when not tried.
    """

    name: str
    a: str
    b: str
    flips: bool | None = None


def list_differing_factors(a: Surroundings, b: Surroundings) -> list[DifferingFactor]:
    """Return the factors in which two surroundings differ, in a fixed order; the source does not count."""
    found = []
    for factor, names in _group_by_factor(a, b).items():
        apart = [
            name for name in names if not _is_same(a.variables.get(name), b.variables.get(name))
        ]
        if apart:
            found.append(DifferingFactor(factor, _describe(a, apart), _describe(b, apart)))
    return found


def swap(a: Surroundings, b: Surroundings, factor: str) -> Surroundings:
    """Copy ``a`` with one factor taken from ``b``, its undecided variables included.

    Raises:
        UsageError: E-USE-001, when neither side knows the factor.
    """
    grouped = _group_by_factor(a, b)
    if factor not in grouped:
        raise UsageError(
            f"There is no factor {factor!r} in these surroundings.",
            f"Known here: {', '.join(grouped)}.",
            "Name one of them.",
            factor=factor,
        )
    names = grouped[factor]
    kept = {name: value for name, value in a.variables.items() if name not in names}
    taken = {name: b.variables[name] for name in names if name in b.variables}
    return Surroundings({**kept, **taken})


def _group_by_factor(a: Surroundings, b: Surroundings) -> dict[str, list[str]]:
    """Return the variables of both by their factor; a variable that belongs to none is one: ``env NAME``."""
    grouped: dict[str, list[str]] = {factor: [] for factor in _FACTORS}
    for name in sorted({**a.variables, **b.variables}):
        factors = (
            factor
            for factor, patterns in _FACTORS.items()
            if any(fnmatchcase(name, pattern) for pattern in patterns)
        )
        grouped.setdefault(next(factors, f"env {name}"), []).append(name)
    return {factor: names for factor, names in grouped.items() if names}


def _is_same(a: Variable | None, b: Variable | None) -> bool:
    """Return whether a child would see the same value, whoever decided it."""
    if a is None or b is None:
        return a is b
    return a.digest == b.digest if a.digest or b.digest else a.value == b.value


def _describe(side: Surroundings, names: list[str]) -> str:
    """Write variables for people to read, with a secret's digest instead of its value."""
    known = [(name, side.variables[name]) for name in names if name in side.variables]
    return " ".join(
        f"{name}={f'redacted:{each.digest}' if each.digest else each.value or ''}"
        for name, each in known
    )
