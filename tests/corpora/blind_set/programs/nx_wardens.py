"""Wardens in a town: they stand where every street corner is seen, and move when streets are closed."""

import networkx as nx


class Town:
    """A graph of corners by name; some streets close, and open again after a while."""

    def __init__(self):
        self.graph = nx.relabel_nodes(nx.grid_2d_graph(5, 6), lambda at: f"{'ABCDE'[at[0]]}{at[1] + 1}")
        self.closed = []

    def close(self, rng):
        streets = sorted(tuple(sorted(edge)) for edge in self.graph.edges)  # innocent
        street = streets[int(rng.integers(len(streets)))]
        self.graph.remove_edge(*street)
        self.closed.append(street)
        if len(self.closed) > 4:
            self.graph.add_edge(*self.closed.pop(0))

    def wardens(self):
        return sorted(nx.dominating_set(self.graph))  # guilty

    def pieces(self):
        return sorted(len(piece) for piece in nx.connected_components(self.graph))  # innocent


class Payroll:
    def __init__(self):
        self.days = 0
        self.money = 0.0
        self.steps = 0

    def pay(self, posts, bonus):
        self.days += len(posts)
        self.money += len(posts) * (80.0 + bonus)

    def walk(self, graph, before, after):
        """Each new post is walked to from the post before it in the list."""
        for old, new in zip(before, after):
            if nx.has_path(graph, old, new):
                self.steps += nx.shortest_path_length(graph, old, new)


class Thieves:
    def __init__(self, rng):
        self.rng = rng
        self.caught = 0
        self.away = 0

    def night(self, corners, posts):
        corner = corners[int(self.rng.integers(len(corners)))]
        if corner in posts:
            self.caught += 1
        else:
            self.away += 1


def main(run):
    town = Town()
    payroll = run.track("payroll", Payroll())
    thieves = run.track("thieves", Thieves(run.rng("thieves")))
    streets, bonus = run.rng("streets"), run.rng("bonus")
    posts = []
    corners = sorted(town.graph)  # innocent
    for tick in run.ticks(32):
        town.close(streets)
        if tick % 8 == 3:
            new = town.wardens()
            payroll.walk(town.graph, posts, new)
            posts = new
        payroll.pay(posts, float(bonus.random()))
        thieves.night(corners, posts)
        if len(town.pieces()) > 20:
            raise ValueError("too many streets are closed")
