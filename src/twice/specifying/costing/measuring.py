"""Make one run inside a process of its own, time it, and read back what it was made with.

Timed is what lies between the last moment before the program is loaded and the moment when its record is
closed; what comes before is the start, and told apart. CPU time is that of all threads, and of processes that the
program started and waited for.

Invariant: what is read back is asked of this process after the program was loaded, never of the job.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from os import times
from pathlib import Path
from typing import Any, cast

from twice.foundation.digests import digest_bytes
from twice.foundation.encoding import encode
from twice.recording.describing import describe_ending
from twice.recording.effects import ops
from twice.recording.effects.clock import REAL, is_governed
from twice.recording.environment import measure
from twice.recording.executing import execute
from twice.recording.identity import build_identity
from twice.recording.output import no_output
from twice.recording.record import RecordWriter
from twice.recording.redaction.documents import redacted_identity
from twice.recording.redaction.redaction import Redaction
from twice.recording.runrecord import RunRecord
from twice.recording.sealing import watching
from twice.recording.session import Session
from twice.recording.sink import RecordingSink, Sink
from twice.recording.streams.global_streams import shared_position
from twice.recording.writing import recording_session
from twice.specifying.costing.making import Making
from twice.worker.channel import Channel

_wall = cast("Callable[[], float]", REAL[ops.PERF_COUNTER])
_cpu = cast("Callable[[], float]", REAL[ops.PROCESS_TIME])


class _Dropping(Sink):
    """Lets everything pass, snapshots included: they are captured as for a record."""

    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted

    def wants_snapshots(self) -> bool:
        """As the strategy has it."""
        return self._wanted


@dataclass(slots=True)
class _Moment:
    """Clocks as they stood."""

    wall_s: float
    cpu_s: float

    @classmethod
    def now(cls) -> _Moment:
        others = times()
        spent = _cpu() + others.children_user + others.children_system
        return cls(_wall(), spent)


def measure_here(job: Mapping[str, Any], channel: Channel) -> None:
    """Make the run that a job describes, and send what it took."""
    making = Making.from_json(job["making"])
    setup, out = making.setup, Path(job["out"])
    redaction = Redaction(setup.redaction, os.environ)
    environment = measure()
    identity = redacted_identity(
        build_identity(setup, making.surroundings, environment), redaction, os.environ
    )
    writer = RecordWriter.create(out, identity, algorithm=setup.algorithm)
    session = recording_session(
        setup,
        writer,
        identity,
        capture=making.captured,
        redaction=redaction,
        in_force=making.in_force,
    )
    if not making.written:
        session.wiring.sink = _Dropping(wanted=session.wiring.sink.wants_snapshots())
    seen = {
        "hash seed": environment.settings.get("hash", ""),
        "locale": environment.settings.get("locale", ""),
        "time zone": environment.settings.get("time zone", ""),
        "numeric threads": " ".join(
            [*(str(one.threads) for one in environment.blas), os.environ.get("OMP_NUM_THREADS", "")]
        ).strip(),
    }
    began: list[_Moment] = []

    def begin() -> None:
        seen.update(_read_back(session, making))
        began.append(_Moment.now())

    def tell(ending: Mapping[str, Any]) -> None:
        ended = _Moment.now()
        seen["points"] = str(session.point_count)
        if making.written:
            with RunRecord.open(out) as record:
                seen["snapshots"] = str(len(record.reader.snapshots))
        else:
            writer.abandon()
        start = began[0] if began else ended
        channel.send(
            {
                "kind": "ended",
                "how": ending["how"],
                "exit_code": ending["exit_code"],
                "exception": ending.get("exception"),
                "wall_s": ended.wall_s - start.wall_s,
                "cpu_s": ended.cpu_s - start.cpu_s,
                "start_cpu_s": start.cpu_s,
                "ticks": session.tick + 1,
                "bytes": out.stat().st_size if making.written else 0,
                "seen": seen,
                "outcome": _outcome(session),
                "files": dict(ending.get("files") or {}),
                "unread": list(session.config.keys_unread),
            }
        )

    describe: Callable[[], Mapping[str, object]] = dict
    if making.written:
        describe = lambda: describe_ending(session)  # noqa: E731  (what is called at the end)
    tell(execute(session, describe, begin=begin, leave=tell))


def _read_back(session: Session, making: Making) -> dict[str, str]:
    """What holds in this process, now that everything is set up."""
    wiring, setup = session.wiring, session.setup
    return {
        "shared generators": digest_bytes(shared_position()).hex[:8],
        "reads": "governed" if is_governed() else "plain",
        "watch": "watched" if watching.is_watched() else "alone",
        "output": "free" if wiring.output is no_output else "captured",
        "record": "written" if isinstance(wiring.sink, RecordingSink) else "dropped",
        "files": setup.files,
        "redaction": f"{len(setup.redaction.off)} rules off",
        "digest": setup.algorithm.value,
        "strategy": setup.strategy,
        "granularity": setup.granularity,
        "cadence": str(setup.cadence),
        "auto points": str(making.setup.auto_points),
    }


def _outcome(session: Session) -> str:
    """Digest what the run came to: components, last inputs, and what was printed; "" when that cannot be read."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.flush()
    # The end of a run that is over: whatever its ``state()`` raises now is not the run's.
    with suppress(Exception):
        states = {name: each.read() for name, each in sorted(session.points.components.items())}
        printed = os.pread(1, os.fstat(1).st_size, 0)
        return str(digest_bytes(encode((states, session.inputs_last, printed))))
    return ""
