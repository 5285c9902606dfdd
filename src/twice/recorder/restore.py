"""States put back into components, and migrated first where their classes have another version by now.

A class declares ``state_version: int`` and a static or class method ``migrate(state, version)``. Without a
declaration, the version is 0. Snapshots keep it. Only a restore under other code calls ``migrate``.

Construct, then restore: components first, then streams (a ``restore`` may draw), then cursors.

Invariant: a state of the present version is never migrated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from twice.errors import DecodingRefused, MigrationRefused, RestoreRefused, TwiceError
from twice.foundation.dataclass import dataclass
from twice.foundation.encoding import decode, encode, loaded_types
from twice.recorder.dict_order import PREFIX, apply_orders
from twice.recorder.snapshots import Captured, Parts

if TYPE_CHECKING:
    from twice.recorder.components import Component


@dataclass(frozen=True)
class Migration:
    """A state that was migrated, or has to be.

    Attributes:
        component: its name.
        old, new: the version in the snapshot, and that of the code.
        tick: the snapshot stands before this tick.
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
        if old == new:
            component.put(decode_state(parts, orders))
            if places := _find_changed(component, b"".join(parts)):
                raise RestoreRefused(
                    f"The component {name!r} came back different after restore(): {places}.",
                    "Expected state() right after restore(state) to return that very state.",
                    "Let restore() put back everything that state() returns.",
                    name=name,
                )
        else:
            migrated.append(Migration(name, old, new, captured.tick))
            _restore_migrated(component, parts, orders, migrated[-1])
    return migrated


def _restore_migrated(
    component: Component, parts: Parts, orders: Parts | None, migration: Migration
) -> None:
    """Restore a component from a state of another version."""
    assert component.put is not None, "whether it can be put back was asked before"
    try:
        state = decode_state(parts, orders)
    except DecodingRefused:  # a class in it has other fields by now: a stand-in has the old ones
        state = decode(b"".join(parts))
    state = _migrate(component.target, state, migration)
    try:
        form = encode(state)
    except TwiceError as error:
        why = f"migrate() returned no plain state: {error.happened.rstrip('.')}"
        remedy = "Let migrate() return what state() returns."
        raise _refuse(migration, why, remedy) from error
    remedy = f"Let migrate() return the very state that state() returns in version {migration.new}."
    try:
        component.put(state)
        places = _find_changed(component, form)
    except Exception as error:
        why = f"the migrated state cannot be put back: {type(error).__name__}: {error}"
        raise _refuse(migration, why, remedy) from error
    if places:
        raise _refuse(migration, f"the migrated state came back different: {places}", remedy)


def _find_changed(component: Component, form: bytes) -> str:
    """Return the first places at which a component does not read as this form; empty if it does."""
    again = encode(component.read())
    if again == form:
        return ""
    from twice.foundation.comparison import differences

    found = differences(decode_state([form]), decode_state([again]))
    return ", ".join(difference.path for difference in found[:3]) or "its canonical form"


def _migrate(target: object, state: object, migration: Migration) -> object:
    """Return the state of the present version that the class of a component makes of an older one."""
    kind, new = type(target).__qualname__, migration.new
    if new < migration.old:
        why = f"{kind} has the older version {new}" if new else f"{kind} has none"
        remedy = "Bring back the code that made the snapshot, or newer code."
        raise _refuse(migration, why, remedy)
    method = getattr(type(target), "migrate", None)
    if not callable(method):
        why = f"{kind} has version {new} and no migrate()"
        remedy = f"Add a static method migrate(state, version) to {kind}."
        raise _refuse(migration, why, remedy)
    try:
        return method(state, migration.old)
    except Exception as error:
        why = f"{kind}.migrate() to version {new} raised {type(error).__name__}: {error}"
        remedy = f"Correct the static method migrate(state, version) of {kind}."
        raise _refuse(migration, why, remedy) from error


def _refuse(migration: Migration, why: str, remedy: str) -> MigrationRefused:
    return MigrationRefused(
        f"The snapshot before tick {migration.tick} holds version {migration.old} of the state of "
        f"{migration.component!r}, and {why}.",
        f"Expected a migrate() that makes a state of version {migration.new} of it."
        if migration.new > migration.old
        else f"Expected a class whose state_version is {migration.old} or more.",
        remedy,
        name=migration.component,
        snapshot_version=migration.old,
        code_version=migration.new,
    )
