"""Turns interpreter events into a trace; knows nothing of how the interpreter reports them.

For: one ``Collector`` behind both ``settracing`` and ``monitoring``. It keeps a stack of user frames
per thread, numbers code positions, and at each event either appends a row (flow) or, at the chosen
ones, digests the reachable state (sample).

The stack of frames is followed by the events and put right whenever the frame on top is not the one
that reports: generators that are thrown into, frames left by an exception and calls through
libraries make that necessary.

Not for: patching the interpreter (``settracing``, ``monitoring``) or deciding what to sample.

Invariant: the same window under two plans gives every event the same lane and index.
"""

from __future__ import annotations

import inspect
import itertools
import marshal
import threading
import zlib
from array import array
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any

from twice.diagnosing.objects.graphdigest import digest_layers
from twice.diagnosing.tracing.paths import frame_prefix, returned
from twice.diagnosing.tracing.shortvalues import show
from twice.diagnosing.tracing.trace import FlowPlan, Lane, Plan, Position, Sample, SamplePlan, Trace

_PLAIN = frozenset(map(id, (int, float, str, bool, type(None), bytes)))
_TEXT_MAX = 64
_TUPLE_MAX = 8
_ADDRESSES = range(1 << 40, 1 << 48)  # integers that look like one are not compared here
_NOTHING = object()
_CUT = "more events than the plan allows; the rest of the window was not seen"
GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

Roots = Callable[[], Mapping[str, object]]


class Thread:
    """What is known about one thread while it runs."""

    __slots__ = (
        "below",
        "count",
        "depths",
        "order",
        "places",
        "scalars",
        "stack",
        "streams",
        "wanted",
    )

    def __init__(self, wanted: frozenset[int]) -> None:
        self.wanted = wanted
        self.count = 0
        self.stack: list[FrameType] = []
        self.below: tuple[int, ...] = ()
        self.places, self.depths = array("I"), array("I")
        self.scalars, self.streams, self.order = array("Q"), array("Q"), array("Q")


