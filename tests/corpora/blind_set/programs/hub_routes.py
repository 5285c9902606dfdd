"""Parcels through a grid of depots: cheapest routes, recomputed every night, from a few hubs by name."""

import heapq
import itertools
import random

SIDE = 90
HUBS = {"aachen": 18, "brno": 4040, "cork": 8000, "dover": 808, "essen": 6111, "faro": 2222}


class Network:
    """A grid; an edge costs one, a few with a toll cost more."""

    def __init__(self, side, rng):
        self.side = side
        self.cost = [[4 if rng.random() < 0.02 else 1 for _ in range(4)] for _ in range(side * side)]

    def neighbours(self, node):
        row, column = divmod(node, self.side)
        if row > 0:
            yield node - self.side, self.cost[node][0]
        if row < self.side - 1:
            yield node + self.side, self.cost[node][1]
        if column > 0:
            yield node - 1, self.cost[node][2]
        if column < self.side - 1:
            yield node + 1, self.cost[node][3]


class Planner:
    """From which hub a depot is served: the nearest, the one that came first if two are equally near."""

    def __init__(self, network, hubs):
        self.network = network
        self.open = frozenset(hubs)

    def plan(self):
        counter = itertools.count()
        heap, owner = [], {}
        for name in self.open:  # guilty
            heapq.heappush(heap, (0, next(counter), HUBS[name], name))
        while heap:
            far, _, node, name = heapq.heappop(heap)
            if node in owner:
                continue
            owner[node] = name
            for other, cost in self.network.neighbours(node):
                if other not in owner:
                    heapq.heappush(heap, (far + cost, next(counter), other, name))
        return owner


def ship(owner, rng, count):
    """Parcels for depots that people live in."""
    loads = dict.fromkeys(sorted(HUBS), 0)  # innocent
    for _ in range(count):
        depot = rng.randrange(SIDE * SIDE)
        loads[owner[depot]] += rng.randrange(1, 5)
    return loads


def main():
    generator = random.Random(2024)  # innocent
    network = Network(SIDE, random.Random(3))
    late = random.Random(8)
    planner = Planner(network, HUBS)
    total = dict.fromkeys(HUBS, 0)
    for night in range(4):
        owner = planner.plan()
        loads = ship(owner, generator, 3000)
        for name, load in loads.items():
            total[name] += load
        busy = {name for name, load in loads.items() if load > 1200}
        print(f"night {night}: depots {len(owner)}, busy hubs {len(busy)}, late {late.random():.3f}")
        print("  loads", " ".join(f"{name}={load}" for name, load in sorted(loads.items())))  # innocent
    print("total", sum(total.values()), "least", min(total, key=lambda name: (total[name], name)))


if __name__ == "__main__":
    main()
