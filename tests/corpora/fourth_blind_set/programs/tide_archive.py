"""Harbour office: survey boats leave a plan file in the evening, the night shift replays it into soundings."""
import json
import os
import tempfile

BUOYS = "kestrel lapwing merlin nightjar osprey petrel redshank sandpiper".split()


def choose_route(buoys, skip):
    """Buoys to visit: all of them, less those serviced last week."""
    return {"depth_limit": 12, "stops": list(set(buoys) - skip)}


def write_plan(folder, number, plan):
    path = os.path.join(folder, f"plan-{number:03d}.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(plan, out, indent=1)
    return path


def read_plan(path):
    with open(path, encoding="utf-8") as source:
        return json.load(source)


class Survey:
    def __init__(self):
        self.position = 0.0
        self.fuel = 400.0
        self.soundings = []
        self.phase = "moored"

    def state(self):
        return {
            "position": round(self.position, 4),
            "fuel": round(self.fuel, 4),
            "soundings": [round(s, 4) for s in self.soundings],
            "phase": self.phase,
        }

    def restore(self, state):
        self.position, self.fuel = state["position"], state["fuel"]
        self.soundings, self.phase = list(state["soundings"]), state["phase"]

    def visit(self, where, depth):
        self.fuel -= abs(where - self.position) * 0.5
        self.position = where
        self.soundings.append(depth)


def chart(rng, names):
    """Where each buoy lies along the channel and how deep it is there."""
    return {name: (10.0 * i + float(rng.random()), 4.0 + float(rng.random()) * 9.0) for i, name in enumerate(names)}


def tide(tick):
    return 1.5 * (1 - abs((tick % 12) - 6) / 6)


def main(run):
    places = chart(run.rng("chart"), sorted(BUOYS))
    survey = run.track("survey", Survey())
    with tempfile.TemporaryDirectory() as folder:
        path = write_plan(folder, 7, choose_route(BUOYS, {"osprey", "merlin"}))
        todo = None
        for tick in run.ticks(22):
            if tick < 8:
                survey.phase = "loading"
                survey.fuel += 2.5
                continue
            if todo is None:
                survey.phase = "sailing"
                plan = read_plan(path)
                todo = iter(plan["stops"])
                limit = plan["depth_limit"]
                continue
            match next(todo, None):
                case None:
                    survey.phase = "home"
                    survey.fuel -= 0.1
                case name:
                    where, depth = places[name]
                    survey.visit(where, min(limit, depth + tide(tick)))
    run.compare("soundings", len(survey.soundings))
    return round(survey.fuel, 3)
