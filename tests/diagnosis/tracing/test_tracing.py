"""What a tracer sees, event by event, on the running interpreter."""

from __future__ import annotations

import sys
import threading
from array import array

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from twice.diagnosis.tracing.trace import (
    EVENTS_MAX,
    FlowPlan,
    Lane,
    SamplePlan,
    Trace,
    plan_from_json,
    plan_to_json,
)
from twice.diagnosis.tracing.tracer import Tracer
from twice.errors import TraceRefused
from twice.foundation.encoding import decode, encode


def helper(x):
    x.append(1)


def numbers():
    yield 1
    yield 2


def fails(value):
    raise ValueError(value)


def user_file(name):
    return name == __file__


def trace_of(window, plan=None, **roots):
    tracer = Tracer(
        plan or FlowPlan(), is_user_code=user_file, roots=lambda: roots, positions=lambda: b""
    )
    tracer.start()
    window()
    return tracer.stop()


def events(trace, function, lane=0):
    return [
        (trace.positions[place].event, trace.positions[place].line - first(function))
        for place in trace.lanes[lane].places
        if trace.positions[place].function == function.__qualname__
    ]


def first(function):
    return function.__code__.co_firstlineno


def test_a_call_is_seen_as_call_lines_and_return():
    def window():
        helper([])

    trace = trace_of(window)
    assert events(trace, helper) == [("call", 0), ("line", 1), ("return", 1)]
    ends = (trace.lanes[0].places[0], trace.lanes[0].places[-1])
    assert [trace.positions[place].event for place in ends] == ["start", "stop"]


def test_depth_counts_user_frames_only():
    def window():
        list(map(helper, [[]]))

    trace = trace_of(window)
    here = trace.lanes[0].depths[0]
    assert max(trace.lanes[0].depths) == here + 2


def test_generators_begin_and_resume():
    def window():
        list(numbers())

    assert events(trace_of(window), numbers) == [
        ("begin", 0),
        ("line", 1),
        ("return", 1),
        ("resume", 1),
        ("line", 2),
        ("return", 2),
        ("resume", 2),
        ("return", 2),
    ]


def test_a_frame_left_by_an_exception_is_left():
    def window():
        with pytest.raises(ValueError, match="7"):
            fails(7)

    trace = trace_of(window)
    assert events(trace, fails) == [("call", 0), ("line", 1), ("return", 1)]
    assert trace.lanes[0].depths[-1] == trace.lanes[0].depths[0]


def test_threads_have_lanes_of_their_own():
    def window():
        threads = [threading.Thread(target=helper, args=([],), name=f"w{n}") for n in range(2)]
        for thread in threads:
            thread.start()
            thread.join()

    trace = trace_of(window)
    assert [lane.name for lane in trace.lanes] == ["MainThread", "w0", "w1"]
    assert events(trace, helper, lane=2) == [("call", 0), ("line", 1), ("return", 1)]


def test_a_change_on_the_last_line_is_visible_at_the_return():
    held = []

    def window():
        helper(held)

    flow = trace_of(window, held=held)
    held.clear()
    lane = flow.lanes[0]
    at = [flow.positions[place].function for place in lane.places].index("helper")
    plan = SamplePlan(tuple((lane.name, at + step) for step in range(3)), show=("held",))
    sampled = trace_of(window, plan, held=held).samples
    assert [sample.shown["held"].text for sample in sampled] == ["[]", "[]", "[1]"]
    assert [sample.position.event for sample in sampled] == ["call", "line", "return"]
    assert sampled[0].aliases[f"<{lane.depths[at] - 1} helper>x"] == "held"


def test_a_returned_value_is_part_of_the_state_while_it_is_on_its_way():
    def window():
        list(numbers())

    flow = trace_of(window)
    lane = flow.lanes[0]
    at = [flow.positions[place].event for place in lane.places].index("return")
    sampled = trace_of(window, SamplePlan(((lane.name, at),))).samples[0]
    assert f"<{lane.depths[at] - 1} numbers>(returned)" in sampled.digests


