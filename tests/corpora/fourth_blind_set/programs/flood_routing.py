"""Flood relief convoy: a road graph is built from hazard maps, the dispatcher asks for shortest ways; tied ways exist."""
import networkx as nx

VILLAGES = [f"{name}{i}" for i in range(5) for name in ("alder", "beck", "croft", "dene", "esk")]


def road_map():
    """A grid of lanes, all a mile long."""
    for i, place in enumerate(VILLAGES):
        row, col = divmod(i, 5)
        if col < 4:
            yield place, VILLAGES[i + 1]
        if row < 4:
            yield place, VILLAGES[i + 5]


def passable(roads, washed_out):
    """Roads that are still open."""
    return {road for road in roads if road not in washed_out}


def build_network(open_roads):
    network = nx.Graph()
    network.add_nodes_from(VILLAGES)
    network.add_edges_from(open_roads)
    return network


class Dispatcher:
    def __init__(self, network):
        self._network = network
        self.depot = VILLAGES[0]
        self.miles = 0
        self.served = []
        self.trail = []

    def state(self):
        return {"depot": self.depot, "miles": self.miles, "served": list(self.served), "trail": list(self.trail)}

    def restore(self, state):
        self.depot, self.miles = state["depot"], state["miles"]
        self.served, self.trail = list(state["served"]), list(state["trail"])

    def distance(self, place):
        return nx.shortest_path_length(self._network, self.depot, place)

    def deliver(self, place):
        """Out and back; only the mileage is written down in daylight."""
        self.miles += 2 * self.distance(place)
        self.served.append(place)

    def night_run(self, place):
        """At night the drivers note every village they pass."""
        way = nx.shortest_path(self._network, self.depot, place)
        self.trail = way
        self.miles += 2 * (len(way) - 1)
        for village in way[1:-1]:
            if village not in self.served:
                self.served.append(village)


def requests(rng, n):
    for _ in range(n):
        yield VILLAGES[int(rng.integers(1, len(VILLAGES)))]


def main(run):
    washed_out = {("beck0", "beck1"), ("dene3", "esk3")}
    network = build_network(passable(road_map(), washed_out))
    dispatcher = run.track("dispatcher", Dispatcher(network))
    calls = requests(run.rng("calls"), 20)
    for tick in run.ticks(20):
        place = next(calls)
        if tick < 11:
            dispatcher.deliver(place)
        elif tick % 2:
            dispatcher.night_run("esk4")
        else:
            dispatcher.night_run(place)
    run.compare("miles", dispatcher.miles)
    return len(dispatcher.served)
