"""Orchard shop: opening rules come from a YAML file with full timestamps; deliveries are let in by the local clock."""
import datetime as dt
import os
import tempfile

import yaml

CONFIG = """
orchard: Long Ridge
gates:
  north: {opens: 2024-09-20T05:30:00Z, hours: 9, crates: 14}
  south: {opens: 2024-09-20T07:00:00Z, hours: 6, crates: 20}
  press: {opens: 2024-09-20T13:15:00Z, hours: 4, crates: 9}
prices: &p
  dessert: 1.9
  cider: 0.6
shop:
  <<: *p
  juice: 3.4
"""


class Gate:
    def __init__(self, name, opens, hours, crates):
        self.name, self.crates = name, crates
        self.opens = opens
        self.hours = hours

    @property
    def first_hour(self):
        return self.opens.astimezone().hour

    def is_open(self, hour):
        start = self.first_hour
        return start <= hour < start + self.hours


class Shop:
    def __init__(self, gates, prices):
        self._gates, self._prices = gates, prices
        self.hour = 0
        self.crates = 0
        self.turnover = 0.0
        self.passed = []

    def state(self):
        return {
            "hour": self.hour,
            "crates": self.crates,
            "turnover": round(self.turnover, 3),
            "passed": self.passed[-3:],
        }

    def restore(self, state):
        self.hour, self.crates, self.turnover = state["hour"], state["crates"], state["turnover"]

    def tend(self, hour, customers):
        self.hour = hour
        self.turnover += customers * self._prices["juice"]

    def deliver(self, hour):
        for gate in self._gates:
            if gate.is_open(hour):
                self.crates += gate.crates
                self.passed.append([hour, gate.name])


def load(folder):
    path = os.path.join(folder, "shop.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(CONFIG)
    with open(path, encoding="utf-8") as source:
        config = yaml.safe_load(source)
    gates = [Gate(name, **{k: v for k, v in entry.items()}) for name, entry in config["gates"].items()]
    assert all(isinstance(gate.opens, dt.datetime) for gate in gates)
    return gates, config["shop"]


def main(run):
    customers = run.rng("customers")
    with tempfile.TemporaryDirectory() as folder:
        gates, prices = load(folder)
    shop = run.track("shop", Shop(gates, prices))
    for tick in run.ticks(24):
        shop.tend(tick, int(customers.integers(0, 5)))
        if tick >= 5:
            shop.deliver(tick)
    run.compare("hour", shop.hour)
    return shop.crates
