"""The seed audit says of every draw who owns it, and names what nobody owns."""

from __future__ import annotations

from files import audit_of

from twice.checker.analysis.generators import StreamOwner, UseKind
from twice.checker.analysis.stream_uses import SPACES
from twice.checker.audits.streams import RandomUse, summarize_streams


def audited(**sources: str) -> tuple[RandomUse, ...]:
    """Return the seed audit of files; ``__`` in a name is a folder."""
    return audit_of({name.replace("__", "/"): text for name, text in sources.items()}).uses


def drawn(draws: tuple[RandomUse, ...]) -> list[tuple[str, StreamOwner, str]]:
    """Return each draw: the call, its owner, and where the generator was made."""
    return [
        (each.call, each.origin.owner, each.where) for each in draws if each.kind is UseKind.DRAWS
    ]


def test_a_stream_of_the_run_owns_what_is_drawn_from_it() -> None:
    draws = audited(
        main="""
        def main(run):
            rng = run.rng("weather")
            rng.normal()
            run.rng(f"agent/{1}").random()
        """,
    )

    assert [(owner, origin) for _, owner, origin in drawn(draws)] == [
        (StreamOwner.NAMED, "main.py:3"),
        (StreamOwner.NAMED, "main.py:5"),
    ]
    assert {each.origin.seed for each in draws} == {"weather", "agent/{}"}
    assert not any(each.is_orphan for each in draws)


def test_a_generator_is_traced_to_where_it_was_made_and_to_its_seed() -> None:
    (made, draw) = audited(
        world="""
        import numpy as np

        class World:
            def __init__(self, config):
                self.rng = np.random.default_rng(config.seed)

            def step(self):
                return self.rng.normal()
        """,
    )

    assert (made.kind, made.stream) == (UseKind.MAKES, "self.rng")
    assert (draw.origin.owner, draw.where, draw.origin.seed) == (
        StreamOwner.GENERATOR,
        "world.py:6",
        "config.seed",
    )
    assert draw.function == "World.step"


def test_a_generator_without_a_seed_is_an_orphan_and_so_is_what_is_drawn_from_it() -> None:
    draws = audited(
        a="""
        import random
        rng = random.Random()
        rng.choice([1, 2])
        dice = random.SystemRandom()
        dice.random()
        """,
    )

    assert [each.is_orphan for each in draws] == [True, True, True, True]
    first, second = summarize_streams(draws)
    assert (first.name, first.draws, first.made) == ("rng", 1, "a.py:3")
    assert "entropy" in second.origin.note


def test_a_fallback_without_a_seed_is_noted_on_the_draw() -> None:
    draws = audited(
        a="""
        import numpy as np

        def f(rng=None):
            rng = rng or np.random.default_rng()
            return rng.normal()
        """,
    )
    (draw,) = [each for each in draws if each.kind is UseKind.DRAWS]

    assert draw.origin.owner is StreamOwner.PARAMETER
    assert draw.origin.note == "unseeded on one way (line 5)"
    assert [each.line for each in draws if each.is_orphan] == [5]


def test_a_seed_that_may_be_none_is_noted() -> None:
    made, _ = audited(
        a="""
        import numpy as np

        def f(seed=None):
            return np.random.default_rng(seed).normal()
        """,
    )

    assert made.origin.note == "unseeded when seed is not given"
    assert not made.is_orphan


def test_a_process_wide_stream_belongs_to_whoever_seeds_it() -> None:
    world = "import random\ndef step():\n    return random.random()\n"

    alone = audited(world=world)
    seeded = audited(world=world, main="import random\nimport world\nrandom.seed(7)\n")

    assert drawn(alone) == [("random.random()", StreamOwner.NOBODY, "")]
    assert drawn(seeded) == [("random.random()", StreamOwner.PROCESS, "main.py:3")]


