"""Execute one example in a process of its own: the other end of ``executor``'s line.

An execution is a verification with something added: a snapshot put back twice, a bystander with a
stream of its own, one more draw from a stream when it is taken, inputs substituted, another
configuration, a planted fault. What is not added goes by the record, so what differs comes from it.

Invariant: without additions this is the session that ``twice verify`` executes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

from twice.foundation.encoding import decode, encode
from twice.foundation.environment import Fingerprint
from twice.recorder.compare_points import ComparePoint
from twice.recorder.components import component_of
from twice.recorder.config import Config
from twice.recorder.effects.sources import RecordedSource
from twice.recorder.inputs import BranchInputs
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.recorder.session_parts import Control, Sink
from twice.recorder.snapshots import STREAMS, load
from twice.recorder.states import decode_state
from twice.replayer.branch_prefix import BranchPrefixSink
from twice.replayer.outcome import STOPPED, Failure
from twice.replayer.rebuild import rebuilt_session
from twice.replayer.replay_job import open_job_record
from twice.replayer.verify_worker import (
    VerificationMonitor,
    build_verification,
    encode_states,
    execute_watched,
)
from twice.testing.faults import Fault
from twice.testing.planting import FaultPlanter, draw_from
from twice.worker.channel import Channel, tell_error

BYSTANDER: Final = "bystander-of-a-test"

_BeforeTick = Callable[[Session, int], None]


def execute_example(job: Mapping[str, Any], channel: Channel, measured: Fingerprint) -> NoReturn:
    """Execute one example against its record; the last message says how it went."""
    channel.send({"kind": "environment", "now": measured.to_json(), "held": job["held"]})
    added: Mapping[str, Any] = job["added"]
    with open_job_record(job) as record:
        planter = FaultPlanter(Fault(**added["fault"]), record) if "fault" in added else None
        if "fork" in added:
            watch = _build_branch(record, job, channel)
        elif planter is not None:
            watch = build_verification(record, job, channel, change=planter.change_snapshot)
        else:
            watch = build_verification(record, job, channel)
        session = watch.session
        assert session is not None, "a watch that executes has its session"
        hooks: list[_BeforeTick] = []
        if planter is not None:
            planter.refuse = lambda error: watch.leave(tell_error(error))
            hooks.append(planter.before_tick)
        if "again" in added:
            hooks.append(_restore_again(watch, record, added["again"], stop=bool(added["stop"])))
        if "bystander" in added:
            hooks.append(_add_bystander(watch, record, session))
        if "greedy" in added:
            session.wiring.sink = Sink()
            _draw_when_taken(session, added["greedy"])
        if "config" in added:
            session.config = Config(added["config"])
        if "same" in added:
            session.wiring.inputs = _substitute_inputs(watch, record, added["same"])
        watch.describe = lambda: {
            "planted": planter is not None and planter.is_planted,
            "starts": session.wiring.streams.starts(),
        }
        session.wiring.control = _HookedMonitor(watch, hooks)
        execute_watched(watch)


class _HookedMonitor(Control):
    """A monitor with something to do before each tick."""

    def __init__(self, watch: VerificationMonitor, hooks: list[_BeforeTick]) -> None:
        self._watch, self._hooks = watch, hooks

    def before_tick(self, session: Session, tick: int) -> None:
        for hook in self._hooks:
            hook(session, tick)

    def at_point(self, session: Session, taken: ComparePoint) -> None:
        self._watch.at_point(session, taken)

    def at_value(self, value: object) -> None:
        self._watch.at_value(value)


def _build_branch(
    record: RunRecord, job: Mapping[str, Any], channel: Channel
) -> VerificationMonitor:
    """Build a session that is compared with its record up to a fork, and goes its own way from there."""
    fork = job["added"]["fork"]
    watch = VerificationMonitor(channel, record, capture=job["capture"])
    watch.session = rebuilt_session(
        record,
        sink=BranchPrefixSink(watch.sink, fork["at"]),
        source=RecordedSource(record, leaves=True),
        inputs=_substitute_inputs(watch, record, fork),
        control=watch,
    )
    return watch


def _substitute_inputs(
    watch: VerificationMonitor, record: RunRecord, given: Mapping[str, Any]
) -> BranchInputs:
    values: Any = decode(given["values"])
    return BranchInputs(record.input_frames, watch.input_differs, given["at"], values)


def _restore_again(
    watch: VerificationMonitor, record: RunRecord, number: int, *, stop: bool
) -> _BeforeTick:
    """Look at the restored state, put the snapshot back a second time, and look again; or stop before that."""
    captured = load(record.reader, number)
    is_done = False

    def require(session: Session, tick: int, name: str) -> None:
        now = encode_states(session) | {STREAMS: encode(session.wiring.streams.snapshot())}
        for column in sorted({*captured.subsystems} & {*session.points.components, STREAMS}):
            if now[column] != b"".join(captured.subsystems[column]):
                texts = f"the snapshot before tick {tick}", f"another state after the {name}"
                index = session.point_count - 1
                watch.differs(Failure(index, tick - 1, name, (column,), *texts))

    def restore(session: Session, tick: int) -> None:
        nonlocal is_done
        if is_done or session.muted:
            return
        is_done = True
        require(session, tick, "restore")
        if stop:
            watch.leave({"kind": "ended", "how": STOPPED})
        session.put_back(captured)
        require(session, tick, "second restore")

    return restore


class _Bystander:
    """A component that does nothing but draw, from a stream that nobody else has."""

    def __init__(self, session: Session) -> None:
        self._rng = session.wiring.streams.numpy(BYSTANDER)
        self._drawn = 0.0

    def step(self) -> None:
        self._drawn = float(self._rng.random())

    def state(self) -> dict[str, float]:
        return {"drawn": self._drawn}


def _add_bystander(watch: VerificationMonitor, record: RunRecord, session: Session) -> _BeforeTick:
    """Add a bystander that draws before every tick, and compare the others' streams with the record."""
    # Before the program is loaded: it takes its stream first.
    bystander = _Bystander(session)
    session.points.add(component_of(BYSTANDER, bystander))
    numbers = {entry.tick: entry.number for entry in record.reader.snapshots}

    def compare(session: Session, tick: int) -> None:
        if tick in numbers:
            recorded = decode_state(load(record.reader, numbers[tick]).subsystems[STREAMS])
            now = session.wiring.streams.snapshot()
            for name in sorted({*recorded, *now} - {BYSTANDER}):
                both = recorded.get(name), now.get(name)
                if encode(both[0]) != encode(both[1]):
                    was, is_now = (str(each or "no such stream")[:120] for each in both)
                    index, columns = max(0, session.point_count - 1), (f"streams/{name}",)
                    watch.differs(Failure(index, tick - 1, "streams", columns, was, is_now))
        bystander.step()

    return compare


def _draw_when_taken(session: Session, name: str) -> None:
    """Draw one number from a stream as soon as the program takes it."""
    streams = session.wiring.streams
    for kind in ("numpy", "python"):
        take = getattr(streams, kind)

        def take_and_draw(wanted: str, take: Callable[[str], Any] = take) -> Any:
            generator = take(wanted)
            if wanted == name:
                draw_from(session, name)
            return generator

        setattr(streams, kind, take_and_draw)
