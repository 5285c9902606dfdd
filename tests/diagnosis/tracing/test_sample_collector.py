"""Samples are taken at the events that a flow counts, and events stop when none is wanted."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import weakref

import pytest
from traced_programs import (
    MONITORED,
    SHORT,
    are_events_on,
    fails,
    fib,
    in_thread,
    nested_calls,
    numbers,
    trace_of,
)

from twice.diagnosis.tracing.paths import depth_of, is_local
from twice.diagnosis.tracing.trace import FlowPlan, SamplePlan


@pytest.mark.parametrize("window", SHORT, ids=lambda window: window.__name__)
def test_every_event_is_found_alone_as_the_last_one_wanted(window):
    window()
    flow = trace_of(window)
    for lane in flow.lanes:
        for index, place in enumerate(lane.places):
            (sample,) = trace_of(window, SamplePlan(((lane.name, index),))).samples
            assert (sample.lane, sample.index) == (lane.name, index)
            assert sample.position == flow.positions[place]
            assert len(sample.stack) == lane.depths[index]


@pytest.mark.parametrize("window", SHORT, ids=lambda window: window.__name__)
def test_events_wanted_later_do_not_change_a_sample(window):
    flow = trace_of(window)
    points = [(lane.name, index) for lane in flow.lanes for index in range(len(lane.places))]
    plans = [SamplePlan(tuple(points[:9])), SamplePlan(tuple(points[:9] + points[-1:]))]
    few, more = (trace_of(window, plan).samples for plan in plans)
    outer = flow.lanes[0].depths[0]  # of frames that hold the plans
    assert len(more) == 10
    for one, two in zip(few, more, strict=False):
        assert (one.position, one.stack) == (two.position, two.stack)
        assert digests_of_window(one, outer) == digests_of_window(two, outer)


def digests_of_window(sample, outer):
    return {
        path: digest
        for path, digest in sample.digests.items()
        if is_local(path)
        and depth_of(path) >= outer
        and not path.endswith(("_ident", "_native_id"))  # a thread's; the system chooses them
    }


def observe(observed, window):
    """Wrap a window so that it notes, before and after, whether events are reported."""

    def observing():
        observed.append(are_events_on())
        with contextlib.suppress(ValueError):
            window(observed)
        observed.append(are_events_on())

    return observing


def in_a_call(_):
    nested_calls()


def in_a_generator(observed):
    for _ in numbers():
        observed.append(are_events_on())


def in_a_frame_left_by_an_exception(_):
    fails(1)


@pytest.mark.parametrize(
    ("window", "function"),
    [
        (in_a_call, "nested_calls.<locals>.inner"),
        (in_a_generator, "numbers"),
        (in_a_frame_left_by_an_exception, "fails"),
    ],
    ids=["call", "generator", "exception"],
)
def test_events_stop_after_the_last_wanted_one(window, function):
    flow = trace_of(observe([], window))
    lane = flow.lanes[0]
    last = max(
        index
        for index, place in enumerate(lane.places)
        if flow.positions[place].function == function
    )
    observed = []
    (sample,) = trace_of(observe(observed, window), SamplePlan(((lane.name, last),))).samples
    assert sample.position.event == "return"
    assert observed[0]
    assert not observed[-1]
    assert observed == sorted(observed, reverse=True)


def test_an_exception_on_its_way_is_part_of_the_last_sample():
    def window():
        with contextlib.suppress(ValueError):
            fails(7)

    flow = trace_of(window)
    lane = flow.lanes[0]
    names = [(flow.positions[place].function, flow.positions[place].event) for place in lane.places]
    at = names.index(("fails", "return"))
    path = f"<{lane.depths[at] - 1} fails>(returned)"
    plan = SamplePlan(((lane.name, at),), show=(path,))
    assert trace_of(window, plan).samples[0].shown[path].text == "ValueError('7',)"


@pytest.mark.parametrize(
    ("name", "index", "expected"),
    [
        ("MainThread", 0, [False, False, False, False]),
        # settrace leaves the main thread alone at once, monitoring reports all threads or none
        ("w", -1, [MONITORED, True, False, False]),
    ],
    ids=["main", "other"],
)
def test_a_thread_is_reported_while_its_events_are_wanted(name, index, expected):
    observed = []

    def observes():
        observed.append(are_events_on())

    def window():
        observed.append(are_events_on())
        in_thread(observes, "w")
        in_thread(observes, "later")
        observed.append(are_events_on())

    lane = next(lane for lane in trace_of(window).lanes if lane.name == name)
    observed.clear()
    point = name, index % len(lane.places)
    samples = trace_of(window, SamplePlan((point,))).samples
    assert [(sample.lane, sample.index) for sample in samples] == [point]
    assert observed == expected


def test_a_thread_that_is_done_does_not_end_the_events_of_another():
    def window():
        list(numbers())
        in_thread(nested_calls, "w")
        in_thread(nested_calls, "w")

    flow = trace_of(window)
    last = len(flow.lanes[2].places) - 1
    plan = SamplePlan((("MainThread", 1), ("w", 2), ("w#2", last)))
    samples = trace_of(window, plan).samples
    assert [(sample.lane, sample.index) for sample in samples] == list(plan.points)


def test_threads_that_take_turns_are_each_counted_alone():
    turns = [threading.Semaphore(1), threading.Semaphore(0)]

    def work(me):
        for _ in range(20):
            turns[me].acquire()
            fib(3)
            turns[1 - me].release()

    def window():
        turns[:] = threading.Semaphore(1), threading.Semaphore(0)
        both = [threading.Thread(target=work, args=(me,), name=f"w{me}") for me in (0, 1)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()

    flow = trace_of(window)
    orders = [order for lane in flow.lanes for order in lane.order]
    assert sorted(orders) == list(range(len(orders)))
    assert all(list(lane.order) == sorted(lane.order) for lane in flow.lanes)
    one, two = flow.lanes[1:]
    assert (one.places, one.depths) == (two.places, two.depths)
    plan = SamplePlan((("w0", len(one.places) - 1), ("w1", 30)))
    found = {sample.lane: sample.position for sample in trace_of(window, plan).samples}
    assert found == {
        "w0": flow.positions[one.places[-1]],
        "w1": flow.positions[two.places[30]],
    }


@pytest.mark.parametrize("wanted", ["first", "stop"])
def test_what_was_set_before_is_put_back_after_an_early_end(wanted):
    def window():
        list(numbers())

    count = len(trace_of(window).lanes[0].places)
    plan = SamplePlan((("MainThread", 0 if wanted == "first" else count - 1),))

    def before(*_):
        return None

    kept = sys.gettrace(), threading.gettrace()
    sys.settrace(before)
    threading.settrace(before)
    try:
        assert len(trace_of(window, plan).samples) == 1
        found = sys.gettrace(), threading.gettrace()
    finally:
        sys.settrace(kept[0])
        threading.settrace(kept[1])
    assert found == (before, before)


@pytest.mark.parametrize("plan", [FlowPlan(), SamplePlan((("MainThread", 1 << 40),))], ids=repr)
def test_a_frame_that_was_left_is_not_held(plan):
    alive = []

    class Thing:
        pass

    def makes():
        thing = Thing()
        return weakref.ref(thing)

    def window():
        made = makes()
        alive.append(made() is not None)

    gc.disable()
    try:
        trace_of(window, plan)
    finally:
        gc.enable()
    assert alive == [False]
