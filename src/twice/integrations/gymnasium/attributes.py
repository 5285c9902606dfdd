"""The state that an environment or a wrapper holds in its attributes, read and put back in place.

Attributes that still are the immutable values they were when the environment was wrapped are left
out: they are the configuration, which constructing the program again brings back. Generators are
streams and simulators are parts of their own; spaces, specifications, functions and what draws on a
screen is no state. Anything else that has no plain form is refused with its path.

What cannot be seen: two attributes that share one array (each is put back by itself), and state that
code keeps outside of the environment. ``twice verify --restores`` shows both.

Invariant: ``put(read())`` changes nothing, and ``read`` never changes what it reads.
"""

from __future__ import annotations

import enum
import functools
import math
import types
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import gymnasium
import numpy as np

from twice.diagnosing.mujocostate import is_mjdata
from twice.errors import ComponentRefused, RestoreRefused

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
    "gymnasium.wrappers.rendering": frozenset(
        {"recorded_frames", "frame_list", "_prev_obs", "screen", "window", "clock"}
    ),
}
_SCALAR = (bool, int, float, complex, str, bytes, type(None), enum.Enum, np.generic)
_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), np.ndarray})
_CONSTANT = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type,
    functools.partial, gymnasium.Space, gymnasium.envs.registration.EnvSpec, gymnasium.Env,
    gymnasium.vector.VectorEnv,
)  # fmt: skip
_SCREENS = ("pygame", "gymnasium.envs.mujoco.mujoco_rendering", "glfw", "OpenGL")
_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
_OBJECT, _DEQUE, _SAME = "~attributes", "~deque", "~same"
_DEPTH_MAX = 16


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
            name: value for name, value in held.items() if _is_immutable(value)
        }
        self._constants: dict[str, object] = {}
        for path in self._only or ():
            _follow(owner, path, where)

    def read(self) -> State:
        """Plain values of everything that is not as it was at first.

        Raises:
            ComponentRefused: E-TRACK-001, for a value without a plain form; its path is named.
        """
        if self._only is not None:
            seen: dict[int, str] = {}
            return {
                path: plain(_follow(self._owner, path, self._where), path, self._where, seen)
                for path in self._only
            }
        state: State = {}
        at_first, constants, left_out = self._at_first, self._constants, self._left_out
        seen = {id(self._owner): ""}
        for name, value in vars(self._owner).items():
            if (
                name in left_out
                or (name in at_first and _is_unchanged(value, at_first[name]))
                or (name in constants and constants[name] is value)
            ):
                continue
            found = plain(value, name, self._where, seen)
            if found is _NO_STATE:
                constants[name] = value
            else:
                state[name] = found
        return state

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
                _set(holder, name, state[path], path, self._where, known)
            return
        held = vars(self._owner)
        for name in [name for name in held if name not in state and name not in self._left_out]:
            if name in self._at_first:
                held[name] = self._at_first[name]
            elif _is_state(held[name]):
                del held[name]
        # Second names of an object come last: the object is known by then.
        for name in sorted(state, key=lambda name: _is_second_name(state[name])):
            _set(self._owner, name, state[name], name, self._where, known)

    def generators(self) -> Iterator[tuple[str, object]]:
        """Name and object of each generator held beside ``np_random``, in order of name."""
        held = vars(self._owner)
        for name in sorted(held):
            if name not in self._left_out and isinstance(held[name], _GENERATORS):
                yield name, held[name]


class _NoState:
    """Marks what is not state: functions, spaces, screens, generators, simulators."""


_NO_STATE = _NoState()


def plain(value: Any, path: str, where: str, seen: dict[int, str], depth: int = 0) -> Any:
    """A value as plain data; objects become their attributes, marked as such.

    Raises:
        ComponentRefused: E-TRACK-001, naming path and type.
    """
    kind = type(value)
    if kind in _PLAIN:
        if kind is np.ndarray and value.dtype.hasobject:
            raise _refused(path, f"an array of dtype {value.dtype}", where)
        return value
    if isinstance(value, (np.generic, enum.Enum)):
        return value
    if depth > _DEPTH_MAX:
        raise _refused(path, f"nested more than {_DEPTH_MAX} deep", where)
    if kind is list or kind is tuple:
        parts = [
            _inside(item, f"{path}[{i}]", where, seen, depth) for i, item in enumerate(value)
        ]
        return parts if kind is list else tuple(parts)
    if kind is dict:
        return {
            key: _inside(item, f"{path}[{key!r}]", where, seen, depth)
            for key, item in value.items()
        }
    if kind is deque:
        parts = [
            _inside(item, f"{path}[{i}]", where, seen, depth) for i, item in enumerate(value)
        ]
        return {_DEQUE: parts}
    if kind in {set, frozenset, bytearray} or (isinstance(value, tuple) and kind is not tuple):
        return value
    if not _is_state(value):
        return _NO_STATE
    return _opened(value, path, where, seen, depth)


