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
Limits = Mapping[str, int | None]


class _NoState:
    """Marks what is not state: functions, spaces, screens, generators, simulators."""


NO_STATE = _NoState()


def plain(
    value: Any,
    path: str,
    where: str,
    seen: dict[int, str],
    limits: Limits,
    depth: int = 0,
) -> Any:
    """A value as plain data; objects become their attributes, marked as such.

    Args:
        value: of an attribute.
        path: what errors call it.
        where: whose attribute it is, for errors.
        seen: paths of the objects met so far, by identity; filled here.
        limits: the ``maxlen`` of each deque that the environment has once it is made, by path.
        depth: how deep it is nested.

    Raises:
        ComponentRefused: E-TRACK-001, naming path and type.
    """
    kind = type(value)
    if kind in _PLAIN:
        if kind is np.ndarray and value.dtype.hasobject:
            raise _make_refusal(path, f"an array of dtype {value.dtype}", where)
        return value
    if isinstance(value, (np.generic, enum.Enum)):
        return value
    if depth > _DEPTH_MAX:
        raise _make_refusal(path, f"nested more than {_DEPTH_MAX} deep", where)
    if kind is list or kind is tuple:
        parts = [
            _inside(item, f"{path}[{i}]", where, seen, limits, depth)
            for i, item in enumerate(value)
        ]
        return parts if kind is list else tuple(parts)
    if kind is dict:
        return {
            key: _inside(item, f"{path}[{key!r}]", where, seen, limits, depth)
            for key, item in value.items()
        }
    if kind is deque:
        parts = [
            _inside(item, f"{path}[{i}]", where, seen, limits, depth)
            for i, item in enumerate(value)
        ]
        if value.maxlen == limits.get(path):
            return {_DEQUE: parts}
        # Nothing in a new environment says it, so that the state has to.
        return {_DEQUE: parts, _LIMIT: value.maxlen}
    if kind in {set, frozenset, bytearray} or (isinstance(value, tuple) and kind is not tuple):
        return value
    if not is_state(value):
        return NO_STATE
    return _open_object(value, path, where, seen, limits, depth)


def _inside(
    value: Any, path: str, where: str, seen: dict[int, str], limits: Limits, depth: int
) -> Any:
    found = plain(value, path, where, seen, limits, depth + 1)
    return None if found is NO_STATE else found


def _open_object(
    value: Any, path: str, where: str, seen: dict[int, str], limits: Limits, depth: int
) -> Any:
    """An object of another class, by its attributes."""
    if id(value) in seen:
        return {_SAME: seen[id(value)]}
    held = getattr(value, "__dict__", None)
    if held is None or "__slots__" in vars(type(value)):
        kind = type(value)
        raise _make_refusal(path, f"a {kind.__module__}.{kind.__qualname__}", where)
    seen[id(value)] = path
    parts = {
        name: plain(held[name], f"{path}.{name}", where, seen, limits, depth + 1)
        for name in sorted(held)
    }
    return {_OBJECT: {name: part for name, part in parts.items() if part is not NO_STATE}}


def find_limits(held: Mapping[str, Any]) -> dict[str, int | None]:
    """The ``maxlen`` of every deque in attributes, by the paths that ``plain`` gives them."""
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
    """Whether a value can change what the environment does next, by its kind."""
    if isinstance(value, (*_CONSTANT, *GENERATORS)) or is_mjdata(value):
        return False
    module = type(value).__module__
    return not (
        module.startswith(_SCREENS)
        or (module.startswith("mujoco") and type(value).__name__ == "MjModel")
        or callable(value)
    )


def put_value(
    holder: Any, name: str, value: Any, path: str, where: str, known: dict[str, object]
) -> None:
    """Put a plain value back into an attribute.

    Args:
        holder: the object with the attribute.
        name: of the attribute.
        value: what ``plain`` gave.
        path: what errors call it.
        where: whose attribute it is, for errors.
        known: objects met so far, by path; filled here.

    Raises:
        RestoreRefused: E-TRACK-003, when an object that held state is not there.
    """
    current = vars(holder).get(name) if hasattr(holder, "__dict__") else getattr(holder, name)
    setattr(holder, name, rebuilt(current, value, path, where, known))


def rebuilt(current: Any, value: Any, path: str, where: str, known: dict[str, object]) -> Any:
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
            rebuilt(old[i] if i < len(old) else None, item, f"{path}[{i}]", where, known)
            for i, item in enumerate(value)
        ]
    if type(value) is tuple:
        before = current if isinstance(current, tuple) else ()
        return tuple(
            rebuilt(before[i] if i < len(before) else None, item, f"{path}[{i}]", where, known)
            for i, item in enumerate(value)
        )
    return value


def _rebuilt_dict(
    current: Any, value: dict[Any, Any], path: str, where: str, known: dict[str, object]
) -> Any:
    if set(value) in ({_DEQUE}, {_DEQUE, _LIMIT}):
        fresh = rebuilt(None, value[_DEQUE], path, where, known)
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
        key: rebuilt(old.get(key), item, f"{path}[{key!r}]", where, known)
        for key, item in value.items()
    }


def is_second_name(value: object) -> bool:
    """Whether a plain value says: the same object as at another path."""
    return isinstance(value, dict) and set(value) == {_SAME}


def _is_view_like(current: Any, value: np.ndarray[Any, Any]) -> bool:
    """Whether an array shows memory that something else owns: it must stay that view."""
    return (
        isinstance(current, np.ndarray)
        and current.base is not None
        and current.flags.writeable
        and (current.shape, current.dtype) == (value.shape, value.dtype)
    )


def _make_refusal(path: str, what: str, where: str) -> ComponentRefused:
    top = path.partition(".")[0].partition("[")[0]
    return ComponentRefused(
        f"{where} holds {what} in its attribute {path!r}, which has no plain form.",
        "Expected plain values, arrays, generators, or objects made of these.",
        f'Name what is state: tg.wrap(..., state=["..."]); or leave it out: opaque=["{top}"] (then '
        "it is not compared, and seeking and branching execute from the start).",
        path=path,
    )