def test_two_plans_count_events_alike():
    def window():
        helper([])
        list(numbers())

    flow = trace_of(window)
    lane = flow.lanes[0]
    points = tuple((lane.name, index) for index in range(min(64, len(lane.places))))
    sampled = trace_of(window, SamplePlan(points)).samples
    assert [sample.position for sample in sampled] == [
        flow.positions[place] for place in lane.places
    ][: len(points)]


def test_hooks_are_put_back():
    before = sys.gettrace(), threading.gettrace()
    trace_of(lambda: helper([]))
    assert (sys.gettrace(), threading.gettrace()) == before
    if sys.version_info >= (3, 12):
        assert [sys.monitoring.get_tool(tool) for tool in range(6)].count("twice") == 0


def test_a_window_with_too_many_events_says_so():
    def window():
        for _ in range(50):
            helper([])

    trace = trace_of(window, FlowPlan(events_max=20))
    assert len(trace.lanes[0].places) == 20
    assert trace.caveats == (
        "more events than the plan allows; the rest of the window was not seen",
    )


def test_a_trace_comes_back_from_its_bytes():
    flow = trace_of(lambda: helper([]))
    assert Trace.from_bytes(flow.to_bytes()) == flow
    lane = flow.lanes[0]
    plan = SamplePlan(((lane.name, 1), (lane.name, 2)), show=("r",))
    sampled = trace_of(lambda: helper([]), plan, r=[1, 2, 3])
    assert sampled.samples[0].shown["r"].text == "[1, 2, 3]"
    assert Trace.from_bytes(sampled.to_bytes()) == sampled


@given(st.lists(st.integers(0, 64).flatmap(lambda bits: st.integers(0, 2**bits - 1)), max_size=9))
def test_columns_come_back_narrow_and_can_be_written_again(items):
    ones, full = array("I", [0] * len(items)), array("Q", items)
    places = (trace_of(lambda: None).positions[0],)
    flow = Trace(positions=places, lanes=(Lane("M", ones, ones, full, full, full),))
    back = Trace.from_bytes(flow.to_bytes())
    assert back == flow == Trace.from_bytes(back.to_bytes())
    assert back.lanes[0].places.itemsize == 1
    assert max(items, default=0) < 256 ** back.lanes[0].order.itemsize
    narrower = back.lanes[0].order.itemsize // 2
    assert not narrower or max(items) >= 256**narrower


def damaged(change):
    held = decode(trace_of(lambda: helper([])).to_bytes())
    change(held)
    return encode(held)


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.update(form=99),
        lambda held: held.pop("lanes"),
        lambda held: held["positions"].clear(),
        lambda held: held["positions"].__setitem__(0, ["f", "g", "h", 1]),
        lambda held: held["lanes"][0].update(order=[1, zstandard.compress(b"")]),
        lambda held: held["lanes"][0].update(places=b"123"),
        lambda held: held["lanes"][0].update(places=[1, b"123"]),
        lambda held: held["lanes"][0]["places"].__setitem__(0, 0),
        lambda held: held["lanes"][0]["places"].__setitem__(0, 9),
        lambda held: held["lanes"][0].update(places=[1, held["lanes"][0]["places"][1][:-1]]),
        lambda held: held["lanes"][0].update(order=[1, zstandard.compress(bytes(EVENTS_MAX + 1))]),
        lambda held: held.update(samples=[{}]),
    ],
    ids=range(12),
)
def test_a_trace_that_is_not_whole_is_refused(change):
    with pytest.raises(TraceRefused, match="trace"):
        Trace.from_bytes(damaged(change))


@pytest.mark.parametrize("plan", [FlowPlan(9), SamplePlan((("MainThread", 3),), ("a", "b"))])
def test_plans_come_back_from_plain_data(plan):
    assert plan_from_json(plan_to_json(plan)) == plan


def test_a_sample_plan_asks_for_at_most_64_events():
    with pytest.raises(AssertionError, match="at most 64"):
        SamplePlan(tuple(("MainThread", index) for index in range(65)))
