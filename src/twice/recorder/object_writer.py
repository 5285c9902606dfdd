"""From values with a canonical form back into the live objects that are there.

Objects and containers are filled in place, so that whatever else refers to them keeps doing so. One that is not
there is made anew without its constructor; its class must stand in a loaded module.

Invariant: an object stands for one path alone, and every path that was read as the same object becomes that object.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from twice.errors import RestoreRefused, TwiceError
from twice.foundation.encoding import OpaqueKind, OpaqueValue, encode, type_name
from twice.foundation.encoding.format import present_name
from twice.foundation.source_files import is_user_file
from twice.recorder import object_reader as reader
from twice.recorder.object_reader import KEYED, LEAVES, read_content

_CONTAINERS: Final = KEYED | {list, set, bytearray}
_OBJECTS_MAX: Final = 200_000
_OF_IMPORT: Final = {"__loader__", "__spec__"}
"""What importing leaves in a module; the loader of pytest leads to its whole session."""


def put_attributes(
    target: object, state: Mapping[str, object], component: str, names: Sequence[str] | None = None
) -> None:
    """Put back the values from ``read_attributes``.

    Raises:
        RestoreRefused: E-TRACK-003, when the class of an object, or a function, cannot be found.
    """
    writer = _Writer(component, target)
    writer.known[""] = target
    writer.used.add(id(target))
    if names is None:
        writer.fill(target, state, "")
        return
    for name in names:
        value = writer.rebuild(getattr(target, name, None), state[name], name)
        object.__setattr__(target, name, value)


def put_content(target: Any, state: object, component: str) -> None:
    """Put back the values from ``read_content``, into the existing dict or list.

    Raises:
        RestoreRefused: E-TRACK-003, when the class of an object, or a function, cannot be found.
    """
    _Writer(component, target).rebuild(target, state, "")


class _Writer:
    """One putting back of one component."""

    def __init__(self, component: str, target: object) -> None:
        self._component = component
        self.known: dict[str, object] = {}  # the object at every path so far
        # Ids of objects that stand for a path already; all of them are alive in ``known`` or the program.
        self.used: set[int] = set()
        self._constants = _find_constants(target)

    def fill(self, target: object, state: Mapping[str, object], path: str) -> None:
        """Set exactly the attributes of a state on an object."""
        held = dict(reader.attributes_of(target))
        for name in sorted(held.keys() - state.keys()):
            object.__delattr__(target, name)
        prefix = f"{path}." if path else ""
        for name, value in state.items():
            part = self.rebuild(held.get(name), value, f"{prefix}{name}")
            object.__setattr__(target, name, part)

    def rebuild(self, current: Any, value: Any, path: str) -> Any:
        """Return the value at a path."""
        kind = type(value)
        if kind in LEAVES:  # most of what is put back
            self._keep(value, path)
            return value
        if kind is OpaqueValue and value.kind is OpaqueKind.DATACLASS:
            return self._rebuild_mark(current, value, path)
        if kind in _CONTAINERS:
            target = self._choose(current, value, path, type(current) is kind, kind)
            return self._fill_container(target, current, value, path)
        if isinstance(value, tuple):  # a named one comes without its constructor
            return tuple.__new__(kind, self._rebuild_each(current, value, path))
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._rebuild_dataclass(current, value, path)
        is_own = reader.is_array(value) and self._may_fill(current, path, value)
        found = _place_content(current, value) if is_own else value
        self._keep(found, path)
        return found

    def _rebuild_mark(self, current: Any, value: OpaqueValue, path: str) -> Any:
        parts: dict[str, Any] = dict(value.fields)
        name = value.name
        if name == reader.SAME:
            if parts["path"] not in self.known:
                raise self._refuse(path, f"the object of {parts['path']!r}")
            return self.known[parts["path"]]
        if name == reader.CONSTANT:
            return self._rebuild_constant(current, parts, path)
        if name == reader.METHOD:
            return self._rebuild_method(current, parts, path)
        if name == reader.PARTIAL:
            old = reader.partial_parts(current) if isinstance(current, functools.partial) else {}
            arguments, function, keywords = (
                self.rebuild(old.get(each), parts[each], f"{path}.{each}")
                for each in ("arguments", "function", "keywords")
            )
            self.known[path] = made = functools.partial(function, *arguments, **keywords)
            return made
        if name == reader.DEQUE:
            limit = parts["maxlen"]  # cannot be set, so a queue with another one is made anew
            is_there = type(current) is deque and current.maxlen == limit
            queue = self._choose(current, value, path, is_there, lambda: deque(maxlen=limit))
            return self._fill_container(queue, current, parts["items"], path)
        if name == reader.COUNTER:
            target = self._choose(current, value, path, type(current) is Counter, Counter)
            return self._fill_container(target, current, parts["items"], path)
        if name == reader.DEFAULTDICT:
            is_there = type(current) is defaultdict
            made_by = current.default_factory if is_there else None
            factory = self.rebuild(made_by, parts["factory"], f"{path}.default_factory")
            keyed = self._choose(current, value, path, is_there, defaultdict)
            keyed.default_factory = factory
            return self._fill_container(keyed, current, parts["items"], path)
        if name in reader.OWN_FORMS:
            if current is None or id(current) in self.used:
                raise self._refuse(path, "an object that takes its own state")
            self._keep(current, path)
            getattr(current, reader.OWN_FORMS[name][1])(parts["value"])
            return current
        if name == reader.OBJECT:
            name, parts = str(parts["type"]), parts["attributes"]
        if type_name(type(current)) != name or not self._may_fill(current, path, value):
            cls = _find_loaded(name)
            if not isinstance(cls, type) or not reader.is_ordinary(cls):
                raise self._refuse(path, f"an object of {name}")
            current = object.__new__(cls)
        self._keep(current, path)
        self.fill(current, parts, path)
        return current

    def _fill_container(self, target: Any, current: Any, items: Any, path: str) -> Any:
        kind = type(items)
        if kind is bytearray:
            target[:] = items  # never cleared first: a view of it would forbid that
            return target
        if kind in KEYED:
            old = dict(current) if type(current) in KEYED else {}
            items = {
                key: self.rebuild(old.get(key), item, f"{path}[{key!r}]")
                for key, item in items.items()
            }
        elif kind is not set:
            items = self._rebuild_each(current, items, path)
            target.clear()
            target.extend(items)
            return target
        target.clear()
        target.update(items)
        return target

    def _rebuild_each(self, current: Any, value: Sequence[Any], path: str) -> list[Any]:
        old = list(current) if isinstance(current, list | tuple | deque) else []
        return [
            self.rebuild(old[i] if i < len(old) else None, item, f"{path}[{i}]")
            for i, item in enumerate(value)
        ]

    def _rebuild_dataclass(self, current: Any, value: Any, path: str) -> Any:
        is_there = type(current) is type(value)
        is_own = is_there and not reader.is_frozen(value) and self._may_fill(current, path, value)
        target = current if is_own else value
        self._keep(target, path)
        is_same = is_there
        for name in sorted(field.name for field in dataclasses.fields(value)):
            old = getattr(current, name, None) if is_there else None
            part = self.rebuild(old, getattr(value, name), f"{path}.{name}")
            is_same = is_same and (
                part is old or (type(part) is type(old) and type(part) in LEAVES and part == old)
            )
            object.__setattr__(target, name, part)
        return current if is_same else target  # a frozen one may be a constant of the program

    def _rebuild_method(self, current: Any, parts: Mapping[str, Any], path: str) -> Any:
        owner = self.rebuild(getattr(current, "__self__", None), parts["owner"], f"{path}.__self__")
        name = str(parts["name"])
        if reader.is_method(current) and reader.name_constant(current) == name:
            function = getattr(current, "__func__", None)
        else:
            function = _find_loaded(name)
        if isinstance(function, types.FunctionType):
            found: Any = types.MethodType(function, owner)
        else:
            found = getattr(owner, name.rpartition(".")[2].rpartition(":")[2], None)
        if found is None:
            raise self._refuse(path, f"the method {name}")
        self.known[path] = found
        return found

    def _choose(
        self, current: Any, value: Any, path: str, is_fit: bool, make: Callable[[], Any]
    ) -> Any:
        """Return the container that is there, or a new one where that one does not fit or may not be filled."""
        target = current if is_fit and self._may_fill(current, path, value) else make()
        self._keep(target, path)
        return target

    def _may_fill(self, current: object, path: str, value: object) -> bool:
        """Return whether an object may be filled with a value.

        It must stand for no other path yet. An object that the program's modules hold by themselves may be a constant, so
        it must hold the value already.
        """
        if id(current) in self.used:
            return False
        if id(current) in self._constants:
            try:
                held = encode(read_content(current, self._component, path))
            except TwiceError:
                return False
            return held == encode(value)
        return True

    def _keep(self, target: object, path: str) -> None:
        self.known[path] = target
        self.used.add(id(target))

    def _rebuild_constant(self, current: object, parts: Mapping[str, Any], path: str) -> object:
        name, cells = str(parts["name"]), parts.get("cells", ())
        found = current
        if not reader.is_constant(current) or reader.name_constant(current) != name:
            found = _find_loaded(name)
            if found is None or not reader.is_constant(found):
                raise self._refuse(path, name)
        if reader.cells_of(found) != tuple(cells):
            found = _with_cells(found, cells)
        if found is None:
            raise self._refuse(path, f"{name} with other values in its closure")
        self.known[path] = found
        return found

    def _refuse(self, path: str, what: str) -> RestoreRefused:
        return RestoreRefused(
            f"The component {self._component!r} held {what} at {path!r}, which cannot be put back.",
            "Expected objects that the program has made before its loop, or whose class stands in a module.",
            "Give the class state() and restore(state).",
            name=self._component,
            path=path,
        )


def _with_cells(function: object, cells: Sequence[object]) -> object:
    """Return a function with other defaults and another closure, or None where they are more than numbers and texts."""
    if not isinstance(function, types.FunctionType):
        return None
    n_defaults = len(function.__defaults__ or ())
    held = reader.cells_of(function)
    if len(held) != len(cells) or any(
        (one is None) != (other is None) for one, other in zip(held, cells, strict=True)
    ):
        return None
    defaults, closure = list(function.__defaults__ or ()), list(function.__closure__ or ())
    for number, value in enumerate(cells):
        if value is not None and number < n_defaults:
            defaults[number] = value
        elif value is not None:
            closure[number - n_defaults] = types.CellType(value)
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, tuple(defaults) or None,
        tuple(closure) or None,
    )  # fmt: skip
    made.__kwdefaults__, made.__qualname__ = function.__kwdefaults__, function.__qualname__
    made.__module__, made.__doc__ = function.__module__, function.__doc__
    return made


def _place_content(current: Any, value: Any) -> Any:
    """Put an array or a tensor into the one that is there, so that views of it stay views; else return the value."""
    if type(current) is not type(value) or (current.shape, current.dtype) != (
        value.shape,
        value.dtype,
    ):
        return value
    if hasattr(current, "detach"):
        current.detach().copy_(value)
    elif current.flags.writeable:
        current[...] = value
    else:
        return value
    return current


def _find_loaded(name: str) -> object:
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


def _find_constants(target: object) -> frozenset[int]:
    """Return the ids of objects that the program's modules reach otherwise than through a component's target.

    These are constants, defaults of functions and class attributes. A component may hold such an object for a while;
    filling it with another state would change it for the whole program.

    Not covered: constants that only a local variable holds. Nothing tells them from state.
    """
    seen: set[int] = {id(target)}
    waiting: deque[object] = deque()
    for module in list(sys.modules.values()):
        origin = getattr(module, "__file__", None)
        if isinstance(origin, str) and is_user_file(origin):
            waiting.extend(value for name, value in vars(module).items() if name not in _OF_IMPORT)
    while waiting and len(seen) < _OBJECTS_MAX:
        value: Any = waiting.popleft()
        kind = type(value)
        if kind in LEAVES or id(value) in seen or isinstance(value, types.ModuleType):
            continue
        seen.add(id(value))
        if kind in KEYED:
            waiting.extend(value.values())
        elif kind in reader.LISTED or kind in {set, frozenset}:
            waiting.extend(value)
        elif kind is types.FunctionType:
            waiting.extend([*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()])
        elif isinstance(value, type):
            # Classes of libraries are left alone: they lead to everything.
            if not reader.is_of_twice(value) and reader.is_written_in_python(value):
                waiting.extend(vars(value).values())
        elif reader.is_written_in_python(kind) and not reader.is_of_twice(kind):
            waiting.extend(part for _, part in reader.attributes_of(value))
    return frozenset(seen - {id(target)})
