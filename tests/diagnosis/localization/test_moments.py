"""Paired events as columns: what they answer is what the events themselves say."""

from __future__ import annotations

import itertools
from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twice.diagnosis.localization.moments import Flow, Moments
from twice.diagnosis.tracing.trace import Lane, Position, Trace

ACTIONS = st.lists(
    st.sampled_from(["call", "begin", "resume", "line", "return", "lose", "appear"]), max_size=60
)


def thread(actions):
    """Events, and the frames on the stack at each; every frame has a function of its own."""
    stack, left, events, numbers = [], [], [("outside", "start", 0)], itertools.count()
    stacks = [()]

    def happen(function, event):
        events.append((function, event, len(stack)))
        stacks.append(tuple(stack))

    for action in actions:
        if action in {"call", "begin"}:
            stack.append(next(numbers))
            happen(str(stack[-1]), action)
        elif action == "resume":
            fitting = [frame for frame, height in left if height == len(stack)]
            if fitting:
                stack.append(fitting[0])
                left.remove((fitting[0], len(stack) - 1))
                happen(str(stack[-1]), action)
        elif action == "appear":  # it was there before anything told of it
            stack.append(next(numbers))
            happen(str(stack[-1]), "line")
        elif stack and action == "lose":  # left without an event
            stack.pop()
            happen(str(stack[-1]) if stack else "outside", "line")
        elif stack:
            happen(str(stack[-1]), action)
            if action == "return":
                left.append((stack.pop(), len(stack)))
    return events, stacks


def trace_of(lanes, order):
    """Build a trace of lanes by name, whose events happened in an order of lane names."""
    positions, columns = {}, []
    for name, events in lanes.items():
        places = [
            positions.setdefault(Position("x.py", function, 1, event), len(positions))
            for function, event, *_ in events
        ]
        columns.append(
            Lane(
                name=name,
                places=array("I", places),
                depths=array("I", [event[2] for event in events]),
                scalars=array("Q", [event[3] if len(event) > 3 else 0 for event in events]),
                streams=array("Q", [0] * len(events)),
                order=array("Q", [at for at, of in enumerate(order) if of == name]),
            )
        )
    return Trace(positions=tuple(positions), lanes=tuple(columns))


def flow_of(side, lanes, order=None):
    names = [name for name, events in lanes.items() for _ in events]
    return Flow(side, trace_of(lanes, names if order is None else order))


@given(ACTIONS)
def test_the_stretches_of_a_frame_are_the_events_at_which_it_is_on_the_stack(actions):
    events, stacks = thread(actions)
    flow = flow_of("a", {"M": events})
    for index, stack in enumerate(stacks):
        for depth, frame in enumerate(stack):
            there = [
                at
                for start, end in flow.stretches("M", index, depth)
                for at in range(start, end + 1)
            ]
            assert there == [at for at, held in enumerate(stacks) if frame in held]
        for depth in (-1, len(stack)):
            assert flow.stretches("M", index, depth) == [(0, len(events) - 1)]


@given(ACTIONS, st.integers(0, 60), st.integers(0, 60))
def test_a_stretch_is_asked_for_its_returns_and_its_places(actions, first, last):
    events, _ = thread(actions)
    flow = flow_of("a", {"M": events})
    within = [index for index in range(first, last + 1) if index < len(events)]
    for depth in range(3):
        assert flow.returns("M", depth, first, last).tolist() == [
            index for index in within if events[index][1:] == ("return", depth + 1)
        ]
    here = {(flow.position("M", index), flow.depth("M", index)) for index in within}
    assert sorted(flow.list_visited("M", first, last)) == sorted(here)


def test_the_caller_of_a_frame_runs_after_its_return():
    events = [("f", "start", 1), ("f", "line", 1), ("g", "call", 2), ("g", "return", 2)]
    operation = flow_of("a", {"M": events}).running_after("M", 3)
    assert (operation.place.function, operation.depth) == ("f", 0)


EVENTS = st.lists(
    st.tuples(st.sampled_from("fgh"), st.just("line"), st.integers(0, 2), st.integers(0, 2)),
    max_size=30,
)
LANES = st.dictionaries(st.sampled_from(["M", "w0", "w1"]), EVENTS)


@st.composite
def sides(draw):
    one, two = draw(LANES), draw(LANES)
    order = draw(st.permutations([name for name, events in one.items() for _ in events]))
    return flow_of("a", one, order), flow_of("b", two)


@given(sides())
def test_moments_are_found_by_their_events(flows):
    moments = Moments(*flows)
    rows = [moments.all[number] for number in range(len(moments))]
    orders = [flows[0].lanes[row.lane].order[row.a] for row in rows]
    assert orders == sorted(orders)
    assert [flows[0].depth(row.lane, row.a) + 1 for row in rows] == moments.depths.tolist()
    assert moments.numbers.tolist() == list(range(len(rows)))
    for name in ("M", "w0", "w1", "nowhere"):
        own = {row.a: number for number, row in enumerate(rows) if row.lane == name}
        for index in range(-1, 32):
            before = [number for event, number in own.items() if event <= index]
            assert moments.at_or_before(name, index) == (before[-1] if before else None)
            assert moments.exact(name, index) == own.get(index)
        for events in ([], [0, 3, 4, 11]):
            numbers = moments.at(name, np.array(events, int)).tolist()
            assert numbers == [own[event] for event in events if event in own]
        stretches = [(2, 5), (9, 20)]
        inside = [number for event, number in own.items() if 2 <= event <= 5 or 9 <= event <= 20]
        assert moments.within(name, stretches).tolist() == inside
        assert moments.within(name, stretches[1:]).tolist() == [
            number for number in inside if rows[number].a >= 9
        ]


@given(sides())
def test_small_digests_flip_where_they_begin_or_cease_to_differ(flows):
    moments = Moments(*flows)
    flips, differing = [], dict[str, bool]()
    for number in range(len(moments)):
        row = moments.all[number]
        one, two = (
            flow.lanes[row.lane].scalars[at] for flow, at in zip(flows, (row.a, row.b), strict=True)
        )
        if (one != two) != differing.get(row.lane, False):
            flips.append(number)
        differing[row.lane] = one != two
    assert moments.cheap_flips().tolist() == flips


def test_windows_without_a_common_thread_have_no_moments():
    moments = Moments(flow_of("a", {"M": [("f", "line", 1, 0)]}), flow_of("b", {}))
    assert (len(moments), moments.unpaired, moments.cheap_flips().tolist()) == (0, (1, 0), [])
