"""``connect_ex`` answers as the real one does, while recording, in replay and where nothing is governed."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import recorded
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

ASK = """
import socket

def ask(address, timeout_s):
    with socket.socket() as asking:
        asking.settimeout(timeout_s)
        try:
            return [asking.connect_ex(address), asking.connect_ex(address)]
        except OSError as error:
            return repr(error)

ADDRESSES = [{silent}, {refusing}, ("no such name", 80)]

def ask_all():
    return [ask(ADDRESSES[0], 0.02), *(ask(ADDRESSES[1], each) for each in (5, 0)), ask(ADDRESSES[2], 5)]
"""
PROGRAM = """
import twice

@twice.effect
def ask_outside():
    return ask_all()

def main(run):
    run.compare("governed", ask_all())
    run.compare("outside", ask_outside())
    print(ask_all(), ask_outside(), sep="\\n")
"""


@pytest.fixture
def asked() -> Iterator[str]:
    """Code that asks a port that answers nothing, a closed one and an unknown host."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        refusing = closed.getsockname()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        silent = listening.getsockname()
        waiting = [socket.socket() for _ in range(3)]  # the queue is full: nobody else is answered
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(silent)
        yield ASK.format(silent=silent, refusing=refusing)
        for each in waiting:
            each.close()


def test_numbers_and_errors_are_those_of_the_real_one(tmp_path: Path, asked: str) -> None:
    real: dict[str, list[object]] = {}
    exec(asked + "answers = ask_all()", real)
    answers = real["answers"]
    with recorded(tmp_path, asked + PROGRAM) as record:
        path, printed = record.path, record.printed()[0].decode()

    assert answers[0][0] == errno.EAGAIN  # type: ignore[index]
    assert answers[1][0] == errno.ECONNREFUSED  # type: ignore[index]
    assert "gaierror" in str(answers[-1])
    assert printed.splitlines() == [str(answers)] * 2
    assert verify(path).result == "PASS"
