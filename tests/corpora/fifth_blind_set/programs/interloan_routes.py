"""Interlibrary loans travel by van between branches; a book's route is the graph's shortest path."""
from collections import deque

import networkx as nx

ROADS = [("Alder", "Birch"), ("Alder", "Cedar"), ("Birch", "Elm"), ("Cedar", "Elm"),
         ("Elm", "Fir"), ("Elm", "Hazel"), ("Fir", "Larch"), ("Hazel", "Larch"), ("Larch", "Maple")]


def both_ways(roads):
    return frozenset(roads) | {(b, a) for a, b in roads}


def build(roads):
    graph = nx.DiGraph()
    for here, there in both_ways(roads):
        graph.add_edge(here, there, van=1)
    return graph


class Parcel:
    def __init__(self, title, route):
        self.title = title
        self.route = deque(route)

    def move(self):
        if len(self.route) > 1:
            self.route.popleft()
        return self.route[0]

    @property
    def arrived(self):
        return len(self.route) == 1


class Network:
    def __init__(self):
        self.passed = {}
        self.delivered = 0

    def seen(self, branch):
        self.passed[branch] = self.passed.get(branch, 0) + 1

    def state(self):
        return {"passed": dict(sorted(self.passed.items())), "delivered": self.delivered}

    def restore(self, state):
        self.passed, self.delivered = dict(state["passed"]), state["delivered"]


def main(run):
    rng = run.rng("requests")
    graph = build(ROADS)
    network = run.track("network", Network())
    waiting = []
    for number in range(10):
        route = nx.shortest_path(graph, "Alder", "Maple")
        waiting.append((8 + number, Parcel(f"title {int(rng.integers(900))}", route)))
    on_road = []
    for tick in run.ticks(26):
        while waiting and waiting[0][0] <= tick:
            on_road.append(waiting.pop(0)[1])
        for parcel in on_road:
            network.seen(parcel.move())
        network.delivered += sum(p.arrived for p in on_road)
        on_road = [p for p in on_road if not p.arrived]
    return network.delivered
