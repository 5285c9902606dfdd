"""Sets, dicts and sums: the line at which an element comes out, not the one at which it hurts."""

from __future__ import annotations

import pytest
from windows import Case

pytestmark = pytest.mark.integration

SEEDS = {"a": {"PYTHONHASHSEED": "1"}, "b": {"PYTHONHASHSEED": "2"}}
BLAS = {
    "a": {"PYTHONHASHSEED": "1"},
    "b": {"PYTHONHASHSEED": "2", "OPENBLAS_NUM_THREADS": "2"},
}


def test_a_list_made_from_a_set_is_blamed_where_it_is_made(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.out, self.total = [], 0
            def step(self, names):
                order = list(names)  # guilty
                self.out.append(order)
                self.total += len(order)
        def main(run):
            box = run.track("box", Box())
            names = {"alpha", "beta", "gamma", "delta"}
            for tick in run.ticks(3):
                box.step(names)
        """,
        **SEEDS,
    )
    found = case.locate()
    assert (found.place.line, found.name, found.kind) == (case.guilty, "order", "order")
    assert found.value_a != found.value_b
    assert "box.out" in found.candidates[-1].paths


@pytest.mark.heavy
def test_a_loop_over_a_set_is_blamed_and_not_the_append(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.out, self.total = [], 0
            def step(self, names):
                for n in names:  # guilty
                    self.total += len(n)
                    self.out.append(n)
        def main(run):
            box = run.track("box", Box())
            names = {"alpha", "beta", "gamma", "delta"}
            for tick in run.ticks(3):
                box.step(names)
        """,
        **SEEDS,
    )
    found = case.locate()
    assert (found.place.line, found.kind, found.facts.iterates) == (
        case.guilty,
        "order",
        ("names",),
    )


def test_a_sum_of_floats_in_set_order_is_blamed_on_the_loop(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.total = 0.0
            def score(self, weight, names):
                total = 0.0
                for n in names:  # guilty
                    total += weight[n]
                return total
            def step(self, weight, names):
                s = self.score(weight, names)
                self.total += s
        def main(run):
            box = run.track("box", Box())
            names = {f"k{i}" for i in range(100)}
            weight = {f"k{i}": (i * 7919 % 1000) ** 3.3 / 7 for i in range(100)}
            for tick in run.ticks(2):
                box.step(weight, names)
        """,
        **SEEDS,
    )
    found = case.locate()
    assert found.place.line == case.guilty
    assert [place.function for place in found.followed[-2:]] == ["Box.score", "Box.score"]


def test_a_loop_with_a_branch_takes_different_ways_and_is_still_the_loop(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.out, self.n = [], 0
        def main(run):
            box = run.track("box", Box())
            names = {"alpha", "beta", "gamma", "delta", "x", "yy", "zzz"}
            for tick in run.ticks(2):
                last = ""
                for n in names:  # guilty
                    if n > last:
                        box.out.append(n)
                        last = n
                box.n += 1
        """,
        **SEEDS,
    )
    assert case.locate().place.line == case.guilty


def test_an_element_popped_from_a_set_comes_out_at_the_pop(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.n, self.left = 0, None
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(2):
                names = {"alpha", "beta", "gamma", "delta"}
                first = names.pop()  # guilty
                box.n += len(first) * 7
                box.left = sorted(names)
        """,
        **SEEDS,
    )
    found = case.locate()
    assert (found.place.line, found.name, found.kind) == (case.guilty, "first", "order")


def test_a_stable_sort_keeps_the_order_of_the_set_and_is_blamed(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.best = None
        def main(run):
            box = run.track("box", Box())
            names = {"alph", "beta", "gamm", "delt", "epsi"}
            for tick in run.ticks(2):
                ranked = sorted(names, key=lambda n: len(n))  # guilty
                box.best = ranked[0]
        """,
        **SEEDS,
    )
    assert case.locate().place.line == case.guilty


