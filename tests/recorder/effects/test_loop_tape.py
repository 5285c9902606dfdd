"""What a recorded loop writes down reads back as it was, and other bytes than the recorded ones are found."""

from __future__ import annotations

import asyncio
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twice
from twice.errors import EffectMismatch
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.loops import recorded_loops
from twice.recorder.effects.loops.rounds import ROUNDS_IN_BLOCK, Round, RoundsWriter, read_rounds
from twice.recorder.effects.loops.socket_line import (
    AGAIN,
    RECEIVE,
    SEND,
    SocketReader,
    SocketWriter,
)
from twice.recorder.effects.loops.tape import LoopTape
from twice.recorder.effects.sources import LiveSource
from twice.recorder.redaction.policy import Policy
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.runrecord import RunRecord

TIMES = st.lists(st.floats(allow_nan=False), max_size=3)
ROUNDS = st.lists(
    st.tuples(
        st.lists(st.text(max_size=5), max_size=3),
        st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 3)), max_size=3),
        TIMES,
    ),
    max_size=2 * ROUNDS_IN_BLOCK + 5,
)


@given(ROUNDS, TIMES, st.integers(1, 50))
def test_rounds_read_back_however_they_are_cut(rounds: list[Any], before: list[float], every: int):
    blocks: list[Any] = []
    writer = RoundsWriter(blocks.append)
    for time in before:
        writer.add_time(time)
    for number, (arrivals, ready, times) in enumerate(rounds):
        writer.add(arrivals, ready)
        for time in times:
            writer.add_time(time)
            if not number % every:
                writer.flush()
    writer.flush()

    read = list(read_rounds(iter(blocks)))

    assert read == [Round([], [], deque(before)), *(Round(a, r, deque(t)) for a, r, t in rounds)]


class _Layer(EffectLayer):
    def __init__(self) -> None:
        super().__init__(LiveSource(), None, redaction=Redaction(Policy()))


def make_tape() -> LoopTape:
    return LoopTape(_Layer(), "main/loop:0", lambda _code: 0.0, 1)


def write_line(*pieces: bytes, accepted: int | None = None) -> SocketReader:
    """Send pieces on a recorded socket, and return what reads them back."""
    tape = make_tape()
    writer = SocketWriter(tape, "s")
    for piece in pieces:
        writer.send(piece, lambda: accepted)
    return SocketReader(make_tape(), "s", iter([writer.take()]))


def send(reader: SocketReader, *pieces: bytes) -> list[int]:
    """Send pieces on a replayed socket up to its end; how many bytes of each went out."""
    sent = [reader.send(piece, lambda: None) for piece in pieces]
    assert reader.next is None
    return sent


@given(st.lists(st.binary(max_size=30_000), min_size=1, max_size=4), st.data())
def test_one_other_byte_is_found_wherever_it_is(pieces: list[bytes], data: st.DataObject):
    assert send(write_line(*pieces), *pieces) == [len(each) for each in pieces]

    at = data.draw(st.integers(0, len(pieces) - 1))
    if pieces[at]:
        place = data.draw(st.integers(0, len(pieces[at]) - 1))
        other = bytearray(pieces[at])
        other[place] ^= 1
        with pytest.raises(EffectMismatch):
            send(write_line(*pieces), *pieces[:at], bytes(other), *pieces[at + 1 :])
    with pytest.raises(EffectMismatch):
        send(write_line(*pieces), *pieces[:at], pieces[at] + b"x", *pieces[at + 1 :])
    with pytest.raises(EffectMismatch):
        send(write_line(*pieces), *pieces, b"x")


def test_a_socket_that_took_a_part_takes_as_much_again():
    assert send(write_line(b"0123456789", accepted=4), b"0123456789") == [4]
    assert send(write_line(b"0123456789", accepted=4), b"0123xx") == [4]  # the rest did not go out
    with pytest.raises(EffectMismatch, match="0123"):
        send(write_line(b"0123456789", accepted=4), b"012x456789")


def test_a_secret_that_pieces_cut_is_blank_and_compares():
    pieces = [b"GET / HTTP/1.1\r\nAuthorization: Bea", b"rer abcDEF123456-very-secret", b"\r\n\r\n"]
    reader = write_line(*pieces)

    assert "very-secret" not in str(reader._events or reader.next)
    assert "very-secret" not in str(list(reader._events))
    assert send(reader, *pieces) == [len(each) for each in pieces]
    with pytest.raises(EffectMismatch):
        send(write_line(*pieces), pieces[0].replace(b"GET", b"PUT"), *pieces[1:])


def test_each_ending_of_a_call_comes_again():
    tape = make_tape()
    writer = SocketWriter(tape, "s")
    answers = iter([BlockingIOError(11, "again"), ConnectionResetError(104, "reset"), b"data"])

    def receive() -> bytes:
        answer = next(answers)
        if isinstance(answer, bytes):
            return answer
        raise answer

    for _ in range(3):
        try:
            writer.call(RECEIVE, receive)
        except OSError:
            continue
    events = writer.take()
    assert [how for _, how, _ in events] == [AGAIN, "raised", "returned"]
    reader = SocketReader(make_tape(), "s", iter([events]))

    with pytest.raises(BlockingIOError):
        reader.call(RECEIVE, receive)
    with pytest.raises(ConnectionResetError):
        reader.call(RECEIVE, receive)
    with pytest.raises(EffectMismatch, match=r"receive.* send"):
        reader.call(SEND, receive)
    assert reader.call(RECEIVE, receive) == b"data"


def test_a_callback_that_holds_up_the_loop_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(recorded_loops, "STALL_S", 0.01)
    place = f"held up the event loop for more than 0 s at {Path(__file__).name}:"
    with twice.recording(tmp_path / "a.twice", seed=1, records_loop=True) as run:

        async def hold_up() -> None:
            while not any(place in each for each in run._session.caveats):
                pass

        asyncio.run(hold_up())

    with RunRecord.open(tmp_path / "a.twice") as record:
        assert place in str((record.ending or {})["caveats"])
