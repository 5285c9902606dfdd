"""Clocks, environment variables, hashes and draws: the read, or the draw that it let happen."""

from __future__ import annotations

import pytest
from windows import Case

pytestmark = pytest.mark.integration

CLOCKS = {"a": {"TOY_CLOCK": "100"}, "b": {"TOY_CLOCK": "200"}}
VALUES = {"a": {"TOY_V": "1"}, "b": {"TOY_V": "2"}}
SEEDS = {"a": {"PYTHONHASHSEED": "1"}, "b": {"PYTHONHASHSEED": "2"}}


@pytest.mark.heavy
def test_a_clock_that_is_kept_and_decides_a_branch_is_blamed_where_it_is_read(tmp_path):
    case = Case(
        tmp_path,
        """
        import time
        class Box:
            def __init__(self):
                self.x, self.n = 0.0, 0
            def step(self):
                now = time.time()  # guilty
                if now > 150:
                    self.x += 1
                self.n += 1
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(3):
                box.step()
        """,
        **CLOCKS,
    )
    found = case.locate()
    assert (found.place.line, found.name, found.facts.tags) == (case.guilty, "now", ("clock",))
    assert (found.value_a, found.value_b) == ("100.0", "200.0")


def test_a_clock_read_in_the_branch_itself_blames_the_branch(tmp_path):
    case = Case(
        tmp_path,
        """
        import time
        class Box:
            def __init__(self):
                self.x = 0.0
            def step(self):
                if time.time() > 150:  # guilty
                    self.x += 1
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(3):
                box.step()
        """,
        **CLOCKS,
    )
    found = case.locate()
    assert (found.place.line, found.kind, found.facts.calls) == (
        case.guilty,
        "flow",
        ("time.time",),
    )
    assert any("self.x += 1" in told for told in found.evidence)


@pytest.mark.heavy
def test_a_deadline_loop_is_blamed_at_the_loop_that_reads_the_clock(tmp_path):
    case = Case(
        tmp_path,
        """
        from time import time as now
        class Box:
            def __init__(self):
                self.n = 0
        def main(run):
            import time
            box = run.track("box", Box())
            for tick in run.ticks(3):
                n = 0
                while n * 50 < time.time():  # guilty
                    n += 1
                box.n += n
        """,
        **CLOCKS,
    )
    found = case.locate()
    assert (found.place.line, found.facts.tags) == (case.guilty, ("clock",))


def test_an_extra_draw_is_blamed_at_the_draw_with_its_guard(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Box:
            def __init__(self, rng):
                self.rng, self.x = rng, 0.0
            def step(self):
                if os.environ.get("TOY_EXTRA"):
                    self.rng.random()  # guilty
                self.x += self.rng.random()
        def main(run):
            box = run.track("box", Box(run.rng("box")))
            for tick in run.ticks(3):
                box.step()
        """,
        b={"TOY_EXTRA": "1"},
    )
    found = case.locate()
    assert (found.place.line, found.kind, found.side) == (case.guilty, "stream position", "b")
    assert found.guard.line == case.guilty - 1
    assert found.name == "streams.box"
    assert found.facts.tags == ("draw",)


def test_an_extra_draw_from_the_shared_generator_is_followed_through_its_position(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        import random
        class Box:
            def __init__(self):
                self.x = 0
            def step(self):
                if os.environ.get("TOY_EXTRA"):
                    random.random()  # guilty
                self.x = random.randrange(1000)
        def main(run):
            run.streams["streams.python"] = random._inst
            random.seed(3)
            box = run.track("box", Box())
            for tick in run.ticks(2):
                box.step()
        """,
        b={"TOY_EXTRA": "1"},
    )
    found = case.locate()
    assert found.place.line == case.guilty
    assert "draw from a shared generator" in found.facts.tags


def test_a_change_on_a_helpers_last_line_is_not_credited_to_the_caller(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Box:
            def __init__(self):
                self.x, self.n = [0, 0], 0
        def change(x):
            i = 1
            x[i] = float(os.environ["TOY_V"])  # guilty
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(3):
                box.n += 1
                change(box.x)
                box.n += 1
        """,
        **VALUES,
    )
    found = case.locate()
    assert (found.place.line, found.place.function, found.name) == (case.guilty, "change", "box.x")
    assert (found.value_a, found.value_b) == ("[0, 1.0]", "[0, 2.0]")


def test_globals_and_class_attributes_are_state_and_blind_spots_are_named(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        COUNT = 0
        class Agent:
            made = 0
        class Box:
            def __init__(self):
                self.x = 0
        def lookup():
            global COUNT
            COUNT += int(os.environ["TOY_V"])  # guilty
            Agent.made += COUNT
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(3):
                lookup()
                box.x += Agent.made
        """,
        **VALUES,
    )
    found = case.locate()
    assert (found.place.line, found.name) == (case.guilty, "toy:COUNT")
    assert found.untracked == ("toy:Agent", "toy:COUNT")


