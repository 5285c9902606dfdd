"""The generators that everybody shares: seeded by name, so that code which uses them replays.

``random``'s module functions, ``numpy.random``'s legacy functions and torch's default generators get sub-seeds of
their own. numpy and torch get theirs when they are imported, if that is later: to import both in every run would cost
100 milliseconds, and a look at each compare-point would miss what a module draws while it is being imported.

Invariant: after ``release`` each shared generator is where it was before ``govern``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from types import ModuleType

from twice.foundation.seeds import SHARED_BY_MODULES, Seed
from twice.recorder.imports import ImportWatch
from twice.recorder.streams.governed import Governed
from twice.recorder.streams.python_streams import GovernedRandom


def shared_position() -> bytes:
    """Return the position of ``random.random()``'s generator: equal where every later draw is equal."""
    return repr(random.getstate()).encode()


class SharedGenerators:
    """Takes the shared generators over, now or when they arrive.

    Args:
        seed_of: gives the sub-seed of a name.
        arrived: is told of each generator with its name, once it is seeded.
    """

    def __init__(
        self, seed_of: Callable[[str], Seed], arrived: Callable[[str, Governed], None]
    ) -> None:
        self._seed_of = seed_of
        self._arrived = arrived
        self._before: list[tuple[Governed, dict[str, object]]] = []
        self._starts: dict[str, tuple[Governed, bytes]] = {}
        self._watch = ImportWatch({"numpy.random": self._take_numpy, "torch": self._take_torch})

    def govern(self) -> None:
        """Take over the loaded generators and wait for the rest."""
        shared = random._inst  # the one behind random.random()
        self._take("random", GovernedRandom(shared), lambda seed: shared.seed(seed.value))
        self._watch.install()

    def release(self) -> None:
        """Put every shared generator back where it was, and stop waiting."""
        self._watch.remove()
        for generator, state in self._before:
            generator.write(state)
        self._before.clear()

    def used(self) -> list[str]:
        """Name the shared generators that moved since they were seeded."""
        return [
            name
            for name, (generator, start) in sorted(self._starts.items())
            if generator.position() != start
        ]

    def _take_numpy(self, module: ModuleType) -> None:
        from twice.recorder.streams.numpy_streams import GovernedRandomState

        shared = module.mtrand._rand  # behind np.random.rand()

        def reseed(seed: Seed) -> None:  # the legacy seeding takes four 32-bit words, low first
            shared.seed([seed.value >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)])

        self._take("numpy", GovernedRandomState(shared), reseed)

    def _take_torch(self, _module: ModuleType) -> None:
        from twice.recorder.streams.torch_streams import GovernedTorchDefaults

        shared = GovernedTorchDefaults()
        self._take("torch", shared, shared.reseed)

    def _take(self, library: str, generator: Governed, reseed: Callable[[Seed], object]) -> None:
        name = f"{SHARED_BY_MODULES}/{library}"
        self._before.append((generator, generator.read()))
        reseed(self._seed_of(name))
        self._starts[name] = (generator, generator.position())
        self._arrived(name, generator)
