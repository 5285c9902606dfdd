"""Friends at a school: cliques are found with networkx, put in order, and seated at tables."""

import networkx as nx


class School:
    """Pupils and who likes whom."""

    def __init__(self, rng, pupils):
        self.graph = nx.Graph()
        self.graph.add_nodes_from(f"{'abcdefgh'[k % 8]}{k:02d}" for k in range(pupils))
        self.rng = rng

    def day(self):
        names = list(self.graph)  # innocent
        for _ in range(6):
            a, b = self.rng.choice(len(names), size=2, replace=False)
            self.graph.add_edge(names[int(a)], names[int(b)])
        for edge in sorted(tuple(sorted(e)) for e in self.graph.edges)[:: 17 + len(self.graph.edges) % 5]:
            self.graph.remove_edge(*edge)

    def cliques(self):
        """In order, each of them and all of them."""
        return sorted(sorted(clique) for clique in nx.find_cliques(self.graph))  # innocent

    def groups(self):
        return sorted(nx.connected_components(self.graph), key=lambda group: (-len(group), min(group)))  # innocent


class Canteen:
    def __init__(self, tables, seats):
        self.seats = seats
        self.tables = [[] for _ in range(tables)]
        self.standing = 0

    def seat(self, cliques):
        self.tables = [[] for _ in self.tables]
        placed = set()
        self.standing = 0
        for clique in cliques:
            for pupil in clique:
                if pupil in placed:  # innocent
                    continue
                placed.add(pupil)
                table = min(self.tables, key=len)
                if len(table) < self.seats:
                    table.append(pupil)
                else:
                    self.standing += 1


def main(run):
    school = School(run.rng("school"), pupils=28)
    canteen = run.track("canteen", Canteen(tables=6, seats=4))
    paper = run.track("paper", {"cliques": 0, "largest": 0, "group": 0, "lonely": 0, "rumours": 0.0})
    rumours = run.rng("rumours")
    for _ in run.ticks(18):
        school.day()
        cliques = school.cliques()
        canteen.seat(cliques)
        paper["cliques"] = len(cliques)
        paper["largest"] = max(map(len, cliques))
        paper["group"] = len(school.groups()[0])
        paper["lonely"] = len(set(nx.isolates(school.graph)))  # innocent
        paper["rumours"] += float(rumours.random())
