"""Reservoir gate control: a storm fills the lake, the gate follows a rule curve chosen when the module loads."""
import os
from dataclasses import dataclass, field

CURVES = {
    "gentle": [(0.0, 0.00), (60.0, 0.10), (82.0, 0.30), (91.0, 0.55), (97.0, 0.9)],
    "steep": [(0.0, 0.00), (60.0, 0.10), (82.0, 0.30), (91.0, 0.80), (97.0, 1.0)],
}


class Settings:
    """Everything the control room may override, read once."""

    lake_area = 4.2
    inflow_base = 6.0
    curve = os.environ.get("GATE_CURVE", "gentle")
    alarm_level = 95.0


@dataclass
class Gate:
    width: float
    opening: float = 0.0
    moves: int = 0

    def towards(self, wanted, step=0.25):
        delta = max(-step, min(step, wanted - self.opening))
        if abs(delta) > 1e-9:
            self.moves += 1
        self.opening = round(self.opening + delta, 4)
        return self.opening


@dataclass
class Reservoir:
    level: float = 52.0
    released: float = 0.0
    gate: Gate = field(default_factory=lambda: Gate(3.0))
    alarms: list = field(default_factory=list)

    def state(self):
        return {
            "level": round(self.level, 6),
            "released": round(self.released, 6),
            "opening": self.gate.opening,
            "moves": self.gate.moves,
            "alarms": list(self.alarms),
        }

    def restore(self, state):
        self.level = state["level"]
        self.released = state["released"]
        self.gate.opening = state["opening"]
        self.gate.moves = state["moves"]
        self.alarms = list(state["alarms"])


def make_rule(points):
    """A step function from level to gate opening, as a closure over the points."""
    breaks = sorted(points)

    def rule(level):
        opening = 0.0
        for at, value in breaks:
            if level < at:
                break
            opening = value
        return opening

    return rule


def hydrograph(rng, n):
    """Storm inflow for the whole event."""
    peak = 0.45 * n
    for i in range(n):
        shape = max(0.0, 1.0 - abs(i - peak) / (0.4 * n))
        yield Settings.inflow_base + 34.0 * shape + float(rng.normal(0.0, 0.8))


class Controller:
    def __init__(self, reservoir, rule):
        self.reservoir = reservoir
        self.rule = rule

    def step(self, tick, inflow):
        lake = self.reservoir
        wanted = self.rule(lake.level)
        opening = lake.gate.towards(wanted)
        outflow = opening * lake.gate.width * (lake.level / 10.0) ** 1.5 * 0.5
        lake.level += (inflow - outflow) / Settings.lake_area / 2.0
        lake.released += outflow
        if lake.level > Settings.alarm_level:
            lake.alarms.append(tick)


def main(run):
    n = 30
    lake = run.track("lake", Reservoir())
    rule = make_rule(CURVES[Settings.curve])
    control = Controller(lake, rule)
    storm = hydrograph(run.rng("storm"), n)
    for tick in run.ticks(n):
        control.step(tick, next(storm))
    run.compare("released", round(lake.released, 4))
    return round(lake.level, 4)
