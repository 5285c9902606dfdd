"""Execute one example in a process of its own: the other end of ``laboratory``'s line.

An execution is a verification with something added: a snapshot put back twice, a bystander with a
stream of its own, one more draw from a stream when it is taken, inputs substituted, another
configuration, a planted fault. What is not added goes by the record, so what differs comes from it.

Invariant: without additions this is the session that ``twice verify`` executes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from twice.foundation.encoding import decode, encode
from twice.foundation.environment import Fingerprint
from twice.recording.comparepoints import Taken
from twice.recording.components import component_of
from twice.recording.config import Config
from twice.recording.effects.sources import BranchSource, RecordedSource
from twice.recording.inputs import BranchInputs, RecordedInputs
from twice.recording.runrecord import RunRecord
from twice.recording.session import Session
from twice.recording.sink import Sink
from twice.recording.snapshots import STREAMS, Captured, decoded, load
from twice.recording.wiring import Control, NoControl, Resume
from twice.replayer.branch_prefix import BranchPrefixSink
from twice.replayer.compare_sink import ComparingSink
from twice.replayer.outcome import Failure
from twice.replayer.rebuild import rebuilt_session
from twice.replayer.replay_job import open_job_record
from twice.replayer.verify_worker import (
    VerificationMonitor,
    build_verification,
    encode_states,
    execute_watched,
)
from twice.testing.faults import Fault
from twice.testing.planting import Planting, draw_from, forgetting
from twice.worker.channel import Channel, tell_error

BYSTANDER = "bystander-of-a-test"
_WIDTH = 16


def hold(job: Mapping[str, Any], channel: Channel, measured: Fingerprint) -> NoReturn:
    """Execute one example against its record; the last message says how it went."""
    channel.send({"kind": "environment", "now": measured.to_json(), "held": job["held"]})
    added: Mapping[str, Any] = job["added"]
    fault = Fault.from_json(added["fault"]) if "fault" in added else None

    def planted() -> None:
        channel.send({"kind": "progress", "index": 0, "planted": True})

    with open_job_record(job) as record:
        change: Callable[[Resume], Resume] = lambda resume: resume  # noqa: E731
        if fault is not None and fault.kind == "dropped field":
            change = forgetting(fault, load(record.reader, 0), planted)
        if "fork" in added:
            watch = _branching(record, job, channel)
        else:
            watch = build_verification(record, job, channel, change=change)
        session = watch.session
        assert session is not None, "a watch that executes has its session"
        controls: list[Control] = [watch]
        if fault is not None:
            controls.insert(
                0, Planting(fault, planted, lambda error: watch.leave(tell_error(error)))
            )
        controls += _additions(added, record, watch, session)
        session.wiring.control = _All(controls)
        execute_watched(watch, lambda: {"starts": session.wiring.streams.starts()})


def _additions(
    added: Mapping[str, Any], record: RunRecord, watch: VerificationMonitor, session: Session
) -> list[Control]:
    """Put what is asked for into a session; who else looks on."""
    sink = session.wiring.sink
    found: list[Control] = []
    if "again" in added:
        captured = load(record.reader, added["again"])
        found.append(RestoredAgain(watch, captured, stop=bool(added.get("stop"))))
    if added.get("bystander"):
        assert isinstance(sink, ComparingSink), "a bystander is added to a plain verification"
        session.wiring.sink = _PassingOver(sink, record, {"streams"}, {BYSTANDER})
        found.append(Bystander(watch, record))
        _stand_by(session)
    if "greedy" in added:
        session.wiring.sink = Sink()
        _draw_when_taken(session, added["greedy"])
    if "config" in added:
        session.config = Config(added["config"])
    if added.get("outcome"):
        assert isinstance(sink, ComparingSink), "outcomes are compared by a plain verification"
        over = {"streams", "effects", "inputs"}
        session.wiring.sink = _PassingOver(sink, record, over, set())
    if "same" in added:
        values: Any = decode(added["same"]["values"])
        recorded = RecordedInputs(record.input_frames, watch.input_differs)
        session.wiring.inputs = BranchInputs(recorded, added["same"]["at"], values)
    return found


def _branching(record: RunRecord, job: Mapping[str, Any], channel: Channel) -> VerificationMonitor:
    """A session that is held against its record up to a fork, and goes its own way from there."""
    fork = job["added"]["fork"]
    watch = VerificationMonitor(channel, record, capture=job["capture"])
    values: Any = decode(fork["values"])
    recorded = RecordedInputs(record.input_frames, watch.input_differs)
    watch.session = rebuilt_session(
        record,
        sink=BranchPrefixSink(watch.sink, fork["at"]),
        source=BranchSource(RecordedSource(record)),
        inputs=BranchInputs(recorded, fork["at"], values),
        control=watch,
    )
    return watch


class _All:
    """Several controls, one after the other."""

    def __init__(self, controls: list[Control]) -> None:
        self._controls = controls

    def before_tick(self, session: Session, tick: int) -> None:
        """Ask every one."""
        for control in self._controls:
            control.before_tick(session, tick)

    def at_point(self, session: Session, taken: Taken) -> None:
        """Ask every one."""
        for control in self._controls:
            control.at_point(session, taken)

    def compared(self, value: object) -> None:
        """Ask every one."""
        for control in self._controls:
            control.compared(value)


class RestoredAgain(NoControl):
    """Looks at a restored state, puts the snapshot back a second time, and looks again.

    Args:
        watch: told of what differs.
        captured: the snapshot, as the record holds it.
        stop: whether the execution ends there.
    """

    def __init__(self, watch: VerificationMonitor, captured: Captured, *, stop: bool) -> None:
        self._watch, self._captured, self._stop = watch, captured, stop
        self._seen = False

    def before_tick(self, session: Session, tick: int) -> None:
        """At the restored tick, once."""
        if self._seen or session.muted:
            return
        self._seen = True
        wanted = {
            name: b"".join(parts)
            for name, parts in self._captured.subsystems.items()
            if name in session.points.components
        }
        self._require(session, tick, "restore", wanted)
        self._require_streams(session, tick, "restore")
        if self._stop:
            self._watch.leave({"kind": "ended", "how": "stopped"})
        session.put_back(self._captured)
        self._require(session, tick, "second restore", wanted)
        self._require_streams(session, tick, "second restore")

    def _require(self, session: Session, tick: int, name: str, wanted: Mapping[str, bytes]) -> None:
        now = encode_states(session)
        for component in sorted(wanted):
            if now.get(component) != wanted[component]:
                self._differs(session, tick, name, component)

    def _require_streams(self, session: Session, tick: int, name: str) -> None:
        if encode(session.wiring.streams.snapshot()) != b"".join(
            self._captured.subsystems[STREAMS]
        ):
            self._differs(session, tick, name, STREAMS)

    def _differs(self, session: Session, tick: int, name: str, column: str) -> None:
        index = session.point_count - 1
        said = f"the snapshot before tick {tick}", f"another state after the {name}"
        self._watch.differs(Failure(index, tick - 1, name, (column,), *said))


class _Standing:
    """A component that does nothing but draw, from a stream that nobody else has."""

    def __init__(self, session: Session) -> None:
        self._rng = session.wiring.streams.numpy(BYSTANDER)
        self._drawn = 0.0

    def step(self) -> None:
        self._drawn = float(self._rng.random())

    def state(self) -> dict[str, float]:
        return {"drawn": self._drawn}


class Bystander(NoControl):
    """Lets the bystander draw before every tick, and holds the others' streams against the record.

    Args:
        watch: told of what differs.
        record: what is executed.
    """

    def __init__(self, watch: VerificationMonitor, record: RunRecord) -> None:
        self._watch, self._record = watch, record
        self._at = {entry.tick: entry.number for entry in record.reader.snapshots}

    def before_tick(self, session: Session, tick: int) -> None:
        """Compare, then draw."""
        bystander = session.points.components.get(BYSTANDER)
        number = self._at.get(tick)
        if number is not None:
            recorded = decoded(load(self._record.reader, number).subsystems[STREAMS])
            now = session.wiring.streams.snapshot()
            for name in sorted({*recorded, *now} - {BYSTANDER}):
                one, two = recorded.get(name), now.get(name)
                if one is None or two is None or encode(one) != encode(two):
                    texts = _position(one), _position(two)
                    column = f"streams/{name}"
                    index = max(0, session.point_count - 1)
                    self._watch.differs(Failure(index, tick - 1, "streams", (column,), *texts))
        if bystander is not None and isinstance(bystander.target, _Standing):
            bystander.target.step()


def _position(state: Any) -> str:
    return "no such stream" if state is None else repr(state)[:120]


def _stand_by(session: Session) -> None:
    """Add the bystander before the program is loaded: it takes its stream first."""
    session.points.add(component_of(BYSTANDER, _Standing(session)))


def _draw_when_taken(session: Session, name: str) -> None:
    """Let one number be drawn from a stream as soon as the program takes it."""
    streams = session.wiring.streams
    for kind in ("numpy", "python"):
        take = getattr(streams, kind)

        def taking(asked: str, take: Callable[[str], Any] = take) -> Any:
            generator = take(asked)
            if asked == name:
                draw_from(session, name)
            return generator

        setattr(streams, kind, taking)


class _PassingOver(Sink):
    """Hands points on without some columns, and with the recorded digests in some others.

    Args:
        checking: compares with the record.
        record: the record.
        over: columns that are not compared.
        without: columns that the record does not have.
    """

    def __init__(
        self, checking: ComparingSink, record: RunRecord, over: set[str], without: set[str]
    ) -> None:
        self._checking, self._points = checking, record.reader.points
        self._over, self._without = over, without

    def point(self, taken: Taken) -> None:
        """Compare what is left of a point."""
        index = self._checking.next_index
        recorded = self._points.point(index).digests if index < len(self._points) else {}
        columns = tuple(name for name in taken.columns if name not in self._without)
        digests = b"".join(
            recorded.get(name, bytes(_WIDTH)) if name in self._over else taken.column(name)
            for name in columns
        )
        self._checking.point(replace(taken, columns=columns, digests=digests))

    def value(self, column: str, payload: bytes, tick: int) -> None:
        """Hand it on."""
        self._checking.value(column, payload, tick)
