"""Tracked, named parts of the state: how each is read, and how it is put back.

An object with ``state()`` and ``restore(state)`` is a component as it is. By convenience also:
named attributes (``fields=[...]``), a dataclass instance, and mutable values whose content is their
state (dict, list, set, bytearray, array, tensor, frame of pandas), what has ``state_dict()`` and ``load_state_dict(state)``, such as a model or an
optimiser of torch, and any object of an ordinary class, by all its attributes (``plain_objects.py``). An object
with ``state()`` alone is compared but cannot be put back; seeking and branching then execute from the start, and
say so.

Invariant: reading a component's state does not change it.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from twice.errors import ComponentRefused
from twice.foundation.comparison import Tolerance
from twice.foundation.dataclass import dataclass
from twice.recorder.migrations import find_state_version
from twice.recorder.plain_objects import (
    find_attributes,
    has_attributes,
    put_attributes,
    put_content,
    read_attributes,
    read_content,
)

_CONTAINERS = frozenset({dict, OrderedDict, defaultdict, Counter, list, deque, set, bytearray})
RESERVED = ("effects", "inputs", "output", "streams")


@dataclass(frozen=True)
class Component:
    """A tracked part of the state.

    Attributes:
        name: unique within the run.
        target: the user's object.
        read: returns the state as plain values and arrays.
        put: puts a state back, or None when the component cannot be restored.
        equivalence: how its values are compared; None means byte for byte.
        changed: returns the top-level keys changed since it was last asked, or None for "all".
        form: what was understood, for reports: ``state/restore``, ``fields`` ...
        live: returns the objects themselves whose attributes the state is, for whoever follows them while they
            change; None where they are what ``read`` returns.
    """

    name: str
    target: object
    read: Callable[[], object]
    put: Callable[[Any], None] | None
    equivalence: Tolerance | None = None
    changed: Callable[[], Iterable[str] | None] | None = None
    form: str = "state/restore"
    live: Callable[[], object] | None = None

    @property
    def state_version(self) -> int:
        """The version of the state that the class declares; 0 for none."""
        return find_state_version(self.name, self.target)


def component_of(
    name: str,
    target: object,
    *,
    fields: Sequence[str] | None = None,
    equivalence: Tolerance | None = None,
    incremental: bool = False,
) -> Component:
    """Understand an object as a component.

    Args:
        name: what reports call it; not empty, not one of the reserved names.
        target: the object.
        fields: attributes that are its state, instead of ``state()``.
        equivalence: a tolerance for its values; None compares byte for byte.
        incremental: the object has ``changed()``, which names the top-level keys of its state
            that changed since the last call; the others are not walked again.

    Raises:
        ComponentRefused: E-TRACK-001, when the object is none of the forms above, or its class declares a
            ``state_version`` that is none.
    """
    _require_name(name)
    find_state_version(name, target)  # one that is no version is refused where it is tracked
    changed = _changed_of(name, target) if incremental else None
    if fields is not None:
        _require_fields(name, target, fields)
        return _by_attributes(name, target, tuple(fields), equivalence, changed, "fields")
    state = getattr(target, "state", None)
    if callable(state):
        restore = getattr(target, "restore", None)
        restorer: Callable[[Any], None] | None = restore if callable(restore) else None
        form = "state only" if restorer is None else "state/restore"
        return Component(name, target, state, restorer, equivalence, changed, form)
    saved, load = getattr(target, "state_dict", None), getattr(target, "load_state_dict", None)
    if callable(saved) and callable(load):
        return Component(name, target, saved, load, equivalence, changed, "state_dict")
    if dataclasses.is_dataclass(target) and not isinstance(target, type):
        return _by_attributes(name, target, None, equivalence, changed, "dataclass")
    if type(target) in _CONTAINERS:
        read_content(target, name)  # what has no form is refused where it is tracked
        return Component(
            name,
            target,
            partial(read_content, target, name),
            lambda state: put_content(target, state, name),
            equivalence,
            changed,
            "content",
            lambda: target,
        )
    content = _by_content(target)
    if content is not None:
        return Component(name, target, lambda: target, content, equivalence, changed, "content")
    if not has_attributes(target):
        raise _refused(name, target)
    return _by_attributes(name, target, None, equivalence, changed, "attributes")


def _require_name(name: str) -> None:
    if not name or name in RESERVED or name.startswith("order:"):
        raise ComponentRefused(
            f"A component cannot be called {name!r}.",
            f"Expected a non-empty name that is none of {', '.join(RESERVED)}.",
            'For example: run.track("swarm", swarm)',
            name=name,
        )


def _require_fields(name: str, target: object, fields: Sequence[str]) -> None:
    missing = [field for field in fields if not hasattr(target, field)]
    if missing or not fields:
        raise ComponentRefused(
            f"The component {name!r} has no attribute {', '.join(missing) or '(none was named)'}.",
            f"Expected attributes of {type(target).__name__} that hold its state.",
            "Name only attributes that exist when it is tracked.",
            name=name,
        )


def _by_attributes(
    name: str,
    target: object,
    fields: tuple[str, ...] | None,
    equivalence: Tolerance | None,
    changed: Callable[[], Iterable[str] | None] | None,
    form: str,
) -> Component:
    """Make a component of attributes, and read them once: a value without a form is refused here."""
    read_attributes(target, name, fields)
    return Component(
        name,
        target,
        partial(read_attributes, target, name, fields),
        lambda state: put_attributes(target, state, name, fields),
        equivalence,
        changed,
        form,
        partial(find_attributes, target, fields),
    )


def _by_content(target: object) -> Callable[[Any], None] | None:
    """Return a function that gives a mutable value new content in place; None for other values."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(target, numpy.ndarray):
        array: Any = target

        def put_array(state: Any) -> None:
            array[...] = state

        return put_array
    if _is_of(target, "torch", "Tensor") or _is_of(target, "pandas", "DataFrame", "Series"):
        return lambda state: _require_content(target, state)
    return None


