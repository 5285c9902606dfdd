"""What went into an object that nobody can look into is followed to the line that made it differ."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import twice
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence

pytestmark = pytest.mark.integration

HEAD = """
import sqlite3

NAMES = ["hail", "fire", "theft", "frost", "glass", "flood", "storm", "flow"]

class Desk:
    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("create table claims (peril text, amount integer)")
        self.first = "nobody"
        self.other = 0
"""
TAIL = """
    def state(self):
        return {"first": self.first, "other": self.other}

def main(run):
    desk = run.track("desk", Desk())
    for tick in run.ticks(8):
        desk.other += tick
        if tick == 1:
            desk.post()
        if tick == 6:
            desk.read()
"""
BODIES = {
    "a connection": """
        def post(self):
            for name in set(NAMES):
                self.db.execute("insert into claims values (?, ?)", (name, len(name)))
        def read(self):
            self.first = self.db.execute("select peril from claims limit 1").fetchone()[0]
        """,
    "a cursor of it": """
        def post(self):
            ordered = list(set(NAMES))
            cursor = self.db.cursor()
            rows = [(name, len(name)) for name in ordered]
            cursor.executemany("insert into claims values (?, ?)", rows)
        def read(self):
            query = "select peril from claims"
            self.first = next(iter(self.db.execute(query)))[0]
        """,
}


def diagnosed(folder: Path, source: str) -> Divergence:
    program = folder / "program.py"
    program.write_text(source)
    for side, seed in (("a", "1"), ("b", "2")):
        env = {"PYTHONHASHSEED": seed}
        twice.record(f"{program}:main", seed=7, out=folder / f"{side}.twice", env=env).close()
    return diagnose(folder / "a.twice", folder / "b.twice")


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.sample(1)
def test_the_line_that_walks_the_set_is_named(tmp_path: Path, name: str) -> None:
    methods = textwrap.indent(textwrap.dedent(BODIES[name]), "    ")
    found = diagnosed(tmp_path, HEAD + methods + TAIL)
    assert found.operation is not None, found.to_text()
    assert "set(NAMES)" in found.operation.code, found.to_text()
    assert found.result == "localised"
    assert found.attribution[0].channel.value == "concurrency"


COUNTED = """
from collections import Counter

NAMES = ["hail", "fire", "theft", "frost", "glass", "flood", "storm", "flow"]

class Plan:
    def __init__(self, names, sizes):
        self.sizes = sizes
        self.first = next(iter(set(names)))
    def size(self):
        return self.sizes[self.first]

class Desk:
    def __init__(self):
        self.text = ""
    def state(self):
        return {"text": self.text}

def main(run):
    desk = run.track("desk", Desk())
    sizes = Counter(name for name in set(NAMES))
    for tick in run.ticks(3):
        plan = Plan(NAMES, sizes)
        desk.text = f"{plan.first} {plan.size()}"
"""


def test_what_a_call_hands_in_counts_where_it_is_read(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, COUNTED)
    assert found.operation is not None, found.to_text()
    assert found.operation.code == "self.first = next(iter(set(names)))", found.to_text()
