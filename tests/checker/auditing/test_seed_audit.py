"""The seed audit says of every draw who owns it, and names what nobody owns."""

from __future__ import annotations

import textwrap
from pathlib import Path

from twice.checker.auditing.origins import Owner
from twice.checker.auditing.projects import read_project
from twice.checker.auditing.seeds import SPACES, Draw, What
from twice.checker.auditing.streams import streams
from twice.checker.catalogue import shipped
from twice.checker.policy import Policy


def audited(folder: Path, **sources: str) -> tuple[Draw, ...]:
    """Write files, and return their seed audit; ``__`` in a name is a folder."""
    paths = []
    for name, source in sources.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        paths.append(str(path))

    def shown(path: str) -> str:
        return Path(path).relative_to(folder).as_posix()

    return read_project(paths, Policy(), shipped(), shown).draws


def drawn(draws: tuple[Draw, ...]) -> list[tuple[str, Owner, str]]:
    """Return each draw: the call, its owner, and where the generator was made."""
    return [(each.call, each.origin.owner, each.where) for each in draws if each.what is What.DRAWS]


def test_a_stream_of_the_run_owns_what_is_drawn_from_it(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        main="""
        def main(run):
            rng = run.rng("weather")
            rng.normal()
            run.rng(f"agent/{1}").random()
        """,
    )

    assert [(owner, origin) for _, owner, origin in drawn(draws)] == [
        (Owner.NAMED, "main.py:3"),
        (Owner.NAMED, "main.py:5"),
    ]
    assert {each.origin.seed for each in draws} == {"weather", "agent/{}"}
    assert not any(each.is_orphan for each in draws)


def test_a_generator_is_traced_to_where_it_was_made_and_to_its_seed(tmp_path: Path) -> None:
    (made, draw) = audited(
        tmp_path,
        world="""
        import numpy as np

        class World:
            def __init__(self, config):
                self.rng = np.random.default_rng(config.seed)

            def step(self):
                return self.rng.normal()
        """,
    )

    assert (made.what, made.stream) == (What.MAKES, "self.rng")
    assert (draw.origin.owner, draw.where, draw.origin.seed) == (
        Owner.GENERATOR,
        "world.py:6",
        "config.seed",
    )
    assert draw.function == "World.step"


def test_a_generator_without_a_seed_is_an_orphan_and_so_is_what_is_drawn_from_it(
    tmp_path: Path,
) -> None:
    draws = audited(
        tmp_path,
        a="""
        import random
        rng = random.Random()
        rng.choice([1, 2])
        dice = random.SystemRandom()
        dice.random()
        """,
    )

    assert [each.is_orphan for each in draws] == [True, True, True, True]
    first, second = streams(draws)
    assert (first.name, first.draws, first.made) == ("rng", 1, "a.py:3")
    assert "entropy" in second.note


def test_a_fallback_without_a_seed_is_noted_on_the_draw(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        a="""
        import numpy as np

        def f(rng=None):
            rng = rng or np.random.default_rng()
            return rng.normal()
        """,
    )
    (draw,) = [each for each in draws if each.what is What.DRAWS]

    assert draw.origin.owner is Owner.PARAMETER
    assert draw.origin.note == "unseeded on one way (line 5)"
    assert [each.line for each in draws if each.is_orphan] == [5]


def test_a_seed_that_may_be_none_is_noted(tmp_path: Path) -> None:
    made, _ = audited(
        tmp_path,
        a="""
        import numpy as np

        def f(seed=None):
            return np.random.default_rng(seed).normal()
        """,
    )

    assert made.origin.note == "unseeded when seed is not given"
    assert not made.is_orphan


def test_a_process_wide_stream_belongs_to_whoever_seeds_it(tmp_path: Path) -> None:
    world = "import random\ndef step():\n    return random.random()\n"

    alone = audited(tmp_path, world=world)
    seeded = audited(tmp_path, world=world, main="import random\nimport world\nrandom.seed(7)\n")

    assert drawn(alone) == [("random.random()", Owner.NOBODY, "")]
    assert drawn(seeded) == [("random.random()", Owner.PROCESS, "main.py:3")]


