"""The process that makes one run, times it, and reads back what it was made with: ``python -m twice.specification.cost``.

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
from os import times
from pathlib import Path
from typing import Any, cast

from twice.foundation.digests import digest_bytes
from twice.foundation.encoding import encode
from twice.foundation.printable import pluralize
from twice.recorder.audit import hook
from twice.recorder.child import serve
from twice.recorder.effects import ops
from twice.recorder.effects.clock import REAL, is_governed
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.execution import describe_ending, execute
from twice.recorder.output import OutputCapture
from twice.recorder.record_session import begin_record
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session
from twice.recorder.session_parts import RecordingSink, Sink
from twice.recorder.setup import Setup
from twice.recorder.streams.foreign import shared_position
from twice.specification.cost.rules import RunVariant
from twice.worker.channel import Channel

_wall = cast("Callable[[], float]", REAL[ops.PERF_COUNTER])
_cpu = cast("Callable[[], float]", REAL[ops.PROCESS_TIME])


class _DroppingSink(Sink):
    """Lets everything pass, snapshots included: they are captured as for a record."""

    def __init__(self, *, wanted: bool) -> None:
        self.wants_snapshots = wanted


def _read_clocks() -> tuple[float, float]:
    """Give seconds on the wall, and CPU seconds of all threads and of processes that were waited for."""
    others = times()
    return _wall(), _cpu() + others.children_user + others.children_system


def measure_run(job: Mapping[str, Any], channel: Channel) -> None:
    """Make the run that a job describes, and send what it took."""
    setup, out = Setup.from_json(job["setup"]), Path(job["out"])
    variant = RunVariant(setup, Surroundings.from_json(job["surroundings"]), tuple(job["off"]))
    is_written = "record written" not in variant.off
    environment = measure()
    session, writer, _ = begin_record(
        setup,
        variant.surroundings,
        environment,
        out,
        captures="output captured" not in variant.off,
        in_force=variant.in_force,
    )
    if not is_written:
        session.wiring.sink = _DroppingSink(wanted=session.wiring.sink.wants_snapshots)
    seen = {
        "hash seed": environment.settings.get("hash", ""),
        "locale": environment.settings.get("locale", ""),
        "time zone": environment.settings.get("time zone", ""),
        "one numeric thread": " ".join(
            [*(str(one.threads) for one in environment.blas), os.environ.get("OMP_NUM_THREADS", "")]
        ).strip(),
    }
    began: list[tuple[float, float]] = []

    def begin() -> None:
        seen.update(_read_back(session))
        began.append(_read_clocks())

    def tell(ending: Mapping[str, Any]) -> None:
        ended = _read_clocks()
        seen["compare-points"] = str(session.point_count)
        if is_written:
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
                "run": {
                    "wall_s": ended[0] - start[0],
                    "cpu_s": ended[1] - start[1],
                    "start_cpu_s": start[1],
                    "ticks": session.tick + 1,
                    "size_bytes": out.stat().st_size if is_written else 0,
                    "seen": seen,
                    "outcome": _digest_outcome(session),
                    "files": dict(ending.get("files") or {}),
                },
                "unread": list(session.config.keys_unread),
            }
        )

    describe: Callable[[], Mapping[str, object]] = dict
    if is_written:
        describe = lambda: describe_ending(session)  # noqa: E731  (what is called at the end)
    tell(execute(session, describe, begin=begin, leave=tell))


def _read_back(session: Session) -> dict[str, str]:
    """Read the active settings of this process, by the name of the rule that shows each."""
    wiring, setup = session.wiring, session.setup
    return {
        "shared generators": digest_bytes(shared_position()).hex[:8],
        "effects recorded": "governed" if is_governed() else "plain",
        "back channels watched": "watched" if hook.is_watched() else "alone",
        "output captured": "captured" if isinstance(wiring.output, OutputCapture) else "free",
        "record written": "written" if isinstance(wiring.sink, RecordingSink) else "dropped",
        "files": setup.files,
        "secrets blanked": pluralize(len(setup.redaction.off), "rule") + " off",
        "library steps": str(setup.auto_points),
    }


def _digest_outcome(session: Session) -> str:
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


if __name__ == "__main__":
    serve(measure_run)
