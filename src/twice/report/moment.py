"""One tick of a record, from the logs alone, for ``show --tick`` and ``show --snapshot``.

Inputs, reads of the world, compare-points with a digest for each component, printed text, and the
values of the nearest snapshot. Nothing is executed and types stay names.

A thread's reads are written where it hands them over, and without a compare-point at each tick those of the main program
stand at the next one. ``late_actors`` names those whose reads can be of an earlier tick.

Invariant: what is shown of a tick was written during that tick.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from twice.errors import RecordOutOfRange, UsageError
from twice.foundation.encoding import decode
from twice.foundation.printable import pluralize, printable
from twice.recorder.components import name_columns
from twice.recorder.effects.events import LENIENT, STRICT, unpack
from twice.recorder.effects.ops import MAIN, OPS, WITH_ARGUMENTS
from twice.recorder.record_form import ERRORS, INPUT, OUTPUT, reading
from twice.recorder.runrecord import RunRecord
from twice.recorder.snapshots import STREAMS, has_started, read_envelope
from twice.replayer.outcome import count_threads
from twice.report.values import as_json, find_part, inline, lines

Show: TypeAlias = Callable[[Any], Any]
LISTS = ("inputs", "effects", "late_actors", "compare_points")
"""Lists of a moment that can grow."""
_READS_SHOWN = 40
_PRINTED_SHOWN = 20
_LATE_SHOWN = 4
_BESIDE_MAIN = re.compile(r"/(?:thread|inner|job)\b")
"""In the key of an actor on another thread than the main program's."""


def moment(
    record: RunRecord, tick: int, path: str | None = None, *, show: Show = as_json
) -> dict[str, Any]:
    """Return what a record knows of one tick, as JSON.

    Args:
        record: open.
        tick: -1 for construction, 0 to its last.
        path: of the part of the state to show; all of it by default.
        show: returns the form of a value in the answer.

    Raises:
        RecordOutOfRange: E-RECORD-006, when the record has no such tick. UsageError: E-USE-001, for an unknown path.
    """
    if not -1 <= tick < max(record.ticks, 1):
        raise RecordOutOfRange(
            f"Tick {tick} lies outside of {record.path}.",
            f"It holds {record.ticks_held}; construction is tick -1.",
            f"See: twice show {record.path}",
            tick=tick,
        )
    log, label = record.reader.points, str(record.reader.algorithm)
    number = record.snapshot_before(tick)
    journal = _journal(record, tick, show)
    return {
        "tick": tick,
        **journal,
        "late_actors": _find_late_actors(
            record, tick, number, sorted({each["actor"] for each in journal["effects"]})
        ),
        "threads": count_threads((record.ending or {}).get("lineages", {})),
        "compare_points": [
            {
                "index": point.index,
                "name": point.name,
                "root": f"{label}:{point.root.hex()}",
                "chain": f"{label}:{point.chain.hex()}",
                "digests": {name: f"{label}:{each.hex()}" for name, each in point.digests.items()},
            }
            for point in map(log.point, log.indices_of_tick(tick))
        ],
        "snapshot": None if number is None else snapshot(record, number, path, show=show),
    }


def snapshot(
    record: RunRecord, number: int, path: str | None = None, *, show: Show = as_json
) -> dict[str, Any]:
    """Return one snapshot: its envelope and the values of every component, or the one at a path.

    Raises:
        RecordOutOfRange: E-RECORD-006. RestoreRefused: E-TRACK-003, when it is damaged. UsageError: E-USE-001, for an
            unknown path.
    """
    values = _read_values(record, number, path)
    return {
        "number": number,
        "tick": record.reader.snapshot(number)[0].tick,
        "envelope": read_envelope(record.reader, number),
        "values": {name: show(value) for name, value in values.items()},
    }


def moment_lines(
    record: RunRecord, told: Mapping[str, Any], values: Sequence[str]
) -> Iterator[str]:
    """Yield a moment for people.

    Args:
        record: open.
        told: the moment, as JSON; ``omitted`` counts the entries that are not in it.
        values: the lines of the nearest snapshot's state.
    """
    tick, omitted = told["tick"], told.get("omitted", {})
    counts = {name: len(told[name]) + omitted.get(name, 0) for name in LISTS}
    yield f"tick {tick} of {record.path}"
    yield f"inputs: {counts['inputs'] or 'none'}"
    for entry in told["inputs"]:
        mark = " (substituted)" if entry["substituted"] else ""
        yield f"  {printable(entry['name'])} = {entry['text']}{mark}{_mark(entry)}"
    yield f"read from the world: {counts['effects'] or 'nothing'}"
    for entry in told["effects"][:_READS_SHOWN]:
        asked = f"({entry['arguments_text']})" if "arguments_text" in entry else ""
        yield f"  {entry['operation']}{asked} = {entry['text']}{_mark(entry)}"
    if len(told["effects"]) > _READS_SHOWN:
        yield f"  {len(told['effects']) - _READS_SHOWN} more: --json prints all of them"
    if late := told["late_actors"]:
        names, count = [*map(printable, late[:_LATE_SHOWN])], counts["late_actors"]
        names += [f"{count - len(names)} more"] * (count > len(names))
        yield f"  reads of {', '.join(names)} can be of an earlier tick: the run wrote them down in this one"
    if count := told["threads"]:
        yield f"  the run had {pluralize(count, 'thread or job', 'threads and jobs')}: what one read here can stand in a later tick"
    for stream, text in told["printed"].items():
        rows = text.splitlines()
        yield from (f"printed to {stream}: {printable(row)}" for row in rows[:_PRINTED_SHOWN])
        if len(rows) > _PRINTED_SHOWN:
            yield f"printed to {stream}: ... {pluralize(len(rows) - _PRINTED_SHOWN, 'more line')}"
    yield f"compare-points: {counts['compare_points'] or 'none'}"
    for entry in told["compare_points"]:
        yield f"  {entry['index']} {printable(entry['name'])}  root {entry['root']}"
        for column, value in entry["digests"].items():
            name = name_columns([column], is_simulated=record.setup.order is not None)
            yield f"      {printable(name)}  {value}"
    if told["snapshot"] is None:
        yield f"the record has no snapshot at or before tick {tick}"
    else:
        found = told["snapshot"]
        yield f"state before tick {found['tick']}, of the nearest snapshot ({found['number']}):"
        yield from values
    yield f"next: twice replay {record.path} --at {max(tick, 0)}"


