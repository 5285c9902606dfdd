"""What leaves no trace in a result is a note: labels, durations, places, streams that are seeded anew."""

from __future__ import annotations

import pytest
from files import found
from projects import Project

QUIET = {
    "clock": [
        # A date in a name.
        """
from datetime import datetime

class Runs:
    def open(self, cfg, user):
        stamp = datetime.now().strftime("%Y-%m-%d")
        cfg.repo = f"{user}/run_{stamp}"
        cfg.exp_name += datetime.now().strftime("_%H%M")
""",
        # A duration that a generator returns and that is kept among times.
        """
import time

class Engine:
    def run(self):
        taken = 0.0
        taken += yield from self._epoch()
        self.state.times["epoch"] = taken

    def _epoch(self):
        began = time.time()
        yield self.state
        return time.time() - began
""",
        # A duration beside a result.
        """
import time

def search(index, query):
    began = time.time()
    hits = index.search(query)
    delta = time.time() - began
    outputs = (hits, delta)
    return outputs
""",
        # What a pause is measured from.
        """
import time

class User:
    def __init__(self):
        self._last_run = time.time()

def pause(user, wait):
    return wait - (time.time() - user._last_run)
""",
        # What a window shows.
        """
import time
import tkinter

class Parser:
    def change(self, grammar):
        self.changed = time.time()
        self.history.append((self.changed, grammar))
""",
    ],
    "library-default-seed": [
        """
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

def fit(x, y, seed):
    return BaggingClassifier(DecisionTreeClassifier(), random_state=seed).fit(x, y)
""",
    ],
    "entropy": [
        """
import uuid

class Policy:
    def show(self, engine):
        self._task_name = "mark" + str(uuid.uuid4())
        engine.tasks.add(self.mark, self._task_name)
""",
    ],
    "positional-subseed": [
        "def wrap(env, seed, start_seed, n):\n    env.seed((seed - start_seed) % n + start_seed)\n",
        "import random\n\ndef pick(env, start_seed, n):\n    env.seed(random.randint(start_seed, start_seed + n))\n",
        "def load(maps, start_seed, n):\n    for i in range(n):\n        loaded_seed = i + start_seed\n        yield maps[loaded_seed]\n",
        "def talk(model, text_seed):\n    said = []\n    return model.generate(text_seed=text_seed + said)\n",
        "class Levels:\n    def age(self, k):\n        self.seed_staleness += k\n",
    ],
    "class-counter": [
        """
class UniformBuffer:
    max_binding = 1

    def __init__(self):
        self.binding = UniformBuffer.max_binding
        UniformBuffer.max_binding += 1
        self.use(self.binding)
""",
    ],
    "state-attribute-missing": [
        """
class Recorder:
    def __init__(self):
        self.frames = []

    def step(self, frame):
        self.frames.append(frame)

    def get_state(self):
        return {}

    def set_state(self, state):
        pass
""",
        """
class World:
    def __init__(self):
        self.agents, self.shown = {}, 0

    def render(self):
        self.shown += 1

    def get_state(self):
        return {"agents": dict(self.agents)}

    def set_state(self, state):
        self.agents = dict(state["agents"])
""",
    ],
    "reduced-pickle": [
        """
class Tokenizer:
    def __init__(self, vocab, mode):
        self.vocab = vocab
        self.mode = mode
        self.tagger = load(mode)

    def __reduce__(self):
        return Tokenizer, (self.vocab, self.mode)

    def from_disk(self, path):
        self.tagger = load(path)
""",
    ],
    "seed-none-fallback": [
        """
import random
import torch

class Seeded:
    def __init__(self, rng_seed=None):
        self.rng_seed = rng_seed

    def __enter__(self):
        torch.manual_seed(self.rng_seed)
        random.seed(self.rng_seed)
""",
    ],
    "atomic-scatter": [
        """
import jax
import jax.numpy as jnp

def differences(table: jnp.ndarray, order):
    def update(i, table):
        return table.at[order - i].add(table[order - i + 1])

    return jax.lax.fori_loop(0, order + 1, update, table)
""",
    ],
    "text-digest": [
        """
import hashlib
from space import Configuration

def name_of(config: Configuration) -> str:
    return hashlib.sha1(str(config).encode()).hexdigest()
""",
        """
import hashlib

def shown(states):
    return " ".join(hashlib.md5(str(list(each)).encode()).hexdigest() for each in states)
""",
    ],
    "unseeded-generator": [
        "import numpy as np\n\nclass Arena:\n    def build(self, rng=np.random.RandomState()):\n        del rng\n",
    ],
    "seed-not-passed": [
        """
from gymnasium.utils import seeding

class Pond:
    def __init__(self):
        self._seed()

    def reset(self, seed=None):
        if seed is not None:
            self._seed(seed)
        return self.np_random.random()

    def _seed(self, seed=None):
        self.np_random, seed = seeding.np_random(seed)
""",
    ],
}


@pytest.mark.parametrize(
    ("rule", "text"), [(rule, text) for rule, texts in QUIET.items() for text in texts]
)
def test_it_is_a_note_at_most(rule: str, text: str) -> None:
    assert rule not in found(text)


def test_a_modulo_after_counting_is_still_counting() -> None:
    text = "def start(env, seed, i):\n    env.seed((seed + i) % 2**31)\n"

    assert "positional-subseed" in found(text)


def test_an_evaluation_that_resets_environments_still_counts() -> None:
    text = """
import gymnasium as gym

def evaluate(env, policy, seed, episodes):
    for i in range(episodes):
        observation, _ = env.reset(seed=seed + i)
"""
    assert "positional-subseed" in found(text)


def test_a_number_of_threads_that_is_set_too_late_is_a_note(project: Project) -> None:
    project.write(
        a="import os\n\nimport numpy\n\nos.environ['MKL_NUM_THREADS'] = '1'\nprint(numpy.ones(2))\n"
    )

    found = project.check("--json", "--min", "informational").document["findings"]

    assert {each["severity"] for each in found if each["rule"] == "inert-flag"} <= {
        "informational",
        "low",
    }
