"""Rules about seeds and generators in forms that their pages do not show."""

from __future__ import annotations

import pytest
from files import findings, found

from twice.foundation.severity import Severity

HEAD = """
import copy, hashlib, itertools, os, random, time, uuid
import gymnasium as gym
import jax
import numpy as np
import torch
from numpy.random import SeedSequence, default_rng

"""
ACT = "class World:\n    def act(self, seed, count, names, options, rng, maybe=None, maybe_seed=None):\n        {}\n"


def rules(text: str) -> list[str]:
    """Return the rules with findings in a text, without notes."""
    said = findings(HEAD + text)
    return [each.found.rule for each in said if each.severity > Severity.LOW]


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("time-seed", "return default_rng(int(time.time() * 1000) % 2**32)"),
        ("time-seed", "return random.Random(uuid.uuid4().int)"),
        ("time-seed", "return jax.random.PRNGKey(int(time.time()))"),
        ("time-seed", "self.seed = time.time_ns()"),
        ("time-seed", "options['base_seed'] += int(time.time())"),
        ("identity-subseed", "return default_rng(abs(hash(f'{names}')) % 2**32)"),
        ("positional-subseed", "return [default_rng(s) for s in range(seed, seed + count)]"),
        ("positional-subseed", "return [self.make(seed * 1000 + each) for each in range(count)]"),
        ("positional-subseed", "torch.manual_seed(seed + 100 * self.rank)"),
        ("child-seed-from-draw", "self.seed = self.rng.integers(2**31)"),
        ("child-seed-from-draw", "self.other.seed(int(self.np_random.integers(2**31)))"),
        ("cloned-generator-state", "self.other.rng = copy.deepcopy(self.rng)"),
        ("cloned-generator-state", "self.rng.setstate(random.getstate())"),
        ("unseeded-generator", "random.seed()"),
        ("unseeded-generator", "self.rng = default_rng(None)"),
        ("unseeded-generator", "self.rng = rng if rng is not None else default_rng()"),
        ("seed-none-fallback", "return default_rng(maybe)"),
        ("seed-none-fallback", "maybe_seed = maybe_seed or int.from_bytes(os.urandom(4), 'big')"),
        ("module-as-generator", "rng = rng or np.random"),
        ("unseeded-reset", "env = Wrap(gym.make('a'))\n        env.reset()"),
    ],
)
def test_a_form_is_found(rule: str, line: str) -> None:
    assert rule in rules(ACT.format(line))


@pytest.mark.parametrize(
    "line",
    [
        "return default_rng(int(hashlib.sha256(names.encode()).hexdigest()[:8], 16))",
        "return [default_rng([seed, each]) for each in range(count)]",
        "random.Random(f'{seed}-{count}').shuffle(names)",
        "print('seed', seed + count)",
        "return {'seed_file': 'a' + str(count)}",
        "self.count = self.rng.integers(6)",
        "state = random.getstate()\n        random.setstate(state)",
        "if maybe is not None:\n            self.rng = default_rng(maybe)",
        "if maybe is None:\n            raise ValueError\n        self.rng = default_rng(maybe)",
        "assert maybe is not None\n        self.rng = default_rng(maybe)",
        "if maybe is None:\n            self.rng = rng\n        elif rng is None:\n            self.rng = default_rng(maybe)",
        "env = gym.make('a')\n        env.reset(seed=seed)\n        env.reset()",
        "env.reset()\n        env.step(env.action_space.sample())",  # May have been seeded where it came from.
        "self.rng.bit_generator.state = options['rng']",
        "started = time.time()\n        print('seed', seed, time.time() - started)",
        "a, b = jax.random.split(self.key)",
        "World.calls += 1",  # A counter that numbers nothing.
    ],
)  # fmt: skip
def test_a_form_is_innocent(line: str) -> None:
    assert rules(ACT.format(line)) == []


def test_a_subclass_of_a_generator_wants_a_seed_unless_its_stream_is_its_own() -> None:
    text = "import random\nclass Dice(random.Random):\n    sides = 6\nroll = {}.randint(1, 6)\n"
    assert "unseeded-generator" in found(text.format("Dice()"))
    assert "unseeded-generator" not in found(text.format("Dice(3)"))
    own = text.replace("sides = 6", "def random(self):\n        return 0.5")
    assert "unseeded-generator" not in found(own.format("Dice()"))


def test_a_generator_that_others_replace_is_doubted() -> None:
    game = "import numpy as np\nclass Game:\n    def __init__(self):\n        self.np_random = np.random.RandomState()\n"
    other = "def begin(env, seed):\n    env.game.np_random = env.make(seed)\n"
    assert "unseeded-generator" in found({"sim/game.py": game})
    assert "unseeded-generator" not in found({"sim/game.py": game, "sim/env.py": other})