def test_a_script_that_seeds_does_not_seed_another_script(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        one="import random, sys\nrandom.seed(int(sys.argv[1]))\nrandom.random()\n",
        two="import random\nrandom.random()\n",
    )

    assert [each.is_orphan for each in draws] == [False, False, True]
    assert draws[-1].origin.note.startswith("one.py:2 seeds the process-wide stream of random")


def test_a_test_that_seeds_does_not_make_the_program_seeded(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        world="import random\nrandom.random()\n",
        tests__test_world="import random\nrandom.seed(1)\n",
    )

    (draw,) = [each for each in draws if each.what is What.DRAWS]
    assert draw.is_orphan
    assert draw.origin.note.startswith("only a test seeds")


def test_seeding_one_library_does_not_seed_another(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        a="""
        import random
        import numpy as np
        import torch
        random.seed(1)
        random.random()
        np.random.normal()
        torch.randn(3)
        """,
    )

    assert [owner for _, owner, _ in drawn(draws)] == [Owner.PROCESS, Owner.NOBODY, Owner.NOBODY]


def test_seeding_from_nothing_is_an_orphan(tmp_path: Path) -> None:
    (seeding,) = audited(tmp_path, a="import random\nrandom.seed()\n")

    assert seeding.is_orphan
    assert seeding.what is What.SEEDS


def test_what_another_object_holds_is_found_by_its_attribute(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        model="""
        import random

        class Model:
            def __init__(self, seed):
                self.random = random.Random(seed)
        """,
        agent="""
        class Agent:
            def step(self):
                return self.model.random.choice([1, 2])
        """,
    )

    assert drawn(draws) == [("self.model.random.choice([1, 2])", Owner.GENERATOR, "model.py:6")]


def test_a_generator_that_is_unpacked_is_found_too(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        env="""
        from gymnasium.utils import seeding

        class Env:
            def reset(self, seed=None):
                self.np_random, seed = seeding.np_random(seed)
        """,
        part="""
        class Part:
            def draw(self):
                return self.env.np_random.integers(3)
        """,
    )

    assert [each.stream for each in draws if each.what is What.MAKES] == ["self.np_random"]
    assert [(owner, where) for _, owner, where in drawn(draws)] == [(Owner.GENERATOR, "env.py:6")]


def test_libraries_that_draw_unless_they_are_told_how(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        a="""
        import networkx as nx
        from sklearn.model_selection import train_test_split
        nx.erdos_renyi_graph(10, 0.1)
        nx.erdos_renyi_graph(10, 0.1, seed=3)
        train_test_split([1], [2], random_state=None)
        """,
    )

    assert [owner for _, owner, _ in drawn(draws)] == [Owner.NOBODY, Owner.GENERATOR, Owner.NOBODY]


def test_spaces_have_generators_of_their_own(tmp_path: Path) -> None:
    source = "def f(env):\n    env.reset(seed=1)\n    return env.action_space.sample()\n"

    (orphan,) = audited(tmp_path, a=source)
    draw, _ = audited(tmp_path, a=source, b="def g(env):\n    env.action_space.seed(1)\n")

    assert (orphan.stream, orphan.is_orphan) == (SPACES, True)
    assert (draw.origin.owner, draw.where) == (Owner.PROCESS, "b.py:2")


def test_keys_are_traced_through_splits(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        a="""
        import jax
        key = jax.random.PRNGKey(3)
        key, sub = jax.random.split(key)
        jax.random.normal(sub)
        """,
    )

    (_, _, normal) = draws
    assert (normal.origin.owner, normal.origin.seed) == (Owner.GENERATOR, "3")


def test_names_that_only_look_like_draws_are_left_alone(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        a="""
        from mylib import random_walks, choice

        class Deck:
            def shuffle(self):
                pass

        def f(deck, frame, random_walks_table):
            deck.shuffle()
            frame.sample(3)
            choice([1])
            random_walks.sample()
            return deck.choice
        """,
    )

    assert draws == ()


def test_a_generator_under_another_name_is_drawn_from(tmp_path: Path) -> None:
    draws = audited(
        tmp_path,
        world="""
        class World:
            def __init__(self, rng, names):
                self._r = rng
                self._names = names

            def step(self, agent):
                r = agent._rng
                return self._r.normal(), r.normal(), self._names.choice()
        """,
    )

    assert [(each.call, each.origin.owner) for each in draws] == [
        ("self._r.normal()", Owner.PARAMETER),
        ("r.normal()", Owner.PASSED),
    ]
