"""A night on the renal ward: infusion pumps run, raise alarms, and one nurse walks to them."""
import heapq
from dataclasses import dataclass, field

CHARTS = """
bed 1: heparin 2.0, insulin 1.5
bed 2: heparin 1.0, morphine 0.8, furosemide 3.1
bed 3: dopamine 2.5, potassium 1.2
bed 4: insulin 0.5, propofol 4.0, vancomycin 2.2
"""
SYRINGE_ML = {"heparin": 41, "insulin": 13, "morphine": 7, "furosemide": 25,
              "dopamine": 33, "potassium": 9, "propofol": 49, "vancomycin": 29}
POWER_CUT = 19


@dataclass
class Pump:
    drug: str
    channel: int
    rate: float
    volume: float
    holding: bool = False

    def tick(self):
        if self.holding:
            return False
        self.volume -= self.rate
        return self.volume < 0


@dataclass
class Nurse:
    pending: list = field(default_factory=list)
    visits: list = field(default_factory=list)

    def page(self, urgency, pump):
        pump.holding = True
        heapq.heappush(self.pending, (urgency, pump.channel, pump.drug))

    def walk(self, rack, reach=2):
        for _ in range(min(reach, len(self.pending))):
            _, _, drug = heapq.heappop(self.pending)
            pump = rack[drug]
            pump.holding = False
            if pump.volume < 0:
                pump.volume = float(SYRINGE_ML[drug])
            self.visits.append(drug)


def read_charts(text):
    rates = {}
    for line in text.strip().splitlines():
        _, _, drugs = line.partition(":")
        for entry in drugs.split(","):
            drug, rate = entry.split()
            rates[drug] = rates.get(drug, 0.0) + float(rate)
    return rates


def needed(rates, stock):
    return rates.keys() & stock.keys()


def fill_rack(rates, stock):
    rack = {}
    for drug in needed(rates, stock):
        rack[drug] = Pump(drug, len(rack) + 1, rates[drug], float(stock[drug]))
    return rack


class Ward:
    def __init__(self, rack):
        self.rack, self.nurse = rack, Nurse()
        self.given = 0.0

    def step(self, tick, chance):
        if tick == POWER_CUT:
            for pump in self.rack.values():
                self.nurse.page(0, pump)
        empty = [pump for pump in self.rack.values() if pump.tick()]
        for pump in empty:
            self.nurse.page(pump.rate, pump)
        self.given = round(self.given + sum(sorted(p.rate for p in self.rack.values() if not p.holding)), 3)
        self.nurse.walk(self.rack, 1 + (chance.random() < 0.8))

    def state(self):
        return {"given": self.given, "visits": list(self.nurse.visits),
                "volumes": {d: round(self.rack[d].volume, 3) for d in sorted(self.rack)}}

    def restore(self, state):
        self.given, self.nurse.visits = state["given"], list(state["visits"])
        for drug, volume in state["volumes"].items():
            self.rack[drug].volume = volume


def main(run):
    chance = run.rng("nurse")
    ward = Ward(fill_rack(read_charts(CHARTS), SYRINGE_ML))
    run.track("ward", ward)
    for tick in run.ticks(26):
        ward.step(tick, chance)
    return ward.nurse.visits[-3:]