PARTS = """
from dataclasses import dataclass

class Weather:
    def __init__(self, rng):
        self.rng = rng

class Storm(Weather):
    def __init__(self, rng, force):
        super().__init__(rng)
        self.force = force

@dataclass
class Market:
    size: int
    rng: object

class Town:
    def __init__(self, rng):
        self.weather = Weather(rng)

class Noise:
    def __init__(self, rng):
        self.first = rng.random()

def weather(rng):
    return Weather(rng)

def roll(rng):
    return rng.random()
"""
TWO_OWNERS = (
    "import numpy as np\nfrom parts import Market, Noise, Storm, Town, Weather, roll, weather\n"
)
RNG = "rng = np.random.default_rng(1)\n"

KEPT_TWICE = {
    "by position and by name": f"{RNG}a, b = Weather(rng), Market(3, rng=rng)\n",
    "by a base": f"{RNG}a, b = Storm(rng, 2), Weather(rng)\n",
    "by an object inside": f"{RNG}a, b = Town(rng), Weather(rng)\n",
    "by what a function makes": f"{RNG}a, b = weather(rng), weather(rng)\n",
    "under another name": f"{RNG}same = rng\na, b = Weather(rng), Weather(same)\n",
    "by objects of a comprehension": f"{RNG}all = [Weather(rng) for _ in range(3)]\n",
    "by objects of a loop": f"{RNG}all = []\nfor _ in range(3):\n    all.append(Weather(rng))\n",
    "assigned from outside": "def f(a, b, rng):\n    a.rng = rng\n    b.rng = rng\n",
    "of another object": "def f(env):\n    return Weather(env.rng)\n",
    "by the object itself, which draws": (
        "class Sim:\n    def __init__(self, rng):\n        self.rng = rng\n        self.weather = Weather(self.rng)\n"
        "    def step(self):\n        return self.rng.random()\n"
    ),
    "by a base and by a part": (
        "class Sea(Weather):\n    def __init__(self, rng):\n        super().__init__(rng)\n        self.market = Market(3, rng)\n"
    ),
    "in two methods": (
        "class Sim:\n    def one(self):\n        self.a = Weather(self.rng)\n    def two(self):\n        self.b = Market(1, self.rng)\n"
    ),
    "drawn through its owner by a name": "class A:\n    def f(self):\n        rng = self.policy.rng\n        return rng.normal()\n",
    "handed out by its owner": (
        "class Sim:\n    def get_rng(self):\n        return self._rng\n"
        "class Sampler:\n    def __init__(self, sim):\n        self.rng = sim.get_rng()\n"
    ),
    "by classes of nobody knows where": "from other import Left, Right\ndef f(rng):\n    return Left(rng=rng), Right(rng=rng)\n",
}  # fmt: skip
KEPT_ONCE = {
    "children": "a, b = np.random.default_rng(1).spawn(2)\nx, y = Weather(a), Weather(b)\n",
    "a generator for each": "all = []\nfor i in range(3):\n    rng = np.random.default_rng(i)\n    all.append(Weather(rng))\n",
    "drawn seeds": f"{RNG}a, b = Weather(np.random.default_rng(rng.integers(9))), Weather(rng)\n",
    "functions that draw": f"{RNG}a, b = roll(rng), roll(rng)\n",
    "objects that draw once": f"{RNG}a, b = Noise(rng), Noise(rng)\n",
    "one object": f"{RNG}a = Town(rng)\nb = rng.random()\n",
    "one object and its base": "class Sea(Weather):\n    def __init__(self, rng):\n        super().__init__(rng)\n        self.rng = rng\n    def f(self):\n        return self.rng.random()\n",
    "one of two": "def f(rng, big):\n    if big:\n        return Weather(rng)\n    return Market(3, rng)\n",
    "one after the other": "def f(rng):\n    for _ in range(3):\n        a = Weather(rng)\n        a.rng.bit_generator\n",
    "two generators of one name": f"{RNG}a = Weather(rng)\n{RNG.replace('1', '2')}b = Weather(rng)\n",
    "its own": "class A:\n    def f(self):\n        return self.rng.normal()\n    def g(self):\n        return self.f() + roll(self.rng)\n",
    "a library's": "from sklearn.svm import SVC\ndef f(rng):\n    return SVC(random_state=rng), SVC(random_state=rng)\n",
    "declared to be shared": "def main(run):\n    rng = run.rng('air')\n    run.streams.share('air')\n    return Weather(rng), Market(3, rng)\n",
    "a ring": "class Ring:\n    pass\nrng = Ring()\na, b = Weather(rng), Market(3, rng)\n",
    "a module in an attribute": "def f(xp):\n    return xp.random.normal()\n",
}  # fmt: skip


@pytest.mark.parametrize("case", [*KEPT_TWICE, *KEPT_ONCE])
def test_a_generator_of_two_owners_is_found_and_of_one_is_left_alone(case: str) -> None:
    text = KEPT_TWICE.get(case) or KEPT_ONCE[case]
    said = found({"parts.py": PARTS, "sim.py": TWO_OWNERS + text})
    assert ("generator-of-two-owners" in said) is (case in KEPT_TWICE)
