"""Two outputs that differ in the order of their lines alone, and those that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.replayer.output_difference import have_same_lines


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (b"a\nb\n", b"b\na\n", True),
        (b"a\nb\n", b"a\nc\n", False),
        (b"a\na\nb\n", b"a\nb\nb\n", False),
        (b"job 0: 0job 1: 175\n\n", b"job 1: 175\njob 0: 0\n", True),
        (b"job 0: 0job 1: 175\n\n", b"job 1: 157\njob 0: 0\n", False),
        (b"job 1: 175\n", b"job 1: 517\n", False),
        (b"aab\n\n\na\n", b"a\na\nb\na\n", True),
        (b"aab\n\n\n", b"aab\n", False),
        (b"job 0: 0job 1: 175\n\njob 16: 906\n", b"job 0: 0\njob 1: 175job 16: 906\n\n", True),
        (b"job 0: 0job 1: 175\n\njob 16: 906\n", b"job 0: 0\njob 1: 157job 16: 906\n\n", False),
        (b"", b"", True),
    ],
)
def test_lines_are_the_same_in_any_order(one: bytes, other: bytes, expected: bool) -> None:
    assert have_same_lines(one, other) is expected
    assert have_same_lines(other, one) is expected


@given(st.lists(st.text("ab12: ", max_size=6), max_size=8), st.randoms())
def test_shuffled_lines_are_the_same(lines: list[str], order: object) -> None:
    shuffled = list(lines)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = ("".join(f"{line}\n" for line in each).encode() for each in (lines, shuffled))
    assert have_same_lines(one, other)


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_the_same_lines_are_the_same_bytes(one: bytes, other: bytes) -> None:
    if have_same_lines(one, other):
        assert sorted(one) == sorted(other)
