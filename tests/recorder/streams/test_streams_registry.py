from __future__ import annotations

import copy
import functools
import pickle
import random
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import (
    ComponentRefused,
    ExtraMissing,
    SeedNameRefused,
    StreamOffThread,
    StreamReseeded,
    StreamShared,
    StreamStateRefused,
    StreamTaken,
)
from twice.foundation.encoding import decode, encode
from twice.foundation.seeds import Seed, derive
from twice.recorder.streams import Streams, draws
from twice.recorder.streams.numpy_streams import PCG64

MASTER = Seed(42)


def some_draws(rng: np.random.Generator) -> list:
    return [
        rng.random(),
        rng.integers(0, 100, 3).tolist(),
        int(rng.integers(0, 2**31, dtype=np.uint32)),
        rng.normal(size=2).tolist(),
        rng.permutation(5).tolist(),
        float(rng.random(dtype=np.float32)),
    ]


def more_draws(rng: random.Random) -> list:
    return [rng.random(), rng.randrange(10**9), rng.gauss(0, 1), rng.sample(range(9), 4)]


@given(st.integers(0, 2**256 - 1), st.sampled_from(["a", "env/3/reset", "é"]))
def test_a_numpy_stream_draws_what_numpy_draws_from_the_sub_seed(master, name):
    stream = Streams(Seed(master)).numpy(name)
    plain = np.random.Generator(np.random.PCG64(derive(Seed(master), name).value))

    assert some_draws(stream) == some_draws(plain)


@given(st.integers(0, 2**256 - 1))
def test_a_python_stream_draws_what_random_draws_from_the_sub_seed(master):
    stream = Streams(Seed(master)).python("a")
    plain = random.Random(derive(Seed(master), "a").value)

    assert more_draws(stream) == more_draws(plain)


@given(st.permutations(["env", "policy", "buffer"]))
def test_adding_or_reordering_streams_moves_no_other(order):
    alone = {name: Streams(MASTER).numpy(name).random() for name in order}
    streams = Streams(MASTER)
    streams.numpy("augment").random(100)
    together = {name: streams.numpy(name).random() for name in order}

    assert together == alone


def test_a_name_is_taken_once():
    streams = Streams(MASTER)
    streams.numpy("a")

    for take in (streams.numpy, streams.python, lambda name: streams.adopt(name, random.Random())):
        with pytest.raises(StreamTaken, match="'a'"):
            take("a")


@pytest.mark.parametrize("name", ["global", "global/random", "global/x"])
def test_names_of_the_shared_generators_are_reserved(name):
    with pytest.raises(StreamTaken, match="reserved"):
        Streams(MASTER).numpy(name)


def test_a_name_that_cannot_be_one_is_refused():
    with pytest.raises(SeedNameRefused):
        Streams(MASTER).numpy("a//b")


def test_a_stream_is_not_taken_on_another_thread():
    streams = Streams(MASTER)
    caught: list[BaseException] = []

    def take() -> None:
        try:
            streams.numpy("a")
        except StreamOffThread as error:
            caught.append(error)

    thread = threading.Thread(target=take, name="worker-7")
    thread.start()
    thread.join()

    assert "worker-7" in str(caught[0])
    assert streams.names() == []


@pytest.mark.parametrize(
    "share",
    [
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
        lambda rng: rng.spawn(2),
        lambda rng: copy.deepcopy(rng.bit_generator),
        lambda rng: pickle.dumps(rng.bit_generator),
        lambda rng: rng.bit_generator.spawn(1),
        lambda rng: rng.bit_generator.seed_seq.spawn(1),
        lambda rng: rng.bit_generator.jumped(),
        lambda rng: copy.deepcopy({"rng": rng}),
    ],
)
def test_a_numpy_stream_refuses_a_second_owner(share):
    with pytest.raises(StreamShared, match="'env/0'"):
        share(Streams(MASTER).numpy("env/0"))


