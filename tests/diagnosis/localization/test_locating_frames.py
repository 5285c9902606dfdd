"""Threads, generators, coroutines, comprehensions, exceptions and recursion."""

from __future__ import annotations

import pytest
from windows import Case

pytestmark = pytest.mark.integration

SEEDS = {"a": {"PYTHONHASHSEED": "1"}, "b": {"PYTHONHASHSEED": "2"}}
VALUES = {"a": {"TOY_V": "1"}, "b": {"TOY_V": "2"}}


def test_an_operation_of_another_thread_is_found_in_it(tmp_path):
    case = Case(
        tmp_path,
        """
        import threading
        class Box:
            def __init__(self):
                self.out, self.n = [], 0
            def work(self, names):
                for n in names:  # guilty
                    self.out.append(n)
        def main(run):
            box = run.track("box", Box())
            names = {"alpha", "beta", "gamma", "delta"}
            for tick in run.ticks(2):
                box.n += 1
                t = threading.Thread(target=box.work, args=(names,))
                t.start()
                t.join()
                box.n += 1
        """,
        **SEEDS,
    )
    found = case.locate()
    assert found.place.line == case.guilty
    assert found.thread.startswith("Thread-1")


def test_a_generator_is_followed_through_what_it_yields(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.out = []
        def items(names):
            k = 0
            for n in names:  # guilty
                k += 1
                yield n
        def main(run):
            box = run.track("box", Box())
            names = {"alpha", "beta", "gamma", "delta"}
            for tick in run.ticks(2):
                box.out = list(items(names))
        """,
        **SEEDS,
    )
    found = case.locate()
    assert (found.place.line, found.place.function) == (case.guilty, "items")


@pytest.mark.heavy
def test_a_comprehension_over_several_lines_is_one_statement(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.out, self.n = [], 0
        def main(run):
            box = run.track("box", Box())
            names = {"alpha", "beta", "gamma", "delta"}
            for tick in run.ticks(2):
                box.n += 1
                out = [n.upper()
                       for n in names
                       if n]
                box.out = out
                box.n += 1
        """,
        **SEEDS,
    )
    found = case.locate()
    assert found.place.code == "out = [n.upper() for n in names if n]"
    assert (found.kind, found.facts.iterates) == ("order", ("names",))


def test_a_coroutine_is_followed_to_the_line_that_made_it(tmp_path):
    case = Case(
        tmp_path,
        """
        import asyncio
        class Box:
            def __init__(self):
                self.out = []
        async def worker(box, name):
            await asyncio.sleep(0)
            box.out.append(name)
        async def step(box, names):
            await asyncio.gather(*[worker(box, n) for n in names])  # guilty
        def main(run):
            box = run.track("box", Box())
            names = {"alph", "beta", "gamm", "delt", "epsi"}
            for tick in run.ticks(2):
                asyncio.run(step(box, names))
        """,
        **SEEDS,
    )
    assert case.locate().place.line == case.guilty


@pytest.mark.heavy
def test_a_callback_called_by_a_library_is_followed_to_the_line_that_called_the_library(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.text = None
        def up(n):
            return n.upper()
        def main(run):
            box = run.track("box", Box())
            names = {"alph", "beta", "gamm", "delt", "epsi"}
            for tick in run.ticks(2):
                box.text = "".join(map(up, names))  # guilty
        """,
        **SEEDS,
    )
    assert case.locate().place.line == case.guilty


def test_a_value_that_travels_in_an_exception_is_followed_to_the_raise(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Box:
            def __init__(self):
                self.message = ""
        def risky():
            raise ValueError(os.environ["TOY_V"])  # guilty
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(3):
                try:
                    risky()
                except ValueError as e:
                    box.message = str(e)
        """,
        **VALUES,
    )
    found = case.locate()
    assert (found.place.line, found.value_a) == (case.guilty, "ValueError('1',)")