def test_a_script_that_seeds_does_not_seed_another_script() -> None:
    draws = audited(
        one="import random, sys\nrandom.seed(int(sys.argv[1]))\nrandom.random()\n",
        two="import random\nrandom.random()\n",
    )

    assert [each.is_orphan for each in draws] == [False, False, True]
    assert draws[-1].origin.note.startswith("one.py:2 seeds the process-wide stream of random")


def test_a_test_that_seeds_does_not_make_the_program_seeded() -> None:
    draws = audited(
        world="import random\nrandom.random()\n",
        tests__test_world="import random\nrandom.seed(1)\n",
    )

    (draw,) = [each for each in draws if each.kind is UseKind.DRAWS]
    assert draw.is_orphan
    assert draw.origin.note.startswith("only a test seeds")


def test_seeding_one_library_does_not_seed_another() -> None:
    draws = audited(
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

    assert [owner for _, owner, _ in drawn(draws)] == [
        StreamOwner.PROCESS,
        StreamOwner.NOBODY,
        StreamOwner.NOBODY,
    ]


def test_seeding_from_nothing_is_an_orphan() -> None:
    (seeding,) = audited(a="import random\nrandom.seed()\n")

    assert seeding.is_orphan
    assert seeding.kind is UseKind.SEEDS


def test_what_another_object_holds_is_found_by_its_attribute() -> None:
    draws = audited(
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

    assert drawn(draws) == [
        ("self.model.random.choice([1, 2])", StreamOwner.GENERATOR, "model.py:6")
    ]


def test_a_generator_that_is_unpacked_is_found_too() -> None:
    draws = audited(
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

    assert [each.stream for each in draws if each.kind is UseKind.MAKES] == ["self.np_random"]
    assert [(owner, where) for _, owner, where in drawn(draws)] == [
        (StreamOwner.GENERATOR, "env.py:6")
    ]


def test_libraries_that_draw_unless_they_are_told_how() -> None:
    draws = audited(
        a="""
        import networkx as nx
        from sklearn.model_selection import train_test_split
        nx.erdos_renyi_graph(10, 0.1)
        nx.erdos_renyi_graph(10, 0.1, seed=3)
        train_test_split([1], [2], random_state=None)
        """,
    )

    assert [owner for _, owner, _ in drawn(draws)] == [
        StreamOwner.NOBODY,
        StreamOwner.GENERATOR,
        StreamOwner.NOBODY,
    ]


def test_spaces_have_generators_of_their_own() -> None:
    source = "def f(env):\n    env.reset(seed=1)\n    return env.action_space.sample()\n"

    (orphan,) = audited(a=source)
    draw, _ = audited(a=source, b="def g(env):\n    env.action_space.seed(1)\n")

    assert (orphan.stream, orphan.is_orphan) == (SPACES, True)
    assert (draw.origin.owner, draw.where) == (StreamOwner.PROCESS, "b.py:2")


def test_keys_are_traced_through_splits() -> None:
    draws = audited(
        a="""
        import jax
        key = jax.random.PRNGKey(3)
        key, sub = jax.random.split(key)
        jax.random.normal(sub)
        """,
    )

    (_, _, normal) = draws
    assert (normal.origin.owner, normal.origin.seed) == (StreamOwner.GENERATOR, "3")


def test_names_that_only_look_like_draws_are_left_alone() -> None:
    draws = audited(
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


def test_a_generator_under_another_name_is_drawn_from() -> None:
    draws = audited(
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
        ("self._r.normal()", StreamOwner.PARAMETER),
        ("r.normal()", StreamOwner.PASSED),
    ]


def test_a_library_draws_from_its_generator_under_any_of_its_names_and_only_when_it_shuffles() -> (
    None
):
    draws = audited(
        a="""
        import numpy as np
        from scipy.stats import qmc
        from sklearn.model_selection import KFold
        qmc.LatinHypercube(d=2, rng=np.random.default_rng(3))
        qmc.Halton(d=2)
        KFold(5)
        KFold(5, shuffle=True)
        """,
    )

    assert [(each.line, each.is_orphan) for each in draws if each.kind is UseKind.DRAWS] == [
        (5, True),
        (6, True),
        (8, True),
    ]
