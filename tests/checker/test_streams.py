"""Who seeds a process-wide stream is read off the whole project: one of two rules speaks at a draw."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent

import pytest

from twice.checker.analyzer import analyze_file
from twice.checker.catalogue import shipped
from twice.checker.driver import judge
from twice.checker.findings import Finding
from twice.checker.policy import Policy
from twice.checker.rules.engine import every_rule, index
from twice.foundation.severity import Severity

DRAWS = "import random\n\ndef pick(names):\n    return random.choice(names)\n"
SEEDS = "import random\n\nSEEDS = random.sample(range(100), 3)\n"
SPACES = (
    "class Policy:\n    def __init__(self, env):\n        self.action_space = env.action_space\n\n"
    "    def get_action(self, seen):\n        return self.action_space.sample()\n"
)
STREAMS = {"drawn-seed", "global-stream", "unseeded-global", "unseeded-space-sample"}


def findings(files: Mapping[str, str], packages: Mapping[str, str] | None = None) -> list[Finding]:
    """Return the findings about process-wide streams in several files."""
    looked = {
        path: analyze_file(
            path,
            dedent(text),
            package=(packages or {}).get(path, ""),
            index=index(every_rule(), shipped()),
            catalogue=shipped(),
            follows=True,
        )
        for path, text in files.items()
    }
    return [each for each in judge(looked, Policy()) if each.found.rule in STREAMS]


def rules(files: Mapping[str, str], packages: Mapping[str, str] | None = None) -> list[str]:
    """Return the rules of those findings."""
    return [each.found.rule for each in findings(files, packages)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pick.py": DRAWS}, "unseeded-global"),
        ({"pick.py": DRAWS, "main.py": "import pick, random\nrandom.seed(3)\n"}, "global-stream"),
        ({"pick.py": DRAWS, "main.py": "import pick, numpy\nnumpy.random.seed(3)\n"}, "unseeded-global"),
        ({"pick.py": DRAWS, "main.py": "import random\nrandom.seed(3)\n"}, "unseeded-global"),
        ({"pick.py": DRAWS, "main.py": "import pick, random\nrandom.seed()\n"}, "unseeded-global"),
        (
            {
                "pick.py": DRAWS,
                "main.py": "import pick, seeds\nseeds.start(3)\n",
                "seeds.py": "import random\n\ndef start(seed):\n    random.seed(seed)\n",
            },
            "global-stream",
        ),
        (
            {"pick.py": DRAWS, "tests/test_pick.py": "import pick, random\nrandom.seed(3)\n"},
            "unseeded-global",
        ),
    ],
)  # fmt: skip
def test_a_stream_is_seeded_by_whoever_uses_the_file(files: dict[str, str], expected: str) -> None:
    assert rules(files) == [expected]


def test_a_package_seeds_for_all_its_files() -> None:
    files = {"world/pick.py": DRAWS, "world/start.py": "import random\nrandom.seed(3)\n"}
    packages = dict.fromkeys(files, "world")
    assert rules(files, packages) == ["global-stream"]


def test_seeds_drawn_at_import_come_before_any_seeding() -> None:
    files = {"world/seeds.py": SEEDS, "world/start.py": "import random\nrandom.seed(3)\n"}
    assert rules(files, dict.fromkeys(files, "world")) == ["drawn-seed"]


def test_seeds_drawn_after_the_file_seeds_its_stream_are_a_matter_of_sharing() -> None:
    assert rules({"seeds.py": f"import random\nrandom.seed(3)\n{SEEDS}"}) == ["global-stream"]


def test_a_seed_that_a_library_draws_by_a_tensor_is_seeded_by_who_uses_it() -> None:
    text = (
        "import torch\n\ndef fresh():\n    seed = torch.randint(9, (1,)).item()\n    return seed\n"
    )
    files = {"world/noise.py": text}
    assert rules(files, dict.fromkeys(files, "world")) == ["global-stream"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"policy.py": SPACES}, ["unseeded-space-sample"]),
        ({"policy.py": SPACES, "run.py": "def run(env):\n    env.action_space.seed(3)\n"}, []),
    ],
)  # fmt: skip
def test_a_space_is_seeded_by_any_file(files: dict[str, str], expected: list[str]) -> None:
    assert rules(files) == expected


def test_an_action_drawn_by_a_tensor_library_counts_whoever_seeds_it() -> None:
    acting = "import torch\n\ndef act(policy):\n    return policy.dist.sample()\n"
    seeding = "import acting, torch\ntorch.manual_seed(3)\n"
    alone = {"acting.py": acting, "main.py": "import acting\n"}
    assert [each.severity for each in findings(alone)] == [Severity.MEDIUM]
    assert rules({**alone, "main.py": seeding}) == ["global-stream"]


def test_modules_that_import_each_other_are_no_trouble() -> None:
    files = {"a.py": f"import b\n{DRAWS}", "b.py": "import a, random\nrandom.seed(3)\n"}
    assert rules(files) == ["global-stream"]


def test_draws_on_neighbouring_lines_are_reported_once() -> None:
    text = "import random\nrandom.seed(3)\n\ndef roll():\n    a = random.random()\n    return a, random.random()\n"
    (found,) = findings({"dice.py": text})
    assert "1 more here" in found.found.message
    assert found.found.place.line == 5


@pytest.mark.parametrize(
    "line",
    [
        "rng.shuffle(names)",
        "self.random.shuffle(names)",
        "torch.rand(3, generator=self.generator)",
        "model.random.choice(names)",
    ],
)
def test_a_generator_that_was_passed_in_is_innocent(line: str) -> None:
    text = f"import torch\n\nclass World:\n    def step(self, rng, model, names):\n        return {line}\n"
    assert rules({"world.py": text}) == []


def test_noise_of_a_tensor_library_weighs_less_than_a_choice() -> None:
    text = """
        import torch

        torch.manual_seed(3)

        def noise():
            return torch.randn(3)

        def order():
            return torch.randperm(3)
    """
    noise, order = findings({"net.py": text})
    assert (noise.severity, order.severity) == (Severity.LOW, Severity.MEDIUM)
