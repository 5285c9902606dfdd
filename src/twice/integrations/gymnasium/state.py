"""One environment as a component: the attributes of every layer, its simulators, its progress.

Immutable values and small arrays that still are what they were when the environment was wrapped
are left out: they are the configuration, which constructing the program again brings back. EnvGenerators are
streams and simulators are parts of their own; spaces, specifications, functions and what draws on a
screen is no state. Anything else that has no plain form is refused with its path.

What cannot be seen: two attributes that share one array (each is put back by itself), and state that
code keeps outside of the environment. ``twice verify --restores`` shows both.

Invariant: ``put(read())`` changes nothing, and ``read`` never changes what it reads.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count
from operator import is_, is_not
from typing import Any, Protocol

import gymnasium
import numpy as np

from twice.diagnosis.object_digest.mujocostate import is_mjdata, mjdata_fields, mjdata_outputs
from twice.errors import ComponentRefused
from twice.integrations.gymnasium.generators import EnvGenerators
from twice.integrations.gymnasium.plain_values import (
    GENERATORS,
    NO_STATE,
    PlainReader,
    find_limits,
    is_second_name,
    is_state,
    put_value,
    rebuild,
)

State = dict[str, Any]

# Constructor arguments, spaces and descriptions; generators are adopted as streams.
STRUCTURE = frozenset(
    {
        "env", "envs", "env_fns", "action_space", "observation_space", "single_action_space",
        "single_observation_space", "_action_space", "_observation_space", "_single_action_space",
        "_single_observation_space", "spec", "_cached_spec", "metadata", "_metadata", "render_mode",
        "_saved_kwargs", "_ezpickle_args", "_ezpickle_kwargs", "_np_random", "_np_random_seed",
    }
)  # fmt: skip

# Tables that gymnasium's own environments build once: walking them at every tick would cost
# milliseconds. By defining module, so that subclasses elsewhere keep them out too.
_TABLES: dict[str, frozenset[str]] = {
    "gymnasium.envs.toy_text": frozenset(
        {"P", "initial_state_distrib", "desc", "locs", "locs_colors", "_cliff"}
    ),
    "gymnasium.envs.mujoco": frozenset({"observation_structure"}),
    "gymnasium.wrappers.rendering": frozenset(
        {"recorded_frames", "frame_list", "_prev_obs", "screen", "window", "clock"}
    ),
}
_SCALAR = (bool, int, float, complex, str, bytes, type(None), enum.Enum, np.generic)
_COMPARED = frozenset({int, str, bytes, bool, type(None)})
_SMALL_BYTES = 4096
_UNSETTLED = object()
"""Stands for a value that can change by itself, or that nobody read yet."""


class StatePart(Protocol):
    """Something with a state that can be read and put back."""

    def read(self) -> State:
        """Return plain values."""

    def put(self, state: Mapping[str, Any]) -> None:
        """Put back the values from ``read``."""


class EnvAttributes:
    """What one environment or wrapper holds: attributes ``only`` at these dotted paths, without the ``opaque`` ones."""

    def __init__(
        self,
        owner: object,
        where: str,
        *,
        only: Sequence[str] | None = None,
        opaque: Sequence[str] = (),
    ) -> None:
        self._owner, self._where = owner, where
        self._only = None if only is None else tuple(only)
        self._left_out = STRUCTURE | frozenset(opaque)
        for base in type(owner).__mro__:
            for module, names in _TABLES.items():
                if base.__module__.startswith(module):
                    self._left_out |= names
        held = {name: each for name, each in vars(owner).items() if name not in self._left_out}
        # Of what cannot change by itself the object, of small arrays a copy: the rest is always read.
        self._at_first: State = {}
        for name, value in held.items():
            if _is_immutable(value):
                self._at_first[name] = value
            elif isinstance(value, np.ndarray) and value.nbytes <= _SMALL_BYTES:
                self._at_first[name] = value.copy()
        # By the order of attributes: what each held that cannot change by itself, and where it is state, what was read of it.
        self._names: list[str] = []
        self._settled: list[object] = []
        self._state: State = {}
        self._limits = find_limits(held)
        for path in self._only or ():
            _follow(owner, path, where)

    def read(self) -> State:
        """Return plain values of everything that is not as it was at first."""
        if self._only is not None:
            reader = PlainReader(self._where, {}, self._limits)
            paths = ((path, _follow(self._owner, path, self._where)) for path in self._only)
            return {path: reader.read(value, path) for path, value in paths}
        held = vars(self._owner)
        names, settled, state = self._names, self._settled, self._state
        if len(held) != len(names) or not all(map(is_, held, names)):
            names = self._names = list(held)
            settled = self._settled = [_UNSETTLED] * len(names)
            state = self._state = {}
        # Most attributes hold what they held: a step of CartPole-v1 has five dozen of them, and two that change.
        moved = [*compress(count(), map(is_not, held.values(), settled))]
        if not moved:
            return dict(state)
        reader = PlainReader(self._where, {id(self._owner): ""}, self._limits)
        is_new = False
        for at in moved:
            name, found = names[at], NO_STATE
            value = held[name]
            if name not in self._left_out and not _is_same(
                value, self._at_first.get(name, NO_STATE)
            ):
                found = reader.read(value, name)
            is_function = found is NO_STATE and type(value) is not np.ndarray
            settled[at] = value if is_function or _is_immutable(value) else _UNSETTLED
            if found is NO_STATE:
                state.pop(name, None)
            else:
                is_new = is_new or name not in state
                state[name] = found
        if is_new:  # in the order of attributes
            state = self._state = {name: state[name] for name in names if name in state}
        return dict(state)

    def put(self, state: Mapping[str, Any]) -> None:
        """Put back the values from ``read``; the others become what they were at first."""
        known: dict[str, object] = {}
        if self._only is not None:
            for path in self._only:
                parent, _, name = path.rpartition(".")
                holder = _follow(self._owner, parent, self._where) if parent else self._owner
                put_value(holder, name, state[path], path, self._where, known)
            return
        held = vars(self._owner)
        for name in [name for name in held if name not in state and name not in self._left_out]:
            if name in self._at_first:
                first: Any = self._at_first[name]
                kept = first.copy() if isinstance(first, np.ndarray) else first
                held[name] = rebuild(held[name], kept, name, self._where, known)
            elif is_state(held[name]):
                del held[name]
        # Second names of an object come last: the object is known by then.
        for name in sorted(state, key=lambda name: is_second_name(state[name])):
            put_value(self._owner, name, state[name], name, self._where, known)

    def generators(self) -> Iterator[tuple[str, object]]:
        """Yield name and object of each generator beside ``np_random``, in order of name."""
        held = vars(self._owner)
        for name in sorted(held):
            if name not in self._left_out and isinstance(held[name], GENERATORS):
                yield name, held[name]


def _is_same(value: Any, first: Any) -> bool:
    """Return whether a value has the canonical form that it had at first."""
    kind = type(value)
    if value is first and kind is not np.ndarray:
        return True
    if kind is not type(first):
        return False
    if kind is np.ndarray:
        is_alike = value.dtype == first.dtype and value.shape == first.shape
        return bool(is_alike and value.tobytes() == first.tobytes())
    if kind is tuple:
        return len(value) == len(first) and all(map(_is_same, value, first))
    if kind is float:
        return bool(value == first) and math.copysign(1.0, value) == math.copysign(1.0, first)
    return kind in _COMPARED and bool(value == first)


def _is_immutable(value: object) -> bool:
    """Return whether a value stays the same for as long as the attribute has it."""
    if type(value) is tuple:
        return all(map(_is_immutable, value))
    return isinstance(value, _SCALAR)


def _follow(owner: object, path: str, where: str) -> Any:
    value: Any = owner
    for name in path.split("."):
        if not hasattr(value, name):
            raise ComponentRefused(
                f"{where} has no attribute {path!r}.",
                "Expected paths of attributes that hold state, such as 'state' or 'robot.speed'.",
                "Name attributes that exist when the environment is wrapped: set them in __init__.",
                path=path,
            )
        value = getattr(value, name)
    return value


class Simulator:
    """An ``MjData`` in an attribute: every input of its next step by name, and what it last gave.

    The outputs are one array behind the inputs: rewards read positions of bodies from before the next
    step, and these lag one substep behind, so nothing computes them again.
    """

    def __init__(self, owner: object, attribute: str) -> None:
        self._owner, self._attribute = owner, attribute
        self._data: Any = None

    def read(self) -> State:
        """Return inputs by name, as live views; ``outputs``, 1-D float64, in the order of the table."""
        data = self._look()
        self._fields["time"] = data.time
        np.concatenate(self._outputs, out=self._flat)
        return self._fields

    def put(self, state: Mapping[str, Any]) -> None:
        """Put everything back in place."""
        data = self._look()
        for name, value in state.items():
            if name == "time":
                data.time = value
            elif name != "outputs":
                field: Any = self._fields[name]
                field[...] = value
        at = 0
        for view in self._outputs if "outputs" in state else ():
            view[...] = state["outputs"][at : at + view.size]
            at += view.size

    def _look(self) -> Any:
        data = getattr(self._owner, self._attribute)
        if data is not self._data:
            self._data = data
            self._outputs = [view.reshape(-1) for view in mjdata_outputs(data).values()]
            self._flat = np.empty(sum(view.size for view in self._outputs))
            self._fields = {**mjdata_fields(data), "outputs": self._flat}
        return data


@dataclass
class EnvProgress:
    """How far an environment is, and what it last showed."""

    resets: int = 0
    steps: int = 0
    observation: Any = None
    returned: Any = 0.0
    length: int = 0

    def read(self) -> State:
        """Return plain values."""
        return dict(vars(self))

    def put(self, state: Mapping[str, Any]) -> None:
        """Put back the values from ``read``."""
        vars(self).update(state)


class ComparedEnv:
    """A component that can be read and compared only: part of the environment is opaque."""

    def __init__(self, parts: Mapping[str, StatePart], generators: EnvGenerators, env: Any) -> None:
        self._parts, self._generators, self._env = dict(parts), generators, env

    def frame(self) -> Any:
        """Return the environment's picture; None where it was not made to draw arrays."""
        is_drawing = getattr(self._env, "render_mode", None) == "rgb_array"
        return self._env.render() if is_drawing else None

    def state(self) -> State:
        """Return plain values of every part that has any."""
        self._generators.check()
        states = {name: part.read() for name, part in self._parts.items()}
        return {name: state for name, state in states.items() if state}


