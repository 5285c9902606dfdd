"""A carver's rack: chisels are kept in a set, taken as they come, and go blunt in the wood."""
from dataclasses import dataclass


class Chisel:
    """Two chisels are the same tool when sweep and width agree, whatever their edge is like."""

    def __init__(self, sweep, width):
        self.sweep, self.width = sweep, width
        self.edge = 1.0

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return isinstance(other, Chisel) and (self.sweep, self.width) == (other.sweep, other.width)

    @property
    def name(self):
        return f"{self.sweep}/{self.width}mm"

    def cut(self, hardness):
        depth = self.edge * self.width / hardness
        self.edge *= 1 - hardness / 90
        return depth


@dataclass
class Panel:
    hardness: float
    left: float

    def carve(self, chisel):
        self.left -= chisel.cut(self.hardness)
        return self.left <= 0


class Rack:
    def __init__(self, tools):
        self.sharp = set(tools)
        self.blunt = []

    def take(self):
        if not self.sharp:
            self.sharpen()
        return self.sharp.pop()

    def put_back(self, chisel):
        (self.blunt.append if chisel.edge < 0.7 else self.sharp.add)(chisel)

    def sharpen(self):
        for chisel in self.blunt:
            chisel.edge = 1.0
        self.sharp.update(self.blunt)
        self.blunt.clear()


class Bench:
    def __init__(self, rack, rng):
        self.rack, self.rng = rack, rng
        self.panel = Panel(5.0, 40.0)
        self.finished = 0
        self.last = ""

    def hour(self):
        chisel = self.rack.take()
        self.last = chisel.name
        for _ in range(4):
            if self.panel.carve(chisel):
                self.finished += 1
                self.panel = Panel(float(self.rng.uniform(3, 8)), 40.0)
        self.rack.put_back(chisel)

    def state(self):
        return {"left": round(self.panel.left, 5), "finished": self.finished, "last": self.last}

    def restore(self, state):
        self.panel.left, self.finished, self.last = state["left"], state["finished"], state["last"]


def main(run):
    tools = [Chisel(sweep, width) for sweep in (3, 5, 8) for width in (6, 10, 14)]
    bench = Bench(Rack(tools), run.rng("wood"))
    run.track("bench", bench)
    for _ in run.ticks(20):
        bench.hour()
    return bench.finished
