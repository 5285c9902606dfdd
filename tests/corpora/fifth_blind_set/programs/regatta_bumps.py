"""Bumps racing: crews chase each other; the crew to be drug-tested is popped from a set on the class."""
class Crew:
    tested = set()
    eligible = set()

    def __init__(self, college, pace):
        self.college = college
        self.pace = pace
        Crew.eligible.add(college)

    def row(self, noise):
        return self.pace + noise


class River:
    def __init__(self, crews):
        self.order = [c.college for c in crews]
        self.crews = {c.college: c for c in crews}
        self.penalty = {}
        self.bumps = 0

    def draw_test(self):
        if not Crew.eligible:
            Crew.eligible, Crew.tested = Crew.tested, set()
        picked = Crew.eligible.pop()
        Crew.tested.add(picked)
        self.penalty[picked] = 0.8

    def race(self, rng):
        speed = {name: self.crews[name].row(rng.normal()) - self.penalty.pop(name, 0.0) for name in self.order}
        place = 1
        while place < len(self.order):
            ahead, behind = self.order[place - 1], self.order[place]
            if speed[behind] - speed[ahead] > 1.0:
                self.order[place - 1], self.order[place] = behind, ahead
                self.bumps += 1
                place += 1
            place += 1

    def state(self):
        return {"order": list(self.order), "bumps": self.bumps}

    def restore(self, state):
        self.order, self.bumps = list(state["order"]), state["bumps"]


def main(run):
    rng = run.rng("river")
    names = ["Oriel", "Keble", "Wadham", "Merton", "Exeter", "Balliol", "Jesus", "Lincoln"]
    river = run.track("river", River([Crew(n, float(rng.uniform(4, 6))) for n in names]))
    for tick in run.ticks(24):
        if tick >= 6:
            river.draw_test()
        river.race(rng)
    return river.order[0]
