"""Streams of operations are aligned, and the first operation with equal inputs and other outputs is found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twice.diagnosis.operations.stream import (
    OperationStream,
    Pair,
    compare_streams,
    find_unsteady,
)

STEADY = (frozenset[int](), frozenset[int]())
Row = tuple[str, int, int]
rows = st.lists(
    st.tuples(st.sampled_from(["add", "mm", "view"]), st.integers(1, 9), st.integers(1, 9)),
    max_size=40,
)


def stream(operations: Sequence[Row]) -> OperationStream:
    names = list(dict.fromkeys(name for name, _, _ in operations))
    columns = np.array([(names.index(n), i, o) for n, i, o in operations], "<u8").reshape(-1, 3)
    return OperationStream(names, *columns.T)


@given(rows)
def test_a_stream_does_not_differ_from_itself(operations: list[Row]) -> None:
    parting = compare_streams(stream(operations), stream(operations), STEADY)
    assert parting.first is None
    assert parting.extra == (0, 0)


@given(rows, rows)
def test_pairs_have_one_name_and_what_has_no_counterpart_is_counted(
    one: list[Row], two: list[Row]
) -> None:
    a, b = stream(one), stream(two)
    parting = compare_streams(a, b, STEADY)
    for pair in (parting.operation, parting.other):
        assert pair is None or a.name(pair.a) == b.name(pair.b)
    assert len(a) - parting.extra[0] == len(b) - parting.extra[1]


@given(rows.filter(bool), st.data())
def test_one_changed_result_is_found_where_it_is(
    operations: list[Row], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(operations) - 1))
    name, inputs, outputs = operations[at]
    changed = [*operations[:at], (name, inputs, outputs + 10), *operations[at + 1 :]]
    parting = compare_streams(stream(operations), stream(changed), STEADY)
    assert parting.operation == parting.first == Pair(at, at)


def test_an_operation_whose_inputs_differ_is_not_to_blame() -> None:
    a, b = stream([("mm", 1, 1), ("mm", 2, 2)]), stream([("mm", 1, 1), ("mm", 3, 3)])
    parting = compare_streams(a, b, STEADY)
    assert parting.operation is None
    assert parting.other == Pair(1, 1)


def test_inputs_that_could_not_be_read_are_not_equal() -> None:
    parting = compare_streams(stream([("mm", 0, 1)]), stream([("mm", 0, 2)]), STEADY)
    assert (parting.operation, parting.other) == (None, Pair(0, 0))


def test_operations_of_one_side_are_passed_over_and_said() -> None:
    shared: list[Row] = [("mm", n, n) for n in range(1, 6)]
    a = stream([*shared[:2], *shared[2:], ("add", 9, 1)])
    b = stream([*shared[:2], ("exp", 7, 7), ("log", 8, 8), *shared[2:], ("add", 9, 2)])
    parting = compare_streams(a, b, STEADY)
    assert parting.branch == Pair(2, 2)
    assert parting.operation == Pair(5, 7)
    assert parting.extra == (0, 2)


def test_an_end_on_one_side_is_a_branch() -> None:
    parting = compare_streams(stream([("mm", 1, 1)]), stream([("mm", 1, 1), ("mm", 2, 2)]), STEADY)
    assert (parting.branch, parting.extra) == (Pair(1, 1), (0, 1))


def test_an_operation_that_does_not_give_the_same_twice_is_left_out() -> None:
    a, again = stream([("mm", 1, 1), ("mm", 2, 2)]), stream([("mm", 1, 5), ("mm", 2, 2)])
    b = stream([("mm", 1, 7), ("mm", 2, 3)])
    assert find_unsteady(a, again) == {0}
    assert compare_streams(a, b, (find_unsteady(a, again), frozenset())).operation == Pair(1, 1)
