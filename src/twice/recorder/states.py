"""States of components: captured, put back, and migrated first where their classes have another version by now.

Canonical form sorts a dict's keys, because two dicts with equal items are the same state. A program that iterates its
dict sees the order of insertion all the same, so a restored dict must have it. The orders of all dicts of a state are
kept beside it as permutations of their canonical order, in the order in which a walk meets the dicts; most dicts share
a few key sets, so the permutations are few.

A class declares ``state_version: int`` and a static or class method ``migrate(state, version)``. Without a
declaration, the version is 0. Snapshots keep it. Only a restore under other code calls ``migrate``.

Not covered: the iteration order of sets, which depends on their history, and dicts inside registered types, whose
insides only their owner knows.

Invariant: ``apply_orders(decode(encode(value)), find_orders(value))`` iterates like ``value`` does. A state of the
present version is never migrated.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any

from twice.errors import DecodingRefused, MigrationRefused, RestoreRefused, TwiceError
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, digest_value
from twice.foundation.encoding import decode, encode, encode_parts, loaded_types

if TYPE_CHECKING:
    from twice.recorder.components import Component
    from twice.recorder.snapshots import Captured, Parts

ORDERS = "orders"
"""Key of the ending."""
PREFIX = "order:"
"""Of the name under which a snapshot holds the orders of a component."""
Orders = tuple[list[list[int]], list[int]]
_END = object()
_PLAIN = frozenset({int, float, str, bytes, bool, type(None), complex})


@dataclass(frozen=True)
class Migration:
    """A state of a component that was migrated, or has to be, from the ``old`` version of a snapshot to the ``new`` one.

    The snapshot stands before the ``tick``.
    """

    component: str
    old: int
    new: int
    tick: int

    def to_json(self) -> dict[str, object]:
        """Return it as plain values."""
        return {"component": self.component, "from": self.old, "to": self.new, "tick": self.tick}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Migration:
        """Build it from the values of ``to_json``."""
        return cls(data["component"], data["from"], data["to"], data["tick"])

    def __str__(self) -> str:
        return (
            f"{self.component} was migrated from version {self.old} of its state to version {self.new}, before tick "
            f"{self.tick}: it is not compared after that"
        )

    def refuse(self, why: str, remedy: str) -> MigrationRefused:
        """Return the error for a state that cannot be migrated."""
        return MigrationRefused(
            f"The snapshot before tick {self.tick} holds version {self.old} of the state of "
            f"{self.component!r}, and {why}.",
            f"Expected a migrate() that makes a state of version {self.new} of it."
            if self.new > self.old
            else f"Expected a class whose state_version is {self.old} or more.",
            remedy,
            name=self.component,
            snapshot_version=self.old,
            code_version=self.new,
        )


def capture_components(
    components: Mapping[str, Component],
) -> tuple[dict[str, Parts], dict[str, int]]:
    """Return states as canonical parts, the order of their dicts where it differs, and declared versions."""
    captured: dict[str, Parts] = {}
    for name, component in components.items():
        state = component.read()
        captured[name] = encode_parts(state)
        orders = find_orders(state)
        if orders is not None:
            captured[PREFIX + name] = encode_parts(orders)
    declared = ((name, component.state_version) for name, component in components.items())
    return captured, {name: version for name, version in declared if version}


def decode_state(parts: Parts, orders: Parts | None = None) -> Any:
    """Decode a subsystem's state into fresh values of types that the program has loaded."""
    value = decode(b"".join(parts), resolve=loaded_types)
    found: Any = None if orders is None else decode(b"".join(orders))
    return apply_orders(value, found)


def restore_components(components: Mapping[str, Component], captured: Captured) -> list[Migration]:
    """Restore every component that a snapshot holds; return those whose state had to be migrated.

    Raises:
        RestoreRefused: E-TRACK-003, when one has no ``restore`` or came back different.
        MigrationRefused: E-TRACK-004, when one has another version and cannot be migrated.
    """
    migrated = []
    for name, component in components.items():
        if name not in captured.subsystems:
            continue
        if component.put is None:
            raise RestoreRefused(
                f"The component {name!r} has no restore().",
                "Expected restore(state), which puts back what state() returned.",
                "Add restore(); until then seeking and branching execute from the start.",
                name=name,
            )
        parts, orders = captured.subsystems[name], captured.subsystems.get(PREFIX + name)
        old, new = captured.versions.get(name, 0), component.state_version
        if old != new:
            migrated.append(Migration(name, old, new, captured.tick))
            _restore_migrated(component, component.put, parts, orders, migrated[-1])
            continue
        component.put(decode_state(parts, orders))
        if places := _find_changed(component, b"".join(parts)):
            raise RestoreRefused(
                f"The component {name!r} came back different after restore(): {places}.",
                "Expected state() right after restore(state) to return that very state.",
                "Let restore() put back everything that state() returns.",
                name=name,
            )
    return migrated


def _restore_migrated(
    component: Component,
    put: Callable[[Any], None],
    parts: Parts,
    orders: Parts | None,
    migration: Migration,
) -> None:
    """Restore a component from a state of another version, which the class makes one of the present version."""
    kind, old, new = type(component.target), migration.old, migration.new
    name = kind.__qualname__
    if new < old:
        why = f"{name} has the older version {new}" if new else f"{name} has none"
        raise migration.refuse(why, "Bring back the code that made the snapshot, or newer code.")
    migrate = getattr(kind, "migrate", None)
    if not callable(migrate):
        remedy = f"Add a static method migrate(state, version) to {name}."
        raise migration.refuse(f"{name} has version {new} and no migrate()", remedy)
    try:
        state = decode_state(parts, orders)
    except DecodingRefused:  # a class in it has other fields by now: a stand-in has the old ones
        state = decode(b"".join(parts))
    try:
        state = migrate(state, old)
    except Exception as error:
        why = f"{name}.migrate() to version {new} raised {type(error).__name__}: {error}"
        remedy = f"Correct the static method migrate(state, version) of {name}."
        raise migration.refuse(why, remedy) from error
    try:
        form = encode(state)
    except TwiceError as error:
        why = f"migrate() returned no plain state: {error.happened.rstrip('.')}"
        raise migration.refuse(why, "Let migrate() return what state() returns.") from error
    remedy = f"Let migrate() return the very state that state() returns in version {new}."
    try:
        put(state)
        places = _find_changed(component, form)
    except Exception as error:
        why = f"the migrated state cannot be put back: {type(error).__name__}: {error}"
        raise migration.refuse(why, remedy) from error
    if places:
        raise migration.refuse(f"the migrated state came back different: {places}", remedy)


def _find_changed(component: Component, form: bytes) -> str:
    """Return the first places at which a component does not read as this form; empty if it does."""
    again = encode(component.read())
    if again == form:
        return ""
    from twice.foundation.comparison import differences

    found = differences(decode_state([form]), decode_state([again]))
    return ", ".join(difference.path for difference in found[:3]) or "its canonical form"


def find_orders(value: object) -> Orders | None:
    """Return permutations of a value's dicts, or None when every dict is in canonical order.

    The distinct permutations come first, then the number of each dict's own from 1 on, or 0 for the canonical order.
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
            places = {key: place for place, key in enumerate(ordered)}
            order = tuple(map(places.__getitem__, keys))
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
