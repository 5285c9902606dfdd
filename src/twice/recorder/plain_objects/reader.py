"""From live objects to values that have a canonical form.

Objects become ``OpaqueValue``, so a report names a place as the program does: ``game.player.x``. An object or a
container that is met again is written as the path at which it was met first.

Invariant: the objects that are read are not changed, and live as long as the reading.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Sequence
from operator import is_
from typing import Any, Final

from twice.errors import ComponentRefused
from twice.foundation.encoding import OpaqueKind, OpaqueValue, registry, type_name
from twice.foundation.object_attributes import class_facts
from twice.recorder.plain_objects import kinds
from twice.recorder.plain_objects.kinds import LEAVES, mark

_DEPTH_MAX: Final = 100


def read_attributes(
    target: object, component: str, names: Sequence[str] | None = None
) -> dict[str, object]:
    """Return the attributes of an object as values that have a canonical form.

    Args:
        target: the object.
        component: its name, for errors.
        names: the attributes; None takes all.

    Raises:
        ComponentRefused: E-TRACK-001, for a value without such a form; its path is named.
    """
    reader = _Reader(component)
    reader.met[id(target)] = "", target
    held = find_attributes(target, names)
    return {name: reader.read(value, name, 0) for name, value in held.items()}


def read_content(value: Any, component: str, path: str = "") -> object:
    """Return a value at a path of a component, by itself, with its items as values that have a canonical form.

    Raises:
        ComponentRefused: E-TRACK-001, for a value without such a form; its path is named.
    """
    return _Reader(component).read(value, path, 0)


def find_attributes(target: object, names: Sequence[str] | None = None) -> dict[str, object]:
    """Return the attributes of an object as they are: the named ones, or all."""
    if names is None:
        return dict(kinds.attributes_of(target))
    return {name: getattr(target, name) for name in names}


class _Reader:
    """One reading of one component.

    Attributes:
        met: path of every object that was met, and the object itself, by id.
    """

    def __init__(self, component: str) -> None:
        self._component = component
        self.met: dict[int, tuple[str, object]] = {}

    def read(self, value: Any, path: str, depth: int) -> object:
        """Return a value in a form that has a canonical form."""
        kind = type(value)
        if kind in LEAVES:
            return value
        if depth > _DEPTH_MAX:
            raise self._refuse(path, f"values nested more than {_DEPTH_MAX} deep")
        if kinds.is_constant(value):
            name, cells = kinds.name_constant(value), kinds.cells_of(value)
            return mark(kinds.CONSTANT, name=name, **({"cells": cells} if cells else {}))
        if kinds.is_generator(value):
            raise self._refuse_generator(value, path)
        if kinds.is_shareable(value):
            if id(value) in self.met:
                return mark(kinds.SAME, path=self.met[id(value)][0])
            self.met[id(value)] = path, value
        if kind in kinds.KEYED or kind in kinds.LISTED:
            return self._read_container(value, kind, path, depth)
        if dataclasses.is_dataclass(value):
            if kinds.is_whole_dataclass(value):
                return self._read_dataclass(value, path, depth)
            return self._read_object(value, kind, path, depth)
        if registry.knows(kind):
            if kind is set or kind is frozenset:
                self._require_keys(value, path)
            return self._read_named_tuple(value, path, depth) if isinstance(value, tuple) else value
        return self._read_object(value, kind, path, depth)

    def _read_object(self, value: Any, kind: type, path: str, depth: int) -> object:
        """Return an object that has no canonical form itself."""
        if kinds.is_method(value):
            owner = self.read(value.__self__, f"{path}.__self__", depth + 1)
            return mark(kinds.METHOD, name=kinds.name_constant(value), owner=owner)
        if kind is functools.partial:
            called = kinds.partial_parts(value).items()
            read = {name: self.read(part, f"{path}.{name}", depth + 1) for name, part in called}
            return mark(kinds.PARTIAL, **read)
        form = kinds.form_of(value)
        if form is not None:
            return mark(form, value=value.state() if form == kinds.STATE else value.state_dict())
        if not kinds.is_written_in_python(kind):
            raise self._refuse(path, f"a {kind.__module__}.{kind.__qualname__}")
        held = kinds.attributes_of(value)
        if dataclasses.is_dataclass(value):  # its form holds the declared fields alone
            inner = {name: self.read(item, f"{path}.{name}", depth + 1) for name, item in held}
            return mark(kinds.OBJECT, attributes=inner, type=type_name(kind))
        fields = tuple((name, self.read(item, f"{path}.{name}", depth + 1)) for name, item in held)
        return OpaqueValue(OpaqueKind.DATACLASS, type_name(kind), fields)

    def _read_container(self, value: Any, kind: type, path: str, depth: int) -> object:
        if kind in kinds.LISTED:
            # Long lists of numbers are common, and need no path for each.
            if LEAVES.issuperset(map(type, value)):
                items: list[object] = list(value)
            else:
                items = [self.read(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
            if kind is deque:
                return mark(kinds.DEQUE, items=items, maxlen=value.maxlen)
            return tuple(items) if kind is tuple else items
        factory = None
        if kind is defaultdict:
            factory = self.read(value.default_factory, f"{path}.default_factory", depth + 1)
        self._require_keys(value, path)
        read = {key: self.read(item, f"{path}[{key!r}]", depth + 1) for key, item in value.items()}
        if kind is defaultdict:
            return mark(kinds.DEFAULTDICT, factory=factory, items=read)
        if kind is Counter:
            return mark(kinds.COUNTER, items=read)
        return OrderedDict(read) if kind is OrderedDict else read

    def _read_dataclass(self, value: Any, path: str, depth: int) -> object:
        names = tuple(sorted(field.name for field in dataclasses.fields(value)))
        if not kinds.is_written_in_python(type(value)) or not all(
            hasattr(value, name) for name in names
        ):
            return value  # refused where it is encoded, with its path
        # The object itself where nothing in it needed another form: most dataclasses hold plain values.
        held = [getattr(value, name) for name in names]
        parts = self._read_parts(names, held, path, depth)
        if all(map(is_, parts, held)):
            return value
        made = object.__new__(type(value))
        for name, part in zip(names, parts, strict=True):
            object.__setattr__(made, name, part)
        return made

    def _read_named_tuple(self, value: Any, path: str, depth: int) -> object:
        names: tuple[str, ...] = type(value)._fields
        parts = self._read_parts(names, value, path, depth)
        if all(map(is_, parts, value)):
            return value
        fields = tuple(zip(names, parts, strict=True))
        return OpaqueValue(OpaqueKind.NAMED_TUPLE, type_name(type(value)), fields)

    def _read_parts(
        self, names: Iterable[str], held: Iterable[object], path: str, depth: int
    ) -> list[object]:
        return [
            self.read(item, f"{path}.{name}", depth + 1)
            for name, item in zip(names, held, strict=True)
        ]

    def _require_keys(self, keys: Iterable[object], path: str) -> None:
        """Refuse keys and elements that have no canonical form, and so no order."""
        for key in keys:
            kind = type(key)
            if kind not in LEAVES and not registry.knows(kind):
                raise self._refuse(
                    path,
                    f"a {kind.__module__}.{kind.__qualname__} as a key or an element of a set",
                    "Use a name or a number as the key, and keep the object beside it.",
                )

    def _refuse_generator(self, value: object, path: str) -> ComponentRefused:
        kind = type(value)
        is_python = "random.Random" in class_facts(kind).lineage
        stream = "run.python" if is_python else "run.rng"
        return self._refuse(
            path,
            f"a generator of random numbers ({kind.__module__}.{kind.__qualname__})",
            f'Take it from the run: {stream}("{path}"); its position is in every snapshot.',
        )

    def _refuse(self, path: str, what: str, remedy: str = "") -> ComponentRefused:
        place = f"{path!r}" if path else "itself"
        return ComponentRefused(
            f"The component {self._component!r} holds {what} in {place}.",
            "Expected plain values, arrays, and objects made of these.",
            remedy
            or f'Name the attributes that are its state: run.track("{self._component}", x, fields=[...])',
            name=self._component,
            path=path,
        )
