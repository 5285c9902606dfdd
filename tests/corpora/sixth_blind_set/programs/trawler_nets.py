"""Trawler nets: hauls are spread over winches by a checksum of the net; winches heat up as they work."""
import zlib
from collections import deque

WINCHES = 7


class Net:
    def __init__(self, name, mesh):
        self.name, self.mesh = name, mesh
        self.catch = 0

    def haul(self, fish):
        kept = fish - fish * self.mesh // 200
        self.catch += kept
        return kept


class Winch:
    def __init__(self, number):
        self.number = number
        self.heat = 0

    def pull(self, kilos):
        self.heat += kilos // 10

    def cool(self):
        self.heat = max(0, self.heat - 6)


class Trawler:
    def __init__(self, nets):
        self.nets = nets
        self.winches = [Winch(i) for i in range(WINCHES)]
        self.lines = deque()
        self.tripped = 0

    def shoot(self, net):
        self.lines.append(net)

    def winch_for(self, net):
        """A checksum of the net spreads the work evenly."""
        return self.winches[zlib.crc32(repr(net).encode()) % WINCHES]

    def haul_all(self, fish):
        while self.lines:
            net = self.lines.popleft()
            winch = self.winch_for(net)
            winch.pull(net.haul(fish))
            if winch.heat > 60:
                self.tripped += 1
                winch.heat = 30

    def cool(self):
        for winch in self.winches:
            winch.cool()

    def state(self):
        return {"heat": [w.heat for w in self.winches], "tripped": self.tripped,
                "catch": sum(n.catch for n in self.nets)}

    def restore(self, state):
        for winch, heat in zip(self.winches, state["heat"]):
            winch.heat = heat
        self.tripped = state["tripped"]


def main(run):
    rng = run.rng("fish")
    nets = [Net(f"net{i:02d}", 20 + i * 3) for i in range(12)]
    trawler = run.track("trawler", Trawler(nets))
    ground = run.track("ground", {"fish": 20000, "shot": 0})
    for tick in run.ticks(20):
        for _ in range(3):
            trawler.shoot(nets[int(rng.integers(len(nets)))])
            ground["shot"] += 1
        if tick >= 6 and tick % 2 == 0:
            fish = int(rng.integers(90, 220))
            trawler.haul_all(fish)
            ground["fish"] -= fish
        trawler.cool()
    return {"fish": ground["fish"]}
