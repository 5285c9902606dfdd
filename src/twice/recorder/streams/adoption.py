"""Generators made elsewhere, governed under a name: gymnasium's ``np_random``, a library's own.

A getter is asked at every compare-point, because some owners replace their generator
(``env.reset(seed=...)`` makes a new ``np_random``); while it gives the same object, nothing is
built again.

Invariant: what twice cannot read the position of is refused, not ignored.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping

from twice.errors import ComponentRefused
from twice.recorder.streams.governed import Governed, refuse_state
from twice.recorder.streams.python_streams import GovernedRandom

_ABSENT = "absent"


def govern(name: str, generator: object) -> Governed:
    """Govern any generator whose position can be read and put back.

    Raises:
        ComponentRefused: E-TRACK-001, when its kind is not known.
    """
    if isinstance(generator, random.Random) and not isinstance(generator, random.SystemRandom):
        return GovernedRandom(generator)
    if "numpy" in sys.modules:
        import numpy as np

        from twice.recorder.streams.numpy_streams import GovernedBits, GovernedRandomState

        if isinstance(generator, np.random.Generator | np.random.BitGenerator):
            return GovernedBits(generator)
        if isinstance(generator, np.random.RandomState):
            return GovernedRandomState(generator)
    if "torch" in sys.modules:
        import torch

        from twice.recorder.streams.torch_streams import GovernedTorch

        if isinstance(generator, torch.Generator):
            return GovernedTorch(generator)
    raise ComponentRefused(
        f"The generator {name!r} is a {type(generator).__module__}.{type(generator).__qualname__}.",
        "A random.Random, a numpy Generator, BitGenerator or RandomState, or a torch.Generator.",
        "Track the object that holds it, with its position in state(), or draw through an effect.",
        name=name,
    )


class GovernedGetter(Governed):
    """Whatever generator a getter gives at the time of asking, or none yet."""

    kind = "adopted"

    def __init__(self, name: str, getter: Callable[[], object]) -> None:
        self.generator = getter
        self._name = name
        self._getter = getter
        self._last: Governed | None = None
        self.moving = self._position

    def current(self) -> Governed | None:
        """Return the present generator, or None."""
        found = self._getter()
        if found is None:
            self._last = None
        elif self._last is None or self._last.generator is not found:
            self._last = govern(self._name, found)
        return self._last

    def source(self) -> object:
        """Return the object that has the state now; the getter itself while there is none."""
        now = self.current()
        return self.generator if now is None else now.source()

    def _position(self) -> bytes:
        now = self.current()
        if now is None:
            return b"\x00\x00\x00\x00"
        position = now.position()
        return len(position).to_bytes(4, "little") + position

    def read(self) -> dict[str, object]:
        """Return the state of the present generator, or a mark that there is none."""
        now = self.current()
        return {"kind": _ABSENT} if now is None else now.read()

    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back into the generator that is there now.

        Raises:
            StreamStateRefused: E-RNG-004, when there is none, or it does not fit.
        """
        now = self.current()
        if state.get("kind") == _ABSENT:
            if now is not None:
                raise refuse_state(
                    f"of {self._name!r} says there was no generator yet, and there is one", now.kind
                )
        elif now is None:
            raise refuse_state(
                f"of {self._name!r} has no generator to go to", str(state.get("kind"))
            )
        else:
            now.write(state)
