"""Who seeds a process-wide stream is read off the whole project; where nobody can shift a draw it is a note."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from files import findings, found

from twice.checker.findings import Finding
from twice.checker.policy import Policy
from twice.foundation.severity import Severity

STREAMS = {"drawn-seed", "global-stream", "unseeded-global", "unseeded-space-sample"}
DRAWS = "import random\n\ndef pick(names):\n    return random.choice(names)\n"
SEEDED = "import random\nrandom.seed(3)\n"
SEEDS = "import random\n\nSEEDS = random.sample(range(100), 3)\n"
START = "import random\n\ndef start(seed):\n    random.seed(seed)\n"
FRESH = "import torch\n\ndef fresh():\n    seed = torch.randint(9, (1,)).item()\n    return seed\n"
ACTS = "import torch\n\ndef act(policy):\n    return policy.dist.sample()\n"
SPACES = (
    "class Policy:\n    def __init__(self, env):\n        self.action_space = env.action_space\n\n"
    "    def get_action(self, seen):\n        return self.action_space.sample()\n"
)


def shared(files: str | Mapping[str, str], package: str = "") -> list[Finding]:
    """Return the findings about process-wide streams in several files."""
    said = findings(files, package=package, policy=Policy())
    return [each for each in said if each.found.rule in STREAMS]


@pytest.mark.parametrize(
    ("files", "package", "expected"),
    [
        ({"pick.py": DRAWS}, "", ["unseeded-global"]),
        ({"pick.py": DRAWS, "main.py": f"import pick\n{SEEDED}"}, "", ["global-stream"]),
        ({"pick.py": DRAWS, "main.py": "import pick, numpy\nnumpy.random.seed(3)\n"}, "", ["unseeded-global"]),
        ({"pick.py": DRAWS, "main.py": SEEDED}, "", ["unseeded-global"]),
        ({"pick.py": DRAWS, "main.py": "import pick, random\nrandom.seed()\n"}, "", ["unseeded-global"]),
        ({"pick.py": DRAWS, "main.py": "import pick, seeds\nseeds.start(3)\n", "seeds.py": START}, "", ["global-stream"]),
        ({"pick.py": DRAWS, "tests/test_pick.py": f"import pick\n{SEEDED}"}, "", ["unseeded-global"]),
        ({"world/pick.py": DRAWS, "world/start.py": SEEDED}, "world", ["global-stream"]),
        # Seeds that are drawn at import come before any seeding; a tensor library's are seeded by who uses it.
        ({"world/seeds.py": SEEDS, "world/start.py": SEEDED}, "world", ["drawn-seed"]),
        ({"seeds.py": f"{SEEDED}{SEEDS}"}, "", ["global-stream"]),
        ({"world/noise.py": FRESH}, "world", ["global-stream"]),
        ({"acting.py": ACTS, "main.py": "import acting, torch\ntorch.manual_seed(3)\n"}, "", ["global-stream"]),
        ({"policy.py": SPACES}, "", ["unseeded-space-sample"]),
        ({"policy.py": SPACES, "run.py": "def run(env):\n    env.action_space.seed(3)\n"}, "", []),
        ({"a.py": f"import b\n{DRAWS}", "b.py": f"import a\n{SEEDED}"}, "", ["global-stream"]),
    ],
)  # fmt: skip
def test_a_stream_is_seeded_by_whoever_uses_the_file(
    files: dict[str, str], package: str, expected: list[str]
) -> None:
    assert [each.found.rule for each in shared(files, package)] == expected


def test_an_action_weighs_though_nobody_seeds_it_and_noise_less_than_a_choice() -> None:
    alone = {"acting.py": ACTS, "main.py": "import acting\n"}
    assert [each.severity for each in shared(alone)] == [Severity.MEDIUM]
    noise = "import torch\ntorch.manual_seed(3)\ndef f():\n    return torch.{}(3)\n"
    drawn = [shared(noise.format(name))[0].severity for name in ("randn", "randperm")]
    assert drawn == [Severity.LOW, Severity.MEDIUM]


def test_draws_on_neighbouring_lines_are_reported_once() -> None:
    (one,) = shared(f"{SEEDED}def f():\n    a = random.random()\n    return a, random.random()\n")
    assert "1 more here" in one.found.message
    assert one.found.place.line == 4


@pytest.mark.parametrize(
    "line", ["rng.shuffle(names)", "self.random.shuffle(names)", "torch.rand(3, generator=self.generator)", "model.random.choice(names)"]
)  # fmt: skip
def test_a_generator_that_was_passed_in_is_innocent(line: str) -> None:
    text = f"import torch\n\nclass World:\n    def step(self, rng, model, names):\n        return {line}\n"
    assert shared(text) == []


ELSEWHERE = "import random\nimport numpy as np\nimport torch\ndef start(seed):\n    random.seed(seed)\n    np.random.seed(seed)\n    torch.manual_seed(seed)\n"
NOTES = [
    # Seeded anew in the function, and in whoever calls it.
    "import random\ndef f(size, seed):\n    random.seed(seed)\n    return [random.random() for _ in range(size)]\n",
    ("import random\ndef f(seed):\n    random.seed(seed)\n    return _height(1)\n"
    "def _height(i):\n    return i + _noise()\ndef _noise():\n    return random.uniform(0, 1)\n"),
    "import random\nfrom lib import set_rng_seed\ndef main(a):\n    set_rng_seed(a.seed)\n    rows = random.sample(a.rows, 3)\n    return rows\n",
    "import random\nrandom.seed(3)\nrows = sorted(read())\nrandom.shuffle(rows)\nwrite(rows)\n",
    # Noise in what a network learns from.
    ("import torch\nclass Diffusion(torch.nn.Module):\n    def compute_loss(self, batch):\n        noise = torch.randn_like(batch)\n"
    "        steps = torch.randint(0, 100, (len(batch),))\n        return self.unet(batch + noise, steps).mean()\n"),
    ("import torch\nfrom torchvision.transforms.v2 import Transform\nclass Blur(Transform):\n    def make_params(self, inputs):\n"
    "        return {'size': int(torch.randint(1, 5, (1,)).item())}\n"),
    # Data that is made up, a token.
    "import numpy as np\nclass FakeEnv:\n    def observe(self):\n        return np.random.random(3)\n",
    "import random\ndef random_token(n):\n    return [random.choice('abc') for _ in range(n)]\n",
    "import random\ndef main():\n    play(manual_control=True, start=random.randint(0, 9))\n",
]  # fmt: skip
COUNTING = [
    # Seeded on one way only; after other things; without a seed.
    "import random\ndef f(seed):\n    if seed is not None:\n        random.seed(seed)\n    return random.random()\n",
    "import random\ndef main(seed):\n    random.seed(seed)\n    build()\n    return random.random()\n",
    "import random\ndef f():\n    random.seed(None)\n    return random.random()\n",
    "import random\nrandom.seed(3)\na()\nb()\nc()\nrows = sorted(read())\nrandom.shuffle(rows)\nwrite(rows)\n",
    # An action, an index; something else calls it, too.
    "import torch\nclass Policy(torch.nn.Module):\n    def forward(self, logits):\n        action = torch.randint(0, logits.shape[-1], (1,))\n        return action\n",
    "import torch\nclass Critic(torch.nn.Module):\n    def loss(self, batch):\n        chosen = torch.randint(0, len(batch), (8,))\n        return batch[chosen].mean()\n",
    "import random\ndef f(seed):\n    random.seed(seed)\n    return _noise()\ndef g():\n    return _noise()\ndef _noise():\n    return random.uniform(0, 1)\n",
]  # fmt: skip


def weighed(text: str, path: str = "sim/core.py") -> set[str]:
    """Which of the two rules about shared streams find something of weight, where somebody seeds."""
    return STREAMS & found({path: text, "sim/seeding.py": ELSEWHERE}).keys()


@pytest.mark.parametrize("text", NOTES)
def test_a_draw_that_nobody_can_shift_is_a_note(text: str) -> None:
    assert weighed(text) == set()


@pytest.mark.parametrize("text", COUNTING)
def test_a_draw_that_others_shift_counts(text: str) -> None:
    assert weighed(text) == {"global-stream"}


def test_operands_of_a_benchmark_and_made_up_data_are_notes() -> None:
    text = (
        "import time\nimport numpy as np\ndef measured(function):\n    operand = np.random.rand(100)\n"
        "    began = time.perf_counter()\n    function(operand)\n    return time.perf_counter() - began\n"
    )
    assert weighed(text, "sim/benchmarks/units.py") == set()
    assert weighed(text) == {"global-stream"}
    made_up = (
        "import random\nclass FakeRows:\n    def make(self):\n        return random.random()\n"
    )
    assert found(made_up) == {}
