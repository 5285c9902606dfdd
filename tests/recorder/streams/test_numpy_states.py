from __future__ import annotations

import numpy as np
import pytest

from twice.errors import StreamStateRefused
from twice.recorder.streams.numpy_streams import from_plain, pack_plain, to_plain

KINDS = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"]


@pytest.mark.parametrize("name", KINDS)
def test_a_state_survives_being_made_plain(name):
    bits = getattr(np.random, name)(3)
    np.random.Generator(bits).random(5, dtype=np.float32)
    state = {"kind": "numpy", **to_plain(bits.state)}
    expected = bits.random_raw(5).tolist()
    other = getattr(np.random, name)(4)
    other.state = from_plain(state, like=other.state, kind="numpy")

    assert other.random_raw(5).tolist() == expected


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("MT19937", {"state": {"pos": 625}}),
        ("MT19937", {"state": {"pos": -1}}),
        ("MT19937", {"state": {"key": {"dtype": "<u4", "bytes": b"1234"}}}),
        ("MT19937", {"state": {"key": {"dtype": "<u8", "bytes": bytes(2496)}}}),
        ("Philox", {"buffer_pos": 5}),
        ("Philox", {"buffer_pos": -1}),
        ("Philox", {"buffer": b""}),
        ("SFC64", {"state": {"state": None}}),
    ],
)
def test_a_state_that_would_make_numpy_read_foreign_memory_is_refused(name, change):
    bits = getattr(np.random, name)(3)
    state = {"kind": "numpy", **to_plain(bits.state)}
    for key, value in change.items():
        state[key] = {**state[key], **value} if isinstance(value, dict) else value
    with pytest.raises(StreamStateRefused):
        from_plain(state, like=bits.state, kind="numpy")

    assert bits.random_raw() == getattr(np.random, name)(3).random_raw()


def test_the_slow_layout_tells_states_apart():
    bits = np.random.Philox(3)
    before = pack_plain(to_plain(bits.state))
    bits.random_raw()

    assert pack_plain(to_plain(bits.state)) != before
