"""Stock is reduced over hours; the kitchen's YAML is overlaid by an environment variable, kept in partials."""
import functools
import os

import yaml

TEXT = """
pots:
  veal: {litres: 12, heat: 0.02}
  fish: {litres: 7, heat: 0.04}
  fond: {litres: 4, heat: 0.01}
finish:
  after: 18
  factor: 1.0
"""


def overlay(config):
    raw = os.environ.get("KITCHEN_FINISH")
    if raw:
        config["finish"].update(yaml.safe_load(raw))
    return config


def simmer(litres, heat):
    return litres * (1 - heat)


def finish(litres, *, factor):
    return litres * 0.995 * factor


def plan(config):
    steps = {}
    for name, pot in config["pots"].items():
        steps[name] = functools.partial(simmer, heat=pot["heat"])
    last = functools.partial(finish, factor=config["finish"]["factor"])
    return steps, last


class Stove:
    def __init__(self, pots):
        self.litres = {name: float(pot["litres"]) for name, pot in pots.items()}
        self.skimmed = 0

    def state(self):
        return {"litres": dict(self.litres), "skimmed": self.skimmed}

    def restore(self, state):
        self.litres, self.skimmed = dict(state["litres"]), state["skimmed"]


def main(run):
    rng = run.rng("skim")
    config = overlay(yaml.safe_load(TEXT))
    steps, last = plan(config)
    stove = run.track("stove", Stove(config["pots"]))
    for tick in run.ticks(24):
        for name, step in steps.items():
            stove.litres[name] = step(stove.litres[name])
            if tick > config["finish"]["after"]:
                stove.litres[name] = last(stove.litres[name])
        stove.skimmed += int(rng.integers(0, 3))
    return round(sum(stove.litres.values()), 6)
