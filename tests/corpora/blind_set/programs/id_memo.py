"""A scene graph: transforms are remembered by the identity of a node, and looked up, never listed."""

import weakref


class Node:
    """A place relative to its parent."""

    def __init__(self, name, offset, parent=None):
        self.name = name
        self.offset = offset
        self.parent = parent
        self.children = []
        if parent is not None:
            parent.children.append(self)


class Transforms:
    """World places by id(); a change forgets what hangs below."""

    def __init__(self):
        self.known = {}
        self.alive = weakref.WeakValueDictionary()
        self.hits = 0

    def world(self, node):
        key = id(node)  # innocent
        if key in self.known:
            self.hits += 1
            return self.known[key]
        base = self.world(node.parent) if node.parent is not None else 0
        self.known[key] = (base + node.offset) % 997
        self.alive[key] = node
        return self.known[key]

    def forget(self, node):
        self.known.pop(id(node), None)  # innocent
        for child in node.children:
            self.forget(child)


class Camera:
    def __init__(self):
        self.at = 0
        self.seen = 0

    def look(self, places):
        self.seen += sum(abs(place - self.at) < 100 for place in places)
        self.at = (self.at + 37) % 997


def tree(rng, count):
    nodes = [Node("root", 0)]
    for k in range(1, count):
        nodes.append(Node(f"n{k}", int(rng.integers(1, 60)), nodes[int(rng.integers(len(nodes)))]))
    return nodes


def main(run):
    nodes = tree(run.rng("tree"), 300)
    transforms = Transforms()
    camera = run.track("camera", Camera())
    stats = run.track("stats", {"hits": 0, "alive": 0, "sum": 0, "distinct": 0})
    moves, light = run.rng("moves"), run.rng("light")
    sky = run.track("sky", {"light": 0.5})
    for _ in run.ticks(30):
        node = nodes[int(moves.integers(len(nodes)))]
        node.offset = (node.offset + 5) % 60
        transforms.forget(node)
        places = [transforms.world(node) for node in nodes]
        camera.look(places)
        stats["hits"] = transforms.hits
        stats["alive"] = len(transforms.alive)
        stats["sum"] = sum(transforms.known.values())
        stats["distinct"] = len({id(node) for node in nodes if node.offset > 30})  # innocent
        sky["light"] += 0.01 * float(light.normal())