class RestorableEnv(ComparedEnv):
    """A component that can be put back."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Put every part back, in place."""
        self._generators.put_back()
        for name, part in self._parts.items():
            part.put(state.get(name, {}))


def list_layers(env: Any) -> Iterator[Any]:
    """Yield the environment's wrappers from the outside in, and at last itself."""
    while isinstance(env, (gymnasium.Wrapper, gymnasium.vector.VectorWrapper)):
        yield env
        env = env.env
    yield env


def parts_of(
    env: Any, name: str, *, only: Sequence[str] | None, opaque: Sequence[str]
) -> dict[str, StatePart]:
    """Return each layer's attributes by its class name, and the simulators of the innermost."""
    parts: dict[str, StatePart] = {}
    *wrappers, innermost = list_layers(env)
    for layer in wrappers:
        label = kind = type(layer).__name__
        while label in parts:
            label += "'"
        parts[label] = EnvAttributes(layer, f"{name} ({kind})", opaque=opaque)
    where = f"{name} ({type(innermost).__name__})"
    parts["environment"] = EnvAttributes(innermost, where, only=only, opaque=opaque)
    held = vars(innermost) if only is None else {}
    for attribute in sorted(held):
        if is_mjdata(held[attribute]):
            label = "simulator" if attribute == "data" else f"simulator.{attribute}"
            parts[label] = Simulator(innermost, attribute)
    return parts