def _is_of(value: object, module: str, *names: str) -> bool:
    """Return whether a value is of exactly one of some types of a library that is loaded."""
    return type(value) in {getattr(sys.modules.get(module), name, None) for name in names}


def _require_content(target: Any, state: Any) -> None:
    """Replace the content of a tensor or a frame in place.

    Raises:
        ComponentRefused: E-TRACK-001, where its shape or its columns are others now.
    """
    if _take_content(target, state):
        return
    raise ComponentRefused(
        f"A {type(target).__qualname__} has another shape than in the snapshot, and cannot take its content.",
        "Expected the shape that it had when the snapshot was taken.",
        "Track an object with state() and restore(state) that holds it.",
    )


def _take_content(target: Any, state: Any) -> bool:
    """Copy the content into a tensor or a frame in place; return whether that was possible."""
    if _is_of(target, "torch", "Tensor"):
        if type(state) is not type(target) or target.shape != state.shape:
            return False
        target.detach().copy_(state)
        return True
    if _is_of(target, "pandas", "DataFrame"):
        target.drop(index=target.index, inplace=True)
        target.drop(columns=target.columns, inplace=True)
        for label in state.columns:
            target[label] = state[label]
        return True
    if _is_of(target, "pandas", "Series") and target.index.equals(state.index):
        target[:] = state
        return True
    return False


def _changed_of(name: str, target: object) -> Callable[[], Iterable[str] | None]:
    changed = getattr(target, "changed", None)
    if not callable(changed):
        raise ComponentRefused(
            f"The component {name!r} is declared incremental and has no changed().",
            "Expected a method that returns the top-level keys changed since it was last called.",
            "Add changed(), or track it without incremental=True.",
            name=name,
        )
    found: Callable[[], Iterable[str] | None] = changed
    return found


def _refused(name: str, target: object) -> ComponentRefused:
    kind = type(target)
    generator = kind.__name__ in {"Generator", "Random", "RandomState", "SafeGenerator"}
    remedy = (
        f'Take it from the run instead: run.rng("{name}"); its position is in every snapshot.'
        if generator
        else f'Give {kind.__name__} state() and restore(state), or name attributes: run.track("{name}", '
        "x, fields=[...])"
    )
    return ComponentRefused(
        f"The component {name!r} is a {kind.__module__}.{kind.__qualname__}, which says nothing "
        "about its state.",
        "Expected an object with attributes, state() and restore(), state_dict() and load_state_dict(), "
        "declared fields, a dataclass, a dict, list, set, array, tensor or frame.",
        remedy,
        name=name,
    )
