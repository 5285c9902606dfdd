"""Moving scenery between docks: a graph of doors and passages, coloured into shifts, routed by hops."""
from itertools import combinations

import networkx as nx

DOORS = [
    ("dock", "wing-left", 4), ("dock", "wing-right", 4), ("wing-left", "stage", 2),
    ("wing-right", "stage", 2), ("stage", "cellar", 6), ("dock", "paint-frame", 3),
    ("paint-frame", "cellar", 5), ("cellar", "store", 1), ("wing-right", "store", 7),
    ("store", "yard", 2), ("yard", "dock", 9),
]
FLATS = {
    "tavern": "wing-left stage", "garden": "stage cellar", "prison": "cellar store",
    "street": "wing-left wing-right", "throne": "stage wing-right", "attic": "store yard",
    "harbour": "dock yard", "chapel": "paint-frame cellar",
}


def clashes(flats):
    """Two flats clash when they pass through a common place."""
    where = {flat: frozenset(path.split()) for flat, path in flats.items()}
    return {frozenset(pair) for pair in combinations(where, 2) if where[pair[0]] & where[pair[1]]}


def conflict_graph(flats):
    graph = nx.Graph()
    for pair in clashes(flats):
        graph.add_edge(*sorted(pair))
    graph.add_nodes_from(flats)
    return graph


def building(doors):
    graph = nx.Graph()
    graph.add_weighted_edges_from(sorted(doors), weight="metres")
    return graph


class Shift:
    def __init__(self, doors, colours):
        self.doors, self.colours = doors, colours
        self.metres = 0
        self.moved = []

    def due(self, tick):
        rounds = 1 + max(self.colours.values())
        return sorted(f for f, colour in self.colours.items() if colour == tick % rounds)

    def carry(self, flat, load):
        start, end = FLATS[flat].split()
        self.metres += int(nx.shortest_path_length(self.doors, start, end, weight="metres") * load)
        self.moved.append(flat)

    def state(self):
        return {"metres": self.metres, "moved": self.moved[-5:]}

    def restore(self, state):
        self.metres, self.moved = state["metres"], list(state["moved"])


def main(run):
    rng = run.rng("loads")
    conflicts = conflict_graph(FLATS)
    colours = nx.greedy_color(conflicts, strategy="largest_first")
    shift = Shift(building(DOORS), colours)
    run.track("shift", shift)
    for tick in run.ticks(12):
        for flat in shift.due(tick):
            shift.carry(flat, int(rng.integers(1, 5)))
    return shift.metres
