"""Entropy: how it is read live, recorded, replayed, and what stays outside.

Covered: ``os.urandom``, and through ``random._urandom`` also ``secrets``, ``SystemRandom``,
``uuid4`` and numpy's unseeded constructors; and ``random.Random()`` or ``random.seed()`` without a
seed, which are given recorded entropy instead of the kernel's.

Not covered: ``os.getrandom``, ``/dev/urandom`` opened as a file, ``uuid1``, ``ssl``, and generators
that seed themselves in C (torch).

Invariant: recording returns the bytes that the kernel gave.
"""

from __future__ import annotations

import os as _os
from collections.abc import Callable
from typing import Any

from twice.recording.effects import ops
from twice.recording.effects.layer import EffectLayer

_REAL_URANDOM = _os.urandom
_SEED_BYTES = 32


def governed_urandom(layer: EffectLayer) -> Callable[[int], bytes]:
    """A replacement for ``os.urandom`` and ``random._urandom``."""

    def urandom(size: int, /) -> bytes:
        def live() -> bytes:
            return _REAL_URANDOM(size)

        if not layer.is_governed():
            layer.count_ungoverned(ops.URANDOM)
            return live()
        if not layer.is_strict(layer.asker()):
            return _lenient(layer, size)
        value = layer.read(ops.URANDOM, live, int(size))
        assert isinstance(value, bytes), "entropy is recorded as bytes"
        return value

    return urandom


def _lenient(layer: EffectLayer, size: int) -> bytes:
    value = layer.read_lenient(ops.URANDOM, lambda: (size, _REAL_URANDOM(size)))
    if isinstance(value, tuple) and len(value) == 2 and value[0] == size:
        return bytes(value[1])
    return _REAL_URANDOM(size)


def governed_seed(layer: EffectLayer, real: Callable[..., None]) -> Callable[..., None]:
    """A replacement for ``random.Random.seed``: no seed means recorded entropy."""
    urandom = governed_urandom(layer)

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        if a is None and layer.is_governed():
            a = int.from_bytes(urandom(_SEED_BYTES), "little")
        real(self, a, version)

    return seed


class Entropy:
    """``run.effects.entropy``: recorded randomness from the system, asked by name.

    For reproducible draws use ``run.rng``; this is for identifiers and keys whose value is the
    world's to choose.
    """

    def __init__(self, layer: EffectLayer) -> None:
        self._layer = layer

    def bytes(self, size: int) -> bytes:
        """That many bytes, 0 or more."""
        self._layer.require_main(ops.URANDOM)
        value = self._layer.read(ops.URANDOM, lambda: _REAL_URANDOM(size), int(size))
        assert isinstance(value, bytes), "entropy is recorded as bytes"
        return value

    def integer(self, bits: int = 64) -> int:
        """An integer from 0 to 2**bits - 1; bits is a multiple of 8."""
        return int.from_bytes(self.bytes(bits // 8), "little")
