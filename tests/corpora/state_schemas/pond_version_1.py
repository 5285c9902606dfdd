"""The code that made ``pond_version_1.twice``, as ``pond.py``."""


class Pond:
    state_version = 1

    def __init__(self):
        self.fish = 3.0

    def state(self):
        return {"fish": self.fish}

    def restore(self, state):
        self.fish = state["fish"]

    def grow(self, food, luck):
        self.fish += 0.1 * food + 0.01 * luck


class Ledger:
    def __init__(self):
        self.entries = []

    def state(self):
        return {"entries": list(self.entries)}

    def restore(self, state):
        self.entries = list(state["entries"])


def main(run):
    pond, ledger = run.track("pond", Pond()), run.track("ledger", Ledger())
    luck = run.rng("luck")
    for day in run.ticks(12):
        food = run.input("food", lambda: 1.0)
        pond.grow(food, luck.random())
        ledger.entries.append([day, food])
