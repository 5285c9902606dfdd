"""Work is shared among copies of a process, and none of it is lost."""

from __future__ import annotations

import os

import pytest

from twice.checker.sharing import can_share, share

pytestmark = pytest.mark.skipif(not can_share(), reason="processes are not copied here")


@pytest.mark.parametrize("processes", [1, 2, 3])
@pytest.mark.parametrize("pieces", [0, 1, 5, 3000])
def test_every_piece_is_done_once_and_in_its_place(pieces: int, processes: int) -> None:
    order = list(reversed(range(pieces)))
    assert share(lambda number: [number, "x"], order, processes) == [
        [number, "x"] for number in range(pieces)
    ]


def test_what_a_copy_takes_and_does_not_hand_over_is_done_here() -> None:
    first = os.getpid()

    def work(number: int) -> int:
        if os.getpid() != first:
            os._exit(9)
        return number

    assert share(work, range(50), 3) == list(range(50))


def test_an_error_in_a_piece_is_raised_whoever_takes_it() -> None:
    def work(number: int) -> int:
        if number == 7:
            raise ValueError("seven")
        return number

    with pytest.raises(ValueError, match="seven"):
        share(work, range(20), 2)


def test_no_pipe_stays_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    share(lambda number: number, range(10), 3)
    assert len(os.listdir("/proc/self/fd")) == before
