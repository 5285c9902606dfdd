"""Crop rotation: the farm's yaml names crops and fields, a trial plot gives each crop a vigour, fields rotate by year."""
from collections import ChainMap

import numpy as np
import yaml

CONFIG = """
farm: Low Meadow
defaults: {fallow: 3, price: 12}
crops: !!set
  ? wheat
  ? beans
  ? barley
  ? turnips
  ? clover
  ? flax
fields:
  top: {acres: 12, price: 14}
  low: {acres: 9}
  glebe: {acres: 5, fallow: 2}
"""


class Farm:
    def __init__(self, text, rng):
        raw = yaml.safe_load(text)
        self.crops = raw["crops"]
        self.fields = {name: ChainMap(own, raw["defaults"]) for name, own in raw["fields"].items()}
        self.rng = rng
        self.vigour = self.trial()
        self.years = dict.fromkeys(self.fields, 0)
        self.money = 0.0

    def trial(self):
        """One draw a crop from the shared stream, in the order in which the config has them."""
        return {
            crop: round(float(self.rng.gamma(8.0, 0.125)), 4)
            for crop in self.crops
        }

    def crop_for(self, field, year):
        if self.years[field] % (self.fields[field]["fallow"] + 1) == 0:
            return None
        menu = sorted(self.crops)
        return menu[(year + len(field)) % len(menu)]

    def harvest(self, year, rain):
        for name, settings in self.fields.items():
            crop = self.crop_for(name, year)
            self.years[name] += 1
            if crop is None:
                continue
            tons = settings["acres"] * self.vigour[crop] * rain
            self.money += round(tons * settings["price"], 2)

    def state(self):
        return {"years": dict(self.years), "money": round(self.money, 2)}

    def restore(self, state):
        self.years, self.money = dict(state["years"]), state["money"]


class Weather:
    def __init__(self, rng):
        self.rng = rng

    def rain(self):
        return float(np.clip(self.rng.normal(1.0, 0.2), 0.4, 1.6))


def main(run):
    farm = run.track("farm", Farm(CONFIG, run.rng("trial")))
    sky = Weather(run.rng("rain"))
    year = run.track("year", {"rain": 0.0, "season": 0})
    for tick in run.ticks(24):
        year["season"] = tick % 4
        year["rain"] = round(sky.rain(), 4)
        if year["season"] == 3:
            farm.harvest(tick // 4, year["rain"])
    return farm.state()["money"]
