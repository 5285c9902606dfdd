"""The seed audit says of every draw who owns it, and names what nobody owns."""

from __future__ import annotations

import pytest
from files import audit_of

from twice.checker.analysis.generators import StreamOwner, UseKind
from twice.checker.analysis.stream_uses import SPACES
from twice.checker.audits.streams import RandomUse, summarize_streams

LETTERS = {
    StreamOwner.NAMED: "=", StreamOwner.GENERATOR: "g", StreamOwner.PARAMETER: "p",
    StreamOwner.PASSED: "o", StreamOwner.PROCESS: "s", StreamOwner.NOBODY: "-",
}  # fmt: skip
STEP = "import random\ndef step():\n    return random.random()\n"
MODEL = "import random\nclass Model:\n    def __init__(self, seed):\n        self.random = random.Random(seed)\n"
ENV = "from gymnasium.utils import seeding\nclass Env:\n    def reset(self, seed=None):\n        self.np_random, seed = seeding.np_random(seed)\n"
SAMPLE = "def f(env):\n    env.reset(seed=1)\n    return env.action_space.sample()\n"


def audited(**sources: str) -> tuple[RandomUse, ...]:
    """Return the seed audit of files; ``__`` in a name is a folder."""
    return audit_of({name.replace("__", "/"): text for name, text in sources.items()}).uses


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"a": "def main(run):\n    rng = run.rng('weather')\n    rng.normal()\n    run.rng(f'agent/{1}').random()\n"},
         ["rng.normal() = a.py:2", "run.rng(f'agent/{1}').random() = a.py:4"]),
        # A process-wide stream belongs to whoever seeds it, and each library has one.
        ({"world": STEP}, ["random.random() -"]),
        ({"world": STEP, "main": "import random\nimport world\nrandom.seed(7)\n"}, ["random.random() s main.py:3"]),
        ({"a": "import random, torch\nimport numpy as np\nrandom.seed(1)\nrandom.random()\nnp.random.normal()\ntorch.randn(3)\n"},
         ["random.random() s a.py:3", "np.random.normal() -", "torch.randn(3) -"]),
        # What another object holds is found by its attribute, also when it was unpacked.
        ({"model": MODEL, "agent": "class Agent:\n    def step(self):\n        return self.model.random.choice([1, 2])\n"},
         ["self.model.random.choice([1, 2]) g model.py:4"]),
        ({"env": ENV, "part": "class Part:\n    def draw(self):\n        return self.env.np_random.integers(3)\n"},
         ["self.env.np_random.integers(3) g env.py:4"]),
        ({"a": "class World:\n    def __init__(self, rng, names):\n        self._r = rng\n        self._names = names\n"
               "    def step(self, agent):\n        r = agent._rng\n        return self._r.normal(), r.normal(), self._names.choice()\n"},
         ["self._r.normal() p a.py:2", "r.normal() o"]),
        # Libraries draw unless they are told how, from any of their names, and only when they shuffle.
        ({"a": "import networkx as nx\nfrom sklearn.model_selection import train_test_split\nnx.erdos_renyi_graph(10, 0.1)\n"
               "nx.erdos_renyi_graph(10, 0.1, seed=3)\ntrain_test_split([1], random_state=None)\n"},
         ["nx.erdos_renyi_graph(10, 0.1) -", "nx.erdos_renyi_graph(10, 0.1, seed=3) g a.py:4",
          "train_test_split([1], random_state=None) -"]),
        ({"a": "import numpy as np\nfrom scipy.stats import qmc\nfrom sklearn.model_selection import KFold\nqmc.Halton(d=2)\n"
               "qmc.LatinHypercube(d=2, rng=np.random.default_rng(3))\nKFold(5)\nKFold(5, shuffle=True)\n"},
         ["qmc.Halton(d=2) -", "qmc.LatinHypercube(d=2, rng=np.random.default_rng(3)) g a.py:5", "KFold(5, shuffle=True) -"]),
        # Spaces have generators of their own; keys are traced through splits.
        ({"a": SAMPLE}, ["env.action_space.sample() -"]),
        ({"a": SAMPLE, "b": "def g(env):\n    env.action_space.seed(1)\n"}, ["env.action_space.sample() s b.py:2"]),
        ({"a": "import jax\nkey = jax.random.PRNGKey(3)\nkey, sub = jax.random.split(key)\njax.random.normal(sub)\n"},
         ["jax.random.split(key) g a.py:2", "jax.random.normal(sub) g a.py:2"]),
        ({"a": "from mylib import random_walks, choice\nclass Deck:\n    def shuffle(self):\n        pass\ndef f(deck, frame):\n"
               "    deck.shuffle()\n    frame.sample(3)\n    choice([1])\n    random_walks.sample()\n    return deck.choice\n"}, []),
    ],
)  # fmt: skip
def test_a_draw_is_traced_to_its_owner(sources: dict[str, str], expected: list[str]) -> None:
    """The call, its owner by a letter, and where the generator was made."""
    assert [
        f"{each.call} {LETTERS[each.origin.owner]} {each.where}".rstrip()
        for each in audited(**sources)
        if each.kind is UseKind.DRAWS
    ] == expected


