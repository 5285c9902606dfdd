"""Sterile supply: instrument trays cycle through theatre, wash and autoclave, oldest cycle first."""
import heapq
import uuid
from dataclasses import dataclass, field
from enum import IntEnum

SETS = ["lap", "hip", "eye", "burr", "vein", "skin", "bowel", "hand", "knee"]


class Stage(IntEnum):
    STORE = 1
    THEATRE = 2
    WASH = 3
    AUTOCLAVE = 4


@dataclass(order=True)
class Tray:
    cycles: int
    tag: str = field(default_factory=lambda: uuid.uuid4().hex[:10])
    kind: str = field(default="", compare=False)
    stage: Stage = field(default=Stage.STORE, compare=False)
    wear: float = field(default=0.0, compare=False)

    def used(self, roughness):
        self.wear = round(self.wear + roughness, 4)
        self.cycles += 1
        self.stage = Stage.WASH
        return self


class Supply:
    """Shelves as a heap: the least used tray goes out first."""

    def __init__(self, kinds):
        self.shelf = [Tray(n, kind=kind) for n, kind in enumerate(kinds)]
        heapq.heapify(self.shelf)
        self.washing = []
        self.issued = []
        self.printed = []

    def lend(self):
        tray = heapq.heappop(self.shelf)
        tray.stage = Stage.THEATRE
        self.issued.append(tray.kind)
        return tray

    def back(self, tick, tray):
        self.washing.append((tick + 1, tray))

    def autoclave(self, tick):
        ready = [tray for due, tray in self.washing if due <= tick]
        self.washing = [(due, tray) for due, tray in self.washing if due > tick]
        for tray in ready:
            tray.stage = Stage.STORE
            heapq.heappush(self.shelf, tray)

    def relabel(self):
        """Annual service: counters go back to zero for every tray on the shelf."""
        for tray in self.shelf:
            tray.cycles = 0
        heapq.heapify(self.shelf)
        self.printed = [tray.kind for tray in sorted(self.shelf)]

    def state(self):
        return {"issued": self.issued[-6:], "printed": list(self.printed), "shelf": len(self.shelf), "washing": len(self.washing)}

    def restore(self, state):
        self.issued, self.printed = list(state["issued"]), list(state["printed"])


class Theatre:
    def __init__(self, rng):
        self.rng = rng
        self.strain = 0.0

    def operate(self, tray):
        rough = float(self.rng.uniform(0.2, 1.4))
        self.strain += rough * (1 + 0.1 * len(tray.kind))
        return tray.used(rough)

    def state(self):
        return {"strain": round(self.strain, 5)}

    def restore(self, state):
        self.strain = state["strain"]


def main(run):
    supply = Supply(SETS)
    theatre = Theatre(run.rng("theatre"))
    run.track("supply", supply)
    run.track("theatre", theatre)
    for tick in run.ticks(18):
        if tick == 9:
            supply.relabel()
        supply.autoclave(tick)
        tray = theatre.operate(supply.lend())
        if tray.cycles < 9:
            tray.cycles += len(SETS)
        supply.back(tick, tray)
    return supply.issued