@pytest.mark.parametrize("share", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_python_stream_refuses_a_second_owner(share):
    with pytest.raises(StreamShared, match="'env/0'"):
        share(Streams(MASTER).python("env/0"))


@pytest.mark.parametrize("seed", [lambda rng: rng.seed(), lambda rng: rng.seed(5)])
def test_a_python_stream_is_not_seeded_again(seed):
    stream = Streams(MASTER).python("a")
    with pytest.raises(StreamReseeded):
        seed(stream)

    assert stream.random() == random.Random(derive(MASTER, "a").value).random()


def test_restoring_rewinds_every_alias_in_place():
    streams = Streams(MASTER)
    rng, py = streams.numpy("np"), streams.python("py")
    aliases = [
        rng.random,
        functools.partial(rng.normal, size=2),
        np.random.Generator(rng.bit_generator).random,
        np.random.RandomState(rng.bit_generator).rand,
        py.random,
        {"bound": py.gauss}["bound"],
    ]
    for draw in aliases:
        draw()
    saved, position = streams.snapshot(), streams.positions()
    first = [np.asarray(draw()).tolist() for draw in aliases]
    assert streams.positions() != position
    streams.restore(saved)
    assert streams.positions() == position

    assert [np.asarray(draw()).tolist() for draw in aliases] == first


def test_the_half_word_of_pcg64_is_part_of_position_and_snapshot():
    streams = Streams(MASTER)
    rng = streams.numpy("a")
    rng.integers(0, 2**31, dtype=np.uint32)
    saved, position = streams.snapshot(), streams.positions()
    assert saved["a"]["has_uint32"] == 1
    first = rng.integers(0, 2**31, 3, dtype=np.uint32).tolist()
    rng.integers(0, 2**31, dtype=np.uint32)
    streams.restore(saved)

    assert streams.positions() == position
    assert rng.integers(0, 2**31, 3, dtype=np.uint32).tolist() == first


def test_a_half_word_alone_moves_the_position():
    streams = Streams(MASTER)
    rng = streams.numpy("a")
    rng.integers(0, 2**31, dtype=np.uint32)
    before = streams.positions()
    rng.integers(0, 2**31, dtype=np.uint32)

    assert streams.positions() != before


def test_the_second_gaussian_of_random_is_part_of_position_and_snapshot():
    streams = Streams(MASTER)
    rng = streams.python("a")
    rng.gauss(0, 1)
    saved, position = streams.snapshot(), streams.positions()
    second = rng.gauss(0, 1)
    assert streams.positions() != position
    streams.restore(saved)

    assert streams.positions() == position
    assert rng.gauss(0, 1) == second


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "p"]), st.integers(0, 5)), max_size=20),
    st.integers(0, 20),
)
def test_running_on_from_a_snapshot_equals_running_through(steps, cut):
    def run(streams: Streams, rngs: dict, part: list) -> list:
        drawn = []
        for name, kind in part:
            rng = rngs[name]
            if name == "p":
                drawn.append((rng.random, lambda r=rng: r.gauss(0, 1))[kind % 2]())
            else:
                drawn.append(some_draws(rng)[kind])
        return drawn

    def fresh() -> tuple[Streams, dict]:
        streams = Streams(MASTER)
        return streams, {"a": streams.numpy("a"), "b": streams.numpy("b"), "p": streams.python("p")}

    streams, rngs = fresh()
    run(streams, rngs, steps[:cut])
    saved = decode(encode(streams.snapshot()))
    rest = run(streams, rngs, steps[cut:])
    again, others = fresh()
    again.restore(saved)

    assert run(again, others, steps[cut:]) == rest
    assert again.positions() == streams.positions()


def test_a_snapshot_holds_plain_values_only():
    streams = Streams(MASTER)
    streams.numpy("a")
    streams.python("p").gauss(0, 1)
    streams.adopt("philox", np.random.Generator(np.random.Philox(3)))
    streams.adopt("legacy", np.random.RandomState(3))

    def kinds(value) -> set:
        if isinstance(value, dict):
            return set().union({str}, *map(kinds, value.values()))
        return {type(value)}

    assert kinds(streams.snapshot()) <= {str, int, bytes, float, type(None)}
    assert decode(encode(streams.snapshot())) == streams.snapshot()


def test_a_stream_taken_after_the_restore_gets_its_state_then():
    streams = Streams(MASTER)
    streams.numpy("early")
    late = streams.numpy("late")
    late.random(7)
    saved = streams.snapshot()
    expected = late.random(3).tolist()
    again = Streams(MASTER)
    again.numpy("early")
    again.restore(saved)

    assert again.names() == ["early"]
    assert again.numpy("late").random(3).tolist() == expected


