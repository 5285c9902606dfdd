"""Numeric probes: short computations whose result bits tell one machine or setting from another.

Knobs lie silently (an unknown kernel name, a renamed CPU feature and a missing colon are all
accepted and ignored), so what a setting did is read from results. Each probe runs a fixed
computation on exact inputs and keeps the first 16 hex digits of BLAKE3 of its little-endian results.

``scalars`` covers the interpreter, the C library and the floating-point unit; ``arrays`` numpy's
element-wise kernels and generators; ``matrices`` BLAS and LAPACK; ``tensors`` PyTorch, only when
the process has loaded it already. What is not here: deciding what a moved probe means
(``twice.foundation.environment``).

Invariant: a probe draws from no global generator, changes no global setting, and its name stands
for this one computation for ever; a changed computation gets a new name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping

from twice.errors import UsageError
from twice.foundation.digests import digest_bytes

Probe = Callable[[], bytes]

UNPINNED = "unpinned"
"""Stands for a probe whose result no setting holds still: the hash order of an unpinned seed."""

_MODULES = {
    "float": "scalars", "hash": "scalars", "libm": "scalars", "python": "scalars",
    "numpy": "arrays", "random": "arrays", "blas": "matrices", "lapack": "matrices",
    "torch": "tensors",
}  # fmt: skip

GROUPS: tuple[str, ...] = tuple(_MODULES)


def run_probes(groups: Collection[str] | None = None) -> dict[str, str]:
    """Run the probes of some groups, all by default.

    Args:
        groups: first parts of probe names: ``float``, ``hash``, ``libm``, ``python``, ``numpy``,
            ``random``, ``blas``, ``lapack``, ``torch``.

    Returns:
        By probe name, in sorted order, 16 hex digits, or ``unpinned`` (see ``UNPINNED``).

    The result belongs to the calling thread: denormal and rounding modes are per thread.

    Raises:
        UsageError: E-USE-001, for a group that there is not.
    """
    wanted = GROUPS if groups is None else tuple(groups)
    unknown = [name for name in wanted if name not in GROUPS]
    if unknown:
        raise UsageError(
            f"There is no probe group {unknown[0]!r}.",
            f"Groups: {', '.join(GROUPS)}.",
            "Name one of them.",
            group=unknown[0],
        )
    results: dict[str, str] = {}
    for name, probe in sorted(_table(wanted).items()):
        bits = probe()
        results[name] = digest_bytes(bits).hex[:16] if bits else UNPINNED
    return results


def _table(groups: Collection[str]) -> dict[str, Probe]:
    tables: list[Mapping[str, Probe]] = []
    if any(_MODULES[name] == "scalars" for name in groups):
        from twice.recorder.probes import scalars

        tables.append(scalars.PROBES)
    if any(_MODULES[name] == "arrays" for name in groups):
        from twice.recorder.probes import arrays

        tables.append(arrays.probes())
    if any(_MODULES[name] == "matrices" for name in groups):
        from twice.recorder.probes import matrices

        tables.append(matrices.probes())
    if "torch" in groups and "torch" in sys.modules:
        from twice.recorder.probes import tensors

        tables.append(tensors.probes())
    return {
        name: probe
        for table in tables
        for name, probe in table.items()
        if name.partition(".")[0] in groups
    }
