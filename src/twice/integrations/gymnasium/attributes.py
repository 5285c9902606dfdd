"""The state that an environment or a wrapper holds in its attributes, read and put back in place.

Immutable values and small arrays that still are what they were when the environment was wrapped
are left out: they are the configuration, which constructing the program again brings back. Generators are
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
from itertools import compress
from operator import is_not
from typing import Any, cast

import numpy as np

from twice.errors import ComponentRefused
from twice.integrations.gymnasium.plainvalues import (
    GENERATORS,
    NO_STATE,
    find_limits,
    is_second_name,
    is_state,
    plain,
    put_value,
    rebuilt,
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


class Attributes:
    """What one environment or wrapper holds.

    Args:
        owner: the environment or the wrapper, without what it wraps.
        where: what errors call it, such as ``ant (AntEnv)``.
        only: the attributes that are its state, as dotted paths; None looks at all of them.
        opaque: attributes that are neither captured nor compared.
    """

    def __init__(
        self,
        owner: object,
        where: str,
        *,
        only: Sequence[str] | None = None,
        opaque: Sequence[str] = (),
    ) -> None:
        self._owner = owner
        self._where = where
        self._only = None if only is None else tuple(only)
        self._left_out = STRUCTURE | _tables_of(type(owner)) | frozenset(opaque)
        held = vars(owner)
        self._at_first = {
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in held.items()
            if name not in self._left_out and (_is_immutable(value) or _is_small(value))
        }
        self._first_bytes = {
            name: value.tobytes()
            for name, value in self._at_first.items()
            if isinstance(value, np.ndarray)
        }
        self._limits = find_limits(
            {name: value for name, value in held.items() if name not in self._left_out}
        )
        self._names: list[str] = []
        self._values: list[object] = []
        self._settled: State = {}
        self._moving: list[str] = []
        for path in self._only or ():
            _follow(owner, path, where)

    def read(self) -> State:
        """Plain values of everything that is not as it was at first.

        Most attributes hold the very object that they held a tick ago. Where that object cannot
        change by itself, nothing is looked at again.

        Raises:
            ComponentRefused: E-TRACK-001, for a value without a plain form; its path is named.
        """
        if self._only is not None:
            seen: dict[int, str] = {}
            return {
                path: plain(
                    _follow(self._owner, path, self._where), path, self._where, seen, self._limits
                )
                for path in self._only
            }
        held = vars(self._owner)
        if list(held) != self._names:
            self._names, self._values = list(held), [NO_STATE] * len(held)
            self._settled, self._moving = {}, []
        changed = list(compress(self._names, map(is_not, held.values(), self._values)))
        if changed:
            self._settle(held, changed)
        if not self._moving:
            return self._settled
        state = dict(self._settled)
        seen = {id(self._owner): ""}
        for name in self._moving:
            value = held[name]
            first = self._first_bytes.get(name)
            if first is not None and isinstance(value, np.ndarray):
                at_first: Any = self._at_first[name]
                if (value.dtype, value.shape) == (at_first.dtype, at_first.shape) and (
                    value.tobytes() == first
                ):
                    continue
            state[name] = plain(value, name, self._where, seen, self._limits)
        return state

    def _settle(self, held: Mapping[str, Any], changed: Sequence[str]) -> None:
        """Sort what changed since: no state, values that cannot change, and the rest."""
        self._values = list(held.values())
        # A new dict: the one before may be in somebody's hands.
        self._settled = dict(self._settled)
        for name in changed:
            value = held[name]
            self._settled.pop(name, None)
            if name in self._left_out:
                continue
            is_moving = False
            if _is_immutable(value):
                if name not in self._at_first or not _is_unchanged(value, self._at_first[name]):
                    self._settled[name] = value
            else:
                is_moving = isinstance(value, np.ndarray) or is_state(value)
            if is_moving and name not in self._moving:
                self._moving = [each for each in self._names if each in {*self._moving, name}]
            elif not is_moving and name in self._moving:
                self._moving.remove(name)

    def put(self, state: Mapping[str, Any]) -> None:
        """Put back what ``read`` gave; what it left out becomes what it was at first.

        Raises:
            RestoreRefused: E-TRACK-003, when an object that stood there is gone.
        """
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
                held[name] = rebuilt(held[name], kept, name, self._where, known)
            elif is_state(held[name]):
                del held[name]
        # Second names of an object come last: the object is known by then.
        for name in sorted(state, key=lambda name: is_second_name(state[name])):
            put_value(self._owner, name, state[name], name, self._where, known)

    def generators(self) -> Iterator[tuple[str, object]]:
        """Name and object of each generator held beside ``np_random``, in order of name."""
        held = vars(self._owner)
        for name in sorted(held):
            if name not in self._left_out and isinstance(held[name], GENERATORS):
                yield name, held[name]


def _is_unchanged(value: object, first: object) -> bool:
    """Whether a value has the canonical form it had at first; mostly it is the same object."""
    if value is first:
        return True
    kind = type(value)
    if kind is not type(first):
        return False
    if kind is tuple:
        a, b = cast("tuple[object, ...]", value), cast("tuple[object, ...]", first)
        return len(a) == len(b) and all(map(_is_unchanged, a, b))
    if kind is float:
        x, y = cast("float", value), cast("float", first)
        return x == y and math.copysign(1.0, x) == math.copysign(1.0, y)
    return kind in {int, str, bytes, bool} and value == first


def _is_small(value: object) -> bool:
    """Whether an array is worth comparing with what it was at first, instead of writing it."""
    return isinstance(value, np.ndarray) and not value.dtype.hasobject and value.nbytes <= 4096


def _is_immutable(value: object) -> bool:
    """Whether a value stays what it is for as long as the attribute holds it."""
    if type(value) is tuple:
        return all(map(_is_immutable, value))
    return isinstance(value, _SCALAR)


def _tables_of(kind: type) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for base in kind.__mro__:
        for module, names in _TABLES.items():
            if base.__module__.startswith(module):
                found |= names
    return found


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
