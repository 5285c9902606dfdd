"""A draw from a shared stream is a note where nobody can shift it, or nothing comes of it."""

from __future__ import annotations

import pytest
from files import found

ELSEWHERE = "import random\nimport numpy as np\nimport torch\n\ndef start(seed):\n    random.seed(seed)\n    np.random.seed(seed)\n    torch.manual_seed(seed)\n"


def streams(text: str, path: str = "sim/core.py") -> set[str]:
    """Which of the two rules about shared streams find something of weight, where somebody seeds."""
    rules = {"global-stream", "unseeded-global"}
    return rules & found({path: text, "sim/seeding.py": ELSEWHERE}).keys()


@pytest.mark.parametrize(
    "text",
    [
        # Seeded anew in the function, and in whoever calls it.
        "import random\n\ndef terrain(size, seed):\n    random.seed(seed)\n    return [random.random() for _ in range(size)]\n",
        """
import random

def terrain(size, seed):
    random.seed(seed)
    return [_height(i) for i in range(size)]

def _height(i):
    return i + _noise()

def _noise():
    return random.uniform(0, 1)
""",
        "import random\nfrom lib import set_rng_seed\n\ndef main(a):\n    set_rng_seed(a.seed)\n    rows = random.sample(a.rows, 3)\n    return rows\n",
        "import random\n\nrandom.seed(3)\nrows = sorted(read())\nrandom.shuffle(rows)\nwrite(rows)\n",
        # Noise in what a network learns from.
        """
import torch

class Diffusion(torch.nn.Module):
    def compute_loss(self, batch):
        noise = torch.randn_like(batch)
        steps = torch.randint(0, 100, (len(batch),))
        return self.unet(batch + noise, steps).mean()
""",
        """
import torch
from torchvision.transforms.v2 import Transform

class Blur(Transform):
    def make_params(self, inputs):
        return {"size": int(torch.randint(1, 5, (1,)).item())}
""",
        # Data that is made up, a token.
        "import numpy as np\n\nclass FakeEnv:\n    def observe(self):\n        return np.random.random(3)\n",
        "import random\n\ndef random_token(n):\n    return [random.choice('abc') for _ in range(n)]\n",
        "import random\n\ndef main():\n    play(manual_control=True, start=random.randint(0, 9))\n",
    ],
)
def test_it_is_a_note(text: str) -> None:
    assert streams(text) == set()


def test_operands_of_a_benchmark_are_a_note() -> None:
    text = """
import time
import numpy as np

def measured(function):
    operand = np.random.rand(100)
    began = time.perf_counter()
    function(operand)
    return time.perf_counter() - began
"""
    assert streams(text, "sim/benchmarks/units.py") == set()
    assert streams(text) == {"global-stream"}


@pytest.mark.parametrize(
    "text",
    [
        # Seeded on one way only; after other things; without a seed.
        "import random\n\ndef f(seed):\n    if seed is not None:\n        random.seed(seed)\n    return random.random()\n",
        "import random\n\ndef main(seed):\n    random.seed(seed)\n    build()\n    return random.random()\n",
        "import random\n\ndef f():\n    random.seed(None)\n    return random.random()\n",
        "import random\nfrom lib import set_rng_seed\n\ndef serve(a):\n    set_rng_seed(a.seed)\n    a.build()\n    return random.sample(a.rows, 3)\n",
        "import random\n\nrandom.seed(3)\na()\nb()\nc()\nrows = sorted(read())\nrandom.shuffle(rows)\nwrite(rows)\n",
        # An action, an index, an order.
        """
import torch

class Policy(torch.nn.Module):
    def forward(self, logits):
        action = torch.randint(0, logits.shape[-1], (1,))
        return action
""",
        """
import torch

class Critic(torch.nn.Module):
    def loss(self, batch):
        chosen = torch.randint(0, len(batch), (8,))
        return batch[chosen].mean()
""",
        # Something else calls it, too.
        """
import random

def terrain(seed):
    random.seed(seed)
    return _noise()

def weather():
    return _noise()

def _noise():
    return random.uniform(0, 1)
""",
    ],
)
def test_it_still_counts(text: str) -> None:
    assert streams(text) == {"global-stream"}


def test_made_up_data_is_a_note_where_nobody_seeds_either() -> None:
    text = "import random\n\nclass FakeRows:\n    def make(self):\n        return random.random()\n"

    assert found(text) == {}
