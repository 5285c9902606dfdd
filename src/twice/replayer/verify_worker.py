"""The process that executes a recorded program again: the side of ``verify`` in it.

One job in, a few messages out: ``environment`` (what differs here), then ``failure`` at the first
difference, or ``ended``. A failure ends this process at once; nothing of the program runs on.

Invariant: the record is opened for reading, and the program never learns that it is held against it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from twice.errors import EffectMismatch, FileNotRebuilt, SealBroken
from twice.foundation.determinism_class import Predicate
from twice.foundation.encoding import encode
from twice.recording.comparepoints import Taken
from twice.recording.environment import measure
from twice.recording.executing import execute
from twice.recording.ordering import ORDERS
from twice.recording.probes.kept import KeptProbes
from twice.recording.results import RESULTS
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.places import user_line
from twice.recording.session import Session
from twice.recording.wiring import Resume
from twice.replayer.bounded_reads import CheckpointBoundedReads
from twice.replayer.compare_sink import ComparingSink
from twice.replayer.outcome import Failure, describe_raising_line, no_counts
from twice.replayer.output_difference import are_reordered, find_new_traceback, locate_in_output
from twice.replayer.rebuild import rebuilt_session, recorded_inputs, resume_at
from twice.replayer.replay_job import open_job_record
from twice.worker.channel import Channel, tell_error

_PROGRESS_EVERY = 512
_IN_THREAD = re.compile(r"/(?:thread|job)\b")
"""In the key of an actor: a thread, or a job of a pool, is among those that it descends from."""
_TEXTS = {"recorded", "replayed", "message", "traceback"}
"""Members of a message that may quote what the program was given."""


class VerificationMonitor:
    """Follows one verification inside its process: stops it where it was told to, or fails.

    Args:
        channel: to the parent.
        record: what is verified.
        last: index of the last point that is judged, or None for all.
        capture: index of a point at which the components' states are sent, or None.
        from_start: whether the execution begins at the run's start, and prints all of it.
    """

    def __init__(
        self,
        channel: Channel,
        record: RunRecord,
        *,
        last: int | None,
        capture: int | None,
        from_start: bool = True,
    ) -> None:
        self.channel, self._record, self._from_start = channel, record, from_start
        self._is_reordered = False
        self.sink: ComparingSink | None = None
        self.session: Session | None = None
        self.source: CheckpointBoundedReads | None = None
        self._last = last
        self._capture = capture

    def compared(self, value: object) -> None:
        """Compared values are looked at where they are compared."""

    def before_tick(self, session: Session, tick: int) -> None:
        """Nothing happens between points."""

    def at_point(self, session: Session, taken: Taken) -> None:
        """Send a state, tell progress, or stop, after a point was compared."""
        del taken
        index = session.point_count - 1
        if index == self._capture:
            self.channel.send({"kind": "state", "index": index, "state": states(session)})
        if index == self._last:
            self.leave({"kind": "ended", "how": "stopped"})
        # Rarely: a message costs as much as several points.
        if index % _PROGRESS_EVERY == 0:
            self.channel.send({"kind": "progress", "index": index, "tick": session.tick})

    def differs(self, failure: Failure) -> None:
        """The first difference: tell it and stop."""
        # The digest of a whole stream differs; people need the line. From a snapshot on, the beginning of the
        # replay's output is missing, so that no line could be counted.
        if failure.columns == ("output",) and self.session is not None and self._from_start:
            recorded = self._record.printed(before_point=failure.index + 1)
            replayed = self.session.wiring.printed()
            ignored, folders = self._record.setup.ignored_output, self._record.program_folders()
            self._is_reordered = are_reordered(recorded, replayed, ignored, folders)
            place = locate_in_output(recorded, replayed, ignored, folders)
            if place is not None:
                failure = replace(
                    failure,
                    recorded=place[0],
                    replayed=place[1],
                    traceback=find_new_traceback(recorded[1], replayed[1]),
                )
        extra = self.source is not None and self.source.is_extra
        message: dict[str, object] = {"kind": "failure", "extra": extra, **failure.to_json()}
        if self.session is not None and self._capture is not None:
            message["state"] = states(self.session)
        self.leave(message)

    def effect_differs(self, error: EffectMismatch) -> None:
        """The program asked the world something else, or what no execution from a snapshot has."""
        # Not a difference: a snapshot keeps no files, so the user has to start from the top.
        if isinstance(error, FileNotRebuilt):
            self.leave(tell_error(error))
        recorded, asked = str(error.fields["recorded"]), str(error.fields["asked"])
        at = "" if self.source is None else self.source.extra_at
        if self.source is not None and self.source.is_extra:
            recorded = f"{recorded} before this compare-point"
        self._at_next_point("effect", ("effects",), recorded, asked, at or user_line())

    def seal_broken(self, error: SealBroken) -> bool:
        """The program tried what a sealed replay refuses."""
        told = f"{error.id} {error.happened} {error.remedy}"
        told_at = user_line()
        self._at_next_point("seal", ("effects",), "nothing beside the record", told, told_at)
        return True

    def input_differs(self, tick: int, name: str, recorded: Any, replayed: Any) -> None:
        """The thunk of an input gave something else."""
        del tick
        at = user_line()
        self._at_next_point(f"input:{name}", ("inputs",), repr(recorded), repr(replayed), at)

    def _at_next_point(
        self, name: str, columns: tuple[str, ...], recorded: str, replayed: str, at: str
    ) -> None:
        session = self.session
        # What parts between two points is counted at the next one, which is never taken.
        index = 0 if session is None or session.muted else session.point_count
        tick = -1 if session is None else session.tick
        self.differs(Failure(index, tick, name, columns, recorded, replayed, at))

    def leave(self, message: Mapping[str, object]) -> NoReturn:
        """Send the last message and end this process, whatever the program had open."""
        if self.session is not None:
            redaction = self.session.wiring.layer.redaction
            # Whatever is quoted from the program may hold a secret, and the parent writes it to disk.
            texts = {
                name: redaction.value(message[name], "message") for name in _TEXTS & {*message}
            }
            message = {**message, **texts, "absent": sorted(redaction.absent)}
            is_read = message.get("name") == "effect"
            order = find_open_order(self.session, is_reordered=self._is_reordered, is_read=is_read)
            message |= {"order": order}
        # A snapshot that cannot be put back ends this before there is anything that compares.
        counts = no_counts() if self.sink is None else self.sink.counts
        self.channel.send({**message, "counts": counts})
        os._exit(0)


def find_open_order(session: Session, *, is_reordered: bool, is_read: bool) -> str:
    """Return why a difference may be one of order alone, among threads and tasks; empty where it may not.

    Args:
        session: that differs.
        is_reordered: whether its lines of output are the recorded ones in another order.
        is_read: whether it asked the world something else, on the thread that calls this.
    """
    layer = session.wiring.layer
    if layer.owners.has_moved_work:
        return "a thread or task made a request that another one made in the recorded run"
    drawn, actor = session.wiring.streams.globals_used(), layer.actor()
    if is_read and drawn and actor is not None and _IN_THREAD.search(actor.key):
        return f"a thread asked for something else, and threads share one generator ({', '.join(drawn)})"
    started = {lineage.rpartition("/")[2] for lineage in layer.main.started}
    if is_reordered and started & {"thread", "job", "task"}:
        return "the same lines were printed in another order, by a run with threads or tasks"
    return ""


def states(session: Session) -> dict[str, bytes]:
    """Canonical form of every component's state as it stands."""
    return {name: encode(component.read()) for name, component in session.points.components.items()}


