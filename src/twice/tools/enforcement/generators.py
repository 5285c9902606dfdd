"""Global random generators: where they stand, whether they moved, and back.

A generator of a library that is not loaded cannot have been drawn from; none is loaded here.

Invariant: ``Generators.restore`` leaves each where it stood when the value was made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twice.tools.enforcement.reads import global_random


class Generators:
    """Where the global generators stand now."""

    def __init__(self) -> None:
        self._stood = {each.name: each.read() for each in _loaded()}

    def moved(self) -> list[str]:
        """Names of those that stand elsewhere now."""
        now = {each.name: each.read() for each in _loaded()}
        return [name for name, state in self._stood.items() if now.get(name, state) != state]

    def restore(self) -> None:
        """Put each back."""
        for each in _loaded():
            if each.name in self._stood:
                each.put(self._stood[each.name])


class _Global(NamedTuple):
    """One generator: its state as a value that can be compared, and put back."""

    name: str
    read: Callable[[], Any]
    put: Callable[[Any], object]


def _loaded() -> list[_Global]:
    found = []
    python = global_random()
    if python is not None:
        found.append(_Global("the global generator of random", python.getstate, python.setstate))
    numpy = getattr(getattr(sys.modules.get("numpy.random"), "mtrand", None), "_rand", None)
    if numpy is not None:
        found.append(_numpy(numpy))
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_rng_state"):
        found.append(_torch(torch))
    return found


def _numpy(generator: Any) -> _Global:
    def read() -> tuple[Any, ...]:
        kind, key, *rest = generator.get_state(legacy=True)
        return (kind, key.tobytes(), *rest)

    def put(state: tuple[Any, ...]) -> None:
        kind, key, *rest = state
        generator.set_state((kind, np.frombuffer(key, np.uint32), *rest))

    return _Global("the global generator of numpy.random", read, put)


def _torch(torch: Any) -> _Global:
    def read() -> bytes:
        return bytes(torch.get_rng_state().numpy().tobytes())

    def put(state: bytes) -> None:
        torch.set_rng_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))

    return _Global("the global generator of torch", read, put)
