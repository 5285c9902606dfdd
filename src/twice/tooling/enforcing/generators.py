"""Global random generators: where they stand, whether they moved, and back.

A generator of a library that is not loaded cannot have been drawn from; none is loaded here.

Invariant: ``Generators.restore`` leaves each where it stood when the value was made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from twice.tooling.enforcing.reads import global_random


class Generators:
    """Where the global generators stand now."""

    def __init__(self) -> None:
        self._stood = {name: (read(), put) for name, read, put in _loaded()}

    def moved(self) -> list[str]:
        """Names of those that stand elsewhere now."""
        now = {name: read() for name, read, _ in _loaded()}
        return [
            name
            for name, (state, _) in self._stood.items()
            if name in now and not _same(now[name], state)
        ]

    def restore(self) -> None:
        """Put each back."""
        for state, put in self._stood.values():
            put(state)


def _loaded() -> list[tuple[str, Callable[[], Any], Callable[[Any], object]]]:
    found: list[tuple[str, Callable[[], Any], Callable[[Any], object]]] = []
    python = global_random()
    if python is not None:
        found.append(("the global generator of random", python.getstate, python.setstate))
    numpy = getattr(sys.modules.get("numpy.random"), "mtrand", None)
    if numpy is not None and hasattr(numpy, "_rand"):
        found.append(
            (
                "the global generator of numpy.random",
                lambda: numpy._rand.get_state(legacy=True),
                numpy._rand.set_state,
            )
        )
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_rng_state"):
        found.append(("the global generator of torch", torch.get_rng_state, torch.set_rng_state))
    return found


def _same(one: Any, other: Any) -> bool:
    """Whether two states are equal: tuples of numbers and arrays, or one array."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    equal: Any = one == other
    return bool(equal.all()) if hasattr(equal, "all") else bool(equal)