def verify_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute a record's program again and compare every point."""
    with open_job_record(job) as record:
        kept = KeptProbes(job)
        now = measure(kept=kept).to_json()
        channel.send({"kind": "environment", "now": now, "held": job["held"], **kept.message()})
        watch = build_verification(record, job, channel)
        execute_watched(watch)


def build_verification(
    record: RunRecord,
    job: Mapping[str, Any],
    channel: Channel,
    *,
    changed: Callable[[Resume], Resume] = lambda resume: resume,
) -> VerificationMonitor:
    """The session that verifies a record, ready to be executed; ``VerificationMonitor.session`` is it.

    Args:
        record: what is verified.
        job: from ``replay_run.run_replay``.
        channel: to the parent.
        changed: gives what a session that starts at a snapshot is given instead of it.
    """
    number = job["snapshot"]
    watch = VerificationMonitor(
        channel,
        record,
        last=job["last"],
        capture=job["capture"],
        from_start=number is None,
    )
    resume = None if number is None else changed(resume_at(record, number))
    source = CheckpointBoundedReads(record, watch.effect_differs, lines_from=job["lines_from"])
    sink = ComparingSink(
        record,
        Predicate.from_json(job["predicate"]),
        watch.differs,
        find_unmade_read=source.find_unmade,
        first=0 if resume is None else resume.captured.cursors.points,
    )
    session = rebuilt_session(
        record,
        sink=sink,
        source=source,
        inputs=recorded_inputs(record, watch.input_differs),
        control=watch,
        resume=resume,
        refuse=watch.seal_broken,
    )
    watch.sink, watch.session, watch.source = sink, session, source
    source.session = session
    return watch


def execute_watched(
    watch: VerificationMonitor, describe: Callable[[], Mapping[str, object]] = dict
) -> NoReturn:
    """Execute a watched session to its end, tell how it ended, and end this process.

    Args:
        watch: of the session.
        describe: what the last message says besides; called when the program has ended.
    """
    session = watch.session
    assert session is not None, "a watch that executes has its session"

    def leave(ending: Mapping[str, Any]) -> NoReturn:
        watch.leave({"kind": "ended", **_plain_ending(ending), **_manifest(session), **describe()})

    leave(execute(session, lambda: _manifest(session), leave=leave))


def _manifest(session: Session) -> dict[str, object]:
    return {
        "effects": session.wiring.layer.manifest(),
        "inventory": [row.to_json() for row in session.wiring.inventory.rows()],
    }


def _plain_ending(ending: Mapping[str, Any]) -> dict[str, object]:
    exception = ending.get("exception")
    return {
        "how": ending["how"],
        "exit_code": ending["exit_code"],
        "exception": None if exception is None else exception["type"],
        "message": None if exception is None else exception["message"],
        "raised_at": None if exception is None else describe_raising_line(exception),
        RESULTS: ending.get(RESULTS, {}),
        ORDERS: ending.get(ORDERS, {}),
    }
