"""The insertion order of dicts, kept beside a snapshot's canonical form.

Canonical form sorts a dict's keys, because two dicts with equal items are the same state. A program
that iterates its dict sees the order of insertion all the same, so a restored dict must have it. The
orders of all dicts of a state are kept as permutations of their canonical order, in the order in
which a walk meets the dicts; most dicts share a few key sets, so the permutations are few.

Not covered: the iteration order of sets, which depends on their history, and dicts inside
registered types, whose insides only their owner knows.

Invariant: ``apply_orders(decode(encode(value)), find_orders(value))`` iterates like ``value`` does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

from twice.foundation.digests import Algorithm, digest_value
from twice.foundation.encoding import decode, encode, loaded_types

if TYPE_CHECKING:
    from twice.recorder.components import Component

ORDERS = "orders"
"""Key of the ending."""
PREFIX = "order:"
"""Of the name under which a snapshot holds the orders of a component."""
Orders = tuple[list[list[int]], list[int]]
_END = object()
_PLAIN = frozenset({int, float, str, bytes, bool, type(None), complex})


def find_orders(value: object) -> Orders | None:
    """Return permutations of a value's dicts, or None when every dict is in canonical order.

    Returns:
        The distinct permutations, and for each dict met the number of its own, counted from 1; 0 is
        the canonical order.
    """
    shapes: list[list[int]] = []
    numbers: dict[tuple[int, ...], int] = {(): 0}
    by_keys: dict[tuple[Any, ...], tuple[int, list[Any]]] = {}
    met: list[int] = []

    def note_order(found: dict[Any, Any]) -> list[Any]:
        keys = tuple(found)
        kinds = tuple(map(type, keys))  # 1 and True are equal keys, and have two canonical forms
        known = by_keys.get((keys, kinds))
        if known is None:
            ordered = _sort_keys(keys)
            places = {_as_text_or_form(key): place for place, key in enumerate(ordered)}
            order = tuple(places[_as_text_or_form(key)] for key in keys)
            if order == tuple(range(len(keys))):
                order = ()
            if order not in numbers:
                shapes.append(list(order))
                numbers[order] = len(shapes)
            known = by_keys[keys, kinds] = numbers[order], ordered
        met.append(known[0])
        return known[1]

    _walk(value, note_order)
    return (shapes, met) if any(met) else None


def digest_orders(components: Mapping[str, Component], algorithm: Algorithm) -> dict[str, str]:
    """Return a digest of the insertion orders of each component's dicts, where they are not the canonical one.

    A component whose state cannot be read any more has none.
    """
    found = {}
    for name, component in components.items():
        with suppress(Exception):  # the program's own state() runs after its end
            orders = find_orders(component.read())
            if orders is not None:
                found[name] = str(digest_value(orders, algorithm))
    return found


def apply_orders(value: Any, orders: Orders | None) -> Any:
    """Put the dicts of a freshly decoded value into their recorded order, in place."""
    if orders is None:
        return value
    shapes, met = orders
    numbers = iter(met)

    def reorder(found: dict[Any, Any]) -> list[Any]:
        keys = list(found)  # as decoded, so in canonical order
        number = next(numbers)
        if number:
            items = list(found.items())
            found.clear()
            found.update(items[place] for place in shapes[number - 1])
        return keys

    _walk(value, reorder)
    return value


def _as_text_or_form(key: Any) -> Any:
    return key if type(key) is str else encode(key)


def _sort_keys(keys: tuple[Any, ...]) -> list[Any]:
    if all(type(key) is str for key in keys):
        return sorted(keys)
    # The encoder alone knows how keys of several types sort, so it sorts them.
    by_form = {encode(key): key for key in keys}
    decoded: Any = decode(encode(dict.fromkeys(keys)), resolve=loaded_types)
    return [by_form[encode(key)] for key in decoded]


def _walk(value: object, visit: Callable[[dict[Any, Any]], list[Any]]) -> None:
    """Visit every dict, parents first, members in canonical order; ``visit`` returns the keys in that order."""
    waiting: list[Iterator[object]] = [iter((value,))]
    while waiting:
        found = next(waiting[-1], _END)
        if found is _END:
            waiting.pop()
        elif type(found) is dict:
            waiting.append(map(found.__getitem__, visit(found)))
        elif isinstance(found, list | tuple):
            # A long list of numbers holds no dict; its first value tells most others apart at once.
            if found and not (type(found[0]) in _PLAIN and _PLAIN.issuperset(map(type, found))):
                waiting.append(iter(found))
        elif dataclasses.is_dataclass(found) and not isinstance(found, type | Enum):
            fields = dataclasses.fields(found)
            waiting.append(iter([getattr(found, field.name, None) for field in fields]))
