"""What one run alone does because it was told to: the statement is named, and the field that it loses."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence

pytestmark = pytest.mark.integration

FARM = """
import heapq, itertools, json, os

class Queue:
    def __init__(self):
        self.heap, self.serial = [], itertools.count()
    def submit(self, rank, name):
        heapq.heappush(self.heap, (rank, next(self.serial), name))
    def take(self):
        return heapq.heappop(self.heap)[2] if self.heap else ""
    def dump(self):
        return json.dumps([[rank, name] for rank, _, name in self.heap])
    @classmethod
    def load(cls, text):
        again = cls()
        for rank, name in json.loads(text):
            again.submit(rank, name)
        return again

class Shop:
    def __init__(self):
        self.done = ["none"]
    def work(self, queue):
        self.done.append(queue.take())
    def state(self):
        return {"done": self.done[-1]}

def main(run):
    queue, shop = Queue(), run.track("shop", Shop())
    restart = int(os.environ.get("RESTART", "0"))
    for tick in run.ticks(12):
        if tick < 6:
            queue.submit(2 if tick % 3 else 1, f"job{tick}")
        if restart and tick == restart:
            queue = Queue.load(queue.dump())
        if tick > 6:
            shop.work(queue)
"""
HOLDS = """
import os

class Account:
    def __init__(self):
        self.balance, self.holds = 100, []

class Standby:
    def __init__(self, account):
        self.account = account
    def fail_over(self):
        fresh = Account()
        self.restore_into(fresh)
        self.account = fresh
    def restore_into(self, fresh):
        fresh.balance = self.account.balance
    def step(self, tick):
        if tick == 2:
            self.account.holds.append(30)
        if tick == 6:
            for hold in self.account.holds:
                self.account.balance -= hold
    def state(self):
        return {"balance": self.account.balance}

class World:
    def __init__(self):
        self.at = int(os.environ.get("FAIL_AT", "0"))

def main(run):
    world, pair = World(), run.track("pair", Standby(Account()))
    for tick in run.ticks(8):
        pair.step(tick)
        if tick == world.at:
            pair.fail_over()
"""


def diagnosed(folder: Path, source: str, variable: str, value: str) -> Divergence:
    program = folder / "program.py"
    program.write_text(source)
    for side, env in (("a", {}), ("b", {variable: value})):
        twice.record(f"{program}:main", seed=7, out=folder / f"{side}.twice", env=env).close()
    return diagnose(folder / "a.twice", folder / "b.twice")


def test_a_restart_that_loses_an_order_is_named_and_so_is_the_field(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, FARM, "RESTART", "6")
    assert found.result == "localised", found.to_text()
    assert found.operation is not None
    saving = "return json.dumps([[rank, name] for rank, _, name in self.heap])"
    assert found.operation.code == saving, found.to_text()
    assert any("queue = Queue.load(queue.dump())" in each for each in found.evidence)
    assert found.operation.name.startswith("queue.heap"), found.to_text()
    assert found.attribution[0].channel.value == "snapshot", found.to_text()


@pytest.mark.heavy
def test_what_a_takeover_leaves_behind_is_named(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, HOLDS, "FAIL_AT", "4")
    assert found.operation is not None, found.to_text()
    assert "holds" in found.operation.name, found.to_text()
    assert "os.environ" not in found.operation.code, found.to_text()


BRANCHED = """
import os

class Walk:
    def __init__(self):
        self.pace = self.x = 0.0
    def step(self):
        self.x += self.pace
    def state(self):
        return {"x": self.x}

def main(run):
    walk = run.track("walk", Walk())
    for tick in run.ticks(6):
        if os.environ.get("BOOST") == "1" and tick == 2:
            walk.pace = walk.pace + 1.5
        walk.step()
"""


@pytest.mark.heavy
def test_a_branch_that_asks_for_a_variable_gives_way_to_what_it_switches_on(tmp_path: Path) -> None:
    found = diagnosed(tmp_path, BRANCHED, "BOOST", "1")
    assert found.operation is not None, found.to_text()
    assert found.operation.code == "walk.pace = walk.pace + 1.5", found.to_text()
