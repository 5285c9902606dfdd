"""Writes down every event of user code: a row per event, and small digests at some.

For: a ``FlowPlan``. An event costs one look-up and one append; columns are made when the window is over.
A row is the number of a code position and the depth of the stack in one integer, which is made once for
each pair. Beside the rows, with the index of a row, stand the digests and the order among the events of all
threads; the order only where another thread had an event in between.

The stack of user frames is followed by the events and read anew whenever the frame on top is not the one
that reports: generators that are thrown into, frames left by an exception and calls through libraries make
that necessary.

Not for: finding the events (``event_sources``).

Invariant: a frame that was left is not held.
"""

from __future__ import annotations

import itertools
import marshal
import sys
import zlib
from array import array
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from twice.diagnosis.tracing.collector import Collector, UserCode, name_entry
from twice.diagnosis.tracing.trace import FlowPlan, Lane, Position, Trace

_NAME = type.__dict__["__name__"]
"""Gives a class's name past any metaclass."""
_PLAIN = frozenset(map(id, (int, float, str, bool, type(None), bytes)))
_TEXT_MAX = 64
_TUPLE_MAX = 8
_ADDRESS_MIN, _ADDRESS_END = 1 << 40, 1 << 48  # integers that look like one are not compared here
_DIGESTED_ALL = 1 << 13  # events that all have digests; beyond, every second, fourth, eighth ...
_CUT = "more events than the plan allows; the rest of the window was not seen"
_PLACE = 1 if sys.byteorder == "little" else 0  # the half of a row that is the place, not the depth

_Rows = dict[object, int]
"""The rows of one code object at one depth: of lines by line, of other events by line and event."""


class FlowCollector(Collector["FlowLane"]):
    """Keeps every event.

    Args:
        plan: how many events at most.
        user: the user's code.
        positions: digest of the stream positions; called at most once per event.
    """

    def __init__(self, plan: FlowPlan, user: UserCode, positions: Callable[[], bytes]) -> None:
        self.events_max = plan.events_max
        self.order = itertools.count()
        super().__init__(user)
        self.digested_every = 1
        self._streams, self._has_streams = positions, False
        self._places: dict[tuple[int, int, str], int] = {}
        self._positions: list[Position] = []
        self._rows: dict[tuple[int, int], _Rows] = {}
        self._codes: dict[int, CodeType] = {}  # their addresses are keys, so they stay alive

    @property
    def done(self) -> bool:
        """A new thread's lane is always wanted, even one without events."""
        return False

    def begin(self, frame: FrameType) -> list[FrameType]:
        """Take the first event of the window and return the user frames that stand already."""
        self._has_streams = bool(self._streams())
        return self.here.lane.start(frame)

    def end(self, frame: FrameType) -> None:
        """Take the last event of the window."""
        self.here.lane.stop(frame)

    def trace(self) -> Trace:
        """Return what was kept."""
        lanes = tuple(lane.columns() for lane in self.lanes.values())
        return Trace(tuple(self._positions), lanes, caveats=tuple(sorted(self.caveats)))

    def rows_of(self, code: CodeType, depth: int) -> _Rows:
        """Return the rows of a code object at a depth."""
        rows = self._rows.get((id(code), depth))
        if rows is None:
            self._codes[id(code)] = code
            rows = self._rows.setdefault((id(code), depth), {})
        return rows

    def place(self, code: CodeType, line: int, event: str) -> int:
        """Return the number of a position in a code object that has rows."""
        key = (id(code), line, event)
        with self.lock:
            place = self._places.get(key)
            if place is None:
                place = self._places[key] = len(self._positions)
                self._positions.append(Position(code.co_filename, code.co_qualname, line, event))
        return place

    def digest_streams(self) -> int:
        """Return the digest of the stream positions, 0 where there are none."""
        return int.from_bytes(self._streams()[:8], "little") if self._has_streams else 0

    def cut(self) -> None:
        """Note that events are left out from here on."""
        self.caveats[_CUT] = None
        self.on_lane_done()

    def _make_lane(self, name: str) -> FlowLane:
        return FlowLane(self, name)


