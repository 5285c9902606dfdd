"""What a declared effect leaves in the containers that it was given: noted while recording, left there again in a replay.

Covered: lists, dicts, sets, bytearrays and numpy arrays of one shape, also inside of each other; a container stays
the object that it is, so that whoever else holds it sees the change.

Not covered: attributes of objects, subclasses of these containers, an argument that the effect also returns (a replay
returns a copy).

Invariant: each container stays the object that it was, and holds what it held after the recorded call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from twice.foundation.encoding import decode, encode, loaded_types
from twice.recorder.states import apply_orders, find_orders

_CONTAINERS = frozenset(
    {"builtins.list", "builtins.dict", "builtins.set", "builtins.bytearray", "numpy.ndarray"}
)
Changed = tuple[Any, Any]
"""The containers after the call by their position or name, and the orders of their dicts."""


def can_change(args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
    """Return whether a change of these arguments can be noted: any of them is a container."""
    return any(map(_is_container, (*args, *kwargs.values())))


def note_changes(args: Sequence[object], kwargs: Mapping[str, object]) -> Changed:
    """Return what stands in the containers among the arguments of a call that changed some of them."""
    left = {key: each for key, each in _name_arguments(args, kwargs) if _is_container(each)}
    # A copy: the program may go on to change them before they are written down.
    return decode(encode(left), resolve=loaded_types), find_orders(left)


def repeat_changes(args: Sequence[object], kwargs: Mapping[str, object], changed: Changed) -> None:
    """Leave in the arguments of a call what the recorded one left there."""
    left, orders = changed
    known = apply_orders(decode(encode(left), resolve=loaded_types), orders)
    for key, each in _name_arguments(args, kwargs):
        if key in known:
            _leave(each, known[key])


def _name_arguments(
    args: Sequence[object], kwargs: Mapping[str, object]
) -> list[tuple[int | str, object]]:
    return [*enumerate(args), *kwargs.items()]


def _is_container(value: object) -> bool:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}" in _CONTAINERS


def _leave(target: Any, value: Any) -> Any:
    """Make a container equal to another one, and return what stands for it: itself, where it can be changed."""
    if type(target) is not type(value) or not _is_container(target):
        return value
    match target:
        case list():
            known = target[: len(value)]
            target[:] = [*map(_leave, known, value), *value[len(known) :]]
        case dict():
            kept = {key: _leave(target.get(key), each) for key, each in value.items()}
            target.clear()
            target.update(kept)
        case set():
            target.clear()
            target.update(value)
        case bytearray():
            target[:] = value
        case _ if target.shape != value.shape or target.dtype != value.dtype:
            return value
        case _:
            target[...] = value
    return target
