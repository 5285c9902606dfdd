"""Packet routing over a backbone: link costs drift, flows are routed on shortest paths."""

import networkx as nx

CITIES = ["ams", "ber", "cph", "dub", "fra", "gva", "ham", "lon", "mil", "par"]
CABLES = {
    "ams-lon", "ams-ham", "ams-fra", "ber-ham", "ber-fra", "cph-ham", "cph-ber", "dub-lon",
    "fra-par", "fra-mil", "gva-par", "gva-mil", "lon-par", "par-ams", "mil-ber", "dub-par",
}


def build(cables):
    graph = nx.Graph()
    graph.add_nodes_from(CITIES, load=0)
    for cable in cables:
        left, right = cable.split("-")
        graph.add_edge(left, right, cost=1, carried=0)
    return graph


class Backbone:
    def __init__(self, graph):
        self.graph = graph
        self.delivered = 0
        self.hops = 0

    def send(self, source, target, size):
        path = nx.shortest_path(self.graph, source, target, weight="cost")
        for here, there in zip(path, path[1:]):
            self.graph.edges[here, there]["carried"] += size
        self.delivered += size
        self.hops += len(path) - 1

    def congest(self):
        """Every link that carries much becomes dearer."""
        for _, _, data in self.graph.edges(data=True):
            data["cost"] = 1 + data["carried"] // 400

    def state(self):
        carried = {"-".join(sorted((a, b))): data["carried"] for a, b, data in self.graph.edges(data=True)}
        return {"delivered": self.delivered, "hops": self.hops, "carried": carried}

    def restore(self, state):
        self.delivered, self.hops = state["delivered"], state["hops"]
        for name, amount in state["carried"].items():
            self.graph.edges[tuple(name.split("-"))]["carried"] = amount


class Probe:
    """Pings neighbours while the network is being commissioned."""

    def __init__(self, rng):
        self.rng = rng
        self.mean = 0.0

    def ping(self):
        self.mean += 0.1 * (float(self.rng.gamma(2.0, 5.0)) - self.mean)


def pick_flow(rng):
    source, target = rng.choice(len(CITIES), size=2, replace=False)
    return CITIES[source], CITIES[target], int(rng.integers(20, 90))


def main(run):
    net = run.track("net", Backbone(build(CABLES)))
    probe = Probe(run.rng("probe"))
    run.track("probe", probe, fields=["mean"])
    flows = run.rng("flows")
    for tick in run.ticks(60):
        probe.ping()
        if tick < 20:
            continue
        for _ in range(5):
            net.send(*pick_flow(flows))
        if tick % 5 == 0:
            net.congest()
