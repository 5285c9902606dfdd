"""Sprint training: split times are kept per drill, and the weekly load is the sum over the drills done."""
import math

DRILLS = {"starts": 0.1, "bounds": 0.7, "sleds": 1e-9, "flying": 3.3, "hills": 1e6, "relays": 0.2, "strides": 0.3}


class Athlete:
    def __init__(self, name):
        self.name = name
        self.form = 1.0
        self.load = 0.0

    def absorb(self, load):
        self.load = 0.9 * self.load + load
        self.form += math.sin(self.load) * 0.01


def session(rng):
    done = set()
    for drill in sorted(DRILLS):
        if rng.random() < 0.75:
            done.add(drill)
    return done


def weekly_load(done, effort):
    return sum(
        DRILLS[drill] * effort
        for drill in done
    )


class Squad:
    def __init__(self, names):
        self.athletes = [Athlete(n) for n in names]

    def state(self):
        return {"form": [a.form for a in self.athletes], "load": [a.load for a in self.athletes]}

    def restore(self, state):
        for a, form, load in zip(self.athletes, state["form"], state["load"]):
            a.form, a.load = form, load


def main(run):
    rng = run.rng("track")
    squad = run.track("squad", Squad(["Ife", "Jonas", "Kirsi"]))
    for tick in run.ticks(12):
        for athlete in squad.athletes:
            effort = float(rng.uniform(0.2, 1.7))
            athlete.absorb(weekly_load(session(rng), effort))
    return squad.athletes[0].form