def _mark(entry: Mapping[str, Any]) -> str:
    return " (rolled back)" if entry.get("rolled_back") else ""


def snapshot_lines(record: RunRecord, number: int, values: Sequence[str]) -> Iterator[str]:
    """Yield a snapshot for people: its envelope, then the lines of its values."""
    envelope = read_envelope(record.reader, number)
    yield f"snapshot {number} of {record.path}, before tick {envelope['tick']}"
    yield "envelope:"
    yield from (f"  {row}" for row in lines(envelope, "envelope"))
    yield "values:"
    yield from values
    yield f"next: twice replay {record.path} --at {envelope['tick']}"


def value_lines(record: RunRecord, number: int, path: str | None = None) -> list[str]:
    """Return every component's values, or those at a path, one leaf a line; the streams come last.

    Raises:
        UsageError: E-USE-001, for an unknown path.
    """
    state = _read_values(record, number, path)
    order = sorted(state.items(), key=lambda entry: (entry[0] == STREAMS, entry[0]))
    return [f"  {row}" for name, value in order for row in lines(value, printable(name))]


def _read_values(record: RunRecord, number: int, path: str | None) -> Mapping[str, Any]:
    state = record.state_at(number)
    if path is None:
        return state
    try:
        return {path: find_part(state, path)}
    except KeyError as error:
        raise UsageError(
            f"The state has no part {path!r}.",
            f"Expected a component ({', '.join(sorted(state))}), or a path below one, as in a diagnosis.",
            f"See: twice show {record.path} --snapshot {number}",
        ) from error


def _find_late_actors(
    record: RunRecord, tick: int, number: int | None, actors: Sequence[str]
) -> list[str]:
    """Return the actors of a tick's reads that can have made them in an earlier tick.

    Args:
        record: open.
        tick: in which the record has the reads.
        number: of the snapshot at or before it; None for none.
        actors: their keys.
    """
    if tick < 0:
        return []
    is_dense = record.setup.granularity == "tick"
    envelope = None if number is None else read_envelope(record.reader, number)
    # A rollback comes back to a tick without another snapshot.
    is_here = envelope is not None and envelope["tick"] == tick and not record.rollbacks()

    def is_late(actor: str) -> bool:
        is_beside = bool(_BESIDE_MAIN.search(actor))
        if is_here and envelope is not None:
            return is_beside and has_started(envelope, actor)
        return is_beside or not is_dense

    with reading(f"snapshot {number}", record.path):
        return [actor for actor in actors if is_late(actor)]


def _journal(record: RunRecord, tick: int, show: Show) -> dict[str, Any]:
    """Return the tick's inputs, reads and printed text."""
    inputs: list[dict[str, Any]] = []
    reads: list[dict[str, Any]] = []
    printed: dict[str, bytes] = {}
    actors = {number: key for key, number in record.actors().items()}
    after = record.begins_after(tick)
    for frame in record.reader.tick_frames(tick, (INPUT, STRICT, LENIENT, OUTPUT, ERRORS)):
        # Such a tick happened more than once, and the last time counts.
        mark = {} if frame.point > after else {"rolled_back": True}
        if frame.kind == INPUT:
            with reading("an input", record.path):
                fields: Any = decode(frame.payload)
                name, substituted, value = fields
            shown = {"name": name, "value": show(value), "text": inline(value)}
            inputs.append({**shown, "substituted": substituted, **mark})
        elif frame.kind in {STRICT, LENIENT}:
            actor = actors.get(frame.actor, MAIN)
            who = {"strict": frame.kind == STRICT, "actor": actor, **mark}
            for number, value in unpack(frame.payload):
                known, result = OPS.get(number), value
                read = {"operation": known.name if known else f"operation {number}", **who}
                if number in WITH_ARGUMENTS and isinstance(value, tuple) and len(value) == 2:
                    arguments, result = value
                    read |= {"arguments": show(arguments), "arguments_text": inline(arguments)}
                reads.append({**read, "value": show(result), "text": inline(result)})
        else:
            printed[frame.kind] = printed.get(frame.kind, b"") + bytes(frame.payload)
    texts = {kind: data.decode("utf-8", "backslashreplace") for kind, data in printed.items()}
    return {"inputs": inputs, "effects": reads, "printed": texts}
