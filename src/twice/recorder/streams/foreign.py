"""Generators that the streams did not make: adopted under a name, or shared by everybody.

Invariant: a generator whose position cannot be read is refused, not ignored. After ``release`` each shared one is where
it was before.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping
from types import ModuleType

from twice.errors import ComponentRefused
from twice.foundation.seeds import SHARED_BY_MODULES, Seed
from twice.recorder.imports import ImportWatch
from twice.recorder.streams.governed import Governed, GovernedRandom, refuse_state

_ABSENT = "absent"


def govern(name: str, generator: object) -> Governed:
    """Govern any generator whose position can be read and put back; refuse another (E-TRACK-001)."""
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
    """The generator that a getter gives at the time of asking, or none yet.

    Asked at every compare-point, because some owners replace their generator: ``env.reset(seed=...)`` of gymnasium
    makes a new ``np_random``.
    """

    kind = "adopted"

    def __init__(self, name: str, getter: Callable[[], object]) -> None:
        self.generator = self._getter = getter
        self._name = name
        self._last: Governed | None = None
        self.moving = self._position

    def _present(self) -> Governed | None:
        """Return the present generator, or None; it is governed anew only when it is another object."""
        found = self._getter()
        if found is None:
            self._last = None
        elif self._last is None or self._last.generator is not found:
            self._last = govern(self._name, found)
        return self._last

    def source(self) -> object:
        """Return the object that has the state now; the getter itself while there is none."""
        now = self._present()
        return self.generator if now is None else now.source()

    def _position(self) -> bytes:
        now = self._present()
        position = b"" if now is None else now.position()
        return len(position).to_bytes(4, "little") + position

    def read(self) -> dict[str, object]:
        """Return the state of the present generator, or a mark that there is none."""
        now = self._present()
        return {"kind": _ABSENT} if now is None else now.read()

    def write(self, state: Mapping[str, object]) -> None:
        """Put a state back into the generator that is there now."""
        now, kind = self._present(), state.get("kind")
        if now is None and kind != _ABSENT:
            raise refuse_state(f"of {self._name!r} has no generator to go to", str(kind))
        if now is not None and kind == _ABSENT:
            raise refuse_state(
                f"of {self._name!r} says there was no generator yet, and there is one", now.kind
            )
        if now is not None:
            now.write(state)

    _put = write


def shared_position() -> bytes:
    """Return the position of ``random.random()``'s generator: equal where every later draw is equal."""
    return repr(random.getstate()).encode()


class SharedGenerators:
    """Seeds by name what ``random``, numpy's legacy functions and torch draw from, so that code which uses them replays.

    numpy's and torch's are taken when they are imported, if that is later: to import both in every run would cost 100
    milliseconds, and a look at each compare-point would miss what a module draws while it is being imported.

    Args:
        seed_of: gives the sub-seed of a name.
        join: called with the name of each generator, and with the generator, once it is seeded.
    """

    def __init__(
        self, seed_of: Callable[[str], Seed], join: Callable[[str, Governed], None]
    ) -> None:
        self._seed_of, self._join = seed_of, join
        self._before: list[tuple[Governed, dict[str, object]]] = []
        shared = random._inst  # the one behind random.random()
        self._take("random", GovernedRandom(shared), lambda seed: shared.seed(seed.value))
        self._watch = ImportWatch({"numpy.random": self._take_numpy, "torch": self._take_torch})
        self._watch.install()

    def release(self) -> None:
        """Put every shared generator back where it was, and stop waiting."""
        self._watch.remove()
        for generator, state in self._before:
            generator.write(state)
        self._before.clear()

    def _take_numpy(self, module: ModuleType) -> None:
        from twice.recorder.streams.numpy_streams import GovernedRandomState

        shared = module.mtrand._rand  # behind np.random.rand()
        words = (0, 32, 64, 96)  # the legacy seeding takes four of 32 bits, low first
        self._take(
            "numpy",
            GovernedRandomState(shared),
            lambda seed: shared.seed([seed.value >> shift & 0xFFFFFFFF for shift in words]),
        )

    def _take_torch(self, _module: ModuleType) -> None:
        from twice.recorder.streams.torch_streams import GovernedTorchDefaults

        shared = GovernedTorchDefaults()
        self._take("torch", shared, shared.seed_all)

    def _take(self, library: str, generator: Governed, seed: Callable[[Seed], object]) -> None:
        name = f"{SHARED_BY_MODULES}/{library}"
        self._before.append((generator, generator.read()))
        seed(self._seed_of(name))
        self._join(name, generator)
