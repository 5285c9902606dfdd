"""Influenza in a village: households, a choir and a football club; somebody brings it home from a trip."""

import networkx as nx

FAMILIES = {
    "baker": ["anna", "otto", "lisl"], "smith": ["hans", "maja", "piet", "rosa"],
    "miller": ["karl", "ida"], "teacher": ["ruth", "emil", "vera"], "doctor": ["nils", "tove"],
    "farmer": ["jens", "elsa", "olaf", "britt", "finn"], "priest": ["marta"], "carter": ["gregor", "hedda", "ulf"],
}
CHOIR = ["anna", "maja", "ruth", "tove", "elsa", "marta", "hedda", "karl"]
CLUB = ["otto", "piet", "emil", "nils", "finn", "ulf", "hans", "olaf"]


def contacts():
    """Who meets whom in an ordinary week."""
    pairs = set()
    for members in FAMILIES.values():
        pairs |= {tuple(sorted((a, b))) for a in members for b in members if a != b}
    for circle in (CHOIR, CLUB):
        pairs |= {tuple(sorted((a, b))) for a in circle for b in circle if a != b}
    return pairs


def village():
    graph = nx.Graph()
    for family, members in FAMILIES.items():
        graph.add_nodes_from(members, family=family)
    graph.add_edges_from(contacts(), weight=1.0)
    for a, b in graph.edges:
        if graph.nodes[a]["family"] == graph.nodes[b]["family"]:
            graph.edges[a, b]["weight"] = 2.0
    return graph


class Epidemic:
    def __init__(self, graph, chance, health):
        self.graph, self.chance, self.health = graph, chance, health
        self.status = {name: "well" for name in sorted(graph)}
        self.days = {}
        self.cases = 0
        self.closeness = {name: round(value, 9) for name, value in nx.degree_centrality(graph).items()}
        self.vigour = {name: 1.0 for name in self.status}

    def ill(self):
        return [name for name in self.status if self.status[name] == "ill"]

    def catch(self, name):
        self.status[name] = "ill"
        self.days[name] = 0
        self.cases += 1

    def spread(self):
        fresh = set()
        for name in self.ill():
            for other in self.graph.neighbors(name):
                if self.status[other] != "well" or other in fresh:
                    continue
                if self.chance.random() < 0.09 * self.graph.edges[name, other]["weight"]:
                    fresh.add(other)
        for name in sorted(fresh):
            self.catch(name)

    def recover(self):
        for name in self.ill():
            self.days[name] += 1
            if self.days[name] > 4:
                self.status[name] = "immune"

    def weather(self):
        cold = self.health.normal()
        for name in self.vigour:
            self.vigour[name] = 0.9 * self.vigour[name] + 0.1 * (1 - 0.1 * cold)

    def state(self):
        return {"status": dict(self.status), "cases": self.cases, "vigour": dict(self.vigour),
                "closeness": dict(self.closeness), "days": dict(self.days)}

    def restore(self, state):
        for name, value in state.items():
            setattr(self, name, dict(value) if isinstance(value, dict) else value)


def main(run):
    epidemic = run.track("epidemic", Epidemic(village(), run.rng("chance"), run.rng("health")))
    traveller = run.rng("traveller")
    for day in run.ticks(32):
        epidemic.weather()
        if day == 9:
            epidemic.catch(list(epidemic.status)[int(traveller.integers(len(epidemic.status)))])
        epidemic.recover()
        epidemic.spread()
