"""How the surroundings of a recording are decided.

A variable that the user has set is respected. One that decides results and was not set is pinned:
hash seed 0, ``C.UTF-8``, UTC. The number of threads of numerical libraries is kept: what they would have
started is written down, and holds in every replay. A variable given by ``--env`` is explicit and wins.

Invariant: whatever is decided here is written into the record, with who decided it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from twice.errors import SurroundingsRefused
from twice.foundation.dataclass import dataclass
from twice.recorder.surroundings.thread_counts import usual_counts
from twice.recorder.surroundings.value import (
    Surroundings,
    Variable,
    WorkingDirectory,
    explicit_variable,
    require_passable,
)
from twice.recorder.variables import is_governed

THREAD_CAPS: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """The values for what the user has left open.

    Args:
        hash_seed: of str and bytes, 0 to 4294967295.
        threads: of BLAS and OpenMP, 1 or more; None keeps what the libraries would start.
        locale: for ``LANG`` and ``LC_ALL``.
        time_zone: for ``TZ``.
        cwd: where the child stands.
    """

    hash_seed: int = 0
    threads: int | None = None
    locale: str = "C.UTF-8"
    time_zone: str = "UTC"
    cwd: WorkingDirectory = "caller"


def for_recording(
    environ: Mapping[str, str],
    *,
    explicit: Mapping[str, str] | None = None,
    pins: Pins | None = None,
) -> Surroundings:
    """Decide the surroundings of a recording.

    Args:
        environ: the caller's environment.
        explicit: variables given by ``--env NAME=VALUE``; they win over ``environ``.
        pins: values for what neither of them sets.

    An empty variable counts as not set. When any variable of the locale is set, none is pinned,
    because ``LC_ALL`` would override the user's ``LANG``. A library's thread count that is not set
    follows the user's ``OMP_NUM_THREADS``, as the library itself would.

    Raises:
        SurroundingsRefused: E-ENV-001, a hash seed that is ``random`` or not a number in range, or
            a name or value that no process can be given.
    """
    given = dict(explicit or {})
    decided: dict[str, Variable] = {
        name: Variable(value, "set")
        for name, value in environ.items()
        if is_governed(name) and value
    }
    decided.update((name, explicit_variable(name, value)) for name, value in given.items())
    for name, variable in decided.items():
        require_passable(name, variable.value or "")
    seed = decided.get("PYTHONHASHSEED")
    if seed is not None:
        _require_hash_seed(seed.value or "")
    decided.update(_pinned(decided, pins or Pins()))
    return Surroundings(decided, (pins or Pins()).cwd)


def _pinned(decided: Mapping[str, Variable], pins: Pins) -> dict[str, Variable]:
    wanted = {"PYTHONHASHSEED": str(pins.hash_seed), "TZ": pins.time_zone}
    wanted.update(dict.fromkeys(("OMP_DYNAMIC", "MKL_DYNAMIC"), "FALSE"))
    if not any(name in ("LANG", "LANGUAGE") or name.startswith("LC_") for name in decided):
        wanted.update(dict.fromkeys(("LANG", "LC_ALL"), pins.locale))
    made = {name: Variable(value, "pinned") for name, value in wanted.items()}
    made.update(_threads(decided, pins))
    return {name: variable for name, variable in made.items() if name not in decided}


def _threads(decided: Mapping[str, Variable], pins: Pins) -> dict[str, Variable]:
    openmp = decided.get("OMP_NUM_THREADS")
    if openmp is not None and openmp.value:
        return dict.fromkeys(THREAD_CAPS, Variable(openmp.value, "pinned"))
    if pins.threads is not None:
        return dict.fromkeys(THREAD_CAPS, Variable(str(pins.threads), "pinned"))
    return {name: Variable(count, "kept") for name, count in usual_counts().items()}


def _require_hash_seed(value: str) -> None:
    if not re.fullmatch(r"[0-9]{1,10}", value) or int(value) >= 2**32:
        raise SurroundingsRefused(
            f"PYTHONHASHSEED is {value!r}, so the order of sets would be another in each process.",
            "A run needs a number from 0 to 4294967295, or none, and then 0 is pinned.",
            "Unset it: env -u PYTHONHASHSEED twice …, or give a number: PYTHONHASHSEED=0 twice …",
            variable="PYTHONHASHSEED",
            value=value,
        )
