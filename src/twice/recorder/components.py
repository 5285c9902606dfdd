"""Tracked, named parts of the state: how each is read, and how it is put back.

An object with ``state()`` and ``restore(state)`` is a component as it is. By convenience also: named attributes
(``fields=[...]``), a dataclass instance, mutable values whose content is their state (dict, list, set, bytearray,
array, tensor, frame of pandas), what has ``state_dict()`` and ``load_state_dict(state)``, such as a model or an
optimiser of torch, and any object of an ordinary class, by all its attributes (``object_reader``). An object with
``state()`` alone is compared but cannot be put back; seeking and branching then execute from the start, and say so.

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
from twice.foundation.dataclass import dataclass
from twice.recorder.object_reader import (
    find_attributes,
    has_attributes,
    is_of,
    read_attributes,
    read_content,
)
from twice.recorder.object_writer import put_attributes, put_content
from twice.recorder.states import PREFIX

_CONTAINERS = frozenset({dict, OrderedDict, defaultdict, Counter, list, deque, set, bytearray})
RESERVED = ("effects", "inputs", "output", "streams")
SCHEDULE = "schedule"
"""The column of a simulated loop's steps, in runs that have one."""
STEPS = "the loop's steps, by their order and times"
"""What that column compares, in words."""


def name_columns(columns: Iterable[str], *, is_simulated: bool) -> str:
    """Name columns in a row; where a loop is simulated, with a word on the one of its steps."""
    return ", ".join(
        f"{name} ({STEPS})" if is_simulated and name == SCHEDULE else name for name in columns
    )


@dataclass(frozen=True)
class Component:
    """A tracked part of the state, and what was understood of the user's object."""

    name: str
    target: object  # the user's object
    read: Callable[[], object]  # returns the state as plain values and arrays
    put: (
        Callable[[Any], None] | None
    )  # puts a state back; None when the component cannot be restored
    # Returns the top-level keys changed since it was last asked, or None for "all".
    changed: Callable[[], Iterable[str] | None] | None = None
    form: str = "state/restore"  # what was understood, for reports
    # Returns the objects themselves whose attributes the state is, for whoever follows them while they change; None
    # where they are what ``read`` returns.
    live: Callable[[], object] | None = None

    @property
    def state_version(self) -> int:
        """The version of the state that the class declares, 0 for none; E-TRACK-001 when it is no whole number from 1 on."""
        declared = getattr(type(self.target), "state_version", None)
        # A property or a slot of that name is state of its own.
        if declared is None or hasattr(declared, "__get__"):
            return 0
        if type(declared) is not int or declared < 1:
            raise ComponentRefused(
                f"The class of the component {self.name!r} has the state_version {declared!r}.",
                "Expected a whole number, 1 or more.",
                "For example: state_version = 1",
                name=self.name,
            )
        return declared


def component_of(
    name: str,
    target: object,
    *,
    fields: Sequence[str] | None = None,
    incremental: bool = False,
) -> Component:
    """Understand an object as a component (else E-TRACK-001); the arguments are those of ``Run.track``."""
    # Reserved names are columns of every point, and the prefix is that of orders in a snapshot.
    if not name or name in RESERVED or name.startswith(PREFIX):
        raise ComponentRefused(
            f"A component cannot be called {name!r}.",
            f"Expected a non-empty name that is none of {', '.join(RESERVED)}.",
            'For example: run.track("swarm", swarm)',
            name=name,
        )
    changed = getattr(target, "changed", None) if incremental else None
    if incremental and not callable(changed):
        raise ComponentRefused(
            f"The component {name!r} is declared incremental and has no changed().",
            "Expected a method that returns the top-level keys changed since it was last called.",
            "Add changed(), or track it without incremental=True.",
            name=name,
        )
    form, read, put, live = _understand(name, target, fields)
    found = Component(name, target, read, put, changed, form, live)
    _ = found.state_version  # one that is no version is refused where it is tracked
    return found


_Form = tuple[str, Callable[[], object], Callable[[Any], None] | None, Callable[[], object] | None]


def _understand(name: str, target: object, fields: Sequence[str] | None) -> _Form:
    """Return the form of an object, how its state is read and put back, and what is live of it."""
    if fields is not None:
        missing = [field for field in fields if not hasattr(target, field)]
        if missing or not fields:
            raise ComponentRefused(
                f"The component {name!r} has no attribute {', '.join(missing) or '(none was named)'}.",
                f"Expected attributes of {type(target).__name__} that hold its state.",
                "Name only attributes that exist when it is tracked.",
                name=name,
            )
        return _by_attributes(name, target, tuple(fields), "fields")
    state = getattr(target, "state", None)
    if callable(state):
        restore = getattr(target, "restore", None)
        if callable(restore):
            return "state/restore", state, restore, None
        return "state only", state, None, None
    save, load = getattr(target, "state_dict", None), getattr(target, "load_state_dict", None)
    if callable(save) and callable(load):
        return "state_dict", save, load, None
    if dataclasses.is_dataclass(target) and not isinstance(target, type):
        return _by_attributes(name, target, None, "dataclass")
    if type(target) in _CONTAINERS:
        read_content(target, name)  # what has no form is refused where it is tracked
        read = partial(read_content, target, name)
        return "content", read, lambda put: put_content(target, put, name), lambda: target
    # Of no class, where numpy is not loaded.
    ndarray = getattr(sys.modules.get("numpy"), "ndarray", ())
    is_library = is_of(target, "torch", "Tensor") or is_of(target, "pandas", "DataFrame", "Series")
    if is_library or isinstance(target, ndarray):
        return "content", lambda: target, partial(_replace_content, target), None
    if not has_attributes(target):
        kind = type(target)
        is_generator = kind.__name__ in {"Generator", "Random", "RandomState", "SafeGenerator"}
        raise ComponentRefused(
            f"The component {name!r} is a {kind.__module__}.{kind.__qualname__}, which says nothing "
            "about its state.",
            "Expected an object with attributes, state() and restore(), state_dict() and load_state_dict(), "
            "declared fields, a dataclass, a dict, list, set, array, tensor or frame.",
            f'Take it from the run instead: run.rng("{name}"); its position is in every snapshot.'
            if is_generator
            else f'Give {kind.__name__} state() and restore(state), or name attributes: run.track("{name}", '
            "x, fields=[...])",
            name=name,
        )
    return _by_attributes(name, target, None, "attributes")


def _by_attributes(name: str, target: object, fields: tuple[str, ...] | None, form: str) -> _Form:
    read = partial(read_attributes, target, name, fields)
    read()  # a value without a form is refused where it is tracked
    live = partial(find_attributes, target, fields)
    return form, read, lambda state: put_attributes(target, state, name, fields), live


def _replace_content(target: Any, state: Any) -> None:
    """Give an array, a tensor or a frame new content in place, where its shape or index is still that of the content."""
    is_tensor, is_series = is_of(target, "torch", "Tensor"), is_of(target, "pandas", "Series")
    if is_of(target, "pandas", "DataFrame"):
        target.drop(index=target.index, inplace=True)
        target.drop(columns=target.columns, inplace=True)
        for label in state.columns:
            target[label] = state[label]
    elif is_tensor and type(state) is type(target) and target.shape == state.shape:
        target.detach().copy_(state)
    elif is_series and target.index.equals(state.index):
        target[:] = state
    elif not is_tensor and not is_series:
        target[...] = state
    else:
        raise ComponentRefused(
            f"A {type(target).__qualname__} has another shape than in the snapshot, and cannot take its content.",
            "Expected the shape that it had when the snapshot was taken.",
            "Track an object with state() and restore(state) that holds it.",
        )
