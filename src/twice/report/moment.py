"""One tick of a record: what went in and what stood there, from the logs alone.

For ``show --tick``. Inputs, reads of the world, compare-points with a digest per component, what was
printed, and the values of the nearest snapshot; nothing is executed and types stay names.

Invariant: what is shown of a tick was written during that tick.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from twice.errors import RecordOutOfRange
from twice.foundation.encoding import decode
from twice.foundation.printable import printable
from twice.recording.effects.events import LENIENT, STRICT, Event, unpack
from twice.recording.effects.ops import MAIN, OPS, WITH_ARGUMENTS
from twice.recording.frame_kinds import ERRORS, INPUT, OUTPUT
from twice.recording.record import Frame, Point
from twice.recording.runrecord import RunRecord
from twice.recording.snapshots import STREAMS, read_envelope
from twice.report.values import as_json, inline, lines

_READS_SHOWN = 40
_PRINTED_SHOWN = 20


def moment(record: RunRecord, tick: int) -> dict[str, Any]:
    """What a record knows of one tick, as JSON can carry it.

    Args:
        record: open.
        tick: -1 for construction, 0 to its last.

    Raises:
        RecordOutOfRange: E-RECORD-006, when the record has no such tick.
    """
    if not -1 <= tick < max(record.ticks, 1):
        raise RecordOutOfRange(
            f"Tick {tick} lies outside of {record.path}.",
            f"It holds {record.ticks_held}; construction is tick -1.",
            f"See: twice show {record.path}",
            tick=tick,
        )
    indices = record.reader.points.indices_of_tick(tick)
    inputs, reads, printed = _journal(record, tick, indices)
    label = str(record.reader.algorithm)
    number = record.snapshot_before(tick)
    return {
        "tick": tick,
        "inputs": inputs,
        "effects": reads,
        "printed": printed,
        "compare_points": [_point(record.reader.points.point(index), label) for index in indices],
        "snapshot": None if number is None else snapshot(record, number),
    }


def snapshot(record: RunRecord, number: int) -> dict[str, Any]:
    """One snapshot: its envelope and the values of every component.

    Raises:
        RecordOutOfRange: E-RECORD-006. RestoreRefused: E-TRACK-003, when it is damaged.
    """
    values = record.state_at(number)
    return {
        "number": number,
        "tick": record.reader.snapshots[number].tick,
        "envelope": read_envelope(record.reader, number),
        "values": {name: as_json(value) for name, value in values.items()},
    }


def moment_lines(record: RunRecord, told: Mapping[str, Any]) -> Iterator[str]:
    """A moment for people."""
    tick = told["tick"]
    yield f"tick {tick} of {record.path}"
    yield f"inputs: {len(told['inputs']) or 'none'}"
    for entry in told["inputs"]:
        mark = " (substituted)" if entry["substituted"] else ""
        yield f"  {printable(entry['name'])} = {entry['text']}{mark}"
    yield f"read from the world: {len(told['effects']) or 'nothing'}"
    for entry in told["effects"][:_READS_SHOWN]:
        asked = f"({entry['arguments_text']})" if "arguments_text" in entry else ""
        yield f"  {entry['operation']}{asked} = {entry['text']}"
    if len(told["effects"]) > _READS_SHOWN:
        yield f"  {len(told['effects']) - _READS_SHOWN} more: --json prints all of them"
    for stream, text in told["printed"].items():
        yield from (f"printed to {stream}: {printable(row)}" for row in _rows(text))
    yield f"compare-points: {len(told['compare_points']) or 'none'}"
    for entry in told["compare_points"]:
        yield f"  {entry['index']} {printable(entry['name'])}  root {entry['root']}"
        yield from (f"      {printable(name)}  {value}" for name, value in entry["digests"].items())
    number = None if told["snapshot"] is None else told["snapshot"]["number"]
    if number is None:
        yield f"no snapshot stands at or before tick {tick}"
    else:
        yield f"nearest snapshot: {number}, before tick {told['snapshot']['tick']}"
        yield from value_lines(record, number)
    yield f"next: twice replay {record.path} --at {max(tick, 0)}"


def snapshot_lines(record: RunRecord, number: int) -> Iterator[str]:
    """A snapshot for people: envelope, then values."""
    envelope = read_envelope(record.reader, number)
    yield f"snapshot {number} of {record.path}, before tick {envelope['tick']}"
    yield "envelope:"
    yield from (f"  {row}" for row in lines(envelope, "envelope"))
    yield "values:"
    yield from value_lines(record, number)
    yield f"next: twice replay {record.path} --at {envelope['tick']}"


def value_lines(record: RunRecord, number: int) -> Iterator[str]:
    """Every component's values in a snapshot, one leaf a line; the streams come last."""
    state = record.state_at(number)
    for name, value in sorted(state.items(), key=lambda entry: (entry[0] == STREAMS, entry[0])):
        yield from (f"  {row}" for row in lines(value, printable(name)))


def _journal(
    record: RunRecord, tick: int, indices: list[int]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, str]]:
    inputs: list[dict[str, Any]] = []
    reads: list[dict[str, Any]] = []
    printed: dict[str, bytes] = {}
    actors = {number: key for key, number in record.actors().items()}
    for frame in _frames(record, tick, indices):
        if frame.kind == INPUT:
            inputs.append(_input(frame))
        elif frame.kind in {STRICT, LENIENT}:
            actor = actors.get(frame.actor, MAIN)
            reads += [_read(event, frame.kind == STRICT, actor) for event in unpack(frame.payload)]
        else:
            printed[frame.kind] = printed.get(frame.kind, b"") + bytes(frame.payload)
    texts = {kind: data.decode("utf-8", "backslashreplace") for kind, data in printed.items()}
    return inputs, reads, texts


def _frames(record: RunRecord, tick: int, indices: list[int]) -> Iterator[Frame]:
    """The tick's frames; those that follow its last point are before the next one."""
    between = {"first_point": indices[0], "last_point": indices[-1] + 1} if indices else {}
    kinds = (INPUT, STRICT, LENIENT, OUTPUT, ERRORS)
    for frame in record.reader.frames(kinds, **between):
        if frame.tick == tick:
            yield frame


def _input(frame: Frame) -> dict[str, Any]:
    fields: Any = decode(frame.payload)
    name, substituted, value = fields
    return {
        "name": name,
        "value": as_json(value),
        "text": inline(value),
        "substituted": substituted,
    }


def _read(event: Event, strict: bool, actor: str) -> dict[str, Any]:
    number, value = event
    known = OPS.get(number)
    told: dict[str, Any] = {
        "operation": known.name if known is not None else f"operation {number}",
        "strict": strict,
        "actor": actor,
    }
    if number in WITH_ARGUMENTS and isinstance(value, tuple) and len(value) == 2:
        arguments, value = value
        told |= {"arguments": as_json(arguments), "arguments_text": inline(arguments)}
    return {**told, "value": as_json(value), "text": inline(value)}


def _point(point: Point, label: str) -> dict[str, Any]:
    return {
        "index": point.index,
        "name": point.name,
        "root": f"{label}:{point.root.hex()}",
        "chain": f"{label}:{point.chain.hex()}",
        "digests": {name: f"{label}:{value.hex()}" for name, value in point.digests.items()},
    }


def _rows(text: str) -> Iterator[str]:
    rows = text.splitlines()
    yield from rows[:_PRINTED_SHOWN]
    if len(rows) > _PRINTED_SHOWN:
        yield f"... {len(rows) - _PRINTED_SHOWN} more lines"
