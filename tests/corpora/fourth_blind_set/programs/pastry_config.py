"""Bakery chain: a layered YAML configuration decides ovens, prices and a rush hour; a day is simulated."""
import os

import yaml

BASE = """
ovens: 3
price: {croissant: 1.4, brioche: 2.1, tart: 3.2}
rush: {start: 6, end: 9, factor: 2}
demand: 4
"""
OVERLAYS = """
coast:
  demand: 5
inland:
  price: {tart: 2.9}
  rush: {start: 8, end: 12}
"""


def merge(base, over):
    out = dict(base)
    for key, value in over.items():
        match out.get(key), value:
            case dict() as left, dict() as right:
                out[key] = merge(left, right)
            case _:
                out[key] = value
    return out


def settings():
    config = yaml.safe_load(BASE)
    layers = yaml.safe_load(OVERLAYS)
    if (region := os.environ.get("BAKERY_REGION", "inland")) in layers:
        config = merge(config, layers[region])
    return config


class Shop:
    def __init__(self, config, rng):
        self.config = config
        self.rng = rng
        self.till = 0.0
        self.lost = 0
        self.shelf = {name: 6 for name in config["price"]}

    def customers(self, hour):
        rush = self.config["rush"]
        count = self.rng.poisson(self.config["demand"])
        if rush["start"] <= hour < rush["end"]:
            count += self.rng.poisson(self.config["demand"] * (rush["factor"] - 1))
        return int(count)

    def serve(self, hour):
        names = sorted(self.shelf)
        for _ in range(self.customers(hour)):
            wish = names[int(self.rng.integers(0, len(names)))]
            if self.shelf[wish]:
                self.shelf[wish] -= 1
                self.till += self.config["price"][wish]
            else:
                self.lost += 1

    def bake(self):
        for name in self.shelf:
            self.shelf[name] = min(12, self.shelf[name] + self.config["ovens"])

    def state(self):
        return {"till": round(self.till, 2), "lost": self.lost, "shelf": dict(self.shelf)}

    def restore(self, state):
        self.till, self.lost, self.shelf = state["till"], state["lost"], dict(state["shelf"])


def main(run):
    shop = run.track("shop", Shop(settings(), run.rng("street")))
    for hour in run.ticks(14):
        shop.serve(hour)
        shop.bake()
    return round(shop.till, 2)
