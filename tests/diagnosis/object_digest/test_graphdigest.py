"""The typed digest: what differs shows, what is noise does not, and no user code runs."""

from __future__ import annotations

import collections
import ctypes
import enum
import functools
import itertools
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import twice
from twice.diagnosis.object_digest.graphdigest import Limits, digest_layers, digest_roots


class Plain:
    def __init__(self, **held):
        self.__dict__.update(held)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


class Hostile:
    def __init__(self, x):
        object.__setattr__(self, "x", x)

    def _refuse(self, *_):
        raise AssertionError("user code ran")

    __eq__ = __repr__ = __str__ = __bool__ = __len__ = __iter__ = __getattr__ = _refuse
    __hash__ = __reduce_ex__ = __getattribute__ = __sizeof__ = _refuse
    value = property(_refuse)


class HostileMeta(type):
    def __eq__(cls, other):
        raise AssertionError("user code ran")

    def __hash__(cls):
        raise AssertionError("user code ran")


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def of(value, **options):
    return digest_roots({"r": value}, **options)


DIFFERENT = [
    (1, 1.0),
    (1, True),
    (0.0, -0.0),
    ("1", b"1"),
    ([1, 2], (1, 2)),
    ([1, 2], [2, 1]),
    ({1: 2, 3: 4}, {3: 4, 1: 2}),
    ({1, 2}, {1, 3}),
    ({1}, frozenset({1})),
    (Plain(a=1), Plain(a=2)),
    (Plain(a=1), Plain(b=1)),
    (Slotted(1), Slotted(2)),
    (np.zeros(3), np.zeros(3, "f4")),
    (np.zeros((2, 3)), np.zeros((3, 2))),
    (np.float64(0), 0.0),
    (np.random.default_rng(1), np.random.default_rng(2)),
    (random.Random(1), random.Random(2)),
    (Color.RED, Color.BLUE),
    (ValueError(1), ValueError(2)),
    (functools.partial(len, [1]), functools.partial(len, [2])),
    (collections.deque([1], maxlen=2), collections.deque([1], maxlen=3)),
    (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)),
    (Path("a"), Path("b")),
    (ctypes.c_uint32(1), ctypes.c_uint32(2)),
    (ctypes.create_string_buffer(b"a"), ctypes.create_string_buffer(b"b")),
    (int, float),
    (len, max),
    ([[]] * 2, [[], []]),
]


@pytest.mark.parametrize(("one", "two"), DIFFERENT, ids=range(len(DIFFERENT)))
def test_different_values_differ(one, two):
    assert of(one) != of(two)


def test_an_ordered_dict_that_was_reordered_differs():
    one, two = (collections.OrderedDict(a=1, b=2) for _ in range(2))
    two.move_to_end("a")
    assert of([one]) != of([two])


def test_a_drawn_generator_differs_and_an_equal_one_does_not():
    one, two = np.random.default_rng(1), np.random.default_rng(1)
    assert of(one) == of(two)
    two.random()
    assert of(one) != of(two)


def test_user_code_never_runs():
    class Meta(metaclass=HostileMeta):
        def __init__(self):
            self.x = 1

    held = [Hostile(1), Meta(), Meta, {"k": Hostile(2)}]
    assert of(held) == of(held)
    assert digest_roots({"h": Hostile(1)}) != digest_roots({"h": Hostile(2)})


def test_members_of_instances_and_dicts_have_paths_of_their_own():
    one = digest_roots({"swarm": Plain(cache={1: 2}, x=1), "config": {"lr": 1, "n": 2}})
    two = digest_roots({"swarm": Plain(cache={1: 3}, x=1), "config": {"lr": 1, "n": 3}})
    assert [path for path in one if one[path] != two[path]] == ["swarm.cache", "config['n']"]


def test_a_reference_to_another_root_is_a_reference_and_cycles_end():
    world = Plain(agents=[])
    world.agents.append(Plain(world=world))
    graph = digest_layers([{"world": world}, {"agents": world.agents, "me": world.agents[0]}])
    references = {"agents": "world.agents", "me.world": "world"}
    assert graph.aliases == {**references, "me.(which)": "world.agents"}
    assert graph.digests["me.world"] == digest_layers([{"world": world}, {"x": world}]).digests["x"]


