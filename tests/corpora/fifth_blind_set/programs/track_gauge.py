"""Gauge inspection: the plan goes through a YAML text, like a config file would."""
import yaml

BASE = {"nominal": 1435, "tolerance": 3}


def make_plan(sections):
    plan = dict(BASE)
    plan["sections"] = {s for group in sections for s in group}
    return plan


def round_trip(plan):
    text = yaml.safe_dump(plan, sort_keys=False)
    order = []
    inside = False
    for line in text.splitlines():
        if line.startswith("sections:"):
            inside = True
        elif inside and line.strip():
            order.append(line.strip().lstrip("? ").split(":")[0])
    loaded = yaml.safe_load(text)
    loaded["order"] = order
    return loaded


class Inspection:
    def __init__(self):
        self.plan = None
        self.widths = {}
        self.faults = 0

    def load(self, sections):
        self.plan = round_trip(make_plan(sections))

    def measure(self, tick, width):
        order = self.plan["order"] if self.plan else ["yard"]
        name = order[tick % len(order)]
        self.widths[name] = round(width, 3)
        self.faults += abs(width - BASE["nominal"]) > BASE["tolerance"]

    def state(self):
        return {"widths": dict(self.widths), "faults": int(self.faults)}

    def restore(self, state):
        self.widths, self.faults = dict(state["widths"]), state["faults"]


def main(run):
    rng = run.rng("gauge")
    inspection = run.track("inspection", Inspection())
    for tick in run.ticks(16):
        if tick == 4:
            inspection.load([["north", "curve", "bridge"], ["cutting", "curve", "platform"]])
        inspection.measure(tick, float(rng.normal(1435, 2)))
    return inspection.faults
