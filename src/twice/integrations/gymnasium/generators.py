"""The generators that an environment draws from, each a stream with a sub-seed of its own.

Gymnasium makes a generator when somebody first asks for one, from the operating system, and
replaces it at every ``reset(seed=...)``. Here each is made once, from the sub-seed of its name, and
stays: a seed given before the run has begun is taken over into it, a later one is refused. They are
ordinary ``numpy.random.Generator`` objects, so libraries may copy and pickle the spaces.

Invariant: the generator that is governed is the one that is drawn from, at every compare-point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from twice.errors import StreamReseeded
from twice.recording.run import Run


@dataclass(frozen=True)
class GovernedGenerator:
    """A generator with the name of its stream, and the attribute from which it is drawn."""

    name: str
    holder: object
    attribute: str
    generator: np.random.Generator


class Generators:
    """The generators of one environment."""

    def __init__(self, run: Run, may_take_over: Callable[[], bool]) -> None:
        self._run = run
        self._may_take_over = may_take_over
        self._places: list[GovernedGenerator] = []
        self._caveats: set[str] = set()

    def govern(self, name: str, holder: object, attribute: str = "_np_random") -> None:
        """Put a generator from the sub-seed of a name where an environment draws from."""
        if any(place.holder is holder for place in self._places):
            return
        seed = self._run.streams.seed_for(name)
        generator = np.random.Generator(np.random.PCG64(seed.value))
        self._run.streams.adopt(name, generator)
        setattr(holder, attribute, generator)
        self._places.append(GovernedGenerator(name, holder, attribute, generator))

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

    def adopt(self, name: str, generator: object) -> None:
        """Govern a generator that the environment made for itself; its seed is its own."""
        self._run.streams.adopt(name, generator)

    def check(self) -> None:
        """See that each governed generator is still drawn from; take early seeds over."""
        for place in self._places:
            if getattr(place.holder, place.attribute) is not place.generator:
                self._take_over(place)

    def put_back(self) -> None:
        """Put each governed generator where it belongs."""
        for place in self._places:
            setattr(place.holder, place.attribute, place.generator)

    def _take_over(self, place: GovernedGenerator) -> None:
        found: Any = getattr(place.holder, place.attribute)
        bits = getattr(found, "bit_generator", None)
        same_kind = type(bits) is type(place.generator.bit_generator)
        if not self._may_take_over() or not (found is None or same_kind):
            raise StreamReseeded(
                f"The generator {place.name!r} was replaced in the middle of the run.",
                "A generator keeps the sub-seed of its name for the whole run.",
                "Remove the call that seeds it (reset(seed=...), action_space.seed(...)), or make "
                "it before the first reset.",
                name=place.name,
            )
        if found is not None:
            assert bits is not None, "a generator of the same kind has bits"
            place.generator.bit_generator.state = bits.state
            if place.name not in self._caveats:
                self._caveats.add(place.name)
                self._run.caveat(
                    f"{place.name} was seeded by the program, not from the master seed: runs with "
                    "other master seeds share its numbers"
                )
        setattr(place.holder, place.attribute, place.generator)
