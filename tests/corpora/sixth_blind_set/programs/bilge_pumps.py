"""Bilge control on a coaster: compartments leak, pumps are handed out when the water passes the alarm line."""
import os

ALARM = 62.0
RATE = 9.5


class Compartment:
    def __init__(self, name, leak, level=0.0):
        self.name, self.leak, self.level = name, leak, level

    def seep(self, sea):
        self.level = round(self.level + self.leak * (1.0 + 0.4 * sea), 3)

    def pump(self, litres):
        taken = min(self.level, litres)
        self.level = round(self.level - taken, 3)
        return taken


def share_out(compartments, pumps, plan=os.environ.get("PUMP_PLAN", "even")):
    """How many pumps each compartment gets; called only when an alarm is standing."""
    order = sorted(compartments, key=lambda c: (-c.level, c.name))
    given = {c.name: 0 for c in compartments}
    match plan:
        case "deepest":
            given[order[0].name] = pumps
        case "even":
            for i in range(pumps):
                given[order[i % len(order)].name] += 1
        case other:
            raise ValueError(f"no such plan: {other}")
    return given


class Ship:
    def __init__(self, rows, pumps):
        self.compartments = [Compartment(name, leak) for name, leak in rows]
        self.pumps = pumps
        self.overboard = 0.0
        self.alarms = 0

    def step(self, sea):
        for c in self.compartments:
            c.seep(sea)
        if self.alarmed():
            self.alarms += 1
            self.work_pumps()

    def alarmed(self):
        return any(c.level > ALARM for c in self.compartments)

    def work_pumps(self):
        given = share_out(self.compartments, self.pumps)
        for c in self.compartments:
            self.overboard += c.pump(RATE * given[c.name])

    def state(self):
        return {
            "levels": {c.name: c.level for c in self.compartments},
            "overboard": round(self.overboard, 3),
            "alarms": self.alarms,
        }

    def restore(self, state):
        for c in self.compartments:
            c.level = state["levels"][c.name]
        self.overboard, self.alarms = state["overboard"], state["alarms"]


def main(run):
    rng = run.rng("sea")
    ship = run.track("ship", Ship([("forepeak", 2.1), ("hold", 3.4), ("engine", 2.8), ("lazarette", 1.6)], pumps=4))
    log = run.track("log", {"worst": 0.0, "rough": 0})
    for tick in run.ticks(30):
        sea = float(rng.gamma(2.0, 0.5))
        log["rough"] += sea > 1.5
        ship.step(sea)
        log["worst"] = max(log["worst"], max(c.level for c in ship.compartments))
    return ship.state()["overboard"]
