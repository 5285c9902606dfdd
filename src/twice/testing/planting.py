"""Plant a fault in the process that executes: at a tick, in the live objects of the session.

The component's own ``restore`` puts the changed state into it at the compare-point that closes the
tick, so that what follows goes on from there; a component without one only shows it. Where a restore
is tested, the snapshot that it is given is changed instead.

Invariant: nothing happens before the fault's tick, and a value that is changed differs from the given one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import time_ns  # The real one: bound before anything is patched.
from typing import Any, Final, NoReturn

import numpy as np

from twice.errors import EncodingRefused, FaultMisplaced
from twice.foundation.encoding import decode, encode, encode_parts, loaded_types
from twice.recorder.components import Component
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.recorder.session_parts import Resume
from twice.recorder.snapshots import load
from twice.recorder.states import decode_state
from twice.testing.faults import Fault, Kind

_FLOATS: Final = (float, np.floating)
_SALTS: Final = 64


class FaultPlanter:
    """Plants one fault."""

    def __init__(self, fault: Fault, record: RunRecord) -> None:
        self._fault, self._record = fault, record
        self.is_planted = self._is_placed = False
        self.refuse: Callable[[FaultMisplaced], NoReturn]  # called in the middle of the program
        self._before: Any = None

    def before_tick(self, session: Session, tick: int) -> None:
        """Draw, or have the component changed when the tick is closed."""
        fault = self._fault
        is_early = session.muted or tick < fault.tick
        if is_early or self._is_placed or fault.kind == "dropped field":
            return
        self._is_placed = True
        try:
            if fault.kind == "extra draw":
                draw_from(session, fault.stream)
                self.is_planted = True
                return
            components = session.points.components
            component = _require_component(fault.component, components)
            self._before = get_part(_copy(component.read()), fault.field)
            read = lambda: self._read(session, component)  # noqa: E731
            components[fault.component] = replace(component, read=read, changed=None)
            session.points.forget()
        except FaultMisplaced as error:
            self.refuse(error)

    def change_snapshot(self, resume: Resume) -> Resume:
        """Let a snapshot from the fault's tick on forget its field: it is as the run began."""
        fault, captured = self._fault, resume.captured
        if fault.kind != "dropped field" or captured.tick < fault.tick:
            return resume
        state = decode_state(_require_component(fault.component, captured.subsystems))
        first = decode_state(load(self._record.reader, 0).subsystems[fault.component])
        begun = get_part(first, fault.field)
        self.is_planted = encode(get_part(state, fault.field)) != encode(begun)
        forgotten = encode_parts(replace_part(state, fault.field, begun))
        subsystems = {**captured.subsystems, fault.component: forgotten}
        return replace(resume, captured=replace(captured, subsystems=subsystems))

    def _read(self, session: Session, component: Component) -> object:
        """Read the component with the fault in its state; the fault stays in one that can be put back."""
        fault, change = self._fault, FAULT_KINDS[self._fault.kind].change
        if change is not None and self.is_planted and component.put is not None:
            return component.read()
        state = _copy(component.read())
        try:
            was = get_part(state, fault.field)
            value = _copy(self._before) if change is None else change(was)
        except FaultMisplaced as error:
            self.refuse(error)
        planted = replace_part(state, fault.field, value)
        self.is_planted = self.is_planted or encode(value) != encode(was)
        if component.put is None:
            return planted
        # A restore may draw; the fault is in the state, not in what the streams give next.
        positions = session.wiring.streams.snapshot()
        with session.wiring.streams.restoring():
            component.put(_copy(planted))
        session.wiring.streams.restore(positions)
        return component.read()


def draw_from(session: Session, name: str) -> None:
    """Draw one number from a live stream."""
    streams = session.wiring.streams
    names = streams.names()
    generator: Any = streams.generator(name) if name in names else None
    if not callable(getattr(generator, "random", None)):
        found = "is no numpy or python generator" if name in names else "is not there"
        raise FaultMisplaced(
            f"The stream {name!r} {found}.",
            f"Streams: {', '.join(names) or 'none'}.",
            "Name a stream of numpy or of the standard library.",
            stream=name,
        )
    generator.random()


def _require_component(name: str, components: Mapping[str, Any]) -> Any:
    if name in components:
        return components[name]
    known = sorted(components)
    raise FaultMisplaced(
        f"There is no component {name!r}.",
        f"Components: {', '.join(known) or 'none'}.",
        f'Name one of them: faults.one_ulp("{next(iter(known), "name")}", ...)',
        component=name,
    )


def _copy(state: Any) -> Any:
    return decode(encode(state), resolve=loaded_types)


def get_part(state: Any, path: str) -> Any:
    """Return the value at a path of a state, keys joined by ``/``."""
    value = state
    for key in path.split("/") if path else ():
        try:
            value = value[key] if isinstance(value, dict) else value[int(key)]
        except (KeyError, IndexError, ValueError, TypeError):
            known = ", ".join(map(str, value)) if isinstance(value, dict) else type(value).__name__
            raise FaultMisplaced(
                f"There is no field {path!r}: nothing is at {key!r}.",
                f"There: {known}.",
                "Name a field of the component's state(), keys joined by /.",
                field=path,
            ) from None
    return value