class FlowLane:
    """The events of one thread."""

    __slots__ = (
        "_below", "_digested", "_due", "_flow", "_frames", "_order", "_pause_at", "_rows", "_rows_under",
        "_scalars", "_seen", "_streams", "_top", "_turns", "_turns_at", "name",
    )  # fmt: skip

    def __init__(self, flow: FlowCollector, name: str) -> None:
        self._flow, self.name = flow, name
        self._order = flow.order
        self._seen: list[int] = []  # a row per event
        self._digested, self._scalars, self._streams = array("Q"), array("Q"), array("Q")
        self._turns_at, self._turns = array("Q"), array("Q")  # index of an event, and its order
        self._due = -1  # order of the next event, unless another thread takes it
        self._pause_at = 0  # order from which on an event may ask for more than a row
        self._top: FrameType | None = None
        self._rows: _Rows = {}
        self._frames: list[FrameType] = []  # under the top
        self._rows_under: list[_Rows] = []
        self._below: tuple[int, ...] = ()

    @property
    def done(self) -> bool:
        """Whether the plan allows no more events."""
        return self._pause_at >= self._flow.events_max <= self._due

    def start(self, frame: FrameType) -> list[FrameType]:
        """Take the start of the window and return the user frames that stand."""
        standing = self._read_stack(frame)
        self._below = tuple(
            self._flow.place(each.f_code, each.f_lineno, "line") for each in standing
        )
        self._add(standing[-1] if standing else frame, "start")
        return standing

    def stop(self, frame: FrameType) -> None:
        """Take the end of the window."""
        standing = self._read_stack(frame)
        self._add(standing[-1] if standing else frame, "stop")

    def enter(self, frame: FrameType, event: str) -> None:
        """Take the entry of a user frame: ``call``, or ``resume`` after a yield."""
        top = self._top
        if top is not None and (frame.f_back is top or self._flow.user.find_caller(frame) is top):
            self._frames.append(top)
            self._rows_under.append(self._rows)
            self._top = frame
            self._rows = self._flow.rows_of(frame.f_code, len(self._frames) + 1)
        else:
            self._read_stack(frame)
        self._add(frame, name_entry(frame.f_code, event))

    def line(self, frame: FrameType, line: int) -> None:
        """Take a line of a user frame that is about to run."""
        if frame is not self._top:
            self._read_stack(frame)
        order = next(self._order)
        if order >= self._pause_at and not self._pause(order, frame):
            return
        if order != self._due:
            self._take_turn(order)
        self._due = order + 1
        row = self._rows.get(line)
        self._seen.append(self._new_row(line, frame, line, "line") if row is None else row)

    def leave(self, frame: FrameType) -> None:
        """Take the end of a user frame: it returns, yields or is left by an exception."""
        if frame is not self._top:
            self._read_stack(frame)
        self._add(frame, "return")
        self._top = self._frames.pop() if self._frames else None
        self._rows = self._rows_under.pop() if self._rows_under else {}

    def columns(self) -> Lane:
        """Return the events as columns."""
        count = len(self._seen)  # a thread that still runs may add to the lists
        halves = memoryview(array("Q", self._seen[:count])).cast("B").cast("I")
        order = array("Q")
        ends = [*self._turns_at[1:], count]
        for start, end, first in zip(self._turns_at, ends, self._turns, strict=False):
            order.extend(range(first, first + min(end, count) - start))
        return Lane(
            name=self.name,
            places=array("I", halves[_PLACE::2].tobytes()),
            depths=array("I", halves[1 - _PLACE :: 2].tobytes()),
            scalars=_spread(self._digested, self._scalars, count),
            streams=_spread(self._digested, self._streams, count),
            order=order,
            below=self._below,
        )

    def _add(self, frame: FrameType, event: str) -> None:
        order = next(self._order)
        if order >= self._pause_at and not self._pause(order, frame):
            return
        if order != self._due:
            self._take_turn(order)
        self._due = order + 1
        line = frame.f_lineno
        row = self._rows.get((line, event))
        self._seen.append(self._new_row((line, event), frame, line, event) if row is None else row)

    def _pause(self, order: int, frame: FrameType) -> bool:
        """Take the digests of an event whose turn it is; False when the plan allows no more events."""
        flow = self._flow
        if order >= flow.events_max:
            flow.cut()
            return False
        every = flow.digested_every
        if order % every == 0:
            self._scalars.append(_digest_scalars(frame))
            self._streams.append(flow.digest_streams())
            self._digested.append(len(self._seen))
            if order >= every * _DIGESTED_ALL:
                every = flow.digested_every = every * 2
        self._pause_at = min(order - order % every + every, flow.events_max)
        return True

    def _take_turn(self, order: int) -> None:
        self._turns.append(order)
        self._turns_at.append(len(self._seen))

    def _new_row(self, key: object, frame: FrameType, line: int, event: str) -> int:
        depth = len(self._frames) + (self._top is not None)
        row = self._flow.place(frame.f_code, line, event) << 32 | depth
        self._rows[key] = row
        return row

    def _read_stack(self, frame: FrameType) -> list[FrameType]:
        standing = self._flow.user.find_frames(frame)
        rows = [self._flow.rows_of(each.f_code, n) for n, each in enumerate(standing, 1)]
        self._frames, self._rows_under = standing[:-1], rows[:-1]
        if standing:
            self._top, self._rows = standing[-1], rows[-1]
        else:
            self._top, self._rows = None, self._flow.rows_of(frame.f_code, 0)
        return standing


def _spread(at: array[int], values: array[int], count: int) -> array[int]:
    """Return a column in which each value holds from its index to that of the next one; 0 before the first."""
    if not any(values):
        return array("Q", bytes(8 * count))
    column = array("Q", bytes(8 * at[0]))
    for start, end, value in zip(at, [*at[1:], count], values, strict=False):
        column.extend(array("Q", [value]) * (min(end, count) - start))
    return column


def _digest_scalars(frame: FrameType) -> int:
    held: list[object] = []
    for name, value in frame.f_locals.items():
        kind = type(value)
        held.append(name)
        if kind is float:
            held.append(value)
        elif kind is int:
            held.append(None if _ADDRESS_MIN <= value < _ADDRESS_END else value)
        elif id(kind) in _PLAIN:
            held.append(_scalar(value))
        elif kind is tuple and len(value) <= _TUPLE_MAX:
            held.append(
                [
                    _scalar(each) if id(type(each)) in _PLAIN else _NAME.__get__(type(each))
                    for each in value
                ]
            )
        else:
            held.append(_NAME.__get__(kind))
    # twice: ignore[pickle-digest] compared between executions by one interpreter alone
    return zlib.crc32(marshal.dumps(held, 2))


def _scalar(value: Any) -> object:
    kind = type(value)
    if kind is int:
        return None if _ADDRESS_MIN <= value < _ADDRESS_END else value
    if (kind is str or kind is bytes) and len(value) > _TEXT_MAX:
        return zlib.crc32(value.encode("utf-8", "surrogatepass") if kind is str else value)
    return value
