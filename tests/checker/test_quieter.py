"""What leaves no trace in a result is a note: labels, durations, places, streams that are seeded anew."""

from __future__ import annotations

import pytest
from files import findings, found

from twice.foundation.severity import Severity

QUIET = {
    "clock": [
        ("from datetime import datetime\nclass Runs:\n    def open(self, cfg, user):\n"
         '        stamp = datetime.now().strftime("%Y-%m-%d")\n        cfg.repo = f"{user}/run_{stamp}"\n'
         '        cfg.exp_name += datetime.now().strftime("_%H%M")\n'),
        ("import time\nclass Engine:\n    def run(self):\n        taken = 0.0\n"
         '        taken += yield from self._epoch()\n        self.state.times["epoch"] = taken\n'
         "    def _epoch(self):\n        began = time.time()\n        yield self.state\n"
         "        return time.time() - began\n"),
        ("import time\ndef search(index, query):\n    began = time.time()\n    hits = index.search(query)\n"
         "    delta = time.time() - began\n    outputs = (hits, delta)\n    return outputs\n"),
    ],
    "library-default-seed": [
        ("from sklearn.ensemble import BaggingClassifier\nfrom sklearn.tree import DecisionTreeClassifier\n"
         "def fit(x, y, seed):\n"
         "    return BaggingClassifier(DecisionTreeClassifier(), random_state=seed).fit(x, y)\n"),
    ],
    "entropy": [
        ("import uuid\nclass Policy:\n    def show(self, engine):\n"
         '        self._task_name = "mark" + str(uuid.uuid4())\n'
         "        engine.tasks.add(self.mark, self._task_name)\n"),
    ],
    "positional-subseed": [
        "import random\ndef pick(env, start_seed, n):\n    env.seed(random.randint(start_seed, start_seed + n))\n",
        ("def load(maps, start_seed, n):\n    for i in range(n):\n        loaded_seed = i + start_seed\n"
         "        yield maps[loaded_seed]\n"),
        "def talk(model, text_seed):\n    said = []\n    return model.generate(text_seed=text_seed + said)\n",
        "class Levels:\n    def age(self, k):\n        self.seed_staleness += k\n",
    ],
    "state-attribute-missing": [
        ("class World:\n    def __init__(self):\n        self.agents, self.shown = {}, 0\n"
         "    def render(self):\n        self.shown += 1\n    def get_state(self):\n"
         '        return {"agents": dict(self.agents)}\n    def set_state(self, state):\n'
         '        self.agents = dict(state["agents"])\n'),
    ],
    "reduced-pickle": [
        ("class Tokenizer:\n    def __init__(self, vocab, mode):\n        self.vocab = vocab\n"
         "        self.mode = mode\n        self.tagger = load(mode)\n    def __reduce__(self):\n"
         "        return Tokenizer, (self.vocab, self.mode)\n    def from_disk(self, path):\n"
         "        self.tagger = load(path)\n"),
    ],
    "seed-none-fallback": [
        ("import random\nimport torch\nclass Seeded:\n    def __init__(self, rng_seed=None):\n"
         "        self.rng_seed = rng_seed\n    def __enter__(self):\n        torch.manual_seed(self.rng_seed)\n"
         "        random.seed(self.rng_seed)\n"),
    ],
    "atomic-scatter": [
        ("import jax\nimport jax.numpy as jnp\ndef differences(table: jnp.ndarray, order):\n"
         "    def update(i, table):\n        return table.at[order - i].add(table[order - i + 1])\n"
         "    return jax.lax.fori_loop(0, order + 1, update, table)\n"),
    ],
    "text-digest": [
        ("import hashlib\nfrom space import Configuration\ndef name_of(config: Configuration) -> str:\n"
         "    return hashlib.sha1(str(config).encode()).hexdigest()\n"),
        ("import hashlib\ndef shown(states):\n"
         '    return " ".join(hashlib.md5(str(list(each)).encode()).hexdigest() for each in states)\n'),
    ],
    "unseeded-generator": [
        "import numpy as np\nclass Arena:\n    def build(self, rng=np.random.RandomState()):\n        del rng\n",
    ],
    "seed-not-passed": [
        ("from gymnasium.utils import seeding\nclass Pond:\n    def __init__(self):\n        self._seed()\n"
         "    def reset(self, seed=None):\n        if seed is not None:\n            self._seed(seed)\n"
         "        return self.np_random.random()\n    def _seed(self, seed=None):\n"
         "        self.np_random, seed = seeding.np_random(seed)\n"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "text"), [(rule, text) for rule, texts in QUIET.items() for text in texts]
)
def test_it_is_a_note_at_most(rule: str, text: str) -> None:
    assert rule not in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "def start(env, seed, i):\n    env.seed((seed + i) % 2**31)\n",
        "import gymnasium as gym\ndef evaluate(env, seed):\n    for i in range(9):\n        env.reset(seed=seed + i)\n",
    ],
)
def test_counting_up_still_counts(text: str) -> None:
    assert "positional-subseed" in found(text)


def test_a_number_of_threads_that_is_set_too_late_is_a_note() -> None:
    text = "import os\nimport numpy\nos.environ['MKL_NUM_THREADS'] = '1'\nprint(numpy.ones(2))\n"
    said = [each for each in findings(text) if each.found.rule == "inert-flag"]
    assert {each.severity for each in said} <= {Severity.LOW, Severity.INFORMATIONAL}
