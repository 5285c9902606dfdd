"""The part of a run that is executed again to find an operation.

A window opens after one compare-point and closes at a later one. Inside its process the program is
fed from the record where that fits and from the world where it does not, so that a side can also be
executed in surroundings that are not its own. A trace is evidence only when the execution
reproduced the digests that its own record holds at the closing point.

Invariant: executing a window never stops the program at a difference; differences are what it is for.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from twice.diagnosing.executions import BEFORE_ALL
from twice.diagnosing.restores.anatomy import leaves
from twice.diagnosing.tracing.paths import FLOW, STREAMS
from twice.diagnosing.tracing.trace import Plan
from twice.diagnosing.tracing.tracer import Tracer
from twice.errors import EncodingRefused, InputMismatch, SealBroken
from twice.foundation.encoding import encode
from twice.recording.comparepoints import Taken
from twice.recording.components import RESERVED, Component
from twice.recording.effects.answers import Source
from twice.recording.effects.lending import LentSource
from twice.recording.effects.sources import BranchSource, RecordedSource
from twice.recording.inputs import InputEvent, RecordedInputs
from twice.recording.program import is_user_file
from twice.recording.runrecord import RunRecord
from twice.recording.session import Session
from twice.recording.sink import NoSink
from twice.recording.wire import Channel
from twice.recording.wiring import Control, Resume
from twice.replaying.rebuilding import rebuilt_session, resume_at

OBJECT = "object:"
_NO_COLUMN = frozenset({"(end)", "(order)"})  # the points themselves are not the same
_is_user = functools.cache(is_user_file)  # asked for every loaded module at every sampled event


class WindowInputs:
    """Inputs of a window: what a branch substituted stays, everything else is the program's own."""

    def __init__(self, record: RunRecord) -> None:
        self._recorded = RecordedInputs(record.input_frames, lambda *_: None)
        self._left = False

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """The substituted value, or the thunk's."""
        if not self._left:
            try:
                event = self._recorded.settle(tick, name, value)
            except InputMismatch:
                self._left = True
            else:
                if event.substituted:
                    return event
        return InputEvent(tick, name, value)

    def serve(self, tick: int, name: str, value: Any) -> InputEvent:
        """The recorded value, where a loop is passed over."""
        return self._recorded.serve(tick, name, value)

    def seek(self, count: int) -> None:
        """Continue after that many inputs."""
        self._recorded.seek(count)


class WindowControl:
    """Starts the tracer after one compare-point and stops it at another.

    Args:
        channel: to the parent.
        first: index of the point after which the window opens; -1 opens it before the program's
            module is imported.
        last: index of the point that closes it.
        plan: what to trace, or None to look at digests only.
    """

    def __init__(self, channel: Channel, first: int, last: int, plan: Plan | None) -> None:
        self._channel = channel
        self._first, self._last = first, last
        self._plan = plan
        self._tracer: Tracer | None = None
        self._compared: object = None
        self._digests: list[dict[str, bytes]] = []
        self.source: BranchSource | None = None

    def begin(self, session: Session) -> None:
        """The program is about to be called."""
        self._session = session
        if self._first == BEFORE_ALL:
            self._open()

    def before_tick(self, session: Session, tick: int) -> None:
        """A resumed session whose window opens where it resumes has no point to open it at."""
        del tick
        if self._tracer is None and session.point_count - 1 == self._first and not session.muted:
            self._open()

    def at_point(self, session: Session, taken: Taken) -> None:
        """Open or close the window."""
        index = session.point_count - 1
        if index == self._last:
            self._close(taken)
        elif index == self._first and self._tracer is None:
            self._open()

    def compared(self, value: object) -> None:
        """The value of an explicit compare, as the window's last root."""
        self._compared = value

    def missed(self) -> None:
        """The program ended before the window closed."""
        trace = self._tracer.stop() if self._tracer is not None else None
        self._send(trace, {}, reached=False)

    def _open(self) -> None:
        if self._plan is None:
            return
        session = self._session
        self._tracer = Tracer(
            self._plan,
            is_user_code=_is_user,
            roots=lambda: roots_of(session, self._compared),
            positions=session.wiring.streams.positions,
            own_modules=user_module_names(),
        )
        self._tracer.start()

    def _close(self, taken: Taken) -> None:
        trace = self._tracer.stop() if self._tracer is not None else None
        digests = {name: taken.column(name) for name in taken.columns}
        self._send(trace, digests, reached=True)

    def _send(self, trace: Any, digests: Mapping[str, bytes], *, reached: bool) -> None:
        source = self.source
        self._channel.send(
            {
                "kind": "window",
                "reached": reached,
                "trace": b"" if trace is None else trace.to_bytes(),
                "digests": dict(digests),
                "states": _states(self._session),
                "streams": self._session.wiring.streams.snapshot(),
                "restores": restore_functions(self._session),
                "left_at": None if source is None else source.went_live(),
            }
        )
        os._exit(0)


