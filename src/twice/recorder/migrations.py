"""Versions of a component's state: how a class declares its own, and how an older state becomes the present one.

A class declares ``state_version: int`` and a static or class method ``migrate(state, version)``. Without a
declaration, the version is 0. Snapshots keep it. Only a restore under other code calls ``migrate``.

Invariant: a state of the present version is never migrated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.errors import ComponentRefused, MigrationRefused
from twice.foundation.dataclass import dataclass


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


def find_state_version(name: str, target: object) -> int:
    """Return the version that the class of a component declares, or 0.

    Raises:
        ComponentRefused: E-TRACK-001, when it is no whole number from 1 on.
    """
    declared = getattr(type(target), "state_version", None)
    # A property or a slot of that name is state of its own.
    if declared is None or hasattr(declared, "__get__"):
        return 0
    if type(declared) is not int or declared < 1:
        raise ComponentRefused(
            f"The class of the component {name!r} has the state_version {declared!r}.",
            "Expected a whole number, 1 or more.",
            "For example: state_version = 1",
            name=name,
        )
    return declared


def migrate(target: object, state: object, migration: Migration) -> object:
    """Return the state of the present version that the class of a component makes of an older one.

    Raises:
        MigrationRefused: E-TRACK-004, when the snapshot is the newer one, or the class cannot migrate it.
    """
    kind = type(target).__qualname__
    if migration.new < migration.old:
        raise make_refusal(
            migration,
            f"{kind} has the older version {migration.new}"
            if migration.new
            else f"{kind} has none",
            "Bring back the code that made the snapshot, or newer code.",
        )
    method = getattr(type(target), "migrate", None)
    if not callable(method):
        raise make_refusal(
            migration,
            f"{kind} has version {migration.new} and no migrate()",
            f"Add a static method migrate(state, version) to {kind}.",
        )
    try:
        return method(state, migration.old)
    except Exception as error:
        raise make_refusal(
            migration,
            f"{kind}.migrate() to version {migration.new} raised {type(error).__name__}: {error}",
            f"Correct the static method migrate(state, version) of {kind}.",
        ) from error


def make_refusal(migration: Migration, why: str, remedy: str) -> MigrationRefused:
    """Build the error for a state that cannot be migrated."""
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
