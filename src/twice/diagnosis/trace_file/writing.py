"""Trace one tick of a run here, compare it with another machine's anywhere.

For: two runs that cannot be executed on one machine: another processor, another library, another
place. Each machine writes what it saw of one tick; the two files are enough to name the line.

Not for: choosing the tick. The records' logs say at which compare-point they part; a tick whose
beginning differs already asks for an earlier one.

Invariant: a file holds everything that comparing needs, source texts included; nothing is executed
and no file of the machine is read when two are compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from twice.diagnosis.divergence import Divergence
from twice.diagnosis.executions import BEFORE_ALL, Side, Window, reproduced
from twice.diagnosis.trace_file.document import (
    REPEATS,
    TracedExecution,
    TracedPoint,
    TraceFile,
    events_of,
    files_of,
    read_trace_file,
    renamed,
)
from twice.diagnosis.trace_file.offline import Offline
from twice.diagnosis.trace_file.packing import seal
from twice.diagnosis.tracing.choosing import EVENTS_MAX, chosen_events
from twice.diagnosis.tracing.shortvalues import EVERYTHING
from twice.diagnosis.tracing.trace import FlowPlan, Plan, SamplePlan, Trace
from twice.errors import OutputUnwritable, RecordOutOfRange, UsageError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import encode
from twice.recording.effects.ops import OPS
from twice.recording.recorder import refuse_existing
from twice.recording.runrecord import RunRecord
from twice.replayer.preconditions import require_rerunnable, require_same_code
from twice.worker.concurrency import run_concurrently

Progress = Callable[[str], None]


def write_trace(
    record_path: str | os.PathLike[str],
    tick: int,
    out: str | os.PathLike[str],
    *,
    events_max: int = EVENTS_MAX,
    progress: Progress | None = None,
) -> Path:
    """Execute one tick of a record here, in the record's surroundings, and write down what was seen.

    Args:
        record_path: the record.
        tick: the tick; -1 is everything before the first.
        out: path of the trace file.
        events_max: events whose full state is written; all of a shorter tick.
        progress: called with what is being done.

    Returns:
        The path of the file.

    Raises:
        OutputExists: E-OUTPUT-001. OutputUnwritable: E-OUTPUT-002.
        RecordOutOfRange: E-RECORD-006, the record has no compare-point in that tick.
        ProgramNotRerunnable: E-PROGRAM-002. ProgramFailed: E-PROGRAM-003.
        ProgramChanged: E-PROGRAM-004.
        UsageError: E-USE-001, when ``events_max`` is less than 2.
    """
    target, doing = Path(out), progress or (lambda _: None)
    refuse_existing(target, force=False)
    if events_max < 2:
        raise UsageError(
            f"A trace of {events_max} events shows no difference between two.",
            "Expected 2 events or more whose whole state is written.",
            "For example: --events 4096; the default is 512.",
        )
    with RunRecord.open(record_path) as record, closing(Side("a", record)) as side:
        require_rerunnable(record)
        require_same_code(record, informational=False)
        window = _window_of(record, tick)
        doing("executing the run again")
        executed, reproduces = reproduced(side, window)
        if side.start is not None:
            window = Window(max(window.first, side.earliest), window.last)
        doing("tracing the tick, twice")
        flows = _twice(side, window, FlowPlan())
        points = chosen_events(flows[0], events_max)
        doing(f"looking at {len(points)} of {events_of(flows[0].lanes)} events, twice")
        samples = _twice(side, window, SamplePlan(points, (EVERYTHING,)))
        names = _names(record, flows)
        document = TraceFile(
            run_id=record.run_id,
            identity=record.identity,
            ending=_ending(record),
            tick=tick,
            points=_points(record, window),
            opens_at_start=window.first == BEFORE_ALL,
            reproduces=reproduces,
            states=executed.states,
            streams=executed.streams,
            reads=_reads(record),
            sources=_sources(names),
            executions=tuple(
                TracedExecution(renamed(flow, names), renamed(sampled, names))
                for flow, sampled in zip(flows, samples, strict=True)
            ),
        ).to_document()
    _write(target, seal(document))
    return target


def diagnose_traces(file_a: str | os.PathLike[str], file_b: str | os.PathLike[str]) -> Divergence:
    """Say where two runs part inside one tick, from two trace files alone.

    Args:
        file_a: a file that ``write_trace`` wrote.
        file_b: another, of the same tick of a run of the same program, seed and configuration.

    Returns:
        The verdict. ``same`` is about that tick only.

    Raises:
        TraceRefused: E-TRACE-001, a file is torn, changed or foreign, or they are of two windows.
    """
    a, b = read_trace_file(file_a), read_trace_file(file_b)
    return Offline(str(file_a), a, str(file_b), b).run()


def _window_of(record: RunRecord, tick: int) -> Window:
    """From the compare-point before a tick's body to the last one in it."""
    points = record.reader.points
    first = record.point_before(tick) if tick >= 0 else BEFORE_ALL
    last = first
    while last + 1 < len(points) and points.point(last + 1).tick == tick:
        last += 1
    if last == first:
        raise RecordOutOfRange(
            f"{record.path} has no compare-point in tick {tick}.",
            f"Its last one is in tick {record.ticks - 1}.",
            f"See what it holds: twice show {record.path}",
        )
    return Window(first, last)


