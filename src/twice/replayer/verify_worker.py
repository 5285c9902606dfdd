"""The worker that executes a recorded program again for ``verify``.

One job in, a few messages out: ``environment`` (its differences here), then ``failure`` at the first difference, or
``ended``. A failure ends this process at once, and the program does not go on.

Invariant: the record is opened for reading, and the program cannot see that it is compared.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NoReturn, cast

from twice.errors import EffectMismatch, FileNotRebuilt, SealBroken
from twice.foundation.determinism_class import Predicate
from twice.foundation.encoding import encode
from twice.foundation.seeds import Seed
from twice.recorder.audit.channels import user_line
from twice.recorder.compare_points import ComparePoint
from twice.recorder.effects import ops
from twice.recorder.effects.clock import REAL
from twice.recorder.effects.events import unpack
from twice.recorder.effects.sources import Source
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.probes import KeptProbes
from twice.recorder.execution import execute
from twice.recorder.inputs import RecordedInputs
from twice.recorder.output import RESULTS
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.recorder.session_parts import Control, Resume, Sink
from twice.recorder.snapshots import STREAMS
from twice.recorder.states import ORDERS
from twice.replayer.bounded_reads import CheckpointBoundedReads
from twice.replayer.compare_sink import ComparingSink
from twice.replayer.outcome import (
    OTHER_CONTENT,
    Failure,
    count_threads,
    describe_raising_line,
)
from twice.replayer.output_difference import compare_outputs, find_new_traceback
from twice.replayer.rebuild import rebuilt_session, resume_at
from twice.replayer.record_consistency import compare_recorded_texts
from twice.replayer.replay_job import open_job_record
from twice.replayer.substituted_reads import SubstitutedReads
from twice.worker.channel import Channel, tell_error

_PROGRESS_EVERY = 512
_IN_THREAD = re.compile(r"/(?:thread|job)\b")
"""In the key of an actor: a thread, or a job of a pool, is among those that it descends from."""
_read_clock_s = cast("Callable[[], float]", REAL[ops.PERF_COUNTER])
_TEXTS = {"recorded", "replayed", "message", "traceback"}
"""Members of a message that may quote values of the program."""


class VerificationMonitor(Control):
    """Follows one verification inside its process, and stops it at its last point or at the first failure.

    Args:
        channel: to the parent.
        record: the verified record.
        predicate: the class that judges; None for the recorded one.
        snapshot: number of the snapshot that the execution starts from; None for the top.
        last: index of the last point that is judged, or None for all.
        capture: index of a point at which the components' states are sent, or None.
        seed: another seed than the recorded one, as ``other_seed`` gives it; or None.
        passed_over: columns that are not compared, whatever the class.

    Attributes:
        sink: compares with the record.
        session: the executed session, once it exists.
        source: answers its reads within their compare-points, if they are bounded.
        describe: returns further members of the last message.
        began_s: when the program was loaded, by the real clock; None before.
    """

    def __init__(
        self,
        channel: Channel,
        record: RunRecord,
        predicate: Predicate | None = None,
        *,
        snapshot: int | None = None,
        last: int | None = None,
        capture: int | None = None,
        seed: Mapping[str, Any] | None = None,
        passed_over: Collection[str] = (),
    ) -> None:
        self.channel, self._record, self._snapshot = channel, record, snapshot
        self._last, self._capture, self._seed = last, capture, seed
        self._is_reordered = self._is_rewritten = False
        self.session: Session | None = None
        self.source: CheckpointBoundedReads | None = None
        self.describe: Callable[[], Mapping[str, object]] = dict
        self.began_s: float | None = None
        self.sink = ComparingSink(
            record,
            predicate or record.setup.predicate,
            self.differs,
            first=0 if snapshot is None else record.reader.snapshots[snapshot].point,
            find_unmade_read=lambda at: "" if self.source is None else self.source.find_unmade(at),
            passed_over=passed_over if seed is None else (STREAMS, *passed_over),
        )

    def rebuild(
        self,
        source: Source,
        control: Control | None = None,
        change: Callable[[Resume], Resume] = lambda resume: resume,
    ) -> Session:
        """Build the session that is followed.

        Args:
            source: answers its reads.
            control: can pause it; None for this monitor.
            change: returns a replacement for the snapshot that a session starts from.
        """
        resume = resume_at(self._record, self._snapshot)
        seed = None if self._seed is None else Seed(int(self._seed["value"]))
        self.session = rebuilt_session(
            self._record,
            sink=self.sink,
            source=source,
            inputs=RecordedInputs(self._record.input_frames, self.input_differs),
            control=control or self,
            resume=None if resume is None else change(resume),
            refuse=self.seal_broken,
            seed=seed,
        )
        if self._seed is not None and seed is not None and self._seed["told"]:
            self.session.setup = replace(self.session.setup, seed=seed)
            self.session.wiring.sink = Sink()
        return self.session

    def at_point(self, session: Session, taken: ComparePoint) -> None:
        """Send a state, report progress, or stop, after a point was compared."""
        del taken
        index = session.point_count - 1
        if index == self._capture:
            self.channel.send({"kind": "state", "index": index, "state": encode_states(session)})
        if index == self._last:
            self.leave({"kind": "ended", "how": "stopped"})
        # Rarely: a message costs as much as several points.
        if index % _PROGRESS_EVERY == 0:
            self.channel.send({"kind": "progress", "index": index, "tick": session.tick})

    def differs(self, failure: Failure) -> None:
        """Report the first difference, and stop."""
        # The digest of a whole stream differs; people need the line. From a snapshot on, the beginning of the
        # replay's output is missing, so that no line could be counted.
        is_from_top = self._snapshot is None
        if failure.columns == ("output",) and self.session is not None and is_from_top:
            recorded = self._record.printed(before_point=failure.index + 1)
            replayed = self.session.wiring.output.printed()
            ignored, folders = self._record.setup.ignored_output, self._record.program_folders()
            place, self._is_reordered = compare_outputs(recorded, replayed, ignored, folders)
            if place is not None:
                raised = find_new_traceback(recorded[1], replayed[1])
                was, now = place
                failure = replace(failure, recorded=was, replayed=now, traceback=raised)
        self._report(failure)

    def _report(self, failure: Failure) -> NoReturn:
        extra = self.source is not None and self.source.is_extra
        message: dict[str, object] = {"kind": "failure", "extra": extra, **failure.to_json()}
        if self.session is not None and self._capture is not None:
            message["state"] = encode_states(self.session)
        self.leave(message)

    def tell_end(self, session: Session) -> None:
        """Compare the recorded texts; of a program with another seed send the last states, its output differs in seeds."""
        if self._seed is None and self._snapshot is None and self.sink.is_judged("output"):
            place = compare_recorded_texts(self._record, session.wiring.output)
            if place is not None:
                index = session.point_count - 1
                self.sink.counts["passed"] -= 1
                self.sink.counts["failed"] += 1
                # The digests agree, so that the order of the lines is not open.
                self._report(Failure(index, session.tick, "end", ("output",), *place))
        if self._seed is None or not self._seed["told"]:
            return
        index, tick = session.point_count - 1, session.tick
        self.channel.send({"kind": "state", "index": index, "state": encode_states(session)})
        recorded, told = self._record.seed, session.setup.seed
        seeds = (recorded, told)
        was = [without_seeds(each, seeds) for each in self._record.printed()]
        now = [without_seeds(each, seeds) for each in session.wiring.output.printed()]
        if was != now:
            texts = "what the recorded run printed", "something else"
            self.differs(Failure(index, tick, "end", ("output",), *texts))

    def effect_differs(self, error: EffectMismatch) -> None:
        """Report a read that differs, or one that no execution from a snapshot can answer."""
        # Not a difference: a snapshot keeps no files, so the user has to start from the top.
        if isinstance(error, FileNotRebuilt):
            self.leave(tell_error(error))
        self._is_rewritten = bool(error.fields.get("is_rewritten"))
        if self.session is not None and error.fields.get("is_moved"):
            self.session.wiring.layer.owners.has_moved_work = True
        recorded, asked, at = str(error.fields["recorded"]), str(error.fields["asked"]), ""
        if self.source is not None and self.source.is_extra:
            recorded, at = f"{recorded} before this compare-point", self.source.extra_at
        self._fail_at_next_point("effect", "effects", recorded, asked, at)

    def seal_broken(self, error: SealBroken) -> bool:
        """Report an operation that a sealed replay refuses, as a difference."""
        told = f"{error.id} {error.happened} {error.remedy}"
        self._fail_at_next_point("seal", "effects", "nothing beside the record", told)
        return True

    def input_differs(self, tick: int, name: str, recorded: Any, replayed: Any) -> None:
        """Report an input whose thunk gave another value."""
        del tick
        self._fail_at_next_point(f"input:{name}", "inputs", repr(recorded), repr(replayed))

    def _fail_at_next_point(
        self, name: str, column: str, recorded: str, replayed: str, at: str = ""
    ) -> None:
        session = self.session
        # A difference between two points counts at the next one, which is never taken.
        index = 0 if session is None or session.muted else session.point_count
        tick = -1 if session is None else session.tick
        self.differs(Failure(index, tick, name, (column,), recorded, replayed, at or user_line()))

    def leave(self, message: Mapping[str, object]) -> NoReturn:
        """Send the last message and end this process, whatever the program had open."""
        if self.began_s is not None:
            message = {**message, "took_s": _read_clock_s() - self.began_s}
        if self.session is not None:
            migrated = [each.to_json() for each in self.session.migrated]
            redaction = self.session.wiring.layer.redaction
            # A quote from the program may contain a secret, and the parent writes it to disk.
            texts = {
                name: redaction.value(message[name], "message") for name in _TEXTS & {*message}
            }
            message = {**message, **texts, "absent": sorted(redaction.absent), "migrated": migrated}
            is_read = message.get("name") == "effect"
            order = find_open_order(
                self.session,
                is_reordered=self._is_reordered,
                is_rewritten=self._is_rewritten,
                is_read=is_read,
            )
            message |= {"order": order}
        self.channel.send({**message, "counts": self.sink.counts, "added": self.describe()})
        os._exit(0)


def find_open_order(
    session: Session, *, is_reordered: bool, is_rewritten: bool, is_read: bool
) -> str:
    """Return why a difference may be one of order alone, among threads and tasks; empty where it may not.

    Args:
        session: that differs.
        is_reordered: whether its lines of output are the recorded ones in another order.
        is_rewritten: whether a file that it wrote has other content of the same length.
        is_read: whether it asked the world something else, on the thread that calls this.
    """
    layer = session.wiring.layer
    drawn, actor = session.wiring.streams.globals_used(), layer.actor()
    if is_read and drawn and actor is not None and _IN_THREAD.search(actor.key):
        return f"a thread asked for something else, and threads share one generator ({', '.join(drawn)})"
    if layer.owners.has_moved_work:
        return "a thread or task made a request that another one made in the recorded run"
    if is_rewritten and count_threads(layer.main.started) > 1:
        return OTHER_CONTENT
    started = {lineage.rpartition("/")[2] for lineage in layer.main.started}
    in_any_order = {"thread", "job"} if session.setup.records_loop else {"thread", "job", "task"}
    if is_reordered and started & in_any_order:
        return "the same lines were printed in another order, by a run with threads or tasks"
    return ""


def without_seeds(printed: bytes, seeds: Iterable[Seed]) -> bytes:
    """Return a text with stars in place of seeds that are whole numbers in it.

    Both texts of a comparison lose both seeds, because a number in one text can equal the other seed by chance.
    """
    forms = [form for seed in seeds for form in (str(seed.value), f"{seed.value:x}", seed.hex)]
    written = "|".join(rf"(?:0x)?{each}" for each in forms).encode()
    return re.sub(rb"\b(?:" + written + rb")\b", b"*", printed)


def encode_states(session: Session) -> dict[str, bytes]:
    """Return the canonical form of every component's present state."""
    return {name: encode(component.read()) for name, component in session.points.components.items()}


