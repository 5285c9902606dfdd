"""How each fault changes a value: pure functions from a field's value to another one.

Invariant: the value that is given is never changed, and the one that comes back differs from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from twice.errors import EncodingRefused, FaultMisplaced
from twice.foundation.encoding import encode

_SALTS = 64


def split_path(path: str) -> list[str]:
    """A field's path as keys, outermost first."""
    return path.split("/") if path else []


def get_part(state: Any, path: str) -> Any:
    """The value at a path of a state.

    Raises:
        FaultMisplaced: E-TESTING-003, when there is none.
    """
    value = state
    for key in split_path(path):
        try:
            value = value[key] if isinstance(value, dict) else value[int(key)]
        except (KeyError, IndexError, ValueError, TypeError):
            known = ", ".join(map(str, value)) if isinstance(value, dict) else type(value).__name__
            raise FaultMisplaced(
                f"There is no field {path!r}: nothing is at {key!r}.",
                f"There: {known}.",
                "Name a field of the component's state(), keys joined by /.",
                field=path,
            ) from None
    return value


def replace_part(state: Any, path: Sequence[str], value: Any) -> Any:
    """A state with another value at a path."""
    if not path:
        return value
    key, *rest = path
    if isinstance(state, dict):
        return {k: replace_part(v, rest, value) if k == key else v for k, v in state.items()}
    items = [replace_part(v, rest, value) if at == int(key) else v for at, v in enumerate(state)]
    return tuple(items) if isinstance(state, tuple) else items


def move_one_ulp(value: Any) -> Any:
    """The first finite number, moved to its neighbour."""
    return _first_number(value, _neighbour, "floating-point number", (float, np.floating))


def add_time(value: Any, now_ns: int) -> Any:
    """The first number, or a text, with the time in it."""
    if isinstance(value, str):
        return f"{value}{now_ns}"
    return _first_number(value, lambda number: _later(number, now_ns), "number", _NUMBERS)


_NUMBERS = (float, np.floating, int, np.integer)


def swap_rows(value: Any) -> Any:
    """Two rows that differ, exchanged."""
    rows = _rows(value)
    for at in range(1, len(rows)):
        if _form(rows[at]) != _form(rows[0]):
            order = list(range(len(rows)))
            order[0], order[at] = at, 0
            return _taken(value, order)
    raise _unfit("two rows that differ", value)


def reorder_by_set(value: Any) -> Any:
    """The rows in the order in which a set of their names gives them."""
    rows = _rows(value)
    for salt in range(_SALTS):
        names = {f"{salt}-{at}" for at in range(len(rows))}
        order = [int(name.partition("-")[2]) for name in _as_iterated(names)]
        moved = _taken(value, order)
        if _form(moved) != _form(value):
            return moved
    raise _unfit("two rows that differ", value)


MUTATIONS: Final[Mapping[str, Callable[[Any, int], Any]]] = {
    "one ulp": lambda value, _: move_one_ulp(value),
    "permuted rows": lambda value, _: swap_rows(value),
    "set order": lambda value, _: reorder_by_set(value),
    "wall clock": add_time,
}
"""By kind of fault: from a value and a time in nanoseconds to another value; the other kinds need more than that."""


def _as_iterated(names: Iterable[str]) -> list[str]:
    return [*names]


def _rows(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value)
    if isinstance(value, list | tuple):
        return list(value)
    raise _unfit("rows: an array, a list or a tuple", value)


def _taken(value: Any, order: list[int]) -> Any:
    if isinstance(value, np.ndarray):
        return value[order]
    rows = [value[at] for at in order]
    return tuple(rows) if isinstance(value, tuple) else rows


def _form(value: Any) -> bytes:
    try:
        return encode(value)
    except EncodingRefused:
        return repr(value).encode()


def _first_number(
    value: Any, change: Callable[[Any], Any], what: str, kinds: tuple[type, ...]
) -> Any:
    """A value with its first fitting number changed, wherever in it that is."""
    changed = _tried(value, change, kinds)
    if changed is None:
        raise _unfit(f"a {what}", value)
    return changed


def _tried(value: Any, change: Callable[[Any], Any], kinds: tuple[type, ...]) -> Any | None:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, np.ndarray):
        if not issubclass(value.dtype.type, kinds):
            return None
        flat = value.flatten()
        for at, number in enumerate(flat):
            moved = change(number) if math.isfinite(number) else None
            if moved is not None:
                flat[at] = moved
                return flat.reshape(value.shape)
        return None
    if isinstance(value, kinds):
        single: Any = value
        return change(single) if math.isfinite(single) else None
    if isinstance(value, dict):
        for key in value:
            moved = _tried(value[key], change, kinds)
            if moved is not None:
                return {**value, key: moved}
    if isinstance(value, list | tuple):
        for at, item in enumerate(value):
            moved = _tried(item, change, kinds)
            if moved is not None:
                items = [*value[:at], moved, *value[at + 1 :]]
                return tuple(items) if isinstance(value, tuple) else items
    return None


def _neighbour(number: Any) -> Any:
    if isinstance(number, np.floating):
        up: Any = np.nextafter(number, number.dtype.type(np.inf))
        return up if np.isfinite(up) else np.nextafter(number, number.dtype.type(-np.inf))
    up = math.nextafter(number, math.inf)
    return up if math.isfinite(up) else math.nextafter(number, 0.0)


def _later(number: Any, now_ns: int) -> Any:
    if isinstance(number, np.integer):
        limit = int(np.iinfo(number.dtype).max)
        added = (int(number) + 1 + now_ns % 97) % (limit + 1)
        return number.dtype.type(added if added != int(number) else 0)
    if isinstance(number, int):
        return number + 1 + now_ns % 9973
    if not math.isfinite(number):
        return None
    share = number.__class__((1 + now_ns % 9973) / 9973)
    moved = number + share * (abs(number) or 1)
    return moved if math.isfinite(moved) else number / 2


def _unfit(wanted: str, value: Any) -> FaultMisplaced:
    return FaultMisplaced(
        f"The field holds {type(value).__name__} {value!r:.60}, not {wanted}.",
        f"Expected {wanted}.",
        "Name another field.",
    )
