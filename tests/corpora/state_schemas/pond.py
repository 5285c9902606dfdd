"""A pond whose state has had three versions; its ledger never declared one, and declares the first now."""


class Pond:
    state_version = 3

    def __init__(self):
        self.stock = {"carp": 3.0, "pike": 0.0}

    @staticmethod
    def migrate(state, version):
        if version == 1:
            state = {"carp": state["fish"]}
        return {"stock": {"carp": state["carp"], "pike": state.get("pike", 0.0)}}

    def state(self):
        return {"stock": dict(self.stock)}

    def restore(self, state):
        self.stock = dict(state["stock"])

    def grow(self, food, luck):
        self.stock["carp"] += 0.1 * food + 0.01 * luck


class Ledger:
    state_version = 1

    def __init__(self):
        self.total = 0.0

    @classmethod
    def migrate(cls, state, version):
        assert version == 0
        return {"total": sum(food for _, food in state["entries"])}

    def state(self):
        return {"total": self.total}

    def restore(self, state):
        self.total = state["total"]


def main(run):
    pond, ledger = run.track("pond", Pond()), run.track("ledger", Ledger())
    luck = run.rng("luck")
    for _ in run.ticks(12):
        food = run.input("food", lambda: 1.0)
        pond.grow(food, luck.random())
        ledger.total += food
