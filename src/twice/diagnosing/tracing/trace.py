"""What a traced window leaves behind: plans that ask, and the plain data that answers.

For: two plans and one answer. A ``FlowPlan`` asks for every event of user code, small; a
``SamplePlan`` asks for the whole reachable state at no more than 64 events. A ``Trace`` is plain
data: it travels between processes and machines as canonical bytes, never as pickle.

An event stands *before* the line it names runs (``line``), where a frame is entered (``call``; for a
generator or coroutine ``begin`` and ``resume``, whose arguments were bound before), or where it is
left (``return``, with the value or exception in flight). So a difference that is visible at event k
and not at k-1 was made by what ran in between: the line of the frame that was on top after k-1.

Not for: collecting (``collecting``) or comparing (``locating``).

Invariant: ``Trace.from_bytes(trace.to_bytes()) == trace``.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twice.errors import TraceRefused

SAMPLES_MAX = 64
FORM = 1  # of the bytes; a reader refuses another

Point = tuple[str, int]
"""Lane and index of an event in it."""


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """Asks for every event: code position, depth, scalar locals, stream positions.

    Args:
        events_max: events kept; what comes after is counted in a caveat, not kept.
    """

    events_max: int = 2_000_000


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
    """A plan as plain data."""
    if isinstance(plan, FlowPlan):
        return {"flow": plan.events_max}
    return {"points": [list(point) for point in plan.points], "show": list(plan.show)}


def plan_from_json(held: Mapping[str, Any]) -> Plan:
    """A plan from plain data."""
    if "flow" in held:
        return FlowPlan(held["flow"])
    points = tuple((lane, index) for lane, index in held["points"])
    return SamplePlan(points, tuple(held["show"]))


@dataclass(frozen=True, slots=True, order=True)
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

    Args:
        name: the thread's name; the same in every execution.
        places: index into ``Trace.positions``, per event.
        depths: number of user frames on the thread's stack, per event.
        scalars: digest of the scalar locals of the current frame, per event.
        streams: digest of the stream positions, per event; 0 when not asked.
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
    """

    text: str = ""
    unordered: bytes = b""
    kind: str = "value"
    cell: int = 0
    cells: bytes = b""


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
        shown: path -> value, for the paths that the plan wants shown.
    """

    lane: str
    index: int
    position: Position
    stack: tuple[Position, ...]
    digests: Mapping[str, bytes]
    aliases: Mapping[str, str]
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
        """Reads a trace back.

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


_COLUMNS = (("places", "I"), ("depths", "I"), ("scalars", "Q"), ("streams", "Q"), ("order", "Q"))


def _lane_out(lane: Lane) -> dict[str, object]:
    columns = {name: _little(getattr(lane, name)).tobytes() for name, _ in _COLUMNS}
    return {"name": lane.name, "below": list(lane.below), **columns}


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
    columns = {}
    for name, code in _COLUMNS:
        column = array(code)
        column.frombytes(row[name])
        columns[name] = _little(column)
    if len({len(column) for column in columns.values()}) != 1:
        raise ValueError("the columns of a lane have different lengths")
    if max((*columns["places"], *row["below"]), default=-1) >= positions:
        raise ValueError("an event stands at a position that is not in the table")
    return Lane(name=row["name"], below=tuple(row["below"]), **columns)


def _sample_out(sample: Sample) -> dict[str, object]:
    return {
        "lane": sample.lane,
        "index": sample.index,
        "position": _position_out(sample.position),
        "stack": [_position_out(place) for place in sample.stack],
        "digests": dict(sample.digests),
        "aliases": dict(sample.aliases),
        "shown": {
            path: [held.text, held.unordered, held.kind, held.cell, held.cells]
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
        shown={path: Shown(*held) for path, held in row["shown"].items()},
    )