@pytest.mark.heavy
def test_a_dict_built_from_a_set_is_blamed_where_it_is_built(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.plan, self.n = [], 0
        def main(run):
            box = run.track("box", Box())
            names = {"alph", "beta", "gamm", "delt", "epsi"}
            for tick in run.ticks(3):
                index = {n: len(n) for n in names}  # guilty
                box.n += sum(index.values())
                for key in index:
                    box.plan.append(key)
        """,
        **SEEDS,
    )
    found = case.locate()
    assert (found.place.line, found.kind) == (case.guilty, "order")


@pytest.mark.heavy
def test_a_set_of_plain_objects_that_no_process_repeats_is_compared_with_itself(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Thing:
            def __init__(self, k):
                self.k = k
            def __hash__(self):
                return int.from_bytes(SALT, "little") ^ self.k * 2654435761
        SALT = os.urandom(7)
        class Box:
            def __init__(self):
                self.n = 0
        def main(run):
            box = run.track("box", Box())
            things = {Thing(i) for i in range(200)}
            for tick in run.ticks(4):
                for t in things:  # guilty
                    box.n = box.n * 3 % 1000003 + t.k
        """,
        b={"TOY_HEAP": "5001"},
    )
    found = case.locate()
    assert (found.place.line, found.non_reproducing) == (case.guilty, "a")
    assert "does not reproduce itself" in found.evidence[0]


@pytest.mark.heavy
def test_canaries_that_heal_are_not_blamed_for_a_later_matmul(tmp_path):
    case = Case(
        tmp_path,
        """
        import numpy as np
        class Box:
            def __init__(self):
                self.x = np.random.default_rng(3).normal(size=(300, 300))
                self.w, self.k = None, 0
            def step(self, names):
                seen = {id(o): o for o in names}
                text = sorted(n for n in names)
                order = list(names)
                self.k = len(order) + len(seen)
                self.w = self.x @ self.x  # guilty
        def main(run):
            box = run.track("box", Box())
            names = {"alpha", "beta", "gamma", "delta"}
            for tick in run.ticks(3):
                box.step(names)
        """,
        **BLAS,
    )
    found = case.locate()
    assert (found.place.line, found.name, found.facts.tags) == (case.guilty, "box.w", ("matmul",))
    assert "of 90000 differ" in found.value_a
    assert found.value_a != found.value_b


@pytest.mark.heavy
def test_a_harmless_list_that_stays_alive_is_named_beside_a_guilty_matmul(tmp_path):
    case = Case(
        tmp_path,
        """
        import numpy as np
        class Box:
            def __init__(self):
                self.x = np.random.default_rng(3).normal(size=(300, 300))
                self.w, self.k = None, 0
        def main(run):
            box = run.track("box", Box())
            names = {"alpha", "beta", "gamma", "delta"}
            for tick in run.ticks(3):
                order = list(names)
                box.k = len(order)
                box.w = box.x @ box.x  # guilty
        """,
        **BLAS,
    )
    found = case.locate()
    assert found.place.line == case.guilty
    beside = [each for each in found.candidates if each.reaches_tracked is False]
    assert [(each.place.code, each.before_window) for each in beside] == [
        ("order = list(names)", False)
    ]
    assert found.beside is not None
    assert found.beside.code == "order = list(names)"


@pytest.mark.heavy
def test_a_set_walked_to_a_sum_of_integers_is_no_candidate(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Box:
            def __init__(self):
                self.total, self.n = 0, 0
        def main(run):
            box = run.track("box", Box())
            names = {f"k{i}" for i in range(100)}
            for tick in run.ticks(2):
                for n in names:
                    box.n += len(n)
                scale = float(os.environ.get("TOY_SCALE", "1"))  # guilty
                for n in sorted(names):
                    box.total += len(n) * scale
        """,
        a={"PYTHONHASHSEED": "1"},
        b={"PYTHONHASHSEED": "2", "TOY_SCALE": "2"},
    )
    found = case.locate()
    assert (found.place.line, found.facts.tags) == (case.guilty, ("variable of the environment",))


def test_when_only_a_harmless_difference_is_there_nothing_is_named(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.n = 0
        def main(run):
            box = run.track("box", Box())
            names = {f"k{i}" for i in range(20)}
            for tick in run.ticks(2):
                for n in names:
                    box.n += len(n)
        """,
        **SEEDS,
    )
    found = case.locate()
    assert type(found).__name__ == "Unlocated"
    assert found.reason == "Both executions agree in the tracked state at the end of the window."
    assert any("not tracked: n." in told for told in found.evidence)
    assert found.surer
