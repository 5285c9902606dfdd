"""Raw views against public states: equal at every step, or not used."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.seeds import Seed
from twice.recorder.streams import Streams, governed, numpy_streams
from twice.recorder.streams.governed import GovernedRandom, pack_random, view_memory
from twice.recorder.streams.numpy_streams import (
    GovernedRandomState,
    pack_bits,
    pack_gauss,
    view_bits,
    view_gauss,
)

steps = st.lists(st.integers(0, 4), max_size=12)


@given(st.integers(0, 2**64), steps)
def test_the_view_of_random_follows_its_state(seed, draws):
    rng = random.Random(seed)
    (view,) = GovernedRandom(rng).views
    for kind in draws:
        (
            rng.random,
            lambda: rng.getrandbits(20_000),
            lambda: rng.gauss(0, 1),
            lambda: rng.seed(kind),
            lambda: rng.shuffle([1, 2, 3]),
        )[kind]()

        assert bytes(view) == pack_random(rng)


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.PCG64DXSM])
@given(seed=st.integers(0, 2**64), draws=steps)
def test_the_views_of_pcg64_follow_its_state(kind, seed, draws):
    bits = kind(seed)
    rng, views = np.random.Generator(bits), view_bits(bits)
    for each in draws:
        (
            rng.random,
            lambda: rng.integers(0, 9, 3, dtype=np.uint32),
            lambda: bits.advance(10**30),
            lambda: rng.normal(size=5),
            lambda: rng.random(dtype=np.float32),
        )[each]()

        assert b"".join(views) == pack_bits(bits)


@given(st.integers(0, 2**32 - 1), steps)
def test_the_views_of_a_random_state_follow_its_state(seed, draws):
    rng = np.random.RandomState(seed)
    bits = rng._bit_generator
    views, (gauss,) = view_bits(bits), view_gauss(rng)
    for each in draws:
        (
            rng.rand,
            rng.standard_normal,
            lambda: rng.bytes(5000),
            lambda: rng.seed(each),
            lambda: rng.standard_normal(2),
        )[each]()

        assert b"".join(views) == pack_bits(bits)
        assert bytes(gauss) == pack_gauss(rng)


def test_a_view_cannot_be_written_through():
    held = random.Random(1)
    view = view_memory(id(held), 16)

    with pytest.raises(TypeError):
        view[0] = 0


def test_an_algorithm_without_a_known_layout_has_no_view():
    assert view_bits(np.random.Philox(1)) == ()


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (governed, "_CAN_VIEW", False),
        (numpy_streams, "_has_known_struct", lambda _kind: False),
        (numpy_streams, "_has_known_gauss", lambda: False),
    ],
)
def test_a_position_has_the_same_bytes_without_the_views(monkeypatch, module, name, value):
    def positions() -> list[bytes]:
        streams = Streams(Seed(5))
        rng, py = streams.numpy("np"), streams.python("py")
        legacy, modern = np.random.RandomState(3), np.random.RandomState(np.random.PCG64(3))
        streams.adopt("legacy", legacy)
        streams.adopt("modern", modern)
        streams.adopt("mt", np.random.MT19937(3))
        py_foreign = random.Random(3)
        streams.adopt("getter", lambda: py_foreign)
        found = []
        for _ in range(3):
            rng.integers(0, 9, dtype=np.uint32)
            py.gauss(0, 1)
            legacy.standard_normal()
            modern.standard_normal()
            py_foreign.random()
            found.append(streams.positions())
        legacy._bit_generator = np.random.MT19937(9)  # as np.random.set_bit_generator does
        return [*found, streams.positions()]

    viewed = positions()
    monkeypatch.setattr(module, name, value)

    assert positions() == viewed


def test_memory_that_is_not_as_declared_is_not_used(monkeypatch):
    """A wrong offset reads other memory of the object; the check against the state finds it."""
    monkeypatch.setattr(governed, "_HEAD_BYTES", 12)
    monkeypatch.setattr(numpy_streams, "_GAUSS_OFFSET", 24)

    assert GovernedRandom(random.Random(1)).views == ()
    rng = np.random.RandomState(1)
    rng.standard_normal()
    assert GovernedRandomState(rng).views == ()
    assert not numpy_streams._has_known_gauss.__wrapped__()