def test_a_stream_taken_after_the_snapshot_is_free_again_and_at_its_beginning():
    streams = Streams(MASTER)
    streams.numpy("early")
    saved = streams.snapshot()
    late = streams.numpy("late")
    first = late.random(3).tolist()
    streams.restore(saved)
    assert streams.names() == ["early"]
    again = streams.numpy("late")

    assert again is late
    assert again.random(3).tolist() == first


def test_a_name_given_back_may_be_taken_as_another_kind():
    streams = Streams(MASTER)
    streams.numpy("a")
    streams.restore({})

    assert isinstance(streams.python("a"), random.Random)


def test_inside_restoring_a_known_name_gives_the_same_stream():
    streams = Streams(MASTER)
    rng, py = streams.numpy("np"), streams.python("py")
    with streams.restoring():
        assert streams.numpy("np") is rng
        assert streams.python("py") is py
        with pytest.raises(StreamTaken):
            streams.python("np")
    with pytest.raises(StreamTaken):
        streams.numpy("np")


def test_restoring_ends_when_a_restore_fails():
    streams = Streams(MASTER)
    streams.numpy("a")
    with pytest.raises(ZeroDivisionError), streams.restoring():
        raise ZeroDivisionError

    with pytest.raises(StreamTaken):
        streams.numpy("a")


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "python"},
        {"bit_generator": "PCG64DXSM"},
        {"has_uint32": 2},
        {"uinteger": 2**32},
        {"uinteger": None},
        {"state": {"state": -1, "inc": 1}},
        {"state": {"state": 1}},
        {"state": 5},
        {"more": 1},
    ],
)
def test_a_state_that_does_not_fit_a_numpy_stream_is_refused(change):
    streams = Streams(MASTER)
    streams.numpy("a")
    state = streams.snapshot()["a"]
    with pytest.raises(StreamStateRefused) as caught:
        streams.restore({"a": {**state, **change}})

    assert caught.value.id == "E-RNG-004"


@pytest.mark.parametrize(
    "change", [{"kind": "numpy"}, {"index": 625}, {"index": -1}, {"words": b""}, {"version": 2}]
)
def test_a_state_that_does_not_fit_a_python_stream_is_refused(change):
    streams = Streams(MASTER)
    streams.python("a")
    state = streams.snapshot()["a"]
    with pytest.raises(StreamStateRefused):
        streams.restore({"a": {**state, **change}})


def test_positions_ask_no_generator_for_its_state(monkeypatch):
    """One thousand ticks with ten streams and a Python stream: state is read at snapshots only."""
    asked = {"numpy": 0, "python": 0}
    state = np.random.PCG64.state

    def counted(self):
        asked["numpy"] += 1
        return state.__get__(self)

    monkeypatch.setattr(PCG64, "state", property(counted, state.__set__), raising=False)
    streams = Streams(MASTER)
    rngs = [streams.numpy(f"c/{i}") for i in range(10)]
    py = streams.python("py")
    getstate = type(py).getstate
    monkeypatch.setattr(
        type(py),
        "getstate",
        lambda self: asked.__setitem__("python", asked["python"] + 1) or getstate(self),
    )
    asked.update(numpy=0, python=0)
    seen = set()
    for _ in range(1000):
        rngs[3].random()
        py.random()
        seen.add(streams.positions())
    assert asked == {"numpy": 0, "python": 0}
    streams.snapshot()

    assert asked == {"numpy": 10, "python": 1}
    assert len(seen) == 1000


def test_positions_are_equal_exactly_where_names_seeds_and_draws_are():
    def positions(name: str, count: int, master: Seed = MASTER) -> bytes:
        streams = Streams(master)
        streams.numpy(name).random(count)
        return streams.positions()

    assert positions("a", 3) == positions("a", 3)
    assert (
        len({positions("a", 3), positions("a", 4), positions("b", 3), positions("a", 3, Seed(1))})
        == 4
    )


