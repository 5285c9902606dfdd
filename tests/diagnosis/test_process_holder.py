"""What a process is held by, where threads of the program run beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

from twice.diagnosis import process_holder, window
from twice.diagnosis.process_holder import Holder, list_possessions
from twice.worker.channel import Channel, inherited, pair
from twice.worker.process import ForkedWorker


def test_a_thread_that_ends_while_they_are_counted_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The count raised, in a thread of the program: this thread ended, and who waited for it waited for good."""
    alone = process_holder._count_threads()
    gone = str(1 << 30)  # more than the kernel gives out
    listed = process_holder._listdir
    monkeypatch.setattr(process_holder, "_listdir", lambda path: [*listed(path), gone])
    assert process_holder._count_threads() == alone


def test_an_error_of_the_tracer_ends_the_process_and_no_thread_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without an answer the caller executes from the top."""

    def leave(code: int) -> NoReturn:
        raise SystemExit(code)

    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(SystemExit), window._no_error_in_the_program():
        raise FileNotFoundError


@pytest.mark.fresh
def test_a_fork_that_stopped_further_on_prints_behind_what_it_had_printed(tmp_path: Path) -> None:
    """The process that it came from put the file back meanwhile, where it woke up late."""
    printed = os.open(tmp_path / "printed", os.O_RDWR | os.O_CREAT)
    begun, put_back = os.pipe(), os.pipe()
    ours, theirs = pair()
    process = os.fork()
    if process == 0:
        ours.close()
        _be_held(inherited(os.dup(theirs.fileno())), printed, begun, put_back)
    theirs.close()
    assert (ours.receive() or {})["fit"]
    with ForkedWorker(ours) as further:
        further.channel.send({"holds": True})
        assert (further.receive() or {})["fit"]
        with ForkedWorker(further.channel) as fork:
            fork.channel.send({"holds": False})
            assert fork.receive() == {"kind": "printed", "content": b"loaf 0\nloaf 1\n"}
    ours.close()
    os.waitpid(process, 0)


def _be_held(
    channel: Channel, printed: int, begun: tuple[int, int], put_back: tuple[int, int]
) -> NoReturn:
    """Print before and behind a second stop; the first process goes on when the last one has begun."""
    first, requests, read = os.getpid(), 0, process_holder._read

    def wake_up_late(descriptor: int, size: int) -> bytes:
        found = read(descriptor, size)
        return read(begun[0], 1) if os.getpid() == first and size == 1 else found

    def receive(most: int) -> list[int]:
        nonlocal requests
        requests += 1
        if os.getpid() == first and requests == 2:
            os.write(put_back[1], b".")
        return Channel.receive_descriptors(channel, most)

    process_holder._read = wake_up_late
    channel.receive_descriptors = receive  # type: ignore[method-assign]
    holder = Holder(channel, list_possessions())
    holder.hold()
    os.write(printed, b"loaf 0\n")
    holder.hold()
    os.write(begun[1], b".")
    os.read(put_back[0], 1)
    os.write(printed, b"loaf 1\n")
    channel.send({"kind": "printed", "content": os.pread(printed, 100, 0)})
    os._exit(0)
