"""Which types have a canonical form: built in, described by themselves, or registered by users.

A registry answers, for an exact type, how to write it fast and how to take it apart by the book.
It never answers for a subclass of a described type: a subclass may hold state that nobody sees.

Invariant: one name stands for one type and one type for one name.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

from twice.errors import TypeNameTaken
from twice.foundation.encoding import hot
from twice.foundation.encoding.arrays import numpy_opener, open_array
from twice.foundation.encoding.containers import CONTAINERS, leaf_opener
from twice.foundation.encoding.instances import (
    OPAQUE,
    dataclass_opener,
    enum_leaf,
    named_tuple_opener,
    registered_opener,
)
from twice.foundation.encoding.library_types import find_library_type, find_loaded_class
from twice.foundation.encoding.opened import Opener
from twice.foundation.encoding.refusals import Refusal, unknown_type
from twice.foundation.encoding.scalars import LEAVES, library_leaf

BUILT_IN: dict[type, Opener] = {
    **{cls: leaf_opener(leaf) for cls, leaf in LEAVES.items()},
    **CONTAINERS,
    **OPAQUE,
}


class Registration(NamedTuple):
    """A user's type with its name and the way to a plain value and back."""

    cls: type[Any]
    name: str
    to_value: Callable[[Any], object]
    from_value: Callable[[Any], object]


class _Writers(dict[type, hot.Writer]):
    """Fast writers by exact type; an unknown type is described on first sight."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(hot.WRITERS)
        self._registry = registry

    def __missing__(self, cls: type) -> hot.Writer:
        opener = self._registry.opener_of(cls)
        writer = hot.write_array if opener is open_array else hot.writer_of(opener)
        self[cls] = writer
        return writer


class Registry:
    """The types that may stand in a state, beyond those built in.

    Enums, dataclasses and named tuples need no registration. Registering is done before the first
    value is encoded, at import, once.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, Registration] = {}
        self._by_type: dict[type, Registration] = {}
        self._openers: dict[type, Opener] = dict(BUILT_IN)
        self._unknown: set[type] = set()
        self.writers: hot.Table = _Writers(self)

    def register(
        self,
        cls: type[Any],
        name: str,
        to_value: Callable[[Any], object],
        from_value: Callable[[Any], object],
    ) -> None:
        """Gives a type a canonical form.

        Args:
            cls: the exact type; its subclasses are not included.
            name: what it is called in the bytes, such as ``physics.Quaternion``. Keep it for ever.
            to_value: turns an instance into a value that has a canonical form; no side effects.
            from_value: turns such a value back into an instance.

        Raises:
            TypeNameTaken: E-ENCODE-005, the name or the type is registered or built in already.
        """
        owner = self._by_name.get(name)
        known = self._by_type.get(cls)
        if owner is not None or known is not None or cls in BUILT_IN or not name:
            taken = owner or known
            held = (
                f"{taken.name!r} stands for {taken.cls.__qualname__}" if taken else "it is built in"
            )
            raise TypeNameTaken(
                f"{cls.__qualname__} cannot be registered as {name!r}: {held}.",
                "Expected a type and a name that are both new to this registry.",
                "Register each type once, at import, under a name of its own.",
                type=cls.__qualname__,
                name=name,
            )
        registration = Registration(cls, name, to_value, from_value)
        self._by_name[name] = self._by_type[cls] = registration
        self._openers.pop(cls, None)
        self._unknown.discard(cls)
        self.writers.pop(cls, None)

    def named(self, name: str) -> Registration | None:
        """The registration under a name, or None."""
        known = self._by_name.get(name)
        if known is None and (cls := find_loaded_class(name)) is not None:
            return self._adopt(cls)
        return known

    def _adopt(self, cls: type) -> Registration | None:
        """Register a type of a library that is known here; None for any other, and where the name is taken."""
        found = find_library_type(cls)
        if found is None or found[0] in self._by_name:
            return None
        registration = Registration(cls, found[0], *found[1])
        self._by_name[registration.name] = self._by_type[cls] = registration
        return registration

    def opener_of(self, cls: type) -> Opener:
        """How to take a value of exactly this type apart.

        Raises:
            Refusal: the type has no canonical form.
        """
        opener = self._openers.get(cls)
        if opener is None:
            opener = self._openers[cls] = self._described(cls)
        return opener

    def knows(self, cls: type) -> bool:
        """Return whether values of exactly this type have a canonical form."""
        if cls in self._unknown:
            return False
        try:
            self.opener_of(cls)
        except Refusal:
            self._unknown.add(cls)
            return False
        return True

    def _described(self, cls: type) -> Opener:
        registration = self._by_type.get(cls) or self._adopt(cls)
        if registration is not None:
            return registered_opener(registration.name, registration.to_value)
        leaf = library_leaf(cls)
        if leaf is not None:
            return leaf_opener(leaf)
        if issubclass(cls, enum.Enum):
            return leaf_opener(enum_leaf(cls))
        opener = dataclass_opener(cls) or named_tuple_opener(cls) or numpy_opener(cls)
        if opener is None:
            raise unknown_type(cls)
        return opener


registry = Registry()
"""The registry that is used when none is named."""


def register(
    cls: type[Any],
    name: str,
    to_value: Callable[[Any], object],
    from_value: Callable[[Any], object],
) -> None:
    """Gives a type a canonical form in the default registry; see ``Registry.register``.

    Raises:
        TypeNameTaken: E-ENCODE-005, the name or the type is registered or built in already.
    """
    registry.register(cls, name, to_value, from_value)
