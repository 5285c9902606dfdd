"""The part of a run that is executed again to find an operation.

A window opens after one compare-point and closes at a later one. Inside its process the program is
fed from the record where that fits and from the world where it does not, so that a side can also be
executed in surroundings that are not its own. A trace is evidence only when the execution
reproduced the digests that its own record holds at the closing point.

Invariant: executing a window never stops the program at a difference; differences are what it is for.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from twice.diagnosis.executions import BEFORE_ALL
from twice.diagnosis.object_digest.leaves import leaves
from twice.diagnosis.process_holder import Holder, list_possessions
from twice.diagnosis.tracing.paths import FILES, OBJECT
from twice.diagnosis.tracing.trace import Plan, SamplePlan, Trace, plan_from_json
from twice.diagnosis.tracing.tracer import Tracer
from twice.errors import EncodingRefused, InputMismatch, SealBroken
from twice.foundation.encoding import encode
from twice.foundation.source_files import is_user_file
from twice.recorder.compare_points import ComparePoint
from twice.recorder.components import Component
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.sources import RecordedSource, Source
from twice.recorder.inputs import InputEvent, Inputs, RecordedInputs
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.recorder.session_parts import Control, Resume, Sink
from twice.replayer.compare_sink import ComparingSink
from twice.replayer.rebuild import rebuilt_session
from twice.worker.channel import Channel

_is_user = functools.cache(is_user_file)  # asked for every loaded module at every sampled event


class WindowInputs(Inputs):
    """Inputs of a window: what a branch substituted stays, everything else is the program's own."""

    def __init__(self, record: RunRecord) -> None:
        self._recorded = RecordedInputs(record.input_frames, lambda *_: None)
        self._left = False

    def settle(self, tick: int, name: str, value: Any) -> InputEvent:
        """Return the substituted value, or the thunk's."""
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
        """Return the recorded value, if a loop is passed over."""
        return self._recorded.serve(tick, name, value)

    def seek(self, count: int) -> None:
        """Continue after that many inputs."""
        self._recorded.seek(count)


class WindowControl(Control):
    """Starts the tracer after one compare-point and stops it at another.

    Args:
        channel: to the parent.
        first: index of the point after which the window opens; -1 opens it before the program's
            module is imported.
        last: index of the point that closes it.
        plan: what to trace, or None to look at digests only.
        holds: whether the process is forked where the window opens, for every plan that comes.

    Attributes:
        last: index of the point that closes the window.
        closing: holds that point against the record.
    """

    def __init__(
        self, channel: Channel, first: int, last: int, plan: Plan | None, *, holds: bool = False
    ) -> None:
        self._channel = channel
        self._holds = holds
        self._holder: Holder | None = None
        self._first, self.last = first, last
        self._plan = plan
        self._tracer: Tracer | None = None
        self._compared: object = None
        self._files: Files | None = None
        self._changed_before = 0
        self.closing: ClosingPointSink | None = None

    def begin(self, session: Session) -> None:
        """Prepare for the call of the program; open the window if it comes before everything."""
        self._session = session
        self._files = find_files(session)
        if self._holds:
            self._possessions = list_possessions()
        if self._first == BEFORE_ALL:
            self._open()

    def before_tick(self, session: Session, tick: int) -> None:
        """Open the window in a resumed session that has no point to open it at."""
        del tick
        if self._tracer is None and session.point_count - 1 == self._first and not session.muted:
            self._open()

    def at_point(self, session: Session, taken: ComparePoint) -> None:
        """Open or close the window."""
        index = session.point_count - 1
        if index == self.last:
            self._close(taken)
        elif index == self._first and self._tracer is None:
            self._open()

    def at_value(self, value: object) -> None:
        """Take the value of an explicit compare as the window's last root."""
        self._compared = value

    def report_missed(self) -> None:
        """Report that the program ended before the window closed."""
        trace = self._tracer.stop() if self._tracer is not None else None
        self._send(trace, None, reached=False)

    def _open(self) -> None:
        # A held process stops before anything is traced: each fork begins with a plan of its own.
        if self._holds:
            user_module_names()  # what is known of a module by now, no fork asks again
            self._holder = Holder(self._channel, self._possessions)
            self._hold()
        if self._plan is not None:
            session = self._session
            self._tracer = Tracer(
                self._plan,
                is_user_code=_is_user,
                roots=lambda: roots_of(session, self._compared),
                positions=session.wiring.streams.positions,
                own_modules=user_module_names,
                drawn=lambda: {} if self._files is None else self._files.places.drawn_parts,
                on_done=self._answer,
                on_first=self._hold_at_event if self._holds else None,
            )
            self._tracer.start()

    def _hold(self) -> None:
        """Stop here, and go on in a fork for every plan that comes."""
        assert self._holder is not None, "a process that is held has what holds it"
        self._session.wiring.output.position()  # what was printed is read by now
        is_spent = self._count_changes() != self._changed_before
        asked = self._holder.hold(is_spent=is_spent)
        self._holds = asked["holds"]
        self._session.owner = os.getpid()
        self._plan = None if asked["plan"] is None else plan_from_json(asked["plan"])
        self._changed_before = self._count_changes()

    def _hold_at_event(self) -> tuple[SamplePlan, bool]:
        """Stop at an event; in a fork, what is asked for from there on, and whether to stop once more."""
        with _no_error_in_the_program():
            self._hold()
        assert isinstance(self._plan, SamplePlan), "behind an event there are samples alone"
        return self._plan, self._holds

    def _answer(self) -> None:
        """Everything that the plan wants was sampled: nobody waits for the rest of the window."""
        assert self._tracer is not None, "a tracer has called"
        with _no_error_in_the_program():
            self._send(self._tracer.trace(), None, reached=True)

    def _close(self, taken: ComparePoint) -> None:
        trace = self._tracer.stop() if self._tracer is not None else None
        self._send(trace, taken, reached=True)

    def _send(self, trace: Trace | None, taken: ComparePoint | None, *, reached: bool) -> None:
        session = self._session
        columns = () if taken is None else taken.columns
        self._channel.send(
            {
                "kind": "window",
                "reached": reached,
                "trace": b"" if trace is None else trace.to_bytes(),
                "digests": {name: taken.column(name) for name in columns} if taken else {},
                "reproduces": self.closing is not None and self.closing.agrees,
                "states": _states(session) if taken else {},
                "streams": session.wiring.streams.snapshot() if taken else {},
                "restores": restore_functions(session) if taken else {},
                "is_spent": self._count_changes() != self._changed_before,
                "seconds": [] if self._tracer is None else self._tracer.seconds(),
            }
        )
        os._exit(0)

    def _count_changes(self) -> int:
        return 0 if self._files is None else self._files.writes.count


