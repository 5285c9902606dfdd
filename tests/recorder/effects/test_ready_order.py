"""What a loop finds readable at once comes in the order of the record, whatever order a poll has."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from selectors import SelectorKey

import pytest

from twice.recorder.effects import ops
from twice.recorder.effects.network.turns import Turns
from twice.recorder.effects.outcomes import RETURNED

TOGETHER = (0, 0, "")  # no round between it and the reply before it, no timer, no sender


class Connection:
    """A connection whose reply is a byte in a pair of sockets."""

    thread = 0

    def __init__(self, key: str) -> None:
        self.key = key
        self.near, self.far = socket.socketpair()

    @property
    def descriptor(self) -> int:
        return self.near.fileno()

    def plays(self, key: str, number: int) -> bool:
        return (key, number) == (self.key, 0)

    def show(self) -> None:
        """Do nothing: the test itself shows the connection."""

    def can_give(self, number: int) -> bool:
        return number == 0

    def idle(self) -> None:
        """Nothing is to be done."""

    def is_held_back(self) -> bool:
        return False


@pytest.fixture
def connections() -> Iterator[list[Connection]]:
    made = [Connection("first"), Connection("second")]
    yield made
    for each in made:
        each.near.close()
        each.far.close()


@pytest.mark.skipif(not hasattr(select, "epoll"), reason="a poll of Linux")
def test_a_descriptor_that_was_read_in_the_round_before_is_not_first_again(
    connections: list[Connection],
) -> None:
    first, second = connections
    events = {
        each.key: [(ops.RECEIVED.number, ((0, 0, 0, *TOGETHER), (RETURNED, b"x")))]
        for each in connections
    }
    turns = Turns(["first", "second"], events)
    for each in connections:
        turns.join(each)
    with select.epoll() as poll:
        for each in connections:
            poll.register(each.near, select.EPOLLIN)
        second.far.send(b"x")
        poll.poll(0)
        second.near.recv(1)
        for each in connections:
            each.far.send(b"x")
        found = [fd for fd, _ in poll.poll(0)]
    assert found == [second.descriptor, first.descriptor], "the kernel's order"
    other = SelectorKey(None, -5, 1, None)
    ready = [(SelectorKey(None, fd, 1, None), 1) for fd in found]
    ready.insert(1, (other, 1))

    turns.sort_ready(ready)

    assert [key.fd for key, _ in ready] == [first.descriptor, -5, second.descriptor]