def _twice(side: Side, window: Window, plan: Plan) -> list[Trace]:
    calls = [partial(side.execute, window, plan, fork_of=number) for number in range(REPEATS)]
    traces = [executed.trace for executed in run_concurrently(calls)]
    return [trace for trace in traces if trace is not None]


def _points(record: RunRecord, window: Window) -> tuple[TracedPoint, ...]:
    found = []
    for index in range(max(0, window.first), window.last + 1):
        point = record.reader.points.point(index)
        found.append(TracedPoint(index, point.tick, point.name, dict(point.digests)))
    return tuple(found)


def _ending(record: RunRecord) -> dict[str, object] | None:
    if record.ending is None:
        return None
    return {name: dict(record.ending.get(name, {})) for name in ("components", "files")}


def _names(record: RunRecord, flows: list[Trace]) -> dict[str, str]:
    """The user's files in the window -> their paths from the program's folder, with slashes."""
    program = record.setup.program
    home = program.folder() if program.kind in {"module", "main"} else program.path().parent
    root = os.path.realpath(home)
    found = {}
    for file in dict.fromkeys(file for flow in flows for file in files_of(flow)):
        below = os.path.relpath(os.path.realpath(file), root)
        found[file] = Path(below).as_posix()
    return found


def _sources(names: Mapping[str, str]) -> dict[str, str]:
    texts = {}
    for file, name in names.items():
        path = Path(file)
        if path.is_file():
            texts[name] = path.read_bytes().decode("utf-8", "replace")
    return texts


def _reads(record: RunRecord) -> dict[str, str]:
    """Digest of everything that was read from each source, by its name."""
    held: dict[str, list[bytes]] = {}
    for event in record.strict_reads():
        if event[0] in OPS:
            held.setdefault(OPS[event[0]].name, []).append(encode(list(event)))
    return {
        name: str(digest_bytes(b"".join(events), Algorithm.SHA256))
        for name, events in sorted(held.items())
    }


def _write(target: Path, data: bytes) -> None:
    """Write beside the target first: a file that is there is whole."""
    partial_path = target.with_name(f".{target.name}.{os.getpid()}.writing")
    try:
        partial_path.write_bytes(data)
        partial_path.replace(target)
    except OSError as error:
        raise OutputUnwritable(
            f"{target} cannot be written: {error.strerror or error}.",
            "Expected a folder that is there and writable, and room on the disk.",
            "Choose another path with -o, or make room.",
            path=str(target),
        ) from error
    finally:
        with suppress(OSError):  # A folder that takes no files gives none up either.
            partial_path.unlink()