class InspectControl:
    """Sends what is seen of the components before one tick, and ends the process.

    Args:
        channel: to the parent.
        tick: the tick.
        look: what is sent, of the components by name.
    """

    def __init__(
        self, channel: Channel, tick: int, look: Callable[[Mapping[str, Component]], dict[str, Any]]
    ) -> None:
        self._channel = channel
        self._tick = tick
        self._look = look

    def before_tick(self, session: Session, tick: int) -> None:
        """Look, when this is the tick."""
        if session.muted or tick != self._tick:
            return
        self._channel.send({"kind": "inspected", "seen": self._look(session.points.components)})
        os._exit(0)

    def at_point(self, session: Session, taken: Taken) -> None:
        """Go on."""

    def compared(self, value: object) -> None:
        """Go on."""


def leaves_of(components: Mapping[str, Component]) -> dict[str, Any]:
    """What hangs on the tracked objects, leaf by leaf."""
    return {**leaves({name: component.target for name, component in components.items()})}


def restore_functions(session: Session) -> dict[str, list[object]]:
    """File and first line of every component's own ``restore``, by component."""
    found: dict[str, list[object]] = {}
    for name, component in session.points.components.items():
        code = getattr(component.put, "__code__", None)
        if code is not None and is_user_file(code.co_filename):
            found[name] = [code.co_filename, code.co_firstlineno]
    return found


def roots_of(session: Session, compared: object) -> dict[str, object]:
    """Everything that a difference may live in, by name.

    Declared state stands under the component's name; the object it was read from stands under
    ``object:NAME``, where a difference that the declaration leaves out shows as a blind spot.
    """
    found: dict[str, object] = {}
    for name, component in session.points.components.items():
        found[name] = component.read()
        found[OBJECT + name] = component.target
    found["inputs"] = session.inputs_last
    found["output"] = session.wiring.output()
    found["compared"] = compared
    for module in user_module_names():
        for name, value in list(vars(sys.modules[module]).items()):
            if not name.startswith("__") and not isinstance(value, type(sys)):
                found[f"{module}:{name}"] = value
    return found


def root_of_column(column: str, components: Collection[str]) -> str:
    """The root that shows what a differing column is about."""
    if column in _NO_COLUMN:
        return FLOW
    if column == "streams":
        return STREAMS
    return column if column in RESERVED or column in components else "compared"


def user_module_names() -> tuple[str, ...]:
    """Names of the loaded modules whose source is the user's, sorted."""
    return tuple(
        sorted(
            name
            for name, module in list(sys.modules.items())
            if (origin := getattr(module, "__file__", None)) and _is_user(str(origin))
        )
    )


def _states(session: Session) -> dict[str, bytes]:
    found = {}
    for name, component in session.points.components.items():
        try:
            found[name] = encode(component.read())
        except EncodingRefused:
            continue
    return found


def window_session(
    record: RunRecord,
    control: WindowControl,
    resume: Resume | None,
    changed: Iterable[str] = (),
    lent: tuple[RunRecord, Iterable[int]] | None = None,
) -> Session:
    """A session of a record's program for one window, some of its variables changed.

    ``lent`` is another record, and the operations that are answered from it.
    """
    control.source = source = _world(record, changed)
    if lent is None:
        return _session(record, control, source, resume)
    return _session(record, control, LentSource(source, lent[0], frozenset(lent[1])), resume)


def inspected_session(record: RunRecord, control: InspectControl, resume: Resume | None) -> Session:
    """A session of a record's program up to one tick."""
    return _session(record, control, _world(record), resume)


def _world(record: RunRecord, changed: Iterable[str] = ()) -> BranchSource:
    return BranchSource(RecordedSource(record), changed=frozenset(changed))


def _session(record: RunRecord, control: Control, source: Source, resume: Resume | None) -> Session:
    return rebuilt_session(
        record,
        sink=NoSink(),
        source=source,
        inputs=WindowInputs(record),
        control=control,
        resume=resume,
        refuse=_leaves_the_machine,
    )


def _leaves_the_machine(error: SealBroken) -> bool:
    """Side effects are not repeated; C code that is called by hand may be what is looked for."""
    return str(error.fields["source"]).startswith(("network.", "process.", "system."))


def resume_for(record: RunRecord, number: int | None) -> Resume | None:
    """Where a window's execution starts."""
    return None if number is None else resume_at(record, number)