def _inside(value: Any, path: str, where: str, seen: dict[int, str], depth: int) -> Any:
    found = plain(value, path, where, seen, depth + 1)
    return None if found is _NO_STATE else found


def _opened(value: Any, path: str, where: str, seen: dict[int, str], depth: int) -> Any:
    """An object of another class, by its attributes."""
    if id(value) in seen:
        return {_SAME: seen[id(value)]}
    held = getattr(value, "__dict__", None)
    if held is None or getattr(type(value), "__slots__", ()):
        kind = type(value)
        raise _refused(path, f"a {kind.__module__}.{kind.__qualname__}", where)
    seen[id(value)] = path
    parts = {
        name: plain(held[name], f"{path}.{name}", where, seen, depth + 1) for name in sorted(held)
    }
    return {_OBJECT: {name: part for name, part in parts.items() if part is not _NO_STATE}}


def _is_state(value: Any) -> bool:
    """Whether a value can change what the environment does next, by its kind."""
    if isinstance(value, (*_CONSTANT, *_GENERATORS)) or is_mjdata(value):
        return False
    module = type(value).__module__
    return not (
        module.startswith(_SCREENS)
        or (module.startswith("mujoco") and type(value).__name__ == "MjModel")
        or callable(value)
    )


def _is_second_name(value: object) -> bool:
    return isinstance(value, dict) and set(value) == {_SAME}


def _set(
    holder: Any, name: str, value: Any, path: str, where: str, known: dict[str, object]
) -> None:
    current = vars(holder).get(name) if hasattr(holder, "__dict__") else getattr(holder, name)
    setattr(holder, name, _rebuilt(current, value, path, where, known))


def _rebuilt(current: Any, value: Any, path: str, where: str, known: dict[str, object]) -> Any:
    """What an attribute gets: objects and views in place, everything else fresh."""
    if isinstance(value, dict):
        return _rebuilt_dict(current, value, path, where, known)
    if isinstance(value, np.ndarray):
        if _is_view_like(current, value):
            current[...] = value
            return current
        return value
    if type(value) is list:
        old = current if isinstance(current, list) else []
        return [
            _rebuilt(old[i] if i < len(old) else None, item, f"{path}[{i}]", where, known)
            for i, item in enumerate(value)
        ]
    if type(value) is tuple:
        before = current if isinstance(current, tuple) else ()
        return tuple(
            _rebuilt(before[i] if i < len(before) else None, item, f"{path}[{i}]", where, known)
            for i, item in enumerate(value)
        )
    return value


def _rebuilt_dict(
    current: Any, value: dict[Any, Any], path: str, where: str, known: dict[str, object]
) -> Any:
    if set(value) == {_DEQUE}:
        fresh = _rebuilt(None, value[_DEQUE], path, where, known)
        if isinstance(current, deque):
            current.clear()
            current.extend(fresh)
            return current
        return deque(fresh)
    if _is_second_name(value):
        return known.get(value[_SAME], current)
    if set(value) == {_OBJECT}:
        if not hasattr(current, "__dict__"):
            raise RestoreRefused(
                f"{where} held an object at {path} which a new environment does not have.",
                "Expected the objects that hold state to exist once the environment is made.",
                'Make them in __init__, or name plain attributes: tg.wrap(..., state=["..."])',
                path=path,
            )
        known[path] = current
        for name, inner in value[_OBJECT].items():
            _set(current, name, inner, f"{path}.{name}", where, known)
        return current
    old = current if isinstance(current, dict) else {}
    return {
        key: _rebuilt(old.get(key), item, f"{path}[{key!r}]", where, known)
        for key, item in value.items()
    }


def _is_view_like(current: Any, value: np.ndarray[Any, Any]) -> bool:
    """Whether an array shows memory that something else owns: it must stay that view."""
    return (
        isinstance(current, np.ndarray)
        and current.base is not None
        and current.flags.writeable
        and (current.shape, current.dtype) == (value.shape, value.dtype)
    )


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


def _refused(path: str, what: str, where: str) -> ComponentRefused:
    top = path.partition(".")[0].partition("[")[0]
    return ComponentRefused(
        f"{where} holds {what} in its attribute {path!r}, which has no plain form.",
        "Expected plain values, arrays, generators, or objects made of these.",
        f'Name what is state: tg.wrap(..., state=["..."]); or leave it out: opaque=["{top}"] (then '
        "it is not compared, and seeking and branching execute from the start).",
        path=path,
    )
