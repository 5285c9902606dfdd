"""One generator that two objects keep is found wherever their classes are, and what only looks like that is not."""

from __future__ import annotations

import pytest
from files import found

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
HEAD = "import numpy as np\nfrom parts import Market, Noise, Storm, Town, Weather, roll, weather\n"

KEPT_TWICE = {
    "by position and by name": "rng = np.random.default_rng(1)\na, b = Weather(rng), Market(3, rng=rng)\n",
    "by a base": "rng = np.random.default_rng(1)\na, b = Storm(rng, 2), Weather(rng)\n",
    "by an object inside": "rng = np.random.default_rng(1)\na, b = Town(rng), Weather(rng)\n",
    "by what a function makes": "rng = np.random.default_rng(1)\na, b = weather(rng), weather(rng)\n",
    "under another name": "rng = np.random.default_rng(1)\nsame = rng\na, b = Weather(rng), Weather(same)\n",
    "by objects of a comprehension": "rng = np.random.default_rng(1)\nall = [Weather(rng) for _ in range(3)]\n",
    "by objects of a loop": "rng = np.random.default_rng(1)\nall = []\nfor _ in range(3):\n    all.append(Weather(rng))\n",
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
    "drawn through its owner": "def f(env):\n    return env.rng.random()\n",
    "drawn through a part": "class A:\n    def f(self):\n        return self.policy.rng.normal()\n",
    "drawn through its owner by a name": "class A:\n    def f(self):\n        rng = self.policy.rng\n        return rng.normal()\n",
    "handed out by its owner": (
        "class Sim:\n    def get_rng(self):\n        return self._rng\n"
        "class Sampler:\n    def __init__(self, sim):\n        self.rng = sim.get_rng()\n"
    ),
    "by classes of nobody knows where": "from other import Left, Right\ndef f(rng):\n    return Left(rng=rng), Right(rng=rng)\n",
}  # fmt: skip

KEPT_ONCE = {
    "children": "a, b = np.random.default_rng(1).spawn(2)\nx, y = Weather(a), Weather(b)\n",
    "a child for each": "rng = np.random.default_rng(1)\nall = [Weather(each) for each in rng.spawn(3)]\n",
    "a generator for each": "all = []\nfor i in range(3):\n    rng = np.random.default_rng(i)\n    all.append(Weather(rng))\n",
    "drawn seeds": "rng = np.random.default_rng(1)\na, b = Weather(np.random.default_rng(rng.integers(9))), Weather(rng)\n",
    "functions that draw": "rng = np.random.default_rng(1)\na, b = roll(rng), roll(rng)\n",
    "objects that draw once": "rng = np.random.default_rng(1)\na, b = Noise(rng), Noise(rng)\n",
    "one object": "rng = np.random.default_rng(1)\na = Town(rng)\nb = rng.random()\n",
    "one object and its base": "class Sea(Weather):\n    def __init__(self, rng):\n        super().__init__(rng)\n        self.rng = rng\n    def f(self):\n        return self.rng.random()\n",
    "one of two": "def f(rng, big):\n    if big:\n        return Weather(rng)\n    return Market(3, rng)\n",
    "one after the other": "def f(rng):\n    for _ in range(3):\n        a = Weather(rng)\n        a.rng.bit_generator\n",
    "two generators of one name": "rng = np.random.default_rng(1)\na = Weather(rng)\nrng = np.random.default_rng(2)\nb = Weather(rng)\n",
    "its own": "class A:\n    def f(self):\n        return self.rng.normal()\n    def g(self):\n        return self.f() + roll(self.rng)\n",
    "a library's": "from sklearn.svm import SVC\nfrom sklearn.cluster import KMeans\ndef f(rng):\n    return SVC(random_state=rng), KMeans(random_state=rng)\n",
    "declared to be shared": "def main(run):\n    rng = run.rng('air')\n    run.streams.share('air')\n    return Weather(rng), Market(3, rng)\n",
    "a ring": "class Ring:\n    pass\nrng = Ring()\na, b = Weather(rng), Market(3, rng)\n",
    "a module in an attribute": "def f(xp):\n    return xp.random.normal()\n",
}  # fmt: skip


def rules(text: str) -> set[str]:
    """Return the findings in a file beside the one that has the classes."""
    return set(found({"parts.py": PARTS, "sim.py": HEAD + text})) & {"generator-of-two-owners"}


@pytest.mark.parametrize("case", KEPT_TWICE)
def test_a_generator_of_two_owners_is_found(case: str) -> None:
    assert rules(KEPT_TWICE[case])


@pytest.mark.parametrize("case", KEPT_ONCE)
def test_a_generator_of_one_owner_is_left_alone(case: str) -> None:
    assert not rules(KEPT_ONCE[case])
