"""Values of attributes as plain data, and back into the objects that stand there.

Plain values and arrays are taken as they are, containers item by item, objects by their attributes,
marked as such. Back, objects, queues and views of arrays are filled in place, so that whatever else
refers to them keeps doing so; everything else is made anew.

Invariant: nothing is taken apart that cannot be put together again; it is refused with its path.
"""

from __future__ import annotations

import enum
import functools
import types
from collections import deque
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np

from twice.diagnosis.object_digest.mujocostate import is_mjdata
from twice.errors import ComponentRefused, RestoreRefused

_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), np.ndarray})
_CONSTANT = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type,
    functools.partial, gymnasium.Space, gymnasium.envs.registration.EnvSpec, gymnasium.Env,
    gymnasium.vector.VectorEnv,
)  # fmt: skip
_SCREENS = ("pygame", "gymnasium.envs.mujoco.mujoco_rendering", "glfw", "OpenGL")
GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
_OBJECT, _DEQUE, _LIMIT, _SAME = "~attributes", "~deque", "~maxlen", "~same"
_DEPTH_MAX = 16


class _NoState:
    """Marks what is not state: functions, spaces, screens, generators, simulators."""


NO_STATE = _NoState()


class PlainReader:
    """Reads values as plain data; objects become their attributes, marked as such."""

    def __init__(self, where: str, seen: dict[int, str], limits: Mapping[str, int | None]) -> None:
        self._where, self._seen, self._limits = where, seen, limits

    def read(self, value: Any, path: str, depth: int = 0) -> Any:
        """Return the value at a path of an attribute as plain data, or ``NO_STATE``."""
        kind = type(value)
        if kind in _PLAIN:
            if kind is np.ndarray and value.dtype.hasobject:
                raise self._make_refusal(path, f"an array of dtype {value.dtype}")
            return value
        if isinstance(value, (np.generic, enum.Enum)):
            return value
        if depth > _DEPTH_MAX:
            raise self._make_refusal(path, f"nested more than {_DEPTH_MAX} deep")
        if kind is list or kind is tuple or kind is deque:
            items = enumerate(value)
            parts = [self._read_inside(item, f"{path}[{at}]", depth) for at, item in items]
            if kind is not deque:
                return parts if kind is list else tuple(parts)
            # Where no new environment has it, the state has to say the limit.
            limit = {} if value.maxlen == self._limits.get(path) else {_LIMIT: value.maxlen}
            return {_DEQUE: parts, **limit}
        if kind is dict:
            return {
                key: self._read_inside(item, f"{path}[{key!r}]", depth)
                for key, item in value.items()
            }
        if kind in {set, frozenset, bytearray} or isinstance(value, tuple):
            return value
        return self._open_object(value, path, depth) if is_state(value) else NO_STATE

    def _read_inside(self, value: Any, path: str, depth: int) -> Any:
        found = self.read(value, path, depth + 1)
        return None if found is NO_STATE else found

    def _open_object(self, value: Any, path: str, depth: int) -> Any:
        """Return an object of another class, by its attributes."""
        if id(value) in self._seen:
            return {_SAME: self._seen[id(value)]}
        held, kind = getattr(value, "__dict__", None), type(value)
        if held is None or "__slots__" in vars(kind):
            raise self._make_refusal(path, f"a {kind.__module__}.{kind.__qualname__}")
        self._seen[id(value)] = path
        parts = {name: self.read(held[name], f"{path}.{name}", depth + 1) for name in sorted(held)}
        return {_OBJECT: {name: part for name, part in parts.items() if part is not NO_STATE}}

    def _make_refusal(self, path: str, what: str) -> ComponentRefused:
        top = path.partition(".")[0].partition("[")[0]
        return ComponentRefused(
            f"{self._where} holds {what} in its attribute {path!r}, which has no plain form.",
            "Expected plain values, arrays, generators, or objects made of these.",
            f'Name what is state: tg.wrap(..., state=["..."]); or leave it out: opaque=["{top}"] '
            "(then it is not compared, and seeking and branching execute from the start).",
            path=path,
        )


def find_limits(held: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the ``maxlen`` of every deque in attributes, by the paths that ``PlainReader`` gives them."""
    limits: dict[str, int | None] = {}
    waiting, seen = list(held.items()), set[int]()
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, deque):
            limits[path] = value.maxlen
        if isinstance(value, list | tuple | deque):
            waiting += [(f"{path}[{at}]", item) for at, item in enumerate(value)]
        elif isinstance(value, dict):
            waiting += [(f"{path}[{key!r}]", item) for key, item in value.items()]
        elif is_state(value) and hasattr(value, "__dict__") and id(value) not in seen:
            seen.add(id(value))
            waiting += [(f"{path}.{name}", item) for name, item in vars(value).items()]
    return limits


def is_state(value: Any) -> bool:
    """Return whether a value can change the environment's later behaviour, by its kind."""
    if isinstance(value, (*_CONSTANT, *GENERATORS)) or is_mjdata(value) or callable(value):
        return False
    module = type(value).__module__
    is_model = module.startswith("mujoco") and type(value).__name__ == "MjModel"
    return not module.startswith(_SCREENS) and not is_model


def put_value(
    holder: Any, name: str, value: Any, path: str, where: str, known: dict[str, object]
) -> None:
    """Put a plain value back into an attribute; see ``rebuild``."""
    current = vars(holder).get(name) if hasattr(holder, "__dict__") else getattr(holder, name)
    setattr(holder, name, rebuild(current, value, path, where, known))


def rebuild(current: Any, value: Any, path: str, where: str, known: dict[str, object]) -> Any:
    """Return the new value of an attribute: objects and views in place, everything else fresh."""
    kind = type(value)
    if kind is np.ndarray:
        # An array that shows memory of something else must stay that view.
        is_view = isinstance(current, np.ndarray) and current.base is not None
        if not is_view or not current.flags.writeable:
            return value
        if (current.shape, current.dtype) != (value.shape, value.dtype):
            return value
        current[...] = value
        return current
    if kind is list or kind is tuple:
        before = current if isinstance(current, kind) else ()
        parts = [
            rebuild(before[at] if at < len(before) else None, item, f"{path}[{at}]", where, known)
            for at, item in enumerate(value)
        ]
        return parts if kind is list else tuple(parts)
    if kind is not dict:
        return value
    if set(value) in ({_DEQUE}, {_DEQUE, _LIMIT}):
        fresh = rebuild(None, value[_DEQUE], path, where, known)
        is_there = isinstance(current, deque)
        limit = value.get(_LIMIT, current.maxlen if is_there else None)
        if not is_there or current.maxlen != limit:
            return deque(fresh, limit)
        current.clear()
        current.extend(fresh)
        return current
    if is_second_name(value):
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
            put_value(current, name, inner, f"{path}.{name}", where, known)
        return current
    old = current if isinstance(current, dict) else {}
    return {
        key: rebuild(old.get(key), item, f"{path}[{key!r}]", where, known)
        for key, item in value.items()
    }


def is_second_name(value: object) -> bool:
    """Return whether a plain value refers to the same object as at another path."""
    return isinstance(value, dict) and set(value) == {_SAME}