def replace_part(state: Any, path: str, value: Any) -> Any:
    """Return a state with another value at a path that it has."""
    if not path:
        return value
    key, _, rest = path.partition("/")
    if isinstance(state, dict):
        return {**state, key: replace_part(state[key], rest, value)}
    items = list(state)
    items[int(key)] = replace_part(items[int(key)], rest, value)
    return tuple(items) if isinstance(state, tuple) else items


def move_one_ulp(value: Any) -> Any:
    """Move the first finite number to its neighbour."""

    def to_neighbour(number: Any) -> Any:
        of_width = type(number)  # a float32 has neighbours of its own
        with np.errstate(over="ignore"):
            up = np.nextafter(number, of_width(math.inf))
        return of_width(up if np.isfinite(up) else np.nextafter(number, of_width(0)))

    return _change_number(value, to_neighbour, "floating-point number", _FLOATS)


def add_time(value: Any, now_ns: int | None = None) -> Any:
    """Put the time, in nanoseconds, into the first number, or into a text."""
    now = time_ns() if now_ns is None else now_ns

    def move(number: Any) -> Any:
        if isinstance(number, np.integer):
            limit = int(np.iinfo(number.dtype).max)
            added = (int(number) + 1 + now % 97) % (limit + 1)
            return number.dtype.type(added if added != int(number) else 0)
        if isinstance(number, int):
            return number + 1 + now % 9973
        share = number.__class__((1 + now % 9973) / 9973)
        moved = number + share * (abs(number) or 1)
        return moved if math.isfinite(moved) else number / 2

    if isinstance(value, str):
        return f"{value}{now}"
    return _change_number(value, move, "number", (*_FLOATS, int, np.integer))


def swap_rows(value: Any) -> Any:
    """Exchange two rows that differ."""
    count = _count_rows(value)
    for at in range(1, count):
        if _to_bytes(value[at]) != _to_bytes(value[0]):
            return _reorder(value, [at, *range(1, at), 0, *range(at + 1, count)])
    raise _misfit("two rows that differ", value)


def reorder_by_set(value: Any) -> Any:
    """Put the rows into the order in which a set of their names gives them."""
    count = _count_rows(value)
    for salt in range(_SALTS):
        # The fault that is planted: pyproject.toml tells the checker.
        names = [*{f"{salt}-{at}" for at in range(count)}]
        moved = _reorder(value, [int(name.partition("-")[2]) for name in names])
        if _to_bytes(moved) != _to_bytes(value):
            return moved
    raise _misfit("two rows that differ", value)


@dataclass(frozen=True, slots=True)
class FaultKind:
    """What twice knows of one kind of fault."""

    caught_by: str  # the property that must turn red
    place: str  # what it needs in a system
    change: Callable[[Any], Any] | None = None


_ROWS: Final = "field with two rows that differ"
_MOVING: Final = "field that changes during the run"
_REPLAY: Final = "replay_equivalence"
FAULT_KINDS: Final[Mapping[Kind, FaultKind]] = {
    "set order": FaultKind(_REPLAY, _ROWS, reorder_by_set),
    "extra draw": FaultKind("seed_isolation", "stream that can be drawn from"),
    "one ulp": FaultKind(_REPLAY, "floating-point field", move_one_ulp),
    "permuted rows": FaultKind(_REPLAY, _ROWS, swap_rows),
    "dropped field": FaultKind("restore_idempotence", _MOVING),
    "stale value": FaultKind(_REPLAY, _MOVING),
    "wall clock": FaultKind(_REPLAY, "number or text", add_time),
}


def _count_rows(value: Any) -> int:
    if isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        return len(value)
    raise _misfit("rows: an array, a list or a tuple", value)


def _to_bytes(value: Any) -> bytes:
    try:
        return encode(value)
    except EncodingRefused:
        return repr(value).encode()


def _reorder(value: Any, order: list[int]) -> Any:
    if isinstance(value, np.ndarray):
        return value[order]
    rows = [value[at] for at in order]
    return tuple(rows) if isinstance(value, tuple) else rows


def _change_number(
    value: Any, change: Callable[[Any], Any], what: str, kinds: tuple[type, ...]
) -> Any:
    """Return a value with its first finite number of some kinds changed, wherever in it that is."""

    def change_first(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            flat = part.flatten()
            for at, number in enumerate(flat if issubclass(part.dtype.type, kinds) else ()):
                if (changed := change_first(number)) is not None:
                    flat[at] = changed
                    return flat.reshape(part.shape)
            return None
        if isinstance(part, dict):
            changed = change_first(list(part.values()))
            return None if changed is None else dict(zip(part, changed, strict=True))
        if isinstance(part, list | tuple):
            for at, item in enumerate(part):
                if (changed := change_first(item)) is not None:
                    items = [*part[:at], changed, *part[at + 1 :]]
                    return tuple(items) if isinstance(part, tuple) else items
            return None
        # To Python a bool is a number, and an int may be too large to be asked whether it is finite.
        if not isinstance(part, kinds) or isinstance(part, bool | np.bool_):
            return None
        return change(part) if not isinstance(part, _FLOATS) or math.isfinite(part) else None

    changed = change_first(value)
    if changed is None:
        raise _misfit(f"a {what}", value)
    return changed


def _misfit(wanted: str, value: Any) -> FaultMisplaced:
    found = f"{type(value).__name__} {value!r:.60}"
    return FaultMisplaced(
        f"The field holds {found}, not {wanted}.", f"Expected {wanted}.", "Name another field."
    )
