"""Comet hunters: observatories form a link graph; alerts are routed over it when a comet brightens."""
import networkx as nx

SITES = {"Teide", "Paranal", "Keck", "Siding", "Sutherland", "Calar", "Hanle", "Xinglong"}
LINKS = {
    frozenset(pair)
    for pair in [("Teide", "Calar"), ("Teide", "Paranal"), ("Teide", "Sutherland"), ("Calar", "Hanle"),
                 ("Paranal", "Keck"), ("Sutherland", "Siding"), ("Hanle", "Xinglong"), ("Keck", "Xinglong"),
                 ("Siding", "Xinglong"), ("Keck", "Siding"), ("Sutherland", "Hanle")]
}


def build(links):
    graph = nx.Graph()
    for a, b in sorted(tuple(sorted(link)) for link in links):
        graph.add_edge(a, b, uses=0)
    return graph


def channels(graph):
    """A frequency for each site, neighbours apart."""
    order = nx.Graph()
    order.add_nodes_from(SITES)
    order.add_edges_from(graph.edges)
    return nx.greedy_color(order, strategy="connected_sequential_bfs")


class Network:
    def __init__(self, graph, frequency):
        self.graph = graph
        self.frequency = frequency
        self.alerts = []
        self.traffic = {}

    def alert(self, source, target, magnitude):
        route = nx.shortest_path(self.graph, source, target)
        hops = [self.frequency[site] for site in route]
        for a, b in zip(route, route[1:]):
            self.graph[a][b]["uses"] += 1
        for hop in hops:
            self.traffic[str(hop)] = self.traffic.get(str(hop), 0) + 1
        self.alerts.append([source, target, round(magnitude, 2)])

    def state(self):
        uses = {"-".join(sorted(e[:2])): e[2] for e in self.graph.edges(data="uses")}
        return {"alerts": self.alerts[-4:], "traffic": dict(self.traffic), "uses": uses}

    def restore(self, state):
        self.alerts = [list(a) for a in state["alerts"]]
        self.traffic = dict(state["traffic"])


def main(run):
    rng = run.rng("comets")
    graph = build(LINKS)
    network = run.track("network", Network(graph, channels(graph)))
    sky = run.track("sky", {"magnitude": 14.0, "nights": 0})
    names = sorted(SITES)
    for tick in run.ticks(24):
        sky["magnitude"] = round(sky["magnitude"] - float(rng.uniform(0.2, 0.6)), 4)
        sky["nights"] += 1
        if sky["magnitude"] < 9.5:
            source, target = rng.choice(len(names), size=2, replace=False)
            network.alert(names[int(source)], names[int(target)], sky["magnitude"])
    return len(network.alerts)
