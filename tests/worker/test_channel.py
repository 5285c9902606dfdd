"""A message arrives whole or not at all, whatever becomes of the other side and however little time there is."""

from __future__ import annotations

import socket
import struct

import pytest

from twice.errors import ProgramFailed, TwiceError, UsageError
from twice.foundation.encoding import encode
from twice.worker.channel import Channel, revive_error, tell_error

MESSAGE = {"kind": "told", "values": list(range(50))}
PAYLOAD = encode(MESSAGE)
SENT = struct.pack("<I", len(PAYLOAD)) + PAYLOAD


@pytest.fixture
def ends() -> tuple[Channel, socket.socket]:
    ours, theirs = socket.socketpair()
    return Channel(ours), theirs


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 5, len(SENT) - 1])
def test_a_message_that_is_cut_is_the_end(ends: tuple[Channel, socket.socket], cut: int) -> None:
    channel, theirs = ends
    theirs.sendall(SENT[:cut])
    theirs.close()
    assert channel.receive() is None


@pytest.mark.parametrize("timeout_s", [0, 0.001])
@pytest.mark.parametrize("cut", [0, 2, 4, 9])
def test_a_message_that_is_late_is_not_lost(
    ends: tuple[Channel, socket.socket], cut: int, timeout_s: float
) -> None:
    channel, theirs = ends
    theirs.sendall(SENT[:cut])
    with pytest.raises(TimeoutError):
        channel.receive(timeout_s)
    theirs.sendall(SENT[cut:] + SENT)
    assert [channel.receive(), channel.receive()] == [MESSAGE, MESSAGE]


def test_sending_to_nobody_does_nothing(ends: tuple[Channel, socket.socket]) -> None:
    channel, theirs = ends
    theirs.close()
    channel.send(MESSAGE)
    assert channel.receive() is None


def test_an_error_arrives_as_it_was() -> None:
    error = ProgramFailed("It died.", "Expected life.", "Try again.", exit_code=3, place=object)
    told = revive_error(tell_error(error))
    assert (type(told), str(told)) == (ProgramFailed, str(error))
    assert (told.fields["exit_code"], told.fields["place"]) == (3, repr(object))


def test_an_error_that_is_not_known_is_the_root_of_all() -> None:
    told = revive_error({**tell_error(UsageError("a", "b", "c")), "id": "os"})
    assert type(told) is TwiceError