def test_names_and_seeds_of_streams_are_said() -> None:
    named = audited(
        a="def main(run):\n    run.rng('weather').normal(), run.rng(f'a/{1}').random()\n"
    )
    assert {each.origin.seed for each in named} == {"weather", "a/{}"}
    assert not any(each.is_orphan for each in named)
    made, draw = audited(
        a="import random\nclass A:\n    def __init__(self, config):\n        self.rng = random.Random(config.seed)\n"
        "    def step(self):\n        return self.rng.random()\n"
    )
    assert (made.kind, made.stream) == (UseKind.MAKES, "self.rng")
    assert (draw.origin.seed, draw.function, draw.where) == ("config.seed", "A.step", "a.py:4")
    assert audited(a=SAMPLE)[0].stream == SPACES


def test_a_generator_without_a_seed_is_an_orphan_and_so_is_what_is_drawn_from_it() -> None:
    text = "import random\nrng = random.Random()\nrng.choice([1, 2])\ndice = random.SystemRandom()\ndice.random()\n"
    draws = audited(a=text)
    assert [each.is_orphan for each in draws] == [True, True, True, True]
    first, second = summarize_streams(draws)
    assert (first.name, first.draws, first.made) == ("rng", 1, "a.py:2")
    assert "entropy" in second.origin.note
    (seeding,) = audited(a="import random\nrandom.seed()\n")
    assert (seeding.kind, seeding.is_orphan) == (UseKind.SEEDS, True)


FALLBACK = (
    "import random\ndef f(rng=None):\n    rng = rng or random.Random()\n    return rng.random()\n"
)
OPTIONAL = "import random\ndef f(seed=None):\n    return random.Random(seed).random()\n"


@pytest.mark.parametrize(
    ("sources", "at", "note", "orphans"),
    [
        ({"a": FALLBACK}, -1, "unseeded on one way (line 3)", [True, False]),
        ({"a": OPTIONAL}, 0, "unseeded when seed is not given", [False, False]),
        ({"one": "import random, sys\nrandom.seed(int(sys.argv[1]))\nrandom.random()\n", "two": "import random\nrandom.random()\n"},
         -1, "one.py:2 seeds the process-wide stream of random", [False, False, True]),
        ({"tests__test_a": "import random\nrandom.seed(1)\n", "world": "import random\nrandom.random()\n"}, -1, "only a test seeds", [False, True]),
    ],
)  # fmt: skip
def test_what_seeds_a_stream_on_some_ways_is_noted(
    sources: dict[str, str], at: int, note: str, orphans: list[bool]
) -> None:
    uses = audited(**sources)
    assert uses[at].origin.note.startswith(note)
    assert [each.is_orphan for each in uses] == orphans
