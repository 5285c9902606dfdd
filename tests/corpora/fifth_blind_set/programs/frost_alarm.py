"""Frost service: growers register, risks build up, alarms are paged by priority."""
import heapq
import uuid


class Registration:
    def __init__(self, grower, altitude):
        self.grower = grower
        self.altitude = altitude
        self.ticket = uuid.uuid4().hex


class RiskModel:
    def __init__(self, registrations):
        self.regs = {r.grower: r for r in registrations}
        self.risk = dict.fromkeys(self.regs, 0)

    def observe(self, temperature):
        for grower, reg in self.regs.items():
            if temperature - reg.altitude // 400 < 2:
                self.risk[grower] += 1

    def worst(self, count):
        ranked = [(-risk, self.regs[g].ticket, g) for g, risk in self.risk.items()]
        heapq.heapify(ranked)
        return [heapq.heappop(ranked)[2] for _ in range(count)]


class Pager:
    def __init__(self):
        self.sent = []
        self.coldest = 99.0

    def page(self, growers):
        self.sent.extend(growers)

    def state(self):
        return {"sent": len(self.sent), "recent": self.sent[-4:], "coldest": self.coldest}

    def restore(self, state):
        self.sent, self.coldest = list(state["recent"]), state["coldest"]


def main(run):
    rng = run.rng("night")
    growers = ["almond", "apricot", "cherry", "fig", "olive", "quince", "plum", "vine",
               "walnut", "hazel", "medlar", "citron"]
    model = RiskModel([Registration(g, 100 + 5 * i) for i, g in enumerate(growers)])
    pager = run.track("pager", Pager())
    for tick in run.ticks(18):
        temperature = float(rng.normal(2.0, 1.5))
        pager.coldest = min(pager.coldest, round(temperature, 3))
        model.observe(temperature)
        if tick >= 10:
            pager.page(model.worst(4))
    return len(pager.sent)
