"""Hay barn: loads get a bay when they are booked, the plan is saved, and the winter crew feeds from the saved plan."""
import os
import pickle
import tempfile
from pathlib import Path

BAYS = ["east", "west", "loft", "lean-to", "yard", "dutch", "cart"]


class Barn:
    def __init__(self):
        self.free = set(BAYS)
        self.plan = {}

    def book(self, load):
        if not self.free:
            return False
        self.plan[load] = self.free.pop()
        return True

    def save(self, path):
        with open(path, "wb") as fh:
            pickle.dump({"plan": self.plan, "left": len(self.free)}, fh)


class WinterCrew:
    """Feeds out of the saved plan, the dampest bay first."""

    DAMP = {bay: wet for wet, bay in enumerate(BAYS)}

    def __init__(self, path):
        with open(path, "rb") as fh:
            self.plan = pickle.load(fh)["plan"]

    def next_load(self, stock):
        left = [load for load in self.plan if stock[load] > 0]
        return max(left, key=lambda load: self.DAMP[self.plan[load]], default=None)


class Farm:
    def __init__(self, folder):
        self.path = Path(folder) / "barn.pkl"
        self.barn = Barn()
        self.stock = {}
        self.crew = None
        self.fed = 0
        self.hungry = 0

    def summer(self, load, bales):
        if self.barn.book(load):
            self.stock[load] = bales
        self.barn.save(self.path)

    def winter(self, need):
        self.crew = self.crew or WinterCrew(self.path)
        while need > 0 and (load := self.crew.next_load(self.stock)):
            got = min(need, self.stock[load])
            self.stock[load] -= got
            self.fed += got
            need -= got
        self.hungry += need

    def state(self):
        return {"stock": dict(self.stock), "fed": self.fed, "hungry": self.hungry}

    def restore(self, state):
        self.stock, self.fed, self.hungry = dict(state["stock"]), state["fed"], state["hungry"]


def main(run):
    rnd = run.streams.python("hay")
    folder = tempfile.mkdtemp(prefix="hay")
    farm = run.track("farm", Farm(folder))
    try:
        for tick in run.ticks(26):
            if tick < 14:
                if tick % 2 == 0:
                    farm.summer(f"load{tick:02d}", rnd.randint(20, 45))
            else:
                farm.winter(rnd.randint(9, 16))
    finally:
        os.remove(farm.path)
        os.rmdir(folder)
    return farm.fed
