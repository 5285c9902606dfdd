"""What an object was made with is blamed inside of its constructor, not where it was bound."""

from __future__ import annotations

from pathlib import Path

import pytest
from windows import Case

import twice
from programs import write
from twice.diagnosis.diagnose import diagnose

VALUES = {"a": {"TOY_V": "1"}, "b": {"TOY_V": "2"}}


@pytest.mark.heavy
def test_a_hidden_flag_is_blamed_in_the_constructor_that_sets_it(tmp_path: Path) -> None:
    program = write(
        tmp_path,
        """
        import os

        class Sim:
            def __init__(self, run):
                self.n = 0
                self.debug = os.environ.get("SIM_DEBUG") == "1"  # guilty
                self.rng = run.rng("sim")
                self.total = 0.0

            def step(self, tick):
                self.n += 1
                if tick >= 5:
                    self.total += 0.5 * self.debug
                self.total += self.rng.random()

            def state(self):
                return {"n": self.n, "total": self.total}

        def main(run):
            sim = run.track("sim", Sim(run))
            for tick in run.ticks(8):
                sim.step(tick)
        """,
    )
    for name, given in (("a", {}), ("b", {"SIM_DEBUG": "1"})):
        out = tmp_path / f"{name}.twice"
        twice.record(program, seed=1, out=out, env={"PYTHONHASHSEED": "0", **given}).close()
    found = diagnose(tmp_path / "a.twice", tmp_path / "b.twice")
    source = (tmp_path / "program.py").read_text(encoding="utf-8").splitlines()
    assert found.operation is not None
    assert source[found.operation.line - 1].endswith("# guilty")
    assert (found.operation.function, found.operation.name) == ("Sim.__init__", "self.debug")
    assert (found.operation.a, found.operation.b) == ("False", "True")
    assert found.compare_point is not None
    assert found.compare_point.tick == 5
    assert found.blind_spots == ["sim.debug"]


@pytest.mark.integration
def test_a_member_set_by_a_base_class_is_blamed_there(tmp_path: Path) -> None:
    found = Case(
        tmp_path,
        """
        import os
        class Agent:
            def __init__(self):
                self.kind = 0
                self.weight = float(os.environ["TOY_V"])  # guilty
        class Walker(Agent):
            def __init__(self):
                super().__init__()
                self.steps = 0
        class Box:
            def __init__(self):
                self.agent, self.x = None, 0.0
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(2):
                if tick == 0:
                    box.agent = Walker()
                box.x += 1
        """,
        **VALUES,
    )
    located = found.locate()
    assert (located.place.line, located.place.function) == (found.guilty, "Agent.__init__")
    assert located.name == "self.weight"


@pytest.mark.integration
def test_a_part_of_a_part_is_followed_through_both_constructors(tmp_path: Path) -> None:
    found = Case(
        tmp_path,
        """
        import os
        class World:
            def __init__(self):
                self.size = 3
                self.gravity = float(os.environ["TOY_V"])  # guilty
        class Sim:
            def __init__(self):
                self.n = 0
                self.world = World()
        class Box:
            def __init__(self):
                self.sim, self.x = None, 0.0
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(2):
                if tick == 0:
                    box.sim = Sim()
                box.x += 1
        """,
        **VALUES,
    )
    located = found.locate()
    assert (located.place.line, located.place.function) == (found.guilty, "World.__init__")


@pytest.mark.integration
def test_an_argument_of_a_constructor_is_blamed_where_it_was_given(tmp_path: Path) -> None:
    found = Case(
        tmp_path,
        """
        import os
        class Sim:
            def __init__(self, weight):
                self.weight = weight
        class Box:
            def __init__(self):
                self.sim = None
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(2):
                box.sim = Sim(os.environ["TOY_V"])  # guilty
        """,
        **VALUES,
    )
    assert found.locate().place.line == found.guilty
