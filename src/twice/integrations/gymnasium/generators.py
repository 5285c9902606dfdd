"""The generators that an environment draws from, each a stream with a sub-seed of its own.

Gymnasium makes a generator when somebody first asks for one, from the operating system, and
replaces it at every ``reset(seed=...)``. Here each is made once, from the sub-seed of its name, and
stays: a seed given before the run has begun is taken over into it, a later one is refused. They are
ordinary ``numpy.random.Generator`` objects, so libraries may copy and pickle the spaces.

Invariant: the generator that is governed is the one that is drawn from, at every compare-point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from twice.errors import StreamReseeded
from twice.recorder.run import Run


class EnvGenerators:
    """The generators of one environment: of itself and of its spaces, which hold them as ``_np_random``."""

    def __init__(self, run: Run, may_take_over: Callable[[], bool]) -> None:
        self._run, self._may_take_over = run, may_take_over
        self._governed: dict[str, tuple[Any, np.random.Generator]] = {}

    def govern(self, name: str, holder: Any) -> None:
        """Put a generator from the sub-seed of a name where an environment draws from."""
        if any(known is holder for known, _ in self._governed.values()):
            return
        seed = self._run.streams.seed_for(name)
        generator = np.random.Generator(np.random.PCG64(seed.value))
        self._run.streams.adopt(name, generator)
        holder._np_random = generator
        self._governed[name] = holder, generator

    def govern_space(self, name: str, space: object) -> None:
        """Govern a space and the spaces inside it, each under a name of its own."""
        if not isinstance(space, gymnasium.Space):
            return
        self.govern(name, space)
        inner: Any = getattr(space, "spaces", None)
        if isinstance(inner, dict):
            for key in sorted(inner, key=str):
                self.govern_space(f"{name}/{key}", inner[key])
        elif isinstance(inner, (list, tuple)):
            for index, each in enumerate(inner):
                self.govern_space(f"{name}/{index}", each)
        for part in ("feature_space", "node_space", "edge_space"):
            self.govern_space(f"{name}/{part}", getattr(space, part, None))

    def put_back(self) -> None:
        """Put each governed generator where it belongs."""
        for holder, generator in self._governed.values():
            holder._np_random = generator

    def check(self) -> None:
        """See that each governed generator is still drawn from; take early seeds over."""
        for name, (holder, generator) in self._governed.items():
            found = holder._np_random
            if found is generator:
                continue
            bits = getattr(found, "bit_generator", None)
            is_same_kind = type(bits) is type(generator.bit_generator)
            if not self._may_take_over() or not (found is None or is_same_kind):
                raise StreamReseeded(
                    f"The generator {name!r} was replaced in the middle of the run.",
                    "A generator keeps the sub-seed of its name for the whole run.",
                    "Remove the call that seeds it (reset(seed=...), action_space.seed(...)), or make "
                    "it before the first reset.",
                    name=name,
                )
            if bits is not None:
                generator.bit_generator.state = bits.state
                self._run.caveat(
                    f"{name} was seeded by the program, not from the master seed: runs with other "
                    "master seeds share its numbers"
                )
            holder._np_random = generator
