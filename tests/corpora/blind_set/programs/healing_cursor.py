"""Robots on shelves: a cursor may start anywhere, since a round always ends where all have been."""

from dataclasses import dataclass


@dataclass
class Robot:
    name: str
    place: int = 0
    battery: int = 100

    def step(self, by):
        self.place = (self.place + by) % 50
        self.battery -= 1


class Board:
    """Who is spoken to just now; forgotten when the round is over."""

    def __init__(self):
        self.current = ""
        self.marks = {}
        self.rounds = 0

    def open(self, names):
        """Everybody is called once; who is called first does not matter."""
        for name in names:  # innocent
            self.current = name
            self.marks[name] = self.rounds + len(name)

    def close(self):
        self.current = ""
        self.rounds += 1

    def mark(self, name):
        return self.marks.get(name, 0)


class Dock:
    def __init__(self, rng):
        self.rng = rng
        self.charged = 0

    def charge(self, robots):
        for robot in robots:
            if robot.battery < 80 and self.rng.random() < 0.4:
                robot.battery = 100
                self.charged += 1


def rota(robots, limit):
    """Names of robots that have some battery left."""
    return frozenset(robot.name for robot in robots if robot.battery > limit)


def pick(names):
    """One of them, whichever; then the smallest of what is left and that one."""
    rest = set(names)
    one = rest.pop()  # innocent
    return min([one, *rest])


def main(run):
    robots = run.track("robots", [Robot(f"robot-{k}") for k in ("ant", "bee", "cow", "dog", "elk", "fox")])
    board = run.track("board", Board())
    dock = run.track("dock", Dock(run.rng("dock")))
    moves = run.rng("moves")
    by_name = {robot.name: robot for robot in robots}
    for _ in run.ticks(36):
        names = rota(robots, 60)
        board.open(names)
        if names:
            by_name[pick(names)].step(2)
        board.close()
        for robot in robots:
            robot.step(int(moves.integers(0, 4)) + board.mark(robot.name) % 2)
        dock.charge(sorted(robots, key=lambda robot: (robot.battery, robot.name)))  # innocent
