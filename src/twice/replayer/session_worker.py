"""Inside the process of a replay or branching session: stop before ticks and take commands.

Commands are ``go`` (run until before a tick), ``state`` (canonical form of every component) and
``finish`` (run to the end). A read-only session never substitutes anything; a branching one gets
its inputs with ``go``.

Invariant: while it waits, the program stands between two ticks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from twice.errors import ReplayRefused, SealBroken, TwiceError
from twice.foundation.encoding import decode
from twice.recording.comparepoints import Taken
from twice.recording.describing import describe_ending
from twice.recording.effects.sources import BranchSource, RecordedSource
from twice.recording.environment import measure
from twice.recording.executing import execute
from twice.recording.identity import build_identity
from twice.recording.inputs import BranchInputs
from twice.recording.kernel.confinement import current
from twice.recording.native_files import roots_of
from twice.recording.probes.kept import KeptProbes
from twice.recording.record import RecordWriter
from twice.recording.redaction.documents import redacted_identity
from twice.recording.redaction.redaction import Redaction
from twice.recording.sealing.watching import Refuse
from twice.recording.session import Session
from twice.recording.sink import RecordingSink, Sinks
from twice.recording.surroundings import Surroundings
from twice.recording.trust import digest_identity
from twice.recording.writing import snapshot_marks
from twice.replayer.branch_prefix import BranchPrefixSink, Reads, copy_prefix, whole_manifest
from twice.replayer.compare_sink import ComparingSink
from twice.replayer.outcome import Failure
from twice.replayer.rebuild import rebuilt_session, recorded_inputs, resume_at
from twice.replayer.replay_job import open_job_record
from twice.replayer.verify_worker import VerificationMonitor, states
from twice.worker.channel import Channel, tell_error
from twice.worker.process import NESTED


class CommandControl:
    """Stops before the tick that was asked for and takes commands there.

    Args:
        channel: to the parent.
        until: first tick to stop before.
        after: index of the compare-point that must have been taken by then: where a tick was rolled
            back, its last time counts.
        substitute: called with the inputs of a ``go``, in a branching session.
    """

    def __init__(
        self, channel: Channel, until: int, *, after: int = -1, substitute: Any = None
    ) -> None:
        self._channel = channel
        self._until: int | None = until
        self._after = after
        self._substitute = substitute

    def compared(self, value: object) -> None:
        """Compared values are looked at where they are compared."""

    def before_tick(self, session: Session, tick: int) -> None:
        """Wait here when this is the tick that was asked for."""
        if session.muted or self._until is None or tick < self._until:
            return
        if session.point_count <= self._after:
            return
        self._wait(session, {"kind": "at", "tick": tick})

    def at_point(self, session: Session, taken: Taken) -> None:
        """Wait at the very end as well: there is a state to look at."""
        if taken.name == "end" and self._until is not None:
            self._wait(session, {"kind": "at", "tick": session.tick + 1, "ended": True})

    def _wait(self, session: Session, here: Mapping[str, object]) -> None:
        self._channel.send(here)
        while True:
            command = self._channel.receive()
            if (
                command is None
            ):  # the parent hung up; the program's exit handlers are nobody's business
                os._exit(0)
            if command["do"] == "state":
                self._channel.send({"kind": "state", "state": states(session)})
                continue
            self._until, self._after = command["until"], command.get("after", -1)
            if self._substitute is not None and command.get("inputs"):
                values = decode(command["inputs"])
                self._substitute(values, here["tick"], onwards=command["onwards"])
            return


def replay_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Serve one read-only session."""
    with open_job_record(job) as record:
        watch = VerificationMonitor(channel, record, last=None, capture=None)
        resume = None if job["snapshot"] is None else resume_at(record, job["snapshot"])
        sink = ComparingSink(
            record,
            record.setup.predicate,
            watch.differs,
            first=0 if resume is None else resume.captured.cursors.points,
        )
        session = rebuilt_session(
            record,
            sink=sink,
            source=RecordedSource(record, watch.effect_differs),
            inputs=recorded_inputs(record, watch.input_differs),
            control=CommandControl(channel, job["until"], after=job["after"]),
            resume=resume,
            refuse=watch.seal_broken,
        )
        watch.sink, watch.session = sink, session
        execute(session, dict)
        watch.leave({"kind": "ended", "how": "ended"})


