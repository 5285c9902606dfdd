"""Rules about seeds and generators in forms that their pages do not show."""

from __future__ import annotations

from textwrap import dedent

import pytest
from test_rules import findings

HEAD = """
import copy
import hashlib
import itertools
import os
import random
import time
import uuid

import gymnasium as gym
import jax
import numpy as np
import torch
from numpy.random import SeedSequence, default_rng
"""


def rules(text: str) -> list[str]:
    """Return the rules with findings in a text, without notes."""
    found = findings(HEAD + dedent(text))
    return [each.found.rule for each in found if each.severity.word not in {"informational", "low"}]


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
    text = f"""
    class World:
        def act(self, seed, count, names, options, rng, maybe=None, maybe_seed=None):
            {line.replace("        ", "            ")}
    """
    assert rule in rules(text)


@pytest.mark.parametrize(
    "line",
    [
        "return default_rng(int(hashlib.sha256(names.encode()).hexdigest()[:8], 16))",
        "return [default_rng([seed, each]) for each in range(count)]",
        "return [default_rng(each) for each in SeedSequence(seed).spawn(count)]",
        "random.Random(f'{seed}-{count}').shuffle(names)",
        "print('seed', seed + count)",
        "return {'seed_file': 'a' + str(count)}",
        "self.count = self.rng.integers(6)",
        "state = random.getstate()\n            random.setstate(state)",
        "if maybe is not None:\n                self.rng = default_rng(maybe)",
        "if maybe is None:\n                raise ValueError\n            self.rng = default_rng(maybe)",
        "assert maybe is not None\n            self.rng = default_rng(maybe)",
        "env = gym.make('a')\n            env.reset(seed=seed)\n            env.reset()",
        "self.rng.bit_generator.state = options['rng']",
        "started = time.time()\n            print('seed', seed, time.time() - started)",
        "a, b = jax.random.split(self.key)",
    ],
)
def test_a_form_is_innocent(line: str) -> None:
    text = f"""
    class World:
        def act(self, seed, count, names, options, maybe=None):
            {line}
    """
    assert rules(text) == []


def test_an_environment_that_was_passed_in_may_have_been_seeded() -> None:
    assert rules("def act(env):\n    env.reset()\n    env.step(env.action_space.sample())\n") == []


def test_a_branch_that_excludes_none_by_an_earlier_one_is_innocent() -> None:
    text = """
    class Model:
        def __init__(self, seed=None, rng=None):
            if seed is None:
                self.rng = rng
            elif rng is None:
                self.rng = default_rng(seed)
    """
    assert rules(text) == []


def test_a_counter_that_numbers_nothing_is_innocent() -> None:
    assert rules("class A:\n    calls = 0\n    def f(self):\n        A.calls += 1\n") == []
