"""Data that is parked in something C code keeps, and taken up elsewhere: the line that made it is named."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import twice
from tiers import sampled
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence

BODIES = {
    "a file": """
        def park(self, n):
            kind = other()
            with open("spool.txt", "a") as f:
                f.write(f"{n} {kind}")
        def take(self):
            with open("spool.txt") as f:
                text = f.read()
            self.total += sum(map(ord, text))
        """,
    "a file, as one call": """
        def park(self, n):
            kind = other()
            pathlib.Path("spool.txt").write_text(f"{n} {kind}")
        def take(self):
            self.total += sum(map(ord, pathlib.Path("spool.txt").read_text()))
        """,
    "a file in memory": """
        def park(self, n):
            kind = other()
            self.buffer = io.StringIO()
            self.buffer.write(f"{kind}")
        def take(self):
            self.total += sum(map(ord, self.buffer.getvalue()))
        """,
    "a generator": """
        def make(self, kind):
            held = ord(kind)
            yield 0
            yield held
        def park(self, n):
            kind = other()
            self.waiting = self.make(kind)
            next(self.waiting)
        def take(self):
            self.total += next(self.waiting)
        """,
    "an iterator": """
        def park(self, n):
            kind = other()
            self.waiting = iter([ord(kind), n])
        def take(self):
            self.total += next(self.waiting)
        """,
    "iterators of iterators": """
        def park(self, n):
            kind = other()
            self.waiting = enumerate(map(ord, itertools.chain(kind, "a")))
        def take(self):
            self.total += next(self.waiting)[1]
        """,
    "a cache": """
        def park(self, n):
            kind = other()
            self.look = functools.lru_cache(lambda n: ord(kind))
            self.look(n)
            self.n = n
        def take(self):
            self.total += self.look(self.n)
        """,
    "a queue": """
        def park(self, n):
            kind = other()
            self.queue = queue.SimpleQueue()
            self.queue.put(ord(kind))
        def take(self):
            self.total += self.queue.get()
        """,
    "a container whose method is called beside a function": """
        def park(self, n):
            kind = other()
            self.todo = {n: [(ord(kind), n), (1, n)]}
            self.n = n
        def take(self):
            self.total += sorted(self.todo.pop(self.n, []), key=lambda one: one[1])[0][0]
        """,
    "a weak reference": """
        def park(self, n):
            kind = other()
            box = Box(ord(kind))
            KEPT.append(box)
            self.seen = weakref.ref(box)
        def take(self):
            self.total += self.seen().n
        """,
    "a digest": """
        def park(self, n):
            kind = other()
            self.sum = hashlib.sha256(kind.encode())
        def take(self):
            self.total += self.sum.digest()[0]
        """,
}

SAMPLE = {"a file", "a weak reference"}

HEAD = """
import functools, hashlib, io, itertools, os, pathlib, queue, weakref
KEPT = []
def other():
    return os.environ.get("KIND", "x")  # the line
class Box:
    def __init__(self, n):
        self.n = n
"""
TAIL = """
def main(run):
    walk = run.track("walk", Walk())
    for tick in run.ticks(3):
        walk.park(tick)
        walk.n2 += 1
        walk.take()
"""


def diagnosed(folder: Path, source: str) -> Divergence:
    """Record a program twice, the second time with another variable, and say where the two part."""
    program = folder / "program.py"
    program.write_text(source)
    for side, env in (("a", {}), ("b", {"KIND": "y"})):
        (folder / "spool.txt").unlink(missing_ok=True)
        twice.record(f"{program}:main", seed=7, out=folder / f"{side}.twice", env=env).close()
    return diagnose(folder / "a.twice", folder / "b.twice")


@pytest.mark.integration
@pytest.mark.parametrize("name", sampled(BODIES, SAMPLE))
def test_the_line_that_parks_it_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    methods = textwrap.indent(textwrap.dedent(BODIES[name]), "    ")
    source = f"""{HEAD}
class Walk:
    def __init__(self):
        self.n2 = self.total = 0
    def state(self):
        return {{"n": self.n2, "total": self.total}}
{methods}
{TAIL}"""

    found = diagnosed(tmp_path, source)

    assert found.operation is not None, found.to_text()
    assert found.operation.code.startswith('return os.environ.get("KIND"'), found.to_text()
    assert found.result == "localised"


@pytest.mark.integration
def test_a_read_that_reaches_nothing_judged_is_named_and_is_no_divergence(tmp_path: Path) -> None:
    source = """
import os, time
class Walk:
    def __init__(self):
        self.n = 0
    def step(self, tick):
        if os.environ.get("KIND"):
            begun = time.perf_counter()
        self.n += tick
    def state(self):
        return {"n": self.n}
def main(run):
    walk = run.track("walk", Walk())
    for tick in run.ticks(3):
        walk.step(tick)
"""

    found = diagnosed(tmp_path, source)

    assert (found.result, found.exit_code, found.operation) == ("extra-read", 0, None)
    (read,) = found.reads
    assert read.what == "clock.perf_counter"
    assert read.code == "begun = time.perf_counter()"

    logs_alone = diagnose(tmp_path / "a.twice", tmp_path / "b.twice", lines=False)
    assert (logs_alone.result, logs_alone.exit_code) == ("extra-read", 0)
