"""A scene graph with matrices that are cached by the identity of their node."""

import math


class Node:
    def __init__(self, name, parent=None, x=0.0, y=0.0):
        self.name = name
        self.parent = parent
        self.x, self.y, self.angle = x, y, 0.0
        self.children = []
        if parent is not None:
            parent.children.append(self)

    def local(self):
        c, s = math.cos(self.angle), math.sin(self.angle)
        return (c, -s, self.x, s, c, self.y)


def multiply(m, n):
    a, b, c, d, e, f = m
    g, h, i, j, k, l = n
    return (a * g + b * j, a * h + b * k, a * i + b * l + c, d * g + e * j, d * h + e * k, d * i + e * l + f)


class MatrixCache:
    """World matrices of the frame; keyed by id, because nodes are mutable."""

    def __init__(self):
        self.matrices = {}
        self.hits = 0

    def world(self, node):
        key = id(node)
        if key in self.matrices:
            self.hits += 1
            return self.matrices[key]
        matrix = node.local()
        if node.parent is not None:
            matrix = multiply(self.world(node.parent), matrix)
        self.matrices[key] = matrix
        return matrix

    def new_frame(self):
        self.matrices.clear()


class Arm:
    """A robot arm of some segments."""

    def __init__(self, rng, segments=6):
        self.rng = rng
        self.root = Node("root")
        self.nodes = [self.root]
        for number in range(segments):
            self.nodes.append(Node(f"segment{number}", self.nodes[-1], x=1.0))
        self.cache = MatrixCache()

    def twist(self):
        for node in self.nodes:
            node.angle += 0.05 * float(self.rng.standard_normal())

    def tip(self):
        self.cache.new_frame()
        for node in reversed(self.nodes):
            matrix = self.cache.world(node)
        matrix = self.cache.world(self.nodes[-1])
        return (matrix[2], matrix[5])

    def state(self):
        return {"tip": self.tip(), "angles": [node.angle for node in self.nodes]}

    def restore(self, state):
        for node, angle in zip(self.nodes, state["angles"]):
            node.angle = angle


def main(run):
    arm = run.track("arm", Arm(run.rng("arm")))
    reach = run.track("reach", {"far": 0.0})
    for _ in run.ticks(40):
        arm.twist()
        reach["far"] = max(reach["far"], math.hypot(*arm.tip()))
