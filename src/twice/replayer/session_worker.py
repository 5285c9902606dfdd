"""Inside the process of a replay or branching session: stop before ticks and take commands.

Commands are ``go`` (run until before a tick), ``state`` (canonical form of every component), ``frames`` (their
pictures), ``effects`` (reads of one tick, with their lines) and ``finish`` (run to the end). A read-only session never
substitutes anything; a branching one gets its inputs with ``go``.

Invariant: while it waits, the program stands between two ticks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from twice.errors import ReplayRefused, SealBroken, TwiceError
from twice.foundation.encoding import decode
from twice.recorder.compare_points import ComparePoint
from twice.recorder.effects.sources import RecordedSource
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.probes import KeptProbes
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.execution import describe_ending, execute
from twice.recorder.identity import build_identity
from twice.recorder.inputs import BranchInputs
from twice.recorder.kernel.confinement import current
from twice.recorder.record import RecordWriter
from twice.recorder.record_session import snapshot_marks
from twice.recorder.redaction.redaction import Redaction, redact_identity
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.recorder.session_parts import Control
from twice.recorder.trust import digest_identity
from twice.replayer.branch_prefix import (
    BranchPrefixSink,
    BranchSink,
    Reads,
    copy_prefix,
    merge_manifests,
)
from twice.replayer.compare_sink import ComparingSink
from twice.replayer.located_reads import LocatedReads
from twice.replayer.outcome import Failure
from twice.replayer.rebuild import rebuilt_session, resume_at
from twice.replayer.replay_job import open_job_record
from twice.replayer.verify_worker import VerificationMonitor, encode_states
from twice.worker.channel import Channel, tell_error
from twice.worker.process import NESTED


class CommandControl(Control):
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

    def before_tick(self, session: Session, tick: int) -> None:
        """Wait here when this is the tick that was asked for."""
        is_there = not session.muted and self._until is not None and tick >= self._until
        if is_there and session.point_count > self._after:
            self._wait(session, {"kind": "at", "tick": tick})

    def at_point(self, session: Session, taken: ComparePoint) -> None:
        """Wait at the very end as well: there is a state to look at."""
        if taken.name == "end" and self._until is not None:
            self._wait(session, {"kind": "at", "tick": session.tick + 1, "ended": True})

    def _wait(self, session: Session, here: Mapping[str, object]) -> None:
        migrated = [each.to_json() for each in session.migrated]
        self._channel.send({**here, "migrated": migrated})
        while True:
            command = self._channel.receive()
            if command is None:
                os._exit(0)  # the parent closed the line: skip the program's exit handlers
            asked = command["do"]
            if asked in _ANSWERS:
                self._channel.send({"kind": asked, asked: _ANSWERS[asked](session)})
                continue
            self._until, self._after = command["until"], command.get("after", -1)
            if self._substitute is not None and command.get("inputs"):
                values = decode(command["inputs"])
                self._substitute(values, here["tick"], onwards=command["onwards"])
            return


def draw_frames(session: Session) -> dict[str, dict[str, object]]:
    """Return height, width, channels and bytes of the picture of every component that draws one.

    A component draws by ``frame()``, which returns an array of uint8, (height, width, 3 or 4), or None for no picture.
    """
    found: dict[str, dict[str, object]] = {}
    for name, component in session.points.components.items():
        picture: Any = None
        if callable(draw := getattr(component.target, "frame", None)):
            with suppress(Exception):  # a method of that name that means another thing
                picture = draw()
        shape = tuple(getattr(picture, "shape", ()))
        is_picture = len(shape) == 3 and shape[2] in (3, 4)
        if is_picture and str(getattr(picture, "dtype", "")) == "uint8":
            found[name] = {"shape": [*shape], "bytes": picture.tobytes()}
    return found


def list_reads(session: Session) -> list[dict[str, Any]]:
    """Return the reads of the job's tick, with the lines that made them so far."""
    source = session.wiring.source
    assert isinstance(source, LocatedReads), "only a job for the lines of a tick is asked for them"
    return source.reads


_ANSWERS: Mapping[str, Callable[[Session], object]] = {
    "state": encode_states,
    "frames": draw_frames,
    "effects": list_reads,
}


