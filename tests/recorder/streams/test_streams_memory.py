"""Raw views against public states: equal at every step, or not used."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.seeds import Seed
from twice.recorder.streams import Streams, memory
from twice.recorder.streams.memory import (
    bits_views,
    gauss_layout,
    gauss_view,
    mt19937_layout,
    pcg64_layout,
    random_layout,
    random_view,
)

steps = st.lists(st.integers(0, 4), max_size=12)


@given(st.integers(0, 2**64), steps)
def test_the_view_of_random_follows_its_state(seed, draws):
    rng = random.Random(seed)
    view = random_view(rng)
    for kind in draws:
        (
            rng.random,
            lambda: rng.getrandbits(20_000),
            lambda: rng.gauss(0, 1),
            lambda: rng.seed(kind),
            lambda: rng.shuffle([1, 2, 3]),
        )[kind]()

        assert bytes(view) == random_layout(rng.getstate())


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.PCG64DXSM])
@given(seed=st.integers(0, 2**64), draws=steps)
def test_the_views_of_pcg64_follow_its_state(kind, seed, draws):
    bits = kind(seed)
    rng, views = np.random.Generator(bits), bits_views(bits)
    for each in draws:
        (
            rng.random,
            lambda: rng.integers(0, 9, 3, dtype=np.uint32),
            lambda: bits.advance(10**30),
            lambda: rng.normal(size=5),
            lambda: rng.random(dtype=np.float32),
        )[each]()

        assert b"".join(views) == pcg64_layout(bits.state)


@given(st.integers(0, 2**32 - 1), steps)
def test_the_views_of_a_random_state_follow_its_state(seed, draws):
    rng = np.random.RandomState(seed)
    views, gauss = bits_views(rng._bit_generator), gauss_view(rng)
    for each in draws:
        (
            rng.rand,
            rng.standard_normal,
            lambda: rng.bytes(5000),
            lambda: rng.seed(each),
            lambda: rng.standard_normal(2),
        )[each]()
        state = rng.get_state(legacy=False)

        assert b"".join(views) == mt19937_layout(state)
        assert bytes(gauss) == gauss_layout(state["has_gauss"], state["gauss"])


def test_a_view_cannot_be_written_through():
    view = random_view(random.Random(1))

    with pytest.raises(TypeError):
        view[0] = 0


def test_an_algorithm_without_a_known_layout_has_no_view():
    assert bits_views(np.random.Philox(1)) is None


@pytest.mark.parametrize(
    "broken", ["_random_offset", "_pcg64_is_known", "_mt19937_is_known", "_gauss_offset"]
)
def test_a_position_has_the_same_bytes_without_the_views(monkeypatch, broken):
    def positions() -> list[bytes]:
        streams = Streams(Seed(5))
        rng, py = streams.numpy("np"), streams.python("py")
        legacy = np.random.RandomState(3)
        streams.adopt("legacy", legacy)
        streams.adopt("mt", np.random.MT19937(3))
        py_foreign = random.Random(3)
        streams.adopt("getter", lambda: py_foreign)
        found = []
        for _ in range(3):
            rng.integers(0, 9, dtype=np.uint32)
            py.gauss(0, 1)
            legacy.standard_normal()
            py_foreign.random()
            found.append(streams.positions())
        return found

    viewed = positions()
    monkeypatch.setattr(memory, broken, lambda: None)

    assert positions() == viewed


def test_memory_that_is_not_as_known_is_not_used(monkeypatch):
    """A wrong offset reads other memory of the object; the check against the state finds it."""
    monkeypatch.setattr(memory, "_random_offset", lambda: 12)
    monkeypatch.setattr(memory, "_gauss_offset", lambda: 24)

    assert random_view(random.Random(1)) is None
    rng = np.random.RandomState(1)
    rng.standard_normal()
    assert gauss_view(rng) is None