def test_an_adopted_generator_joins_positions_and_snapshots():
    for made in (
        np.random.default_rng(3),
        np.random.Generator(np.random.Philox(3)),
        np.random.Generator(np.random.SFC64(3)),
        np.random.Generator(np.random.MT19937(3)),
        np.random.Generator(np.random.PCG64DXSM(3)),
        np.random.RandomState(3),
        random.Random(3),
    ):
        streams = Streams(MASTER)
        streams.adopt("env", made)
        draw = made.random if hasattr(made, "random") else made.rand
        draw()
        saved, position = decode(encode(streams.snapshot())), streams.positions()
        first = [draw() for _ in range(3)]
        assert streams.positions() != position
        streams.restore(saved)

        assert streams.positions() == position
        assert [draw() for _ in range(3)] == first
        assert streams.ledger()["env"]["seed"] is None


def test_the_second_gaussian_of_a_random_state_is_part_of_its_position():
    streams = Streams(MASTER)
    legacy = np.random.RandomState(5)
    streams.adopt("legacy", legacy)
    legacy.standard_normal()
    saved, position = streams.snapshot(), streams.positions()
    second = legacy.standard_normal()
    assert streams.positions() != position
    streams.restore(saved)

    assert streams.positions() == position
    assert legacy.standard_normal() == second


def test_a_getter_is_asked_again_because_owners_replace_their_generator():
    class Env:
        np_random = None

        def reset(self, seed: int) -> None:
            self.np_random = np.random.default_rng(seed)

    env, streams = Env(), Streams(MASTER)
    streams.adopt("env/np_random", lambda: env.np_random)
    absent, nothing = streams.positions(), streams.snapshot()
    assert nothing["env/np_random"] == {"kind": "absent"}
    env.reset(1)
    begun = streams.positions()
    env.np_random.random()
    drawn = streams.positions()
    env.reset(1)

    assert streams.positions() == begun
    assert len({absent, begun, drawn}) == 3
    with pytest.raises(StreamStateRefused):
        streams.restore(nothing)
    saved = streams.snapshot()
    env.reset(99)
    streams.restore(saved)
    assert env.np_random.random() == np.random.default_rng(1).random()


def test_a_gymnasium_environment_replays_from_a_snapshot_through_its_own_generators():
    import gymnasium

    env = gymnasium.make("CartPole-v1").unwrapped
    streams = Streams(MASTER)
    env.reset(seed=1)
    env.action_space.seed(1)
    streams.adopt("env/np_random", lambda: env.np_random)
    streams.adopt("env/actions", lambda: env.action_space.np_random)
    env.reset(seed=2)
    saved = decode(encode(streams.snapshot()))

    def go_on() -> list:
        return [env.reset()[0].tolist(), [int(env.action_space.sample()) for _ in range(20)]]

    first = go_on()
    streams.restore(saved)

    assert go_on() == first
    assert set(draws(saved, streams.snapshot())) == {"env/actions", "env/np_random"}


def test_what_cannot_be_governed_is_refused():
    streams = Streams(MASTER)
    for foreign in (object(), random.SystemRandom(), 7):
        with pytest.raises(ComponentRefused):
            streams.adopt("x", foreign)

    assert streams.names() == []


def test_one_generator_has_one_name():
    streams = Streams(MASTER)
    rng = streams.numpy("mine")
    with pytest.raises(StreamShared, match="'mine'"):
        streams.adopt("yours", rng)
    with pytest.raises(StreamShared, match="'mine'"):
        streams.adopt("yours", np.random.Generator(rng.bit_generator))
    with pytest.raises(StreamShared, match="'mine'"):
        streams.adopt("yours", lambda: rng)


def test_the_ledger_names_seed_kind_and_draws():
    streams = Streams(MASTER)
    streams.numpy("b").random(1054)
    streams.python("a").random()

    assert streams.ledger() == {
        "a": {"seed": derive(MASTER, "a").hex, "kind": "python", "draws": 2},
        "b": {"seed": derive(MASTER, "b").hex, "kind": "numpy", "draws": 1054},
    }


def test_the_ledger_counts_from_the_beginning_after_a_restore():
    streams = Streams(MASTER)
    streams.numpy("a").random(7)
    again = Streams(MASTER)
    again.restore(streams.snapshot())
    again.numpy("a").random(5)

    assert again.ledger()["a"]["draws"] == 12
    assert draws(streams.snapshot(), again.snapshot()) == {"a": 5}


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_missing_extra_is_named(library, monkeypatch):
    monkeypatch.delitem(sys.modules, f"twice.recorder.streams.{library}_streams", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ExtraMissing, match=rf"twice\[{library}\]"):
        getattr(Streams(MASTER), library)("a")
