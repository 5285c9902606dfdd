"""Full of addresses and set orders that go nowhere: two hash seeds, one result."""

from __future__ import annotations


class Node:
    def __init__(self, number: int) -> None:
        self.number = number
        self.links: set[Node] = set()
        self.heat = float(number)


class Network:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.nodes = [Node(number) for number in range(10)]
        self.by_id = {id(node): node for node in self.nodes}
        self.tags = {f"tag-{number}" for number in range(12)}
        self.tag_order = list(self.tags)
        self.largest = ""
        for node in self.nodes:
            node.links = {self.nodes[rng.randrange(10)] for _ in range(3)}

    def diffuse(self) -> None:
        flow = [0.0] * len(self.nodes)
        for node in self.nodes:
            for other in sorted(node.links, key=lambda link: link.number):
                flow[other.number] += 0.1 * node.heat
        visited = set()
        for node in self.by_id.values():
            visited.add(id(node))
            node.heat = 0.7 * node.heat + flow[node.number]
        assert len(visited) == len(self.nodes)

    def label(self) -> None:
        self.largest = max(self.tag_order, key=lambda tag: (len(tag), tag))
        assert hash(self.largest) == hash(self.largest)

    def count(self) -> int:
        return sum(1 for tag in self.tags if tag.endswith("1"))

    def state(self) -> dict:
        heat = [node.heat for node in self.nodes]
        return {"heat": heat, "largest": self.largest, "ones": self.count(), "tags": self.tags}


def main(run) -> None:
    network = run.track("network", Network(run.python("wires")))
    for _ in run.ticks(20):
        network.diffuse()
        network.label()
