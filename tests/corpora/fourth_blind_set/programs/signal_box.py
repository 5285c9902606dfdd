"""Block signalling on a single line: trains run to a timetable and brake when the gap is short."""
import os

LENGTH = 400.0


def clearance(gap, speed, margin=float(os.environ.get("SIGNAL_MARGIN", "1.0"))):
    """Speed allowed for a given gap to the train in front."""
    need = 12.0 * margin + speed * 1.5
    if gap >= need:
        return speed
    return max(2.0, speed * gap / need)


class Train:
    def __init__(self, head, position, speed):
        self.head = head
        self.position = position
        self.speed = speed
        self.late = 0.0

    def advance(self, allowed, drag):
        step = max(0.0, allowed - drag)
        self.late += self.speed - step
        self.position += step


class Line:
    def __init__(self, trains):
        self.trains = trains
        self.aspects = {}

    def gap(self, index):
        if index == 0:
            return LENGTH
        return self.trains[index - 1].position - self.trains[index].position

    def limits(self):
        for index, train in enumerate(self.trains):
            gap = self.gap(index)
            if gap > 60:
                yield train, train.speed, "green"
            else:
                yield train, clearance(gap, train.speed), "amber" if gap > 20 else "red"

    def step(self, wind):
        moves = list(self.limits())
        for (train, allowed, aspect), drag in zip(moves, wind):
            self.aspects[train.head] = aspect
            train.advance(allowed, drag)

    def state(self):
        return {
            "positions": {t.head: round(t.position, 3) for t in self.trains},
            "late": {t.head: round(t.late, 3) for t in self.trains},
            "aspects": dict(self.aspects),
        }

    def restore(self, state):
        for train in self.trains:
            train.position = state["positions"][train.head]
            train.late = state["late"][train.head]


def timetable():
    return [
        Train("1A21", 210.0, 7.0),
        Train("2C40", 120.0, 8.2),
        Train("6M09", 0.0, 11.5),
    ]


def main(run):
    rng = run.rng("wind")
    line = run.track("line", Line(timetable()))
    for tick in run.ticks(36):
        line.step(rng.uniform(0.0, 0.4, size=3))
    return {t.head: round(t.late, 2) for t in line.trains}