@contextlib.contextmanager
def _no_error_in_the_program() -> Iterator[None]:
    """End the process where a function that the tracer calls fails: its error would end a thread of the program."""
    try:
        yield
    except BaseException:  # noqa: BLE001
        os._exit(1)


class ClosingPointSink(Sink):
    """Holds the point that closes a window against the record, as a verification does.

    Args:
        record: of the run.
        first: index of the first point that will be taken.
        last: index of the point that closes the window.

    Attributes:
        agrees: whether every column that the class judges is as recorded.
    """

    def __init__(self, record: RunRecord, first: int, last: int) -> None:
        self.agrees = False
        self._next, self._last = first, last
        self._comparing = ComparingSink(record, record.setup.predicate, lambda _: None, first=last)

    def value(self, column: str, payload: bytes, tick: int) -> None:
        """Remember a value of the last point."""
        if self._next == self._last:
            self._comparing.value(column, payload, tick)

    def point(self, taken: ComparePoint) -> None:
        """Compare the last point."""
        if self._next == self._last:
            self._comparing.point(taken)
            self.agrees = not self._comparing.counts["failed"]
        self._next += 1


Look = Callable[[Mapping[str, Component]], dict[str, Any]]


class InspectControl(Control):
    """Sends what is seen of the components before one tick, and ends the process."""

    def __init__(self, channel: Channel, tick: int, look: Look) -> None:
        self._channel, self._tick, self._look = channel, tick, look

    def before_tick(self, session: Session, tick: int) -> None:
        """Look, when this is the tick."""
        if session.muted or tick != self._tick:
            return
        self._channel.send({"kind": "inspected", "seen": self._look(session.points.components)})
        os._exit(0)


def leaves_of(components: Mapping[str, Component]) -> dict[str, Any]:
    """List the values under the tracked objects, leaf by leaf."""
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
        found[name] = (component.live or component.read)()
        found[OBJECT + name] = component.target
    found["inputs"] = session.inputs_last
    found["output"] = session.wiring.output.position().hex()
    files = find_files(session)
    found[FILES] = {} if files is None else files.writes.read_contents()
    layer = session.wiring.layer
    layer.flush()
    found["effects"] = (layer.main.chain, bytes(layer.main.asked), list(layer.main.arguments))
    found["compared"] = compared
    for module in user_module_names():
        # Copied first: another thread may bind a name meanwhile.
        for name, value in list(vars(sys.modules[module]).items()):
            if not name.startswith("__") and not isinstance(value, type(sys)):
                found[f"{module}:{name}"] = value
    return found


def find_files(session: Session) -> Files | None:
    """Return the part of a session that governs files, or None."""
    return next((part for part in session.wiring.layer.parts if isinstance(part, Files)), None)


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
        except (
            EncodingRefused
        ):  # its digest was taken another way; the fields are told of the others
            continue
    return found


def window_session(
    record: RunRecord,
    control: WindowControl,
    resume: Resume | None,
    changed: Iterable[str] = (),
    lent: tuple[RunRecord, Iterable[int]] | None = None,
) -> Session:
    """Build a session of a record's program for one window, some of its variables changed.

    ``lent`` is another record, and the operations that it answers.
    """
    first = 0 if resume is None else resume.captured.cursors.points
    control.closing = sink = ClosingPointSink(record, first, control.last)
    source = RecordedSource(record, leaves=True, changed=changed, lender=lent)
    return _session(record, control, source, resume, sink)


def inspected_session(record: RunRecord, control: InspectControl, resume: Resume | None) -> Session:
    """Build a session of a record's program up to one tick."""
    return _session(record, control, RecordedSource(record, leaves=True), resume, Sink())


def _session(
    record: RunRecord, control: Control, source: Source, resume: Resume | None, sink: Sink
) -> Session:
    return rebuilt_session(
        record,
        sink=sink,
        source=source,
        inputs=WindowInputs(record),
        control=control,
        resume=resume,
        refuse=_leaves_the_machine,
    )


def _leaves_the_machine(error: SealBroken) -> bool:
    """Side effects are not repeated; C code that is called by hand may be what is looked for."""
    return str(error.fields["source"]).startswith(("network.", "process.", "system."))