def test_locals_do_not_change_the_digest_of_what_lives_longer():
    agents = [Plain(n=1), Plain(n=2)]
    alone = digest_layers([{"agents": agents}]).digests["agents"]
    assert digest_layers([{"agents": agents}, {"a": agents[1]}]).digests["agents"] == alone


def test_which_object_of_a_root_a_local_is_shows_although_their_values_are_equal():
    agents = [Plain(n=1), Plain(n=1)]
    one, two = (digest_layers([{"agents": agents}, {"a": agent}]) for agent in agents)
    assert one.digests["a"] == two.digests["a"]
    assert one.digests["a.(which)"] != two.digests["a.(which)"]
    assert one.aliases["a.(which)"] == two.aliases["a.(which)"] == "agents"


def test_what_stands_under_no_root_or_in_a_set_has_no_place():
    agent = Plain(n=1)
    assert "a.(which)" not in digest_layers([{"agents": {agent}}, {"a": agent}]).digests
    assert "a.(which)" not in digest_layers([{"agents": []}, {"a": agent}]).digests


def test_a_dict_keyed_by_id_does_not_differ():
    one, two = ([Plain(n=1), "text", Plain(n=2)] for _ in range(2))
    assert of({id(each): each for each in one}) == of({id(each): each for each in two})


def test_sharing_inside_a_set_does_not_depend_on_the_order_of_visits():
    def build(order):
        shared = [Plain(n=n) for n in range(6)]
        made = [(shared[n], shared[n // 2]) for n in range(6)]
        return {made[n] for n in order}

    digests = {
        tuple(of(build(order)).items()) for order in ([0, 1, 2, 3, 4, 5], [5, 3, 1, 4, 2, 0])
    }
    assert len(digests) == 1


def test_opaque_things_are_caveats():
    held = Plain(lock=threading.Lock(), it=iter([1]), chain=itertools.chain([1]))
    graph = digest_layers([{"r": held}])
    assert [caveat.split(":")[0] for caveat in graph.caveats] == ["r.chain"]


def test_addresses_and_libraries_of_c_do_not_differ():
    one, two = (ctypes.cast(ctypes.pointer(ctypes.c_int(n)), ctypes.c_void_p) for n in (1, 2))
    assert of(one) == of(two)
    assert of(ctypes.CDLL(None)) == of(ctypes.CDLL("libc.so.6"))


def test_a_bound_on_size_is_a_caveat():
    graph = digest_layers([{"r": [[n] for n in range(100)]}], limits=Limits(nodes=10))
    assert graph.caveats == ("r: too large; only the first values were compared",)


def test_deep_chains_are_read_to_their_end():
    def chain(last):
        node = last
        for _ in range(5000):
            node = [node]
        return node

    assert of(chain(1)) != of(chain(2))
    assert of(chain(1)) == of(chain(1))


def test_class_attributes_are_state_for_the_users_own_modules():
    class Counter:
        made = 0

    own = (Counter.__module__,)
    before = of(Counter, own_modules=own), of(Counter)
    Counter.made += 1
    assert of(Counter, own_modules=own) != before[0]
    assert of(Counter) == before[1]


def test_functions_are_known_by_place_defaults_and_closure():
    def make(n):
        def inner():
            return n

        return inner

    assert of(make(1)) == of(make(1))
    assert of(make(1)) != of(make(2))


SCRIPT = """
from twice.diagnosis.object_digest.graphdigest import digest_roots
class Thing:
    def __init__(self, name): self.name = name; self.friends = set()
things = [Thing(f"t{n}") for n in range(40)]
for n, thing in enumerate(things):
    thing.friends = {things[(n * k) % 40].name for k in range(5)}
held = {"set": {f"n{n}" for n in range(50)}, "things": set(things), "ids": {id(t): t for t in things}}
print({path: digest.hex() for path, digest in digest_roots(held).items()})
"""


@pytest.mark.integration
def test_digests_are_the_same_under_every_hash_seed():
    source = str(Path(next(iter(twice.__path__))).parent)
    said = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={"PYTHONPATH": source, "PYTHONHASHSEED": seed, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