class Collector:
    """Receives events and keeps what the plan asks for.

    Args:
        plan: what to keep.
        is_user_code: whether a source file belongs to the user.
        roots: the tracked state by name; globals of a user's module as ``module:name``.
        positions: digest of the stream positions; called at every event, so it must be cheap.
        own_modules: modules whose class attributes are state.
    """

    def __init__(
        self,
        plan: Plan,
        is_user_code: Callable[[str], bool],
        roots: Roots,
        positions: Callable[[], bytes],
        own_modules: tuple[str, ...],
    ) -> None:
        self.plan, self._is_user_code, self._roots = plan, is_user_code, roots
        self._streams, self._own = positions, own_modules
        self._user: dict[int, tuple[CodeType, bool]] = {}
        self._places: dict[tuple[int, int, str], int] = {}
        self._positions: list[Position] = []
        self._here = threading.local()
        self._lanes: dict[str, Thread] = {}
        self._samples: list[Sample] = []
        self._caveats: dict[str, None] = {}
        self._order = itertools.count()
        self._asks = False
        flow = isinstance(plan, FlowPlan)
        self._events_max = plan.events_max if isinstance(plan, FlowPlan) else 0
        self._event = self._flow_event if flow else self._sampled_event
        self._lock = threading.RLock()

    def is_user(self, code: CodeType) -> bool:
        """Whether events of this code are wanted."""
        known = self._user.get(id(code))
        if known is None:
            known = self._user[id(code)] = (code, self._is_user_code(code.co_filename))
        return known[1]

    def user_frames(self, frame: FrameType | None) -> list[FrameType]:
        """User frames from the outermost to the given one."""
        found: list[FrameType] = []
        while frame is not None:
            if self.is_user(frame.f_code):
                found.append(frame)
            frame = frame.f_back
        found.reverse()
        return found

    def begin(self, frame: FrameType) -> list[FrameType]:
        """The first event of the window; returns the user frames that stand already."""
        self._asks = bool(self._streams())
        thread = self._thread()
        thread.stack = self.user_frames(frame)
        thread.below = tuple(self._place(each, each.f_lineno, "line") for each in thread.stack)
        self._mark(thread, frame, "start")
        return list(thread.stack)

    def end(self, frame: FrameType) -> None:
        """The last event of the window."""
        thread = self._thread()
        thread.stack = self.user_frames(frame)
        self._mark(thread, frame, "stop")

    def enter(self, frame: FrameType, event: str) -> None:
        """A user frame is entered (``call``) or goes on after a yield (``resume``)."""
        if event == "call" and frame.f_code.co_flags & GENERATORS:
            event = "begin"  # its arguments were bound when the generator was made
        thread = self._thread()
        if thread.stack and self._caller(frame) is thread.stack[-1]:
            thread.stack.append(frame)
        else:
            thread.stack = self.user_frames(frame)
        self._event(thread, frame, frame.f_lineno, event, _NOTHING)

    def line(self, frame: FrameType, line: int) -> None:
        """A line of a user frame is about to run."""
        thread = self._thread()
        if not thread.stack or thread.stack[-1] is not frame:
            thread.stack = self.user_frames(frame)
        self._event(thread, frame, line, "line", _NOTHING)

    def leave(self, frame: FrameType, value: object) -> None:
        """A user frame returns, yields or is left by an exception."""
        thread = self._thread()
        if not thread.stack or thread.stack[-1] is not frame:
            thread.stack = self.user_frames(frame)
        self._event(thread, frame, frame.f_lineno, "return", value)
        if thread.stack:
            thread.stack.pop()

    def trace(self) -> Trace:
        """What was kept."""
        flow = isinstance(self.plan, FlowPlan)
        lanes = tuple(
            Lane(name, kept.places, kept.depths, kept.scalars, kept.streams, kept.order, kept.below)
            for name, kept in self._lanes.items()
        )
        return Trace(
            positions=tuple(self._positions) if flow else (),
            lanes=lanes if flow else (),
            samples=tuple(self._samples),
            caveats=tuple(sorted(self._caveats)),
        )

    def _thread(self) -> Thread:
        thread: Thread | None = getattr(self._here, "thread", None)
        return thread or self._new_thread()  # an identifier would be used again by a later thread

    def _new_thread(self) -> Thread:
        with self._lock:
            base = name = threading.current_thread().name
            number = 1
            while name in self._lanes:
                number += 1
                name = f"{base}#{number}"
            wanted = frozenset[int]()
            if isinstance(self.plan, SamplePlan):
                wanted = frozenset(index for lane, index in self.plan.points if lane == name)
            thread = self._here.thread = self._lanes[name] = Thread(wanted)
            return thread

    def _caller(self, frame: FrameType) -> FrameType | None:
        back = frame.f_back
        while back is not None and not self.is_user(back.f_code):
            back = back.f_back
        return back

    def _mark(self, thread: Thread, frame: FrameType, event: str) -> None:
        top = thread.stack[-1] if thread.stack else frame
        self._event(thread, top, top.f_lineno, event, _NOTHING)

    def _place(self, frame: FrameType, line: int, event: str) -> int:
        code = frame.f_code
        key = (id(code), line, event)
        self.is_user(code)  # keeps the code object, and so its address, alive
        with self._lock:
            place = self._places.get(key)
            if place is None:
                place = self._places[key] = len(self._positions)
                self._positions.append(Position(code.co_filename, code.co_qualname, line, event))
        return place

    def _sampled_event(
        self, thread: Thread, frame: FrameType, line: int, event: str, value: object
    ) -> None:
        index = thread.count
        thread.count = index + 1
        if index in thread.wanted:
            self._sample(thread, index, frame, line, event, value)

    def _flow_event(
        self, thread: Thread, frame: FrameType, line: int, event: str, _: object
    ) -> None:
        order = next(self._order)
        if order >= self._events_max:
            self._caveats[_CUT] = None
            return
        place = self._places.get((id(frame.f_code), line, event))
        thread.places.append(self._place(frame, line, event) if place is None else place)
        thread.depths.append(len(thread.stack))
        thread.scalars.append(_scalars(frame))
        thread.streams.append(int.from_bytes(self._streams()[:8], "little") if self._asks else 0)
        thread.order.append(order)

    def _sample(
        self, thread: Thread, index: int, frame: FrameType, line: int, event: str, value: object
    ) -> None:
        name = next(name for name, kept in self._lanes.items() if kept is thread)
        roots = dict(self._roots())
        roots["(positions)"] = bytes(self._streams())
        layers: list[Mapping[str, object]] = [roots]
        stack: list[Position] = []
        for depth, each in enumerate(thread.stack):
            layers.append(_locals(each, depth))
            code = each.f_code
            at = line if each is frame else each.f_lineno
            stack.append(Position(code.co_filename, code.co_qualname, at, "line"))
        if value is not _NOTHING:
            layers.append({returned(len(thread.stack) - 1, frame.f_code.co_qualname): value})
        graph = digest_layers(layers, own_modules=self._own)
        for caveat in graph.caveats:
            self._caveats[caveat] = None
        assert isinstance(self.plan, SamplePlan), "only a sample plan takes samples"
        shown = show(self.plan.show, graph.objects)
        code = frame.f_code
        self._samples.append(
            Sample(
                lane=name,
                index=index,
                position=Position(code.co_filename, code.co_qualname, line, event),
                stack=tuple(stack),
                digests=graph.digests,
                aliases=graph.aliases,
                shown=shown,
            )
        )


def _locals(frame: FrameType, depth: int) -> dict[str, object]:
    prefix = frame_prefix(depth, frame.f_code.co_qualname)
    return {
        f"{prefix}{name}": value
        for name, value in dict(frame.f_locals).items()
        if not (name.startswith("__") and name.endswith("__"))
    }


def _scalars(frame: FrameType) -> int:
    held: list[object] = []
    for name, value in frame.f_locals.items():
        kind = type(value)
        held.append(name)
        if kind is float:
            held.append(value)
        elif id(kind) in _PLAIN:
            held.append(_scalar(value))
        elif kind is tuple and len(value) <= _TUPLE_MAX:
            held.append(
                [
                    _scalar(each) if id(type(each)) in _PLAIN else type(each).__name__
                    for each in value
                ]
            )
        else:
            held.append(kind.__name__)
    # twice: ignore[pickle-digest] compared between executions by one interpreter alone
    return zlib.crc32(marshal.dumps(held, 2))


def _scalar(value: Any) -> object:
    kind = type(value)
    if kind is int:
        return None if value in _ADDRESSES else value
    if (kind is str or kind is bytes) and len(value) > _TEXT_MAX:
        return zlib.crc32(value.encode("utf-8", "surrogatepass") if kind is str else value)
    return value
