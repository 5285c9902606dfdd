"""What a value is to a reader and a writer of objects, and the marks that stand for what has no value of its own.

Invariant: deciding what a value is runs none of its code.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import re
import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from operator import attrgetter
from typing import Any, Final

from twice.foundation.encoding import OpaqueKind, OpaqueValue, registry, type_name
from twice.foundation.encoding.format import present_name, recorded_name
from twice.foundation.object_attributes import attributes, class_facts
from twice.recorder.user_code import is_user_file

LEAVES: Final = frozenset({bool, int, float, complex, str, bytes, type(None)})
KEYED: Final = frozenset({dict, OrderedDict, defaultdict, Counter})
LISTED: Final = frozenset({list, tuple, deque})
CONSTANTS: Final = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodWrapperType, type, property,
    logging.Logger, re.Pattern,
)  # fmt: skip
"""No state themselves; which of them an attribute holds is. Of a builtin function, only without an object of its own."""
CONSTANT, SAME, METHOD, PARTIAL, STATE, STATE_DICT, DEFAULTDICT, DEQUE, COUNTER, OBJECT = (
    f"twice:{name}"
    for name in ("constant", "same", "method", "partial", "state", "state_dict", "defaultdict", "deque", "counter", "object")
)  # fmt: skip
"""Names of types that are marks."""
_GENERATORS: Final = frozenset(
    {
        "random.Random", "numpy.random._generator.Generator", "numpy.random.mtrand.RandomState",
        "numpy.random.bit_generator.BitGenerator",
    }
)  # fmt: skip
_OBJECTS_MAX: Final = 200_000
_HEAP_TYPE: Final = 1 << 9
_NOT_INSTANTIABLE: Final = 1 << 7


def mark(kind: str, **parts: object) -> OpaqueValue:
    """Return a mark with its parts."""
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


def is_shareable(value: object) -> bool:
    """Return whether it matters that two places refer to the same object: it can change in place."""
    kind = type(value)
    if kind in KEYED or kind in {list, deque, set, bytearray}:
        return True
    if dataclasses.is_dataclass(value) or not registry.knows(kind):
        return not is_frozen(value)
    return is_array(value)


def is_whole_dataclass(value: object) -> bool:
    """Return whether a dataclass instance has no attributes besides its declared fields."""
    names = {field.name for field in dataclasses.fields(value)}  # type: ignore[arg-type]
    return registry.knows(type(value)) and names.issuperset(
        name for name, _ in attributes_of(value)
    )


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
    return is_of_twice(kind) or (issubclass(kind, CONSTANTS) and not is_method(value))


def is_method(value: object) -> bool:
    """Return whether a value is a method of an object, which is part of it."""
    if type(value) is types.BuiltinMethodType:
        return not isinstance(value.__self__, types.ModuleType | type | type(None))
    return type(value) is types.MethodType


def is_of_twice(kind: type) -> bool:
    """Return whether an object belongs to the run itself: the run, a stream, an effect."""
    return class_facts(kind).name.startswith("twice.")


def is_generator(value: object) -> bool:
    """Return whether a value draws random numbers."""
    return not _GENERATORS.isdisjoint(class_facts(type(value)).lineage)


def form_of(value: object) -> str | None:
    """Return the form in which a nested object itself gives its state, or None."""
    kind = type(value)
    if callable(getattr(kind, "state", None)) and callable(getattr(kind, "restore", None)):
        return STATE
    if callable(getattr(kind, "state_dict", None)) and callable(
        getattr(kind, "load_state_dict", None)
    ):
        return STATE_DICT
    return None


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


def find_loaded(name: str) -> object:
    """Return a loaded module, or the class or function of one, or None; nothing is imported."""
    module, _, qualified = present_name(name).partition(":")
    found: Any = sys.modules.get(module)
    if found is None or not qualified:
        return found
    *outer, last = qualified.split(".")
    if outer and last.startswith("__") and not last.endswith("__"):
        last = f"_{outer[-1].lstrip('_')}{last}"  # how a class keeps its private methods
    try:
        return attrgetter(".".join([*outer, last]))(found)
    except AttributeError:
        return None


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


def find_constants(target: object) -> frozenset[int]:
    """Return the ids of objects that the program's own modules have without a component.

    These are constants, defaults of functions and class attributes. A component may hold such an object for a while;
    filling it with another state would change it for the whole program.

    Not covered: constants that only a local variable holds. Nothing tells them from state.

    Args:
        target: of the component; what is reached through it alone does not count.
    """
    seen: set[int] = {id(target)}
    waiting: deque[object] = deque()
    for module in list(sys.modules.values()):
        origin = getattr(module, "__file__", None)
        if isinstance(origin, str) and is_user_file(origin):
            waiting.extend(vars(module).values())
    while waiting and len(seen) < _OBJECTS_MAX:
        value: Any = waiting.popleft()
        kind = type(value)
        if kind in LEAVES or id(value) in seen or isinstance(value, types.ModuleType):
            continue
        seen.add(id(value))
        if kind in KEYED:
            waiting.extend(value.values())
        elif kind in LISTED or kind in {set, frozenset}:
            waiting.extend(value)
        elif kind is types.FunctionType:
            waiting.extend([*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()])
        elif isinstance(value, type):
            # Classes of libraries are left alone: they lead to everything.
            if not is_of_twice(value) and is_written_in_python(value):
                waiting.extend(vars(value).values())
        elif is_written_in_python(kind) and not is_of_twice(kind):
            waiting.extend(part for _, part in attributes_of(value))
    return frozenset(seen - {id(target)})
