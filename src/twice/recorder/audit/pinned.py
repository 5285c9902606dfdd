"""What cannot differ between executions, because the session decides it: the eliminated sources.

Invariant: a row stands here only when its value is fixed by the record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twice.recorder.setup import Setup

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_LOCALE = ("LC_ALL", "LANG", "LC_CTYPE")


def pinned(setup: Setup, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the eliminated sources of a session and their settings, by name."""
    found = {"random.globals": "generators of random and numpy begin from the run's seed"}
    if environ.get("PYTHONHASHSEED", "random") != "random":
        found["hash.seed"] = f"PYTHONHASHSEED={environ['PYTHONHASHSEED']}"
    for source, names in (
        ("threads.numeric", _THREADS),
        ("locale", _LOCALE),
        ("timezone", ("TZ",)),
    ):
        values = [f"{name}={environ[name]}" for name in names if name in environ]
        if values:
            found[source] = ", ".join(values)
    if setup.clock is not None:
        found["clock"] = f"a function of the tick: {setup.clock}"
    return found
