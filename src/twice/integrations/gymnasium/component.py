"""One environment as a component: its simulators, its layers of wrappers, its progress.

Invariant: reading also sees that the environment still draws from the generators that are governed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import gymnasium

from twice.integrations.gymnasium.attributes import Attributes
from twice.integrations.gymnasium.generators import Generators
from twice.integrations.gymnasium.simulators import simulators_of

State = dict[str, Any]


class Part(Protocol):
    """Something with a state that can be read and put back."""

    def read(self) -> State:
        """Plain values."""
        ...

    def put(self, state: Mapping[str, Any]) -> None:
        """Put back what ``read`` gave."""
        ...


@dataclass
class Progress:
    """How far an environment is, and what it last showed.

    Attributes:
        resets: how often it was reset.
        steps: how often it was stepped.
        observation: the latest one, or None before the first reset.
        returned: rewards of the episode that is open, summed; per slot for a vector.
        length: steps of the episode that is open.
    """

    resets: int = 0
    steps: int = 0
    observation: Any = None
    returned: Any = 0.0
    length: int = 0
    _names: tuple[str, ...] = field(
        default=("resets", "steps", "observation", "returned", "length"), repr=False
    )

    def read(self) -> State:
        """Plain values."""
        return {
            "resets": self.resets,
            "steps": self.steps,
            "observation": self.observation,
            "returned": self.returned,
            "length": self.length,
        }

    def put(self, state: Mapping[str, Any]) -> None:
        """Put back what ``read`` gave."""
        for name in self._names:
            setattr(self, name, state[name])


class Compared:
    """A component that can be read and compared only: part of the environment is opaque.

    Args:
        parts: name to part, in the order in which they are put back.
        generators: to be checked at every reading.
    """

    def __init__(self, parts: Mapping[str, Part], generators: Generators) -> None:
        self.parts = dict(parts)
        self.generators = generators
        self._readers = [(name, part.read) for name, part in self.parts.items()]

    def state(self) -> State:
        """Plain values of every part that has any."""
        self.generators.check()
        found = {}
        for name, read in self._readers:
            state = read()
            if state:
                found[name] = state
        return found


class Restorable(Compared):
    """A component that can be put back."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put every part back, in place."""
        self.generators.put_back()
        for name, part in self.parts.items():
            part.put(state.get(name, {}))


def layers_of(env: Any) -> Iterator[Any]:
    """The environment's wrappers from the outside in, and at last itself."""
    while isinstance(env, (gymnasium.Wrapper, gymnasium.vector.VectorWrapper)):
        yield env
        env = env.env
    yield env


def parts_of(
    env: Any, name: str, *, only: Sequence[str] | None, opaque: Sequence[str]
) -> dict[str, Part]:
    """Each layer's attributes by its class name, and the simulators of the innermost.

    Args:
        env: the environment with its wrappers.
        name: what errors call it.
        only: attributes of the innermost that are its state; None looks at all of them.
        opaque: attributes of any layer that are neither captured nor compared.
    """
    parts: dict[str, Part] = {}
    for layer in layers_of(env):
        kind = type(layer).__name__
        innermost = not isinstance(layer, (gymnasium.Wrapper, gymnasium.vector.VectorWrapper))
        label = "environment" if innermost else kind
        while label in parts:
            label += "'"
        parts[label] = Attributes(
            layer, f"{name} ({kind})", only=only if innermost else None, opaque=opaque
        )
        if innermost and only is None:
            for attribute, simulator in simulators_of(layer).items():
                parts["simulator" if attribute == "data" else f"simulator.{attribute}"] = simulator
    return parts
