"""Trade along a river: towns are grouped into districts, each district gets a depot, barges supply it."""

import networkx as nx

TOWNS = ["Aarau", "Brugg", "Cham", "Dietikon", "Eglisau", "Flums", "Glarus", "Horgen", "Illnau", "Jona", "Kloten", "Lachen"]
ROADS = [
    ("Aarau", "Brugg"), ("Brugg", "Dietikon"), ("Aarau", "Dietikon"), ("Aarau", "Cham"), ("Cham", "Brugg"), ("Cham", "Dietikon"),
    ("Eglisau", "Kloten"), ("Kloten", "Illnau"), ("Illnau", "Eglisau"), ("Horgen", "Kloten"), ("Horgen", "Illnau"), ("Horgen", "Eglisau"),
    ("Flums", "Glarus"), ("Glarus", "Lachen"), ("Lachen", "Jona"), ("Jona", "Flums"), ("Glarus", "Jona"), ("Flums", "Lachen"),
    ("Dietikon", "Kloten"), ("Horgen", "Lachen"), ("Cham", "Horgen"), ("Illnau", "Jona"),
]


def chart():
    graph = nx.Graph()
    graph.add_nodes_from(TOWNS)
    graph.add_edges_from(ROADS)
    return graph


class District:
    def __init__(self, graph, members):
        self.members = members
        self.seat = max(members, key=lambda town: graph.degree(town))
        self.routes = nx.single_source_shortest_path_length(graph, self.seat)

    def cost(self, town, tons):
        return tons * (0.8 + 0.5 * self.routes[town])

    def __contains__(self, town):
        return town in self.members


class Trade:
    def __init__(self, harvest, barges):
        self.harvest, self.barges = harvest, barges
        self.graph = chart()
        communities = nx.community.greedy_modularity_communities(self.graph, cutoff=3, best_n=3)
        self.districts = [District(self.graph, members) for members in communities]
        self.size = [len(district.members) for district in self.districts]
        self.store = {town: 10.0 for town in TOWNS}
        self.freight = 0.0
        self.hungry = set()

    def eat(self):
        for town in TOWNS:
            self.store[town] = max(0.0, self.store[town] - 0.5 - 0.3 * float(self.harvest.random()))
        self.hungry = {town for town in TOWNS if self.store[town] < 4.0}

    def supply(self):
        """The barge calls at the seats; carts bring it on to who needs it."""
        cargo = 3.0 + float(self.barges.random())
        for town in sorted(self.hungry):
            for district in self.districts:
                if town in district:
                    self.store[town] += cargo
                    self.freight += district.cost(town, cargo)

    def density(self):
        inner = sum(self.graph.subgraph(district.members).number_of_edges() for district in self.districts)
        return inner / self.graph.number_of_edges()

    def state(self):
        return {"store": dict(self.store), "freight": self.freight, "hungry": set(self.hungry),
                "size": list(self.size), "density": self.density()}

    def restore(self, state):
        self.store, self.freight = dict(state["store"]), state["freight"]
        self.hungry, self.size = set(state["hungry"]), list(state["size"])


def main(run):
    trade = run.track("trade", Trade(run.rng("harvest"), run.rng("barges")))
    for month in run.ticks(30):
        trade.eat()
        if month % 2:
            trade.supply()