def branch_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute a branch: the parent's prefix, then whatever the new inputs lead to."""
    out = Path(job["out"])
    with open_job_record(job) as record:
        surroundings = Surroundings.from_json(job["surroundings"])
        plain = build_identity(
            record.setup, surroundings, measure(kept=KeptProbes(job)), parent=job["parent"]
        )
        redaction = Redaction(record.setup.redaction, os.environ)
        identity = redacted_identity(plain, redaction, os.environ, parent=record.identity)
        writer = RecordWriter.create(out, identity, algorithm=record.setup.algorithm)
        session: Session | None = None

        def refuse(failure: Failure) -> NoReturn:
            _refuse_prefix(channel, writer, failure)

        def input_differs(tick: int, name: str, recorded: Any, replayed: Any) -> None:
            texts = repr(recorded), repr(replayed)
            refuse(Failure(first, tick, f"input:{name}", ("inputs",), *texts))

        try:
            resume = None if job["snapshot"] is None else resume_at(record, job["snapshot"])
            first = 0 if resume is None else resume.captured.cursors.points
            recording = RecordingSink(
                writer,
                dedupe=record.setup.strategy != "full",
                keep=record.setup.strategy != "event-sourced",
            )
            copied: Reads = {}
            if resume is not None:
                copied = copy_prefix(record, recording, resume.captured.cursors)
            checking = ComparingSink(record, record.setup.predicate, refuse, first=first)
            inputs = BranchInputs(recorded_inputs(record, input_differs), job["fork"])
            source = BranchSource(RecordedSource(record), sealed=job["sealed"])
            session = rebuilt_session(
                record,
                sink=Sinks([BranchPrefixSink(checking, job["fork"]), recording]),
                source=source,
                inputs=inputs,
                control=CommandControl(channel, job["fork"], substitute=inputs.substitute),
                resume=resume,
                journal_all=True,
                refuse=_sealing(channel, writer, job, lambda: session),
            )
            session.wiring.marks = snapshot_marks(identity)
            held = session
            current().begin(
                own=[str(out.parent), os.environ[NESTED]],
                roots=roots_of(record.setup.program),
                algorithm=record.setup.algorithm,
                copy_limit=record.setup.copy_limit,
            )
            ending = execute(held, lambda: _ending_of(held, copied, inputs, source))
        except TwiceError as error:
            channel.send(tell_error(error))
            os._exit(2)
        told = {"how": ending["how"], "exit_code": ending["exit_code"], "branch": ending["branch"]}
        size = {"points": held.point_count, "ticks": held.tick + 1}
        channel.send({"kind": "ended", **told, **size, "record": digest_identity(identity)})
        os._exit(0)


def _ending_of(
    session: Session, copied: Reads, inputs: BranchInputs, source: BranchSource
) -> dict[str, object]:
    """What a branch's ending says: the whole run, its copied prefix included, and where it left."""
    layer = session.wiring.layer
    return {
        **describe_ending(session),
        "effects": whole_manifest(copied, session.silent_reads, layer.manifest()),
        "branch": {
            "substituted": sorted(inputs.used),
            "unused": sorted(inputs.unused()),
            "effects_left_the_record_at": source.went_live(),
        },
    }


def _sealing(
    channel: Channel,
    writer: RecordWriter,
    job: Mapping[str, Any],
    session: Callable[[], Session | None],
) -> Refuse:
    def refuse(error: SealBroken) -> bool:
        """Before the fork everything is a replay; after it, only where the branch is sealed."""
        now = session()
        if now is not None and now.tick >= job["fork"] and not job["sealed"]:
            return False
        writer.abandon()
        channel.send(tell_error(error))
        os._exit(2)

    return refuse


def _refuse_prefix(channel: Channel, writer: RecordWriter, failure: Failure) -> NoReturn:
    """The branch does not even come to its fork: nothing of it stays."""
    writer.abandon()
    error = ReplayRefused(
        f"The run does not replay up to the fork: {failure.name} of tick {failure.tick} differs "
        f"in {', '.join(failure.columns)}.",
        "Expected everything before the fork to be identical.",
        "Find out where: twice verify RECORD --restores",
    )
    channel.send(tell_error(error))
    os._exit(2)
