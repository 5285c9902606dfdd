"""What a traced window leaves behind: plans that ask, and the plain data that answers.

For: two plans and one answer. A ``FlowPlan`` asks for every event of user code, small; a
``SamplePlan`` asks for the whole reachable state at no more than 64 events. A ``Trace`` is plain
data: it travels between processes and machines as canonical bytes, never as pickle.

An event stands *before* the line it names runs (``line``), where a frame is entered (``call``; for a
generator or coroutine ``begin`` and ``resume``, whose arguments were bound before), or where it is
left (``return``, with the value or exception in flight). So a difference that is visible at event k
and not at k-1 was made by what ran in between: the line of the frame that was on top after k-1.

Not for: collecting (``flow_collector``, ``sample_collector``) or comparing (``localization``).

Invariant: ``Trace.from_bytes(trace.to_bytes()) == trace``.
"""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from twice.errors import TraceRefused
from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize

SAMPLES_MAX = 64
EVENTS_MAX = 2_000_000
FORM = 2  # of the bytes; a reader refuses another

Point = tuple[str, int]
"""Lane and index of an event in it."""


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """Asks for every event: code position, depth, scalar locals, stream positions.

    Args:
        events_max: events kept, at most ``EVENTS_MAX``; a caveat says so when there were more.
    """

    events_max: int = EVENTS_MAX


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """Asks for the full state at chosen events.

    Args:
        points: lane and index of each event, at most 64 unless all are shown.
        show: paths whose values are wanted; ``path@7`` is item 7 of a list or of a flat array; ``*``
            alone shows every path, for a trace that is written down.
    """

    points: tuple[Point, ...]
    show: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        few = len(self.points) <= SAMPLES_MAX or self.show == ("*",)
        assert few, "a sample plan asks for at most 64 events"


Plan = FlowPlan | SamplePlan


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """Convert a plan to plain data."""
    if isinstance(plan, FlowPlan):
        return {"flow": plan.events_max}
    return {"points": [list(point) for point in plan.points], "show": list(plan.show)}


