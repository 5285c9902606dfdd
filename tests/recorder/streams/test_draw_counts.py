from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.seeds import Seed
from twice.recorder.streams import Streams, draw_counts, draws
from twice.recorder.streams.draw_counts import words_between


def adopted(generator: object) -> Streams:
    streams = Streams(Seed(1))
    streams.adopt("x", generator)
    return streams


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.PCG64DXSM])
@pytest.mark.parametrize("words", [0, 1, 1054, 10**20, 2**127 - 1])
def test_the_words_of_pcg64_are_counted_exactly(kind, words):
    bits = kind(7)
    streams = adopted(bits)
    before = streams.snapshot()
    bits.advance(words)

    assert draws(before, streams.snapshot()) == {"x": words}


@given(st.integers(0, 2**127 - 1), st.integers(0, 2**128 - 1))
def test_a_count_of_words_advances_to_the_same_state(words, seed):
    bits, other = np.random.PCG64(seed), np.random.PCG64(seed)
    streams = adopted(bits)
    before = streams.snapshot()
    bits.advance(words)
    other.advance(draws(before, streams.snapshot())["x"])

    assert other.state == bits.state


def test_drawn_words_are_counted_with_their_halves():
    streams = Streams(Seed(1))
    rng = streams.numpy("a")
    before = streams.snapshot()
    rng.random(1000)
    rng.integers(0, 2**31, 107, dtype=np.uint32)

    assert draws(before, streams.snapshot()) == {"a": 1054}


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_the_words_of_random_are_counted_exactly(first, second):
    streams = Streams(Seed(1))
    rng = streams.python("a")
    if first:
        rng.getrandbits(32 * first)
    before = streams.snapshot()
    if second:
        rng.getrandbits(32 * second)

    assert draws(before, streams.snapshot()) == {"a": second}


@pytest.mark.parametrize("words", [1, 623, 624, 625, 100_000])
@pytest.mark.parametrize("made", [np.random.MT19937, np.random.RandomState])
def test_the_words_of_mt19937_are_counted_exactly(made, words):
    generator = made(3)
    streams = adopted(generator)
    before = streams.snapshot()
    if isinstance(generator, np.random.RandomState):
        generator.bytes(4 * words)
    else:
        np.random.Generator(generator).integers(0, 2**32, words, dtype=np.uint32)

    assert draws(before, streams.snapshot()) == {"x": words}


@pytest.mark.parametrize("words", [1, 3, 4, 5, 1001])
def test_the_words_of_philox_are_counted_exactly(words):
    bits = np.random.Philox(3)
    bits.random_raw(2)
    streams = adopted(bits)
    before = streams.snapshot()
    bits.random_raw(words)

    assert draws(before, streams.snapshot()) == {"x": words}


def test_what_cannot_be_told_is_none():
    ahead, behind = np.random.PCG64(1), np.random.PCG64(1)
    ahead.advance(5)
    forward, back = adopted(ahead).snapshot(), adopted(behind).snapshot()
    other = adopted(np.random.PCG64(2)).snapshot()
    sfc = np.random.SFC64(1)
    streams = adopted(sfc)
    start = streams.snapshot()
    sfc.random_raw()

    assert draws(forward, back) == {"x": None}
    assert draws(back, other) == {"x": None}
    assert draws(start, streams.snapshot()) == {"x": None}
    assert draws({}, back) == {"x": None}
    assert draws(back, adopted(random.Random(1)).snapshot()) == {"x": None}
    assert words_between({"kind": "absent"}, {"kind": "absent"}) == 0


def test_mt19937_gives_up_on_an_unrelated_state(monkeypatch):
    monkeypatch.setattr(draw_counts, "MT19937_WORDS_MAX", 10_000)
    one, other = adopted(random.Random(1)).snapshot(), adopted(random.Random(2)).snapshot()

    assert draws(one, other) == {"x": None}
