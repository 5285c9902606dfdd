"""Plant a fault in the process that executes: at a tick, in the live objects of the session.

The component's own ``restore`` puts the changed state into it at the compare-point that closes the
tick, so that what follows goes on from there; a component without one only shows it. Where a restore
is tested, the snapshot that it is given is changed instead.

Invariant: nothing happens before the fault's tick.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import time_ns  # The real one: bound before anything is patched.
from typing import Any, NoReturn

from twice.errors import FaultMisplaced
from twice.foundation.encoding import decode, encode, encode_parts, loaded_types
from twice.recording.components import Component
from twice.recording.session import Session
from twice.recording.snapshots import Captured, decoded
from twice.recording.wiring import NoControl, Resume
from twice.testing.faults import Fault
from twice.testing.mutations import MUTATIONS, get_part, replace_part, split_path


class Planting(NoControl):
    """Plants one fault.

    Args:
        fault: what and where.
        done: called when it was planted.
        refused: ends the process where it has no place: the program could catch an exception.
    """

    def __init__(
        self, fault: Fault, done: Callable[[], None], refused: Callable[[FaultMisplaced], NoReturn]
    ) -> None:
        self._fault, self._done, self._refused = fault, done, refused
        self._is_planted = False
        self._wrapped = False
        self._before: Any = None

    def before_tick(self, session: Session, tick: int) -> None:
        """Draw, or have the component changed when the tick is closed."""
        fault = self._fault
        if session.muted or tick < fault.tick or self._wrapped or fault.kind == "dropped field":
            return
        self._wrapped = True
        try:
            self._place(session)
        except FaultMisplaced as error:
            self._refused(error)

    def _place(self, session: Session) -> None:
        fault = self._fault
        if fault.kind == "extra draw":
            draw_from(session, fault.stream)
            self._tell()
            return
        components = session.points.components
        component = components.get(fault.component)
        if component is None:
            raise FaultMisplaced(
                f"There is no component {fault.component!r}.",
                f"Components: {', '.join(sorted(components)) or 'none'}.",
                f'Name one of them: faults.one_ulp("{next(iter(components), "name")}", ...)',
                component=fault.component,
            )
        self._before = get_part(_copy(component.read()), fault.field)
        changed = replace(component, read=lambda: self._read(session, component), changed=None)
        components[fault.component] = changed
        session.points.forget()

    def _read(self, session: Session, component: Component) -> object:
        once = self._fault.kind != "stale value"
        if once and self._is_planted and component.put is not None:
            return component.read()
        state = _copy(component.read())
        try:
            value = self._changed(get_part(state, self._fault.field))
        except FaultMisplaced as error:
            self._refused(error)
        planted = replace_part(state, split_path(self._fault.field), value)
        if encode(value) != encode(get_part(state, self._fault.field)):
            self._tell()
        if component.put is None:
            return planted
        positions = session.wiring.streams.snapshot()
        with session.wiring.streams.restoring():
            component.put(_copy(planted))
        session.wiring.streams.restore(positions)
        return component.read()

    def _changed(self, value: Any) -> Any:
        mutate = MUTATIONS.get(self._fault.kind)
        return _copy(self._before) if mutate is None else mutate(value, time_ns())

    def _tell(self) -> None:
        if not self._is_planted:
            self._is_planted = True
            self._done()


def draw_from(session: Session, name: str) -> None:
    """Draw one number from a live stream.

    Raises:
        FaultMisplaced: E-TESTING-003, when there is no such stream, or it cannot be drawn from here.
    """
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


def forgetting(
    fault: Fault, first: Captured, done: Callable[[], None]
) -> Callable[[Resume], Resume]:
    """Give what changes a snapshot so that it has forgotten the fault's field.

    Args:
        fault: a dropped field.
        first: the run's first snapshot: what the field was when the run began.
        done: called when the field really is another one.
    """

    def changed(resume: Resume) -> Resume:
        captured = resume.captured
        parts = captured.subsystems.get(fault.component)
        if captured.tick < fault.tick:
            return resume
        if parts is None:
            known = ", ".join(sorted(captured.subsystems))
            raise FaultMisplaced(
                f"There is no component {fault.component!r} in the snapshot.",
                f"It holds {known}.",
                "Name one of them.",
                component=fault.component,
            )
        state = decoded(parts)
        was = get_part(state, fault.field)
        begun = get_part(decoded(first.subsystems[fault.component]), fault.field)
        if encode(was) != encode(begun):
            done()
        forgotten = replace_part(state, split_path(fault.field), begun)
        subsystems = {**captured.subsystems, fault.component: encode_parts(forgotten)}
        return replace(resume, captured=replace(captured, subsystems=subsystems))

    return changed


def _copy(state: Any) -> Any:
    return decode(encode(state), resolve=loaded_types)
