"""The attributes of a Python object as a part, and the generators that it holds as parts of their own.

For objects of libraries that have no ``state_dict``: environments, wrappers, callbacks. All attributes are
read, whether they changed or not, so that a state says everything by itself. Functions, spaces and modules
are no state. Not seen: state that code keeps elsewhere, and that two attributes share one array.

Invariant: an attribute is in the state, or it is no state by its kind, or it is refused with its path.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from twice.errors import CheckpointUnfit, RestoreRefused
from twice.integrations.checkpoints.generator_parts import NumpyGeneratorPart
from twice.integrations.checkpoints.parts import TargetPart, find_library_version
from twice.integrations.checkpoints.trees import from_tree, to_tree
from twice.integrations.gymnasium.plain_values import (
    GENERATORS,
    NO_STATE,
    PlainReader,
    is_second_name,
    put_value,
)

WALL_CLOCK: Final = frozenset(
    {"t_start", "start_time", "episode_times", "episode_start_time", "time_queue"}
)
"""Attributes that hold times of the clock: no two runs agree in them, and nothing is computed from them."""

_BITS: Final[dict[str, Any]] = {
    made.__name__: made
    for made in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}


class AttributesPart(TargetPart):
    """All attributes of an object that can be state.

    Args:
        name: the name of the part.
        target: the object; it has a ``__dict__``.
        without: attributes that are structure, or parts of their own.
        opaque: attributes whose state the user gives up, by their names.
    """

    def __init__(
        self, name: str, target: Any, *, without: Iterable[str] = (), opaque: Iterable[str] = ()
    ) -> None:
        super().__init__(name, target)
        self._left_out = WALL_CLOCK.union(without, opaque)

    @property
    def libraries(self) -> list[str]:
        """The adapters' libraries, and those of the classes that tell their version."""
        found = {kind.__module__.partition(".")[0] for kind in type(self.target).__mro__}
        return sorted({*super().libraries, *filter(find_library_version, found)})

    def read(self) -> object:
        """Return plain values, and states of generators, by the names of the attributes."""
        reader = _Reader(self.name, {id(self.target): ""}, {})
        values, generators = {}, {}
        for attribute in sorted(vars(self.target).keys() - self._left_out):
            value = vars(self.target)[attribute]
            if isinstance(value, GENERATORS):
                generators[attribute] = HeldGenerator(self.name, self.target, attribute).read()
                continue
            found = reader.read(value, attribute)
            if found is not NO_STATE:
                values[attribute] = to_tree(found, f"{self.name}.{attribute}")
        return {"values": values, "generators": generators}

    def write(self, state: object) -> None:
        """Put the attributes back; one that the object has got since then is left."""
        if not isinstance(state, dict) or state.keys() != {"values", "generators"}:
            raise self.refuse("has other fields", "values and generators by attribute")
        known: dict[str, object] = {}
        values = {attribute: from_tree(value) for attribute, value in state["values"].items()}
        # Second names of an object come last: the object is known by then.
        for attribute in sorted(values, key=lambda attribute: is_second_name(values[attribute])):
            try:
                put_value(self.target, attribute, values[attribute], attribute, self.name, known)
            except RestoreRefused as refused:
                raise self.refuse(
                    f"holds an object in {refused.fields['path']!r} that is not there now",
                    "the objects that hold state to exist once the training is set up",
                ) from refused
        for attribute, generator in state["generators"].items():
            HeldGenerator(self.name, self.target, attribute).write(generator)


class HeldGenerator(TargetPart):
    """The numpy generator in an attribute of an object, which makes it when it is first drawn from.

    Args:
        name: the name of the part.
        target: the holder.
        attribute: where it is held; what stands there may be replaced at any time.
    """

    def __init__(self, name: str, target: Any, attribute: str = "_np_random") -> None:
        super().__init__(name, target)
        self._attribute = attribute

    @property
    def kind(self) -> str:
        """The class of the holder, and the attribute."""
        return f"{super().kind}.{self._attribute}"

    def read(self) -> object:
        """Return the class of the bit generator and its state; None where no generator was made yet."""
        generator = getattr(self.target, self._attribute, None)
        if generator is None:
            return None
        inner = NumpyGeneratorPart(self.name, generator).read()
        return {"bits": _name_bits(generator), "inner": inner}

    def write(self, state: object) -> None:
        """Put the state into the generator that is there, or into a new one."""
        if state is None:
            setattr(self.target, self._attribute, None)
            return
        plain: Any = state
        kind = plain.get("bits") if isinstance(state, dict) else None
        made = _BITS.get(kind) if isinstance(kind, str) else None
        if made is None:
            raise self.refuse(f"is of the bit generator {kind!r}", f"one of {', '.join(_BITS)}")
        generator = getattr(self.target, self._attribute, None)
        # Other names of the generator that is there go on to draw from it.
        if generator is None or _name_bits(generator) != kind:
            generator = np.random.Generator(made())
        NumpyGeneratorPart(self.name, generator).write(plain["inner"])
        setattr(self.target, self._attribute, generator)


def _name_bits(generator: Any) -> str:
    bits = getattr(generator, "bit_generator", getattr(generator, "_bit_generator", generator))
    return type(bits).__name__


class _Reader(PlainReader):
    """A reader whose refusals speak of checkpoints, for which tensors are values, and that loses no generator."""

    def read(self, value: Any, path: str, depth: int = 0) -> Any:
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(value, torch.Tensor):
            return value
        if isinstance(value, GENERATORS):
            raise self._make_refusal(path, "a generator inside of another object")
        return super().read(value, path, depth)

    def _make_refusal(self, path: str, what: str) -> CheckpointUnfit:  # type: ignore[override]
        top = path.partition(".")[0].partition("[")[0]
        return CheckpointUnfit(
            f"{self._where} holds {what} in its attribute {path!r}, which has no plain form.",
            "Expected plain values, arrays, tensors, numpy's generators, or objects made of these.",
            f"Leave it out by opaque=({top!r},) if nothing that is computed depends on it.",
            part=self._where,
        )
