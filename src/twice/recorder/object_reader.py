"""From live objects of ordinary classes to values that have a canonical form.

An object whose class says nothing about its state is what its attributes hold, and so is every object that they
reach. Objects become ``OpaqueValue``, so a report names a place as the program does: ``game.player.x``. An object or
a container that is met again is written as the path at which it was met first. ``object_writer`` puts all this back;
``components`` says which objects are read.

Not covered: state outside of the attributes, and what a closure holds besides numbers and texts.
``twice verify --restores`` shows what matters of it.

Invariant: reading runs no code of the classes but a nested ``state()`` or ``state_dict()``, and changes no object.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import re
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

from twice.errors import ComponentRefused
from twice.foundation.encoding import OpaqueKind, OpaqueValue, registry, type_name
from twice.foundation.encoding.format import recorded_name
from twice.foundation.object_attributes import attributes, class_facts

_Fields = tuple[tuple[str, object], ...]
LEAVES: Final = frozenset({bool, int, float, complex, str, bytes, type(None)})
KEYED: Final = frozenset({dict, OrderedDict, defaultdict, Counter})
LISTED: Final = frozenset({list, tuple, deque})
_CONSTANTS: Final = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodWrapperType, type, property,
    logging.Logger, re.Pattern,
)  # fmt: skip
"""No state themselves; which of them an attribute holds is. Of a builtin function, only without an object of its own."""
CONSTANT, SAME, METHOD, PARTIAL, STATE, STATE_DICT, DEFAULTDICT, DEQUE, COUNTER, OBJECT = (
    f"twice:{name}"
    for name in ("constant", "same", "method", "partial", "state", "state_dict", "defaultdict", "deque", "counter", "object")
)  # fmt: skip
"""Names of types that are marks: they stand for what has no value of its own."""
OWN_FORMS: Final = {STATE: ("state", "restore"), STATE_DICT: ("state_dict", "load_state_dict")}
"""The methods by which a nested object gives and takes its state itself."""
_GENERATORS: Final = frozenset(
    {
        "random.Random", "numpy.random._generator.Generator", "numpy.random.mtrand.RandomState",
        "numpy.random.bit_generator.BitGenerator",
    }
)  # fmt: skip
_DEPTH_MAX: Final = 100
_HEAP_TYPE: Final = 1 << 9
_NOT_INSTANTIABLE: Final = 1 << 7


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
        return dict(attributes_of(target))
    return {name: getattr(target, name) for name in names}


class _Reader:
    """One reading of one component."""

    def __init__(self, component: str) -> None:
        self._component = component
        # By id: the path of every object that was met, and the object, which lives as long as the reading.
        self.met: dict[int, tuple[str, object]] = {}

    def read(self, value: Any, path: str, depth: int) -> object:
        """Return a value in a form that has a canonical form."""
        kind = type(value)
        if kind in LEAVES:
            return value
        if depth > _DEPTH_MAX:
            raise self._refuse(path, f"values nested more than {_DEPTH_MAX} deep")
        if is_constant(value):
            name, cells = name_constant(value), cells_of(value)
            return _mark(CONSTANT, name=name, **({"cells": cells} if cells else {}))
        if not _GENERATORS.isdisjoint(class_facts(kind).lineage):
            is_python = "random.Random" in class_facts(kind).lineage
            stream = "run.python" if is_python else "run.rng"
            raise self._refuse(
                path,
                f"a generator of random numbers ({kind.__module__}.{kind.__qualname__})",
                f'Take it from the run: {stream}("{path}"); its position is in every snapshot.',
            )
        if _is_shareable(value):
            if id(value) in self.met:
                return _mark(SAME, path=self.met[id(value)][0])
            self.met[id(value)] = path, value
        if kind in KEYED or kind in LISTED:
            return self._read_container(value, kind, path, depth)
        if dataclasses.is_dataclass(value):
            declared = {field.name for field in dataclasses.fields(value)}
            held = attributes_of(value)
            if registry.knows(kind) and declared.issuperset(name for name, _ in held):
                return self._read_dataclass(value, sorted(declared), path, depth)
            return self._read_object(value, kind, path, depth)
        if registry.knows(kind):
            if kind is set or kind is frozenset:
                self._require_keys(value, path)
            return self._read_named_tuple(value, path, depth) if isinstance(value, tuple) else value
        return self._read_object(value, kind, path, depth)

    def _read_object(self, value: Any, kind: type, path: str, depth: int) -> object:
        """Return an object that has no canonical form itself."""
        if is_method(value):
            owner = self.read(value.__self__, f"{path}.__self__", depth + 1)
            return _mark(METHOD, name=name_constant(value), owner=owner)
        if kind is functools.partial:
            called = partial_parts(value).items()
            return _mark(PARTIAL, **dict(self._read_named(called, path, depth)))
        for form, methods in OWN_FORMS.items():
            if all(callable(getattr(kind, method, None)) for method in methods):
                return _mark(form, value=getattr(value, methods[0])())
        if not is_written_in_python(kind):
            raise self._refuse(path, f"a {kind.__module__}.{kind.__qualname__}")
        inner = self._read_named(attributes_of(value), path, depth)
        if dataclasses.is_dataclass(value):  # its form holds the declared fields alone
            return _mark(OBJECT, attributes=dict(inner), type=type_name(kind))
        return OpaqueValue(OpaqueKind.DATACLASS, type_name(kind), inner)

    def _read_container(self, value: Any, kind: type, path: str, depth: int) -> object:
        if kind in LISTED:
            # Long lists of numbers are common, and need no path for each.
            if LEAVES.issuperset(map(type, value)):
                items: list[object] = list(value)
            else:
                items = [self.read(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
            if kind is deque:
                return _mark(DEQUE, items=items, maxlen=value.maxlen)
            return tuple(items) if kind is tuple else items
        factory = None
        if kind is defaultdict:
            factory = self.read(value.default_factory, f"{path}.default_factory", depth + 1)
        self._require_keys(value, path)
        read = {key: self.read(item, f"{path}[{key!r}]", depth + 1) for key, item in value.items()}
        if kind is defaultdict:
            return _mark(DEFAULTDICT, factory=factory, items=read)
        if kind is Counter:
            return _mark(COUNTER, items=read)
        return OrderedDict(read) if kind is OrderedDict else read

    def _read_dataclass(self, value: Any, names: list[str], path: str, depth: int) -> object:
        if not is_written_in_python(type(value)) or not all(hasattr(value, n) for n in names):
            return value  # refused where it is encoded, with its path
        held = [(name, getattr(value, name)) for name in names]
        fields = self._read_named(held, path, depth)
        if _are_same(fields, held):
            return value
        made = object.__new__(type(value))
        for name, part in fields:
            object.__setattr__(made, name, part)
        return made

    def _read_named_tuple(self, value: Any, path: str, depth: int) -> object:
        held = list(zip(type(value)._fields, value, strict=True))
        fields = self._read_named(held, path, depth)
        if _are_same(fields, held):
            return value
        return OpaqueValue(OpaqueKind.NAMED_TUPLE, type_name(type(value)), fields)

    def _read_named(self, held: Iterable[tuple[str, object]], path: str, depth: int) -> _Fields:
        return tuple((name, self.read(item, f"{path}.{name}", depth + 1)) for name, item in held)

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


def _are_same(fields: _Fields, held: list[tuple[str, object]]) -> bool:
    """Return whether no part needed another form: most dataclasses and named tuples hold plain values."""
    return all(part is item for (_, part), (_, item) in zip(fields, held, strict=True))


def _mark(kind: str, **parts: object) -> OpaqueValue:
    return OpaqueValue(OpaqueKind.DATACLASS, kind, tuple(sorted(parts.items())))


def has_attributes(target: object) -> bool:
    """Return whether an object of an ordinary class has at least one attribute."""
    return is_ordinary(type(target)) and bool(attributes_of(target))


def attributes_of(value: object) -> list[tuple[str, object]]:
    """Return name and value of each attribute, by name; nothing is computed."""
    return attributes(value, class_facts(type(value)))


def is_ordinary(kind: type) -> bool:
    """Return whether a class is written in Python, and has no canonical form of its own."""
    return is_written_in_python(kind) and not registry.knows(kind)


def is_written_in_python(kind: type) -> bool:
    """Return whether a class and all its bases but ``object`` are written in Python, so that it can be made empty."""
    if kind is object or issubclass(kind, type):
        return False
    for base in kind.__mro__[:-1]:
        constructor = vars(base).get("__new__")
        own = isinstance(constructor, types.BuiltinFunctionType) and constructor.__self__ is base
        if own or "__module__" not in vars(base):
            return False
        if not base.__flags__ & _HEAP_TYPE or base.__flags__ & _NOT_INSTANTIABLE:
            return False
    return True


def _is_shareable(value: object) -> bool:
    """Return whether it matters that two places refer to the same object: it can change in place."""
    kind = type(value)
    if kind in KEYED or kind in {list, deque, set, bytearray}:
        return True
    if dataclasses.is_dataclass(value) or not registry.knows(kind):
        return not is_frozen(value)
    return is_array(value)


def is_frozen(value: object) -> bool:
    """Return whether a value is an instance of a frozen dataclass."""
    parameters: Any = getattr(type(value), "__dataclass_params__", None)
    return bool(parameters is not None and parameters.frozen)


def is_of(value: object, module: str, *names: str) -> bool:
    """Return whether a value is of exactly one of some types of a library that is loaded."""
    return type(value) in [getattr(sys.modules.get(module), name, None) for name in names]


def is_array(value: object) -> bool:
    """Return whether a value is an array of numpy or a tensor of torch."""
    kind = type(value)  # asked of every object that is read: nothing is built for it
    return kind is getattr(sys.modules.get("numpy"), "ndarray", None) or kind is getattr(
        sys.modules.get("torch"), "Tensor", None
    )


def is_constant(value: object) -> bool:
    """Return whether a value is compared by its name."""
    kind = type(value)  # never isinstance: an object may lie about its class
    return is_of_twice(kind) or (issubclass(kind, _CONSTANTS) and not is_method(value))


def is_method(value: object) -> bool:
    """Return whether a value is a method of an object, which is part of it."""
    if type(value) is types.BuiltinMethodType:
        return not isinstance(value.__self__, types.ModuleType | type | type(None))
    return type(value) is types.MethodType


def is_of_twice(kind: type) -> bool:
    """Return whether an object belongs to the run itself: the run, a stream, an effect."""
    return class_facts(kind).name.startswith("twice.")


def name_constant(value: Any) -> str:
    """Return the name by which a function, a class, a module, a logger or an object of the run is compared."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, logging.Logger):
        return f"logger {value.name}"
    if isinstance(value, re.Pattern):
        return f"pattern {value.pattern!r} {value.flags}"
    if is_of_twice(type(value)):
        return type_name(type(value))
    module = getattr(value, "__module__", None) or type(value).__module__
    return recorded_name(f"{module}:{getattr(value, '__qualname__', type(value).__qualname__)}")


def cells_of(function: object) -> tuple[object, ...]:
    """Return numbers and texts of a function's defaults and closure; other values become None."""
    if not isinstance(function, types.FunctionType):
        return ()
    held = list(function.__defaults__ or ())
    for cell in function.__closure__ or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # not bound yet
            held.append(None)
    return tuple(value if type(value) in LEAVES else None for value in held)


def partial_parts(value: functools.partial[Any]) -> dict[str, object]:
    """Return the function of a partial, and its arguments."""
    return {"arguments": value.args, "function": value.func, "keywords": value.keywords}
