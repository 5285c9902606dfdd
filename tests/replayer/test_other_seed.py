"""Claims about a seed that matters: nothing but what follows from it moves a run, and what repeats it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import recorded
from twice.errors import PropertyBroken
from twice.foundation.determinism_class import Predicate
from twice.foundation.seeds import Seed
from twice.replayer.other_seed import OTHER_SEEDS, is_moved_by_seed
from twice.replayer.verify_worker import without_seeds
from twice.testing import properties


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs write where they are started."""
    monkeypatch.chdir(tmp_path)


HEAD = "import os, random, time\nimport numpy as np\n"

MOVED = {
    "a stream": "def main(run):\n    print(run.rng('a').random())\n",
    "one decision of many": (
        "def main(run):\n    rng = run.rng('a')\n"
        "    for tick in run.ticks(3):\n        run.compare('heads', rng.random() < 0.5)\n"
    ),
    "a generator of everybody": "def main(run):\n    random.random()\n    return np.random.rand()\n",
    "a generator of its own, made of the seed": (
        "def main(run):\n    print(random.Random(run.seed.value).random())\n"
    ),
    "a component whose generator is made of the seed, which it keeps": (
        "def main(run):\n    own = random.Random(run.seed.value)\n"
        "    kept = run.track('kept', {'seed': run.seed.value, 'x': 0.0})\n"
        "    for tick in run.ticks(2):\n        kept['x'] += own.random()\n"
    ),
    "a file": "def main(run):\n    open('drawn.txt', 'w').write(str(run.rng('a').random()))\n",
}
IDLE = {
    "a literal": "def main(run):\n    print(random.Random(42).random())\n",
    "everybody's generator seeded anew": "def main(run):\n    random.seed(42)\n    print(random.random())\n",
    "a stream that is drawn from for nothing": (
        "def main(run):\n    run.rng('a').random()\n    print(random.Random(42).random())\n"
    ),
    "the seed repeated": (
        "def main(run):\n    print(f'seed {run.seed.value}, 0x{run.seed.value:x}')\n"
        "    run.track('kept', {'seed': run.seed.value})\n    for tick in run.ticks(2):\n        pass\n"
    ),
    "the number that its seed is": (
        "def main(run):\n    kept = run.track('kept', {'n': 0, 'said': 'day 7'})\n    print('step 7 of 9')\n"
        "    for tick in run.ticks(2):\n        kept['n'] = 7\n"
    ),
    "chance of the world": "def main(run):\n    print(time.time(), os.urandom(4), np.random.default_rng().random())\n",
}


@pytest.mark.integration
@pytest.mark.parametrize("what", MOVED)
@pytest.mark.sample(2)
def test_a_run_is_moved_by_what_follows_from_its_seed(tmp_path: Path, what: str) -> None:
    with recorded(tmp_path, HEAD + MOVED[what], seed=7) as record:
        assert is_moved_by_seed(record)


@pytest.mark.integration
@pytest.mark.parametrize("what", IDLE)
@pytest.mark.sample(2)
def test_a_run_that_repeats_or_ignores_its_seed_is_moved_by_none(tmp_path: Path, what: str) -> None:
    with recorded(tmp_path, HEAD + IDLE[what], seed=7) as record:
        assert not is_moved_by_seed(record, OTHER_SEEDS[:1])


@pytest.mark.integration
def test_the_class_judges_what_a_seed_moves(tmp_path: Path) -> None:
    program = (
        "def main(run):\n    rng, kept = run.rng('a'), run.track('kept', {'x': 0.0})\n"
        "    for tick in run.ticks(2):\n        kept['x'] = float(rng.random())\n        run.compare('sign', 1)\n"
    )

    with recorded(tmp_path, program, predicate=Predicate.parse(["logical"]), seed=7) as record:
        assert not is_moved_by_seed(record, OTHER_SEEDS[:1])


@pytest.mark.integration
@pytest.mark.heavy
def test_the_property_asks_for_one_example_in_which_seeds_part(tmp_path: Path) -> None:
    (tmp_path / "some.py").write_text(
        "def main(run):\n    if run.config['n']:\n        print(run.rng('a').random())\n"
    )
    few = {"examples": 3, "examples_in": None, "seeds": 7}

    properties.seed_matters("some.py:main", config={"n": 1}, **few)
    with pytest.raises(PropertyBroken) as caught:
        properties.seed_matters("some.py:main", config={"n": 0}, **few)

    assert "with the seed 1618033989 all that is judged is the same" in str(caught.value)
    assert "twice record some.py:main --seed 1618033989 --set n=0 -o b.twice" in str(caught.value)


def test_a_seed_is_taken_out_of_a_text_where_it_is_a_number_of_its_own() -> None:
    assert without_seeds(b"seed 7, 0x7, 17, 7.5, 9", [Seed(7), Seed(9)]) == b"seed *, *, 17, *.5, *"