def test_a_hash_that_becomes_a_seed_says_so(tmp_path):
    case = Case(
        tmp_path,
        """
        import random
        class Box:
            def __init__(self):
                self.n = 0
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(2):
                s = hash("agent")  # guilty
                r = random.Random(s)
                box.n = r.random()
        """,
        **SEEDS,
    )
    found = case.locate()
    assert (found.place.line, found.facts.tags, found.facts.seeds) == (
        case.guilty,
        ("hash",),
        ("s",),
    )


def test_entropy_makes_a_side_that_does_not_reproduce_itself(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Box:
            def __init__(self):
                self.x, self.n = 0, 0
            def step(self):
                self.n += 1
                token = os.urandom(4)  # guilty
                self.x = token[0] * 256 + token[1]
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(3):
                box.step()
        """,
    )
    found = case.locate()
    assert (found.place.line, found.facts.tags, found.non_reproducing) == (
        case.guilty,
        ("entropy",),
        "a",
    )
    assert not any("differs within a side" in told for told in found.evidence)


HIDDEN = """
class Box:
    def __init__(self):
        self.x, self._flag = 0, 0
    def step(self, tick, rng):
        if tick == 2:
            self._flag = hash("abc") % 2  # guilty
        if tick == 5 and self._flag:
            self.x += 3
        self.x += rng.integers(4)
def main(run):
    rng = run.rng("r")
    box = run.track("box", Box())
    for tick in run.ticks(8):
        box.step(tick, rng)
"""


@pytest.mark.heavy
def test_a_hidden_attribute_set_three_ticks_before_the_window_asks_for_an_earlier_start(tmp_path):
    found = Case(tmp_path, HIDDEN, first=5, last=5, **SEEDS).locate(("box.x",))
    assert found.before_window
    assert found.untracked == ("box._flag",)
    assert any("box._flag differs at the first event" in told for told in found.evidence)


@pytest.mark.heavy
def test_from_the_earlier_start_the_hidden_attribute_is_found_where_it_is_set(tmp_path):
    case = Case(tmp_path, HIDDEN, first=1, last=6, **SEEDS)
    found = case.locate(("box.x",))
    assert (found.place.line, found.before_window, found.facts.tags) == (
        case.guilty,
        False,
        ("hash",),
    )
    assert found.untracked == ("box._flag",)


DECLARED = """
import numpy as np
class Box:
    def __init__(self, rng):
        self.rng, self.x, self.cache, self.skill = rng, np.zeros(4), {}, 1.0
    def state(self):
        return {"x": self.x.copy(), "cache": dict(self.cache)}
    def learn(self):
        self.skill += hash("abc") % 2  # guilty
    def step(self, tick):
        self.cache[tick] = len(self.cache)
        if tick == 1:
            self.learn()
        self.x = self.x + self.rng.random(4)
        if tick == 3:
            self.x *= self.skill
def main(run):
    box = run.track("box", Box(run.rng("r")))
    for tick in run.ticks(5):
        box.step(tick)
"""


@pytest.mark.heavy
def test_a_declared_state_that_is_a_copy_is_followed_into_the_object_that_it_was_read_from(
    tmp_path,
):
    case = Case(tmp_path, DECLARED, last=3, **SEEDS)
    found = case.locate()
    assert (found.place.line, found.place.function) == (case.guilty, "Box.learn")
    assert found.untracked == ("object:box.skill",)
    assert found.followed[0].code == "self.x *= self.skill"


def test_the_hidden_attribute_is_the_reason_when_the_window_opens_after_it(tmp_path):
    found = Case(tmp_path, DECLARED, first=3, last=3, **SEEDS).locate()
    assert found.before_window
    assert found.untracked == ("object:box.skill",)


@pytest.mark.heavy
def test_a_long_window_is_searched_with_few_executions(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Box:
            def __init__(self):
                self.x = 0.0
        def f(i):
            y = i * 2.5
            if i == 1234:
                y += float(os.environ["TOY_V"])  # guilty
            return y
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(2):
                for i in range(4000):
                    box.x += f(i)
        """,
        **VALUES,
    )
    found = case.locate()
    assert found.place.line == case.guilty
    assert found.executions == len(case.traces) <= 25
    from twice.diagnosis.tracing.trace import SamplePlan

    plans = [plan for _, _, plan, _ in case.traces if isinstance(plan, SamplePlan)]
    assert max(len(plan.points) for plan in plans) <= 64
