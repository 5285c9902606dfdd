"""Which experiment tells whether a finding is a fact: the factors that a rule speaks of.

A rule is known here by the words of its name, so that a new rule about an old thing needs no entry. What
is made anew in every run, as entropy is, needs no factor: two runs with nothing varied show it.

Invariant: a rule that no experiment here can tell about has none, and that is said, not guessed.
"""

from __future__ import annotations

from typing import Final

from twice.diagnosis.vary.report import BASELINE

_ITSELF: Final = (BASELINE,)
_CONCURRENT: Final = ("task order", "switch interval")
_FACTORS: Final[tuple[tuple[frozenset[str], tuple[str, ...]], ...]] = (
    (frozenset({"listing", "glob", "walk"}), ("listing order",)),
    (frozenset({"set", "hash", "salted", "sum"}), ("hash seed", "memory layout")),
    (
        frozenset({"id", "identity", "address", "repr", "text", "digest"}),
        (*_ITSELF, "memory layout", "hash seed"),
    ),
    (frozenset({"blas", "unpinned"}), ("threads", "blas kernels")),
    (frozenset({"transcendental", "libm"}), ("libm", "cpu features", "blas kernels")),
    (
        frozenset({"completion", "completed", "concurrent", "executor", "parallel", "pool"}),
        (*_ITSELF, *_CONCURRENT),
    ),
    (
        frozenset({"race", "sleep", "thread", "threads", "unordered"}),
        (*_ITSELF, *_CONCURRENT),
    ),
    (frozenset({"zone", "naive"}), ("time zone", *_ITSELF, "clock offset")),
    (frozenset({"clock", "time", "datetime", "date"}), (*_ITSELF, "clock offset")),
    (frozenset({"locale"}), ("locale",)),
    (
        frozenset({"environment", "environ", "getenv"}),
        ("locale", "time zone", "user and home", "environment"),
    ),
    (frozenset({"cwd", "working"}), ("working directory",)),
    (frozenset({"finalizer", "finaliser", "weak", "gc"}), ("garbage collection",)),
    (frozenset({"unseeded", "entropy", "random", "uuid", "global", "none", "library"}), _ITSELF),
    (frozenset({"network", "subprocess", "output", "unrecorded"}), _ITSELF),
)


def factors_of(rule: str) -> tuple[str, ...]:
    """Give the factors that a rule speaks of, the likeliest first; none when no experiment tells.

    Args:
        rule: its name, words with hyphens.
    """
    words = frozenset(rule.split("-"))
    if words >= {"blas", "threads"}:  # Threads of a library, not of the program.
        words -= {"threads"}
    found: dict[str, None] = {}
    for about, factors in _FACTORS:
        if not words.isdisjoint(about):
            found.update(dict.fromkeys(factors))
    return tuple(found)
