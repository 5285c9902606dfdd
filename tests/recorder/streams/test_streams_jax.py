"""Streams of JAX keys, where it is installed."""

from __future__ import annotations

import copy
import pickle

import pytest

from twice.errors import StreamShared, StreamStateRefused
from twice.foundation.encoding import decode, encode
from twice.foundation.seeds import Seed
from twice.recorder.streams import Streams, draws

pytestmark = pytest.mark.heavy

jax = pytest.importorskip("jax", reason="needs the extra twice[jax]")


def words(key) -> list[int]:
    return jax.random.key_data(key).tolist()


def test_keys_depend_on_name_and_number_alone():
    streams, other = Streams(Seed(42)), Streams(Seed(42))
    other.jax("first")
    stream, again = streams.jax("j"), other.jax("j")
    given = [words(stream.next()) for _ in range(4)]

    assert given == [words(again.key(n)) for n in range(4)]
    assert len({tuple(key) for key in given}) == 4
    assert words(stream.key()) == words(again.key(4))


def test_the_counter_is_position_snapshot_and_count():
    streams = Streams(Seed(42))
    stream = streams.jax("j")
    stream.next()
    saved, position = decode(encode(streams.snapshot())), streams.positions()
    first = words(stream.next())
    stream.next()
    assert draws(saved, streams.snapshot()) == {"j": 2}
    streams.restore(saved)

    assert streams.positions() == position
    assert words(stream.next()) == first


def test_numbers_past_32_bits_have_keys_of_their_own():
    stream = Streams(Seed(42)).jax("j")

    assert words(stream.key(2**32)) != words(stream.key(0))
    assert words(stream.key(2**32)) != words(stream.key(2**33))


def test_a_jax_stream_refuses_a_second_owner_and_a_state_that_does_not_fit():
    streams = Streams(Seed(1))
    stream = streams.jax("j")
    for share in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(StreamShared):
            share(stream)
    for position in (-1, 2**64, None):
        with pytest.raises(StreamStateRefused):
            streams.restore({"j": {**streams.snapshot()["j"], "position": position}})
