"""The only module that patches the standard library.

Why: a program that calls ``time.time()`` or ``os.urandom()`` reads the world behind the back of
any interface, and its past could not be told. While a session runs, the attributes listed in
``_targets`` are replaced by governed ones; ``restore`` puts the very same objects back.

What it misses: names bound before installation (``from time import time`` in a module imported
earlier; sessions in a child process install first), C code that reads by itself, and the sources
that the files in ``effects/`` name as not covered.

Invariant: after ``restore`` every patched attribute is the object it was.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from twice.recording.effects import clock, entropy, ops
from twice.recording.effects.layer import EffectLayer


class Interception:
    """Patches that hold from ``install`` to ``restore``; a context manager besides."""

    def __init__(
        self, layer: EffectLayer, policy: clock.TickClock | None, tick: Callable[[], int]
    ) -> None:
        self._layer = layer
        self._policy = policy
        self._tick = tick
        self._saved: list[tuple[Any, str, Any]] = []

    def install(self) -> None:
        """Replace every target; nothing else changes."""
        assert not self._saved, "an interception is installed once"
        for holder, name, replacement in self._targets():
            self._saved.append((holder, name, getattr(holder, name)))
            setattr(holder, name, replacement)

    def restore(self) -> None:
        """Put every patched attribute back, last one first."""
        while self._saved:
            holder, name, original = self._saved.pop()
            setattr(holder, name, original)

    def __enter__(self) -> Self:
        self.install()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.restore()

    def _targets(self) -> list[tuple[Any, str, Any]]:
        layer, policy = self._layer, self._policy
        targets: list[tuple[Any, str, Any]] = [
            (
                time,
                op.name.removeprefix("clock."),
                clock.governed_read(op, layer, policy, self._tick),
            )
            for op in clock.REAL
        ]
        targets.append((time, "sleep", clock.governed_sleep(layer, policy)))
        urandom = entropy.governed_urandom(layer)
        targets += [(os, "urandom", urandom), (random, "_urandom", urandom)]
        seed = entropy.governed_seed(layer, random.Random.seed)
        inner = random._inst
        bound = seed.__get__(inner)
        targets += [(random.Random, "seed", seed), (random, "seed", bound)]
        return targets


assert ops.BEHAVIOUR == 1, "a new order of effects needs a new behaviour number in the record"
