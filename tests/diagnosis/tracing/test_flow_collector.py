"""Every event of a flow, and what the columns hold."""

from __future__ import annotations

import sys

import pytest
from traced_programs import SHORT, are_line_events_on, in_thread, long_loops, nested_calls, trace_of

from tiers import sampled
from twice.diagnosis.tracing import flow_collector
from twice.diagnosis.tracing.flow_collector import FlowCollector, FlowLane
from twice.diagnosis.tracing.trace import FlowPlan, Lane


class PlainLane(FlowLane):
    """Reads the stack at every event and writes a whole row."""

    __slots__ = ("below_plain", "rows")

    def start(self, frame):
        self.rows = []
        standing = self._flow.user.find_frames(frame)
        for each in standing:
            self._flow.rows_of(each.f_code, 0)  # keeps the code
        self.below_plain = tuple(
            self._flow.place(each.f_code, each.f_lineno, "line") for each in standing
        )
        self.note((standing or [frame])[-1], "start")
        return standing

    def stop(self, frame):
        self.note((self._flow.user.find_frames(frame) or [frame])[-1], "stop")

    def enter(self, frame, event):
        self.note(frame, flow_collector.name_entry(frame.f_code, event))

    def line(self, frame, line):
        self.note(frame, "line", line)

    def leave(self, frame):
        self.note(frame, "return")

    def note(self, frame, event, line=None):
        if not hasattr(self, "rows"):
            self.rows, self.below_plain = [], ()
        order, every = next(self._flow.order), self._flow.digested_every
        scalars, streams = self.rows[-1][2:4] if self.rows else (0, 0)
        if order & every - 1 == 0:
            scalars = flow_collector._digest_scalars(frame)
            streams = self._flow.digest_streams()
            if order >= every * flow_collector._DIGESTED_ALL:
                self._flow.digested_every *= 2
        self._flow.rows_of(frame.f_code, 0)
        place = self._flow.place(frame.f_code, line or frame.f_lineno, event)
        depth = len(self._flow.user.find_frames(frame))
        self.rows.append((place, depth, scalars, streams, order))

    def columns(self):
        columns = [list(column) for column in zip(*self.rows, strict=True)]
        return Lane(self.name, *columns, below=self.below_plain)


def counting_positions():
    count = iter(range(1, 1 << 30))
    return lambda: next(count).to_bytes(8, "little")


@pytest.mark.parametrize(
    "window",
    sampled(
        [*SHORT, long_loops], [each.__name__ for each in SHORT], name=lambda window: window.__name__
    ),
)
@pytest.mark.parametrize("has_streams", [False, True])
def test_a_flow_is_what_a_plain_collector_writes_down(monkeypatch, window, has_streams):
    window()
    traces = []
    for make in (FlowLane, PlainLane):  # from one line, which is part of the flow
        monkeypatch.setattr(FlowCollector, "_make_lane", lambda *args, make=make: make(*args))
        positions = counting_positions() if has_streams else lambda: b""
        traces.append(trace_of(window, positions=positions))
    fast, plain = traces
    assert fast.positions == plain.positions
    for one, two in zip(fast.lanes, plain.lanes, strict=True):
        for column in ("places", "depths", "scalars", "streams", "order"):
            assert list(getattr(one, column)) == getattr(two, column)
        assert (one.name, one.below) == (two.name, two.below)


def test_a_flow_that_is_full_stops_lines_and_still_names_new_threads():
    lines = []

    def window():
        lines.append(are_line_events_on())
        nested_calls()
        lines.append(are_line_events_on())
        in_thread(nested_calls, "w")

    trace = trace_of(window, FlowPlan(events_max=20))
    assert lines == [True, False]
    assert [(lane.name, len(lane.places)) for lane in trace.lanes] == [("MainThread", 20), ("w", 0)]
    assert trace.caveats == (
        "more events than the plan allows; the rest of the window was not seen",
    )


class Nameless(type):
    """Classes of it say their name to nobody."""

    @property
    def __name__(cls):
        raise AssertionError("user code ran")


def test_the_class_of_a_local_is_named_without_asking_its_metaclass():
    def frame_with(held):
        several = (1, held)
        assert several
        return sys._getframe()

    kinds = [Nameless(name, (), {}) for name in ("Same", "Same", "Other")]
    one, again, other = (flow_collector._digest_scalars(frame_with(kind())) for kind in kinds)

    assert one == again
    assert one != other