def replay_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Serve one read-only session."""
    with open_job_record(job) as record:
        watch = VerificationMonitor(channel, record, snapshot=job["snapshot"])
        source = RecordedSource(record, watch.effect_differs)
        if "lines_of" in job:
            source = LocatedReads(record, watch.effect_differs, *job["lines_of"])
        control = CommandControl(channel, job["until"], after=job["after"])
        execute(watch.rebuild(source, control), dict)
        watch.leave({"kind": "ended", "how": "ended"})


class BranchExecution:
    """A branch while it executes: the parent's prefix, then whatever the new inputs lead to.

    Args:
        job: from ``BranchingSession``.
        channel: to the parent.
        record: that the branch leaves.
    """

    def __init__(self, job: Mapping[str, Any], channel: Channel, record: RunRecord) -> None:
        self._job, self._channel, self._record = job, channel, record
        surroundings = Surroundings.from_json(job["surroundings"])
        plain = build_identity(
            record.setup, surroundings, measure(kept=KeptProbes(job)), parent=job["parent"]
        )
        plain["behaviours"] = record.identity["behaviours"]  # its prefix was made under them
        redaction = Redaction(record.setup.redaction, os.environ)
        self.identity = redact_identity(plain, redaction, os.environ, parent=record.identity)
        algorithm = record.setup.algorithm
        self._writer = RecordWriter.create(Path(job["out"]), self.identity, algorithm=algorithm)
        self._copied: Reads = {}
        self.session: Session | None = None

    def rebuild(self) -> Session:
        """Build the session, with the parent's prefix in the record of the branch."""
        record, setup, fork = self._record, self._record.setup, self._job["fork"]
        resume, first = resume_at(record, self._job["snapshot"]), 0
        sink = BranchSink(self._writer, setup.strategy)
        if resume is not None:
            first = resume.captured.cursors.points
            self._copied = copy_prefix(record, sink, resume.captured.cursors)
        checking = ComparingSink(record, setup.predicate, self._refuse_prefix, first=first)
        sink.checking = BranchPrefixSink(checking, fork)
        self._inputs = BranchInputs(record.input_frames, self._input_differs, fork)
        self._source = RecordedSource(record, leaves=not self._job["sealed"], is_branch=True)
        self.session = rebuilt_session(
            record,
            sink=sink,
            source=self._source,
            inputs=self._inputs,
            control=CommandControl(self._channel, fork, substitute=self._inputs.substitute),
            resume=resume,
            journal_all=True,
            refuse=self._seal_broken,
        )
        self.session.wiring.marks = snapshot_marks(self.identity)
        return self.session

    def describe(self, session: Session) -> dict[str, object]:
        """Describe the ending: the whole run, with its copied prefix, and where it left the record."""
        executed = session.wiring.layer.manifest()
        return {
            **describe_ending(session),
            "effects": merge_manifests(self._copied, session.silent_reads, executed),
            "branch": {
                "substituted": sorted(self._inputs.used),
                "unused": self._inputs.list_unused(),
                "effects_left_the_record_at": self._source.went_live(),
                "migrated": [each.to_json() for each in session.migrated],
            },
        }

    def _give_up(self, error: TwiceError) -> NoReturn:
        self._writer.abandon()
        self._channel.send(tell_error(error))
        os._exit(2)

    def _refuse_prefix(self, failure: Failure) -> NoReturn:
        """Refuse the branch: its run does not even replay up to the fork."""
        error = ReplayRefused(
            f"The run does not replay up to the fork: {failure.name} of tick {failure.tick} differs "
            f"in {', '.join(failure.columns)}.",
            "Expected everything before the fork to be identical.",
            f"Find out where: twice verify {self._record.path} --restores",
        )
        self._give_up(error)

    def _input_differs(self, tick: int, name: str, was: Any, now: Any) -> None:
        self._refuse_prefix(Failure(0, tick, f"input:{name}", ("inputs",), repr(was), repr(now)))

    def _seal_broken(self, error: SealBroken) -> bool:
        # Before the fork everything is a replay; after it, only where the branch is sealed.
        is_past = self.session is not None and self.session.tick >= self._job["fork"]
        if not is_past or self._job["sealed"]:
            self._give_up(error)
        return False


def branch_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute a branch, and report its ending."""
    with open_job_record(job) as record:
        branch = BranchExecution(job, channel, record)
        try:
            session = branch.rebuild()
            current().begin(
                own=[str(Path(job["out"]).parent), os.environ[NESTED]],
                roots=record.setup.program.roots(),
                algorithm=record.setup.algorithm,
                copy_limit=record.setup.copy_limit,
            )
            ending = execute(session, lambda: branch.describe(session))
        except TwiceError as error:
            channel.send(tell_error(error))
            os._exit(2)
        told = {"how": ending["how"], "exit_code": ending["exit_code"], "branch": ending["branch"]}
        size = {"points": session.point_count, "ticks": session.tick + 1}
        identity = digest_identity(branch.identity)
        channel.send({"kind": "ended", **told, **size, "record": identity})
        os._exit(0)