def verify_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Execute a record's program again and compare every point."""
    with open_job_record(job) as record:
        kept = KeptProbes(job)
        now = measure(kept=kept).to_json()
        channel.send({"kind": "environment", "now": now, "held": job["held"], **kept.message()})
        if job["switch_interval"] is not None:
            sys.setswitchinterval(job["switch_interval"])
        if job["cores"] is not None and hasattr(os, "sched_setaffinity"):
            pin_quietly(job["cores"])
        execute_watched(build_verification(record, job, channel))


def pin_quietly(cores: int) -> None:
    """Run on so many cores from now on, but show libraries all of them.

    The program gets the recorded number. A library that sees fewer cores warns or uses fewer threads, and the replay
    of a sound program would then differ.
    """
    ask, before = os.sched_getaffinity, os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:cores])
    os.sched_getaffinity = lambda pid: set(before) if pid in {0, os.getpid()} else ask(pid)


def build_verification(
    record: RunRecord,
    job: Mapping[str, Any],
    channel: Channel,
    *,
    change: Callable[[Resume], Resume] = lambda resume: resume,
) -> VerificationMonitor:
    """Build the session that verifies a record, ready to be executed; return its monitor."""
    watch = VerificationMonitor(
        channel,
        record,
        Predicate.from_json(job["predicate"]),
        snapshot=job["snapshot"],
        last=job["last"],
        capture=job["capture"],
        seed=job.get("seed"),
        passed_over=job["passed_over"],
    )
    source = CheckpointBoundedReads(record, watch.effect_differs, lines_from=job["lines_from"])
    numbers, answers = job["substituted"]
    if numbers:
        given = dict(zip(numbers, unpack(answers), strict=True))
        source = swapped = SubstitutedReads(record, watch.effect_differs, given)
        watch.describe = lambda: {"made_at": swapped.made_at}
    source.session, watch.source = watch.rebuild(source, change=change), source
    return watch


def execute_watched(watch: VerificationMonitor) -> NoReturn:
    """Execute a watched session to its end, report its ending, and end this process."""
    session = watch.session
    assert session is not None, "a watch that executes has its session"

    def describe_reads() -> dict[str, object]:
        rows = session.wiring.inventory.rows()
        inventory = [row.to_json() for row in rows]
        return {"effects": session.wiring.layer.manifest(), "inventory": inventory}

    def begin() -> None:
        watch.began_s = _read_clock_s()

    def leave(ending: Mapping[str, Any]) -> NoReturn:
        watch.tell_end(session)
        exception = ending.get("exception") or {}
        watch.leave(
            {
                "kind": "ended",
                "how": ending["how"],
                "exit_code": ending["exit_code"],
                "exception": exception.get("type"),
                "message": exception.get("message"),
                "raised_at": describe_raising_line(exception),
                RESULTS: ending.get(RESULTS, {}),
                ORDERS: ending.get(ORDERS, {}),
                **describe_reads(),
            }
        )

    leave(execute(session, describe_reads, begin=begin, leave=leave))
