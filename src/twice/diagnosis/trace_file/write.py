"""Trace one tick of a run here, to be compared with another machine's anywhere.

For two runs that cannot be executed on one machine: another processor, another library, another
place. Each machine writes what it saw of one tick; the two files are enough to name the line. Which
tick it is, the records' logs say: that of the compare-point at which they part.

An event is chosen by where it stands and the how-manieth time that place is passed, which means the same on both sides even
where their flows differ. Whole iterations are chosen, so that most events have their neighbour beside them: a difference is
only credited to a line when the moment before was seen too.

Invariant: a file holds everything that comparing needs, source texts included.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from twice.diagnosis.executions import BEFORE_ALL, FIRST, SECOND, Side, Window, reproduced
from twice.diagnosis.trace_file.format import TracedExecution, TracedPoint, TraceFile, seal
from twice.diagnosis.tracing.trace import FlowPlan, Plan, Point, Position, SamplePlan, Trace
from twice.diagnosis.tracing.value_preview import EVERYTHING
from twice.errors import OutputUnwritable, RecordOutOfRange, UsageError
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import encode
from twice.foundation.printable import pluralize
from twice.foundation.source_files import is_user_file
from twice.recorder.effects.ops import OPS
from twice.recorder.recorder import refuse_existing
from twice.recorder.runrecord import RunRecord
from twice.replayer.preconditions import require_rerunnable, require_same_code
from twice.worker.concurrency import run_concurrently

EVENTS_MAX = 512
_OWN = "(twice)"
"""The path under which code that is not the user's stands in a file."""


