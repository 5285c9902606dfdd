"""Streams of torch, where it is installed."""

from __future__ import annotations

import copy
import pickle

import pytest

from twice.errors import StreamReseeded, StreamShared, StreamStateRefused
from twice.foundation.encoding import decode, encode
from twice.foundation.seeds import Seed, derive
from twice.recorder.streams import Streams, draws

pytestmark = pytest.mark.heavy

torch = pytest.importorskip("torch", reason="needs the extra twice[torch]")


def test_a_torch_stream_draws_what_torch_draws_from_the_sub_seed():
    stream = Streams(Seed(42)).torch("t")
    plain = torch.Generator().manual_seed(derive(Seed(42), "t").value & (2**64 - 1))

    assert torch.equal(torch.randn(20, generator=stream), torch.randn(20, generator=plain))


def test_a_torch_stream_is_restored_in_place_with_the_normal_it_keeps():
    streams = Streams(Seed(42))
    stream = streams.torch("t")
    torch.randn(3, generator=stream)
    saved, position = decode(encode(streams.snapshot())), streams.positions()
    first = torch.randn(3, generator=stream)
    assert streams.positions() != position
    streams.restore(saved)

    assert streams.positions() == position
    assert torch.equal(torch.randn(3, generator=stream), first)
    with streams.restoring():
        assert streams.torch("t") is stream


@pytest.mark.parametrize("words", [0, 1, 624, 1054])
def test_the_words_of_torch_are_counted_exactly(words):
    streams = Streams(Seed(42))
    stream = streams.torch("t")
    before = streams.snapshot()
    torch.empty(words).random_(generator=stream)

    assert draws(before, streams.snapshot()) == {"t": words}


@pytest.mark.parametrize(
    "share", [copy.copy, copy.deepcopy, pickle.dumps, lambda stream: stream.clone_state()]
)
def test_a_torch_stream_refuses_a_second_owner(share):
    with pytest.raises(StreamShared, match="'t'"):
        share(Streams(Seed(1)).torch("t"))


@pytest.mark.parametrize("seed", [lambda s: s.seed(), lambda s: s.manual_seed(1)])
def test_a_torch_stream_is_not_seeded_again(seed):
    with pytest.raises(StreamReseeded, match="'t'"):
        seed(Streams(Seed(1)).torch("t"))


def test_a_state_that_does_not_fit_is_refused():
    streams = Streams(Seed(1))
    streams.torch("t")
    for state in ({"kind": "torch:cpu", "state": b"short"}, {"kind": "numpy"}):
        with pytest.raises(StreamStateRefused):
            streams.restore({"t": state})


def test_the_default_generators_are_governed_and_put_back():
    before = torch.get_rng_state()
    streams = Streams(Seed(42))
    streams.govern_globals()
    try:
        saved = decode(encode(streams.snapshot()))
        first = torch.rand(3)
        assert "global/torch" in streams.globals_used()
        streams.restore(saved)
        assert torch.equal(torch.rand(3), first)
    finally:
        streams.release_globals()

    assert torch.equal(torch.get_rng_state(), before)


def test_a_foreign_torch_generator_is_adopted():
    streams = Streams(Seed(1))
    foreign = torch.Generator().manual_seed(3)
    streams.adopt("loader", foreign)
    saved = streams.snapshot()
    first = torch.rand(2, generator=foreign)
    streams.restore(saved)

    assert torch.equal(torch.rand(2, generator=foreign), first)