def plan_from_json(held: Mapping[str, Any]) -> Plan:
    """Convert plain data to a plan."""
    if "flow" in held:
        return FlowPlan(held["flow"])
    points = tuple((lane, index) for lane, index in held["points"])
    return SamplePlan(points, tuple(held["show"]))


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in user code where an event stands.

    Args:
        file: source path as the code object has it.
        function: qualified name.
        line: line number, from 1.
        event: ``start``, ``call``, ``begin``, ``resume``, ``line``, ``return`` or ``stop``.
    """

    file: str
    function: str
    line: int
    event: str


@dataclass(frozen=True, slots=True)
class Lane:
    """The events of one thread, in order, as columns.

    A lane that was read back has columns of the narrowest items that hold them.

    Args:
        name: the thread's name; the same in every execution.
        places: index into ``Trace.positions``, per event.
        depths: number of user frames on the thread's stack, per event.
        scalars: digest of the scalar locals of the current frame, per event; of a long window the last one
            that was taken, ever fewer.
        streams: digest of the stream positions, likewise; 0 when not asked.
        order: place of the event among the events of all threads.
        below: positions of the frames that were on the stack when the window began, outermost first.
    """

    name: str
    places: array[int]
    depths: array[int]
    scalars: array[int]
    streams: array[int]
    order: array[int]
    below: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """A value as a report needs it.

    Args:
        text: one short line.
        unordered: digest of the items without their order, for lists, tuples and dicts, else empty.
        kind: ``stream``, ``set`` or ``value``.
        cell: bytes per item in ``cells``; 0 when the value has no items.
        cells: one digest or raw value per item, so that the first differing item can be found.
        parts: what stands inside an object: where, its digest, and its text.
    """

    text: str = ""
    unordered: bytes = b""
    kind: str = "value"
    cell: int = 0
    cells: bytes = b""
    parts: tuple[tuple[str, bytes, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """The state at one event.

    Args:
        lane: thread of the event.
        index: index of the event in its lane.
        position: where the event stands, to check that it is the one that was meant.
        stack: position of every user frame, outermost first, with its current line.
        digests: path -> digest.
        aliases: path -> the path that owns the same object; of a ``(which)`` path, the root it is in.
        references: path -> the paths of the objects that are met under it and belong to other paths.
        shown: path -> value, for the paths that the plan wants shown.
    """

    lane: str
    index: int
    position: Position
    stack: tuple[Position, ...]
    digests: Mapping[str, bytes]
    aliases: Mapping[str, str]
    references: Mapping[str, Sequence[str]]
    shown: Mapping[str, Shown]


@dataclass(frozen=True, slots=True)
class Trace:
    """What one execution of a window left behind.

    Args:
        positions: table of the places that events stand at.
        lanes: events by thread, when a flow was asked for.
        samples: states, when samples were asked for.
        caveats: what was not seen.
    """

    positions: tuple[Position, ...] = ()
    lanes: tuple[Lane, ...] = ()
    samples: tuple[Sample, ...] = ()
    caveats: tuple[str, ...] = ()

    def to_bytes(self) -> bytes:
        """Canonical bytes of the trace."""
        from twice.foundation.encoding import encode

        return encode(
            {
                "form": FORM,
                "positions": [_position_out(place) for place in self.positions],
                "lanes": [_lane_out(lane) for lane in self.lanes],
                "samples": [_sample_out(sample) for sample in self.samples],
                "caveats": list(self.caveats),
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Trace:
        """Read a trace back from its bytes.

        Raises:
            TraceRefused: E-TRACE-001, the bytes are not a trace of this form.
            DecodingRefused: E-ENCODE-004, the bytes are not canonical.
        """
        from twice.foundation.encoding import decode

        held: Any = decode(data)
        if not isinstance(held, dict) or held.get("form") != FORM:
            raise TraceRefused(
                "These bytes are not a trace that this version reads.",
                f"A trace of form {FORM} was expected.",
                "Trace the run again with this version of twice.",
            )
        try:
            positions = tuple(_position_in(row) for row in held["positions"])
            return cls(
                positions=positions,
                lanes=tuple(_lane_in(row, len(positions)) for row in held["lanes"]),
                samples=tuple(_sample_in(row) for row in held["samples"]),
                caveats=tuple(held["caveats"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as why:
            raise TraceRefused(
                f"These bytes are not a whole trace: {why}.",
                "A trace holds positions, lanes, samples and caveats.",
                "Trace the run again with this version of twice.",
            ) from why


def _position_out(place: Position) -> list[object]:
    return [place.file, place.function, place.line, place.event]


_COLUMNS = ("places", "depths", "scalars", "streams", "order")
_CODES = {array(code).itemsize: code for code in "BHIQ"}


def _lane_out(lane: Lane) -> dict[str, object]:
    columns = {name: _column_out(getattr(lane, name)) for name in _COLUMNS}
    return {"name": lane.name, "below": list(lane.below), **columns}


def _column_out(column: array[int]) -> list[object]:
    """How many bytes every item takes, and these compressed, the lowest of all items first."""
    import zstandard

    held, width = _little(column).tobytes(), column.itemsize
    planes = [held[nth::width] for nth in range(width)]
    while len(planes) > 1 and planes[-1] == bytes(len(column)):
        planes.pop()
    return [len(planes), zstandard.ZstdCompressor(level=1).compress(b"".join(planes))]


def _little(column: array[int]) -> array[int]:
    import sys

    if sys.byteorder == "little":
        return column
    swapped = array(column.typecode, column)
    swapped.byteswap()
    return swapped


def _position_in(row: Any) -> Position:
    file, function, line, event = row
    if not (type(file) is type(function) is type(event) is str and type(line) is int):
        raise ValueError("a position is a file, a function, a line and an event")
    return Position(file, function, line, event)


def _lane_in(row: Any, positions: int) -> Lane:
    import numpy as np

    columns = {name: _column_in(*row[name]) for name in _COLUMNS}
    if len({len(column) for column in columns.values()}) != 1:
        raise ValueError("the columns of a lane have different lengths")
    highest = int(np.max(columns["places"])) if columns["places"] else -1
    if max((highest, *row["below"])) >= positions:
        raise ValueError("an event stands at a position that is not in the table")
    return Lane(name=row["name"], below=tuple(row["below"]), **columns)


def _column_in(planes: int, frame: bytes) -> array[int]:
    import zstandard

    if not 1 <= planes <= max(_CODES):
        raise ValueError(f"an item of a column takes {pluralize(planes, 'byte')}")
    code = next(code for width, code in _CODES.items() if width >= planes)
    try:
        count, rest = divmod(zstandard.frame_content_size(frame), planes)
        if rest or not 0 <= count <= EVENTS_MAX:  # before room is made for it
            raise ValueError(f"a column of {count} events is no column")
        column = array(code, [0]) * count
        items, expanded = (
            memoryview(column).cast("B"),
            zstandard.ZstdDecompressor().stream_reader(frame),
        )
        for nth in range(planes):
            items[nth :: column.itemsize] = expanded.read(count)
    except zstandard.ZstdError as why:
        raise ValueError(f"a column cannot be expanded: {why}") from why
    return _little(column)


def _sample_out(sample: Sample) -> dict[str, object]:
    return {
        "lane": sample.lane,
        "index": sample.index,
        "position": _position_out(sample.position),
        "stack": [_position_out(place) for place in sample.stack],
        "digests": dict(sample.digests),
        "aliases": dict(sample.aliases),
        "references": {path: list(held) for path, held in sample.references.items()},
        "shown": {
            path: [held.text, held.unordered, held.kind, held.cell, held.cells, held.parts]
            for path, held in sample.shown.items()
        },
    }


def _sample_in(row: Any) -> Sample:
    return Sample(
        lane=row["lane"],
        index=row["index"],
        position=_position_in(row["position"]),
        stack=tuple(_position_in(place) for place in row["stack"]),
        digests=dict(row["digests"]),
        aliases=dict(row["aliases"]),
        references={path: tuple(held) for path, held in row["references"].items()},
        shown={path: Shown(*held) for path, held in row["shown"].items()},
    )