def write_trace(
    record_path: str | os.PathLike[str],
    tick: int,
    out: str | os.PathLike[str],
    *,
    events_max: int = EVENTS_MAX,
    progress: Callable[[str], None] | None = None,
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
    target = Path(out)
    refuse_existing(target, force=False)
    if events_max < 2:
        raise UsageError(
            f"A trace of {pluralize(events_max, 'event')} shows no difference between two.",
            "Expected 2 events or more whose whole state is written.",
            "For example: --events 4096; the default is 512.",
        )
    with RunRecord.open(record_path) as record, closing(Side("a", record)) as side:
        require_rerunnable(record)
        require_same_code(record, informational=False)
        traced = _trace_tick(side, tick, events_max, progress or (lambda _: None))
        data = seal(traced.to_document())
    # Under another name first: a file that is there is whole.
    aside = target.with_name(f".{target.name}.{os.getpid()}.writing")
    try:
        aside.write_bytes(data)
        aside.replace(target)
    except OSError as error:
        raise OutputUnwritable(
            f"{target} cannot be written: {error.strerror or error}.",
            "Expected a folder that is there and writable, and room on the disk.",
            "Choose another path with -o, or make room.",
            path=str(target),
        ) from error
    finally:
        with suppress(OSError):  # A folder that takes no files gives none up either.
            aside.unlink()
    return target


def _trace_tick(
    side: Side, tick: int, events_max: int, progress: Callable[[str], None]
) -> TraceFile:
    """Execute the tick until it reproduces, then twice for its flow and twice for its states."""
    record, window = side.record, _find_window(side.record, tick)
    progress("executing the run again")
    executed, reproduces = reproduced(side, window)
    if side.start is not None:  # it reproduces from a snapshot only, and opens no earlier
        window = Window(max(window.first, side.earliest), window.last)
    progress("tracing the tick, twice")
    flows = _execute_twice(side, window, FlowPlan())
    points = choose_events(flows[0], events_max)
    n_events = sum(len(lane.places) for lane in flows[0].lanes)
    progress(f"looking at {len(points):,} of {pluralize(n_events, 'event')}, twice")
    samples = _execute_twice(side, window, SamplePlan(points, (EVERYTHING,)))
    names = _name_sources(record, flows)
    one, two = (
        TracedExecution(_rename_sources(flow, names), _rename_sources(sampled, names))
        for flow, sampled in zip(flows, samples, strict=True)
    )
    taken = {
        index: record.reader.points.point(index)
        for index in range(max(0, window.first), window.last + 1)
    }
    ending = (
        None
        if record.ending is None
        else {name: dict(record.ending.get(name, {})) for name in ("components", "files")}
    )
    return TraceFile(
        run_id=record.run_id,
        identity=record.identity,
        ending=ending,
        tick=tick,
        points=tuple(
            TracedPoint(index, point.tick, point.name, dict(point.digests))
            for index, point in taken.items()
        ),
        opens_at_start=window.first == BEFORE_ALL,
        reproduces=reproduces,
        states=executed.states,
        streams=executed.streams,
        reads=_digest_reads(record),
        sources={
            name: Path(file).read_bytes().decode("utf-8", "replace")
            for file, name in names.items()
            if name != _OWN and Path(file).is_file()
        },
        executions=(one, two),
    )


def _find_window(record: RunRecord, tick: int) -> Window:
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


def _execute_twice(side: Side, window: Window, plan: Plan) -> list[Trace]:
    # Forks of two processes: what follows from addresses has to differ, to be known as noise.
    calls = [partial(side.execute, window, plan, fork_of=number) for number in (FIRST, SECOND)]
    traces = [executed.trace for executed in run_concurrently(calls)]
    return [trace for trace in traces if trace is not None]


def _name_sources(record: RunRecord, flows: list[Trace]) -> dict[str, str]:
    """Map the user's files in the window to their paths from the program's folder, with slashes."""
    program = record.setup.program
    home = program.folder() if program.kind in {"module", "main"} else program.path().parent
    root = os.path.realpath(home)
    files = [file for flow in flows for file in sorted({place.file for place in flow.positions})]
    return {
        # Where no code of the user's stands, a window begins and ends in code of twice, wherever that lies.
        file: Path(os.path.relpath(os.path.realpath(file), root)).as_posix()
        if is_user_file(file)
        else _OWN
        for file in dict.fromkeys(files)
    }


def _rename_sources(trace: Trace, names: Mapping[str, str]) -> Trace:
    """Rename the source files of a trace: two checkouts have different folders."""

    def rename(place: Position) -> Position:
        return replace(place, file=names.get(place.file, place.file))

    return replace(
        trace,
        positions=tuple(map(rename, trace.positions)),
        samples=tuple(
            replace(
                sample,
                position=rename(sample.position),
                stack=tuple(map(rename, sample.stack)),
            )
            for sample in trace.samples
        ),
    )


def _digest_reads(record: RunRecord) -> dict[str, str]:
    """Digest of everything that was read from each source, by its name."""
    held: dict[str, list[bytes]] = {}
    for event in record.strict_reads():
        if event[0] in OPS:
            held.setdefault(OPS[event[0]].name, []).append(encode(list(event)))
    return {
        name: str(digest_bytes(b"".join(events), Algorithm.SHA256))
        for name, events in sorted(held.items())
    }


def choose_events(flow: Trace, limit: int = EVENTS_MAX) -> tuple[Point, ...]:
    """Events to sample, in the order in which the threads met them."""
    events = sorted(_events(flow))
    if len(events) <= limit:
        return tuple(point for _, _, _, point in events)
    picked = _shallow(events, limit // 2)
    rest = [event for event in events if event[3] not in picked]
    room = limit - len(picked)
    stride = 1
    while True:
        among = [event for event in rest if event[2] % stride == 0]
        if len(among) <= room or not any(event[2] for event in among):
            break
        stride *= 2
    picked.update(dict.fromkeys(point for _, _, _, point in among[:room]))
    return tuple(point for _, _, _, point in events if point in picked)


_Event = tuple[int, int, int, Point]  # order, depth, the how-manieth at its place, point


def _events(flow: Trace) -> Iterator[_Event]:
    for lane in flow.lanes:
        passed: dict[tuple[int, int], int] = {}
        for index, (place, depth, order) in enumerate(
            zip(lane.places, lane.depths, lane.order, strict=True)
        ):
            times = passed.get((place, depth), 0)
            passed[place, depth] = times + 1
            yield order, depth, times, (lane.name, index)


def _shallow(events: list[_Event], limit: int) -> dict[Point, None]:
    """Pick the first and the last event, and the outermost frames' events as far as they fit."""
    picked = {events[0][3]: None, events[-1][3]: None}
    for depth in sorted({event[1] for event in events}):
        level = [event[3] for event in events if event[1] == depth and event[3] not in picked]
        if len(picked) + len(level) > limit:
            break
        picked.update(dict.fromkeys(level))
    return picked
