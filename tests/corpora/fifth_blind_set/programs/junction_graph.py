"""Junction planner: routes over a small network with many equal-length paths."""
import networkx as nx

LINES = ["Aldo Brea", "Brea Cove", "Aldo Dunn", "Dunn Cove", "Cove Elms", "Elms Fair",
         "Cove Gale", "Gale Fair", "Fair Holt", "Aldo Ives", "Ives Cove", "Brea Ives"]


def parse(lines):
    for line in lines:
        start, end = line.split()
        yield start, end


def build(lines):
    graph = nx.Graph()
    for start, end in set(parse(lines)):
        graph.add_edge(start, end, weight=1)
    return graph


class Planner:
    def __init__(self, graph):
        self.graph = graph
        self.usage = {name: 0 for name in sorted(graph)}
        self.last = []

    def book(self, start, end):
        self.last = nx.shortest_path(self.graph, start, end)
        for stop in self.last:
            self.usage[stop] += 1
        return len(self.last) - 1

    def state(self):
        return {"usage": dict(self.usage), "last": list(self.last)}

    def restore(self, state):
        self.usage, self.last = dict(state["usage"]), list(state["last"])


def main(run):
    rng = run.rng("bookings")
    planner = Planner(build(LINES))
    run.track("planner", planner)
    stops = sorted(planner.usage)
    hops = 0
    for tick in run.ticks(16):
        start, end = rng.choice(len(stops), size=2, replace=False)
        if tick % 4 == 3:
            start, end = 0, 7
        hops += planner.book(stops[int(start)], stops[int(end)])
    return hops