def test_an_exception_on_one_side_only_is_followed_to_what_decided_it(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Box:
            def __init__(self):
                self.out = []
        def risky(tick):
            limit = int(os.environ["TOY_V"])  # guilty
            if tick < limit:
                raise ValueError("low")
            return tick
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(4):
                try:
                    v = risky(tick)
                except ValueError as e:
                    v = -1
                box.out.append(v)
        """,
        first=1,
        last=1,
        **VALUES,
    )
    assert case.locate().place.line == case.guilty


def test_recursion_is_followed_frame_by_frame(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.out = None
        def walk(tree):
            if not tree:
                return 0
            total = 0
            for k in tree:  # guilty
                deeper = tree[k] if isinstance(tree, dict) else None
                total = total * 3 + len(k) + walk(deeper)
            return total
        def main(run):
            box = run.track("box", Box())
            tree = {"a": {"b": {"xx", "yyy", "z", "wwww"}, "c": {}}, "d": {}}
            for tick in run.ticks(4):
                box.out = walk(tree)
        """,
        **SEEDS,
    )
    found = case.locate()
    assert found.place.line == case.guilty
    assert len(found.followed) > 4


@pytest.mark.heavy
def test_an_object_in_a_list_changed_by_its_own_method(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Agent:
            def __init__(self, world, energy):
                self.world, self.energy = world, energy
            def eat(self):
                self.energy += float(os.environ["TOY_V"])  # guilty
        class Box:
            def __init__(self):
                self.agents = []
        def main(run):
            box = run.track("box", Box())
            box.agents = [Agent(box, i) for i in range(50)]
            for tick in run.ticks(3):
                for agent in box.agents:
                    agent.eat()
        """,
        **VALUES,
    )
    found = case.locate()
    assert (found.place.line, found.place.function) == (case.guilty, "Agent.eat")
    assert found.value_a == "[0] = <toy.Agent energy=1.0> (50 of 50 differ)"


@pytest.mark.heavy
def test_a_value_that_leaves_through_a_finally_is_followed_to_its_return(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Box:
            def __init__(self):
                self.x, self.n = 0, 0
        def load(box):
            try:
                v = int(os.environ["TOY_V"])  # guilty
                if v == 2:
                    raise KeyError("no")
                return v
            except KeyError:
                return -1
            finally:
                box.n += 1
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(3):
                box.x += load(box)
        """,
        **VALUES,
    )
    found = case.locate()
    assert (found.place.line, found.name) == (case.guilty, "v")


def test_a_value_from_a_pool_of_threads_is_followed_into_the_thread(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        from concurrent.futures import ThreadPoolExecutor
        class Box:
            def __init__(self):
                self.x = 0
        def job(k):
            s = k * int(os.environ["TOY_V"])  # guilty
            return s
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(3):
                with ThreadPoolExecutor(1) as pool:
                    waiting = [pool.submit(job, k) for k in range(1, 5)]
                    got = [each.result() for each in waiting]
                box.x = sum(got)
        """,
        **VALUES,
    )
    found = case.locate()
    assert (found.place.line, found.place.function) == (case.guilty, "job")
    assert found.thread.startswith("ThreadPoolExecutor")


@pytest.mark.heavy
def test_both_arms_of_a_branch_that_reads_the_world_blame_the_branch(tmp_path):
    case = Case(
        tmp_path,
        """
        import os
        class Box:
            def __init__(self):
                self.x = 0
        def main(run):
            box = run.track("box", Box())
            for tick in run.ticks(3):
                if os.environ["TOY_V"] == "1":  # guilty
                    box.x = 1
                else:
                    box.x = 2
        """,
        **VALUES,
    )
    found = case.locate()
    assert (found.place.line, found.kind, found.value_a, found.value_b) == (
        case.guilty,
        "flow",
        "1",
        "2",
    )
    assert any("Side b ran something else there" in told for told in found.evidence)


def test_nested_generators_and_context_managers_are_followed(tmp_path):
    case = Case(
        tmp_path,
        """
        class Box:
            def __init__(self):
                self.x = []
        class Scope:
            def __init__(self, names):
                self.names = names
            def __enter__(self):
                return outer(self.names)
            def __exit__(self, *_):
                self.names = None
        def inner(names):
            for n in names:  # guilty
                yield n
        def outer(names):
            yield "first"
            yield from inner(names)
        def main(run):
            box = run.track("box", Box())
            names = {"alpha", "beta", "gamma", "delta"}
            for tick in run.ticks(3):
                with Scope(names) as found:
                    for v in found:
                        box.x.append(v)
        """,
        **SEEDS,
    )
    assert case.locate().place.line == case.guilty
