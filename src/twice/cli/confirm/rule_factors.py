"""Which experiment tells whether a finding is a fact: the factors that a rule speaks of.

A rule is known here by the words of its name, so that a new rule about an old thing needs no entry. What
is made anew in every run, as entropy is, needs no factor: two runs with nothing varied show it.

Invariant: a rule that no experiment here can tell about has none, and that is said, not guessed.
"""

from __future__ import annotations

from typing import Final

from twice.diagnosis.vary.report import BASELINE

_THREADS: Final = (BASELINE, "task order", "switch interval")
_FACTORS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("listing glob walk", ("listing order",)),
    ("set hash salted sum", ("hash seed", "memory layout")),
    ("id identity address repr text digest", (BASELINE, "memory layout", "hash seed")),
    ("blas unpinned", ("threads", "blas kernels")),
    ("transcendental libm", ("libm", "cpu features", "blas kernels")),
    ("completion completed concurrent executor parallel pool", _THREADS),
    ("race sleep thread threads unordered", _THREADS),
    ("zone naive", ("time zone", BASELINE, "clock offset")),
    ("clock time datetime date", (BASELINE, "clock offset")),
    ("locale", ("locale",)),
    ("environment environ getenv", ("locale", "time zone", "user and home", "environment")),
    ("cwd working", ("working directory",)),
    ("finalizer finaliser weak gc", ("garbage collection",)),
    ("unseeded entropy random uuid global none library", (BASELINE,)),
    ("network subprocess output unrecorded", (BASELINE,)),
)
"""Words of names, and what rules with one of them speak of."""


def find_factors(rule: str) -> tuple[str, ...]:
    """Give the factors that a rule speaks of, the likeliest first; none when no experiment tells.

    Args:
        rule: its name, words with hyphens.
    """
    words = {*rule.split("-")}
    if words >= {"blas", "threads"}:  # Threads of a library, not of the program.
        words -= {"threads"}
    found = [each for about, those in _FACTORS if words & {*about.split()} for each in those]
    return tuple(dict.fromkeys(found))
