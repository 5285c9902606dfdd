"""A bazaar: stalls trade with their neighbours, caravans bring news that spreads, the census counts."""

from collections import Counter
from fractions import Fraction

import networkx as nx

STALLS = ["almonds", "brass", "copper", "dates", "fennel", "ginger", "honey", "indigo", "jade", "kohl", "lamps", "musk", "nuts"]


class Stall:
    def __init__(self, name, luck):
        self.name, self.luck = name, luck
        self.coins = 100
        self.share = Fraction(0)
        self.heard = set()

    def trade(self):
        gain = int(self.luck.integers(-3, 6))
        self.coins = max(0, self.coins + gain)
        return gain


class Bazaar:
    def __init__(self, run):
        self.open = set(STALLS)
        self.caravans = run.rng("caravans")
        self.stalls = {name: Stall(name, run.rng(f"luck/{name}")) for name in self.open}
        self.lanes = nx.Graph()
        self.lanes.add_edges_from((a, b) for a in self.open for b in self.open if a < b and (len(a) + len(b)) % 4 == 1)
        self.total = 0
        self.kinds = Counter()
        self.closed = {}

    def trade(self):
        for name in self.open:
            self.total += self.stalls[name].trade()
            self.kinds[len(name)] += 1

    def share_out(self):
        whole = sum(self.stalls[name].coins for name in self.open)
        for name in self.open:
            self.stalls[name].share = Fraction(self.stalls[name].coins, whole or 1)
        assert sum(self.stalls[name].share for name in self.open) in (0, 1)

    def gossip(self, tick):
        """News goes from stall to stall until everybody that can be reached has heard it."""
        first = STALLS[int(self.caravans.integers(len(STALLS)))]
        pending = {first} if first in self.open and first in self.lanes else set()
        while pending:
            name = pending.pop()
            self.stalls[name].heard.add(tick)
            for other in self.lanes.neighbors(name):
                if other in self.open and tick not in self.stalls[other].heard:
                    pending.add(other)

    def close(self, tick):
        if tick % 7 == 6:
            poorest = min(self.open, key=lambda name: (self.stalls[name].coins, name))
            self.open.remove(poorest)
            self.closed[poorest] = tick

    def quarters(self):
        return sorted(len(part) for part in nx.connected_components(self.lanes.subgraph(self.open)))

    def step(self, tick):
        self.trade()
        self.share_out()
        self.gossip(tick)
        self.close(tick)

    def state(self):
        return {
            "coins": {name: stall.coins for name, stall in self.stalls.items()},
            "shares": {name: str(stall.share) for name, stall in self.stalls.items()},
            "heard": {name: sorted(stall.heard) for name, stall in self.stalls.items()},
            "total": self.total, "kinds": {str(size): count for size, count in self.kinds.items()},
            "open": set(self.open), "closed": dict(self.closed), "quarters": self.quarters(),
        }

    def restore(self, state):
        for name, stall in self.stalls.items():
            stall.coins, stall.heard = state["coins"][name], set(state["heard"][name])
            stall.share = Fraction(state["shares"][name])
        self.total, self.open, self.closed = state["total"], set(state["open"]), dict(state["closed"])
        self.kinds = Counter({int(size): count for size, count in state["kinds"].items()})


def main(run):
    bazaar = run.track("bazaar", Bazaar(run))
    for tick in run.ticks(30):
        bazaar.step(tick)
